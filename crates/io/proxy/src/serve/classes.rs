//! What is known of texts, as metrics.

use trunkline_relay::ClassesStatus;

use crate::metrics::exposition::{Exposition, Kind};

/// Appends them.
pub(super) fn write(status: &ClassesStatus, exposition: &mut Exposition<'_>) {
    let cache = &status.cache;
    let gauges = [
        ("trunkline_statement_classes", "Texts of which is known what they do.", cache.entries),
        ("trunkline_statement_class_bytes", "Bytes of what is known of texts.", cache.bytes),
    ];
    for (name, help, value) in gauges {
        exposition.family(name, help, Kind::Gauge).sample(&[], value);
    }
    let counters = [
        ("trunkline_statement_class_hits_total", "Texts that were known.", cache.text.hits),
        (
            "trunkline_statement_class_evictions_total",
            "Texts forgotten to stay within statement_classes_bytes_max.",
            cache.evictions,
        ),
        ("trunkline_statements_parsed_total", "Texts parsed to know what they do.", status.parsed),
        ("trunkline_statement_bytes_parsed_total", "Their bytes.", status.parsed_bytes),
    ];
    for (name, help, value) in counters {
        exposition.family(name, help, Kind::Counter).sample(&[], value);
    }
    let mut unknown = exposition.family(
        "trunkline_statements_unknown_total",
        "Texts of which is not known what they do: too long (classified_text_bytes_max), or not in the grammar.",
        Kind::Counter,
    );
    unknown.sample(&[("reason", "too_long")], status.too_long);
    unknown.sample(&[("reason", "unreadable")], status.unreadable);
}
