//! The metrics of `Classes`, the cache of what SQL texts do.

use trunkline_relay::ClassesStatus;

use crate::metrics::exposition::{Exposition, Kind};

/// Appends these metrics.
pub(super) fn write(status: &ClassesStatus, exposition: &mut Exposition<'_>) {
    let cache = &status.cache;
    let gauges = [
        ("trunkline_statement_classes", "SQL texts in the cache of what texts do.", cache.entries),
        ("trunkline_statement_class_bytes", "Bytes of the cache of what SQL texts do.", cache.bytes),
    ];
    for (name, help, value) in gauges {
        exposition.family(name, help, Kind::Gauge).sample(&[], value);
    }
    let counters = [
        ("trunkline_statement_class_hits_total", "SQL texts that were found in the cache.", cache.text.hits),
        (
            "trunkline_statement_class_evictions_total",
            "SQL texts dropped from the cache to stay within statement_classes_bytes_max.",
            cache.evictions,
        ),
        ("trunkline_statements_parsed_total", "SQL texts parsed to learn what they do.", status.parsed),
        ("trunkline_statement_bytes_parsed_total", "Bytes of the parsed SQL texts.", status.parsed_bytes),
    ];
    for (name, help, value) in counters {
        exposition.family(name, help, Kind::Counter).sample(&[], value);
    }
    let mut unknown = exposition.family(
        "trunkline_statements_unknown_total",
        "SQL texts that could not be classified: longer than classified_text_bytes_max, or not in the grammar.",
        Kind::Counter,
    );
    unknown.sample(&[("reason", "too_long")], status.too_long);
    unknown.sample(&[("reason", "unreadable")], status.unreadable);
}
