//! Every metric, by its name. `docs/metrics.md` lists them.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{SystemTime, UNIX_EPOCH};

use trunkline_relay::{Pin, Shared};

use super::class_metrics;
use super::figures::{Figures, PoolFigures};
use crate::config::Config;
use crate::logging;
use crate::metrics::exposition::{Exposition, Kind};

/// The figures of the process as a whole.
pub(super) struct ProcessStatus {
    pub(super) started: SystemTime,
    pub(super) workers: usize,
    /// Workers that answered in time. The page shows the previous figures of the others.
    pub(super) answering: usize,
    pub(super) paused: bool,
}

/// A metric with one sample for each pool: name, help, kind, value.
type PoolMetric = (&'static str, &'static str, Kind, fn(&PoolFigures) -> f64);

const MICROS_PER_SECOND: f64 = 1e6;

const POOL_METRICS: [PoolMetric; 17] = {
    use Kind::{Counter, Gauge};
    [
        (
            "trunkline_turns_total",
            "Turns that were answered: a turn is what a client sends up to a Sync, or one Query.",
            Counter,
            |pool| pool.counters.turns as f64,
        ),
        ("trunkline_transactions_total", "Transactions that have ended.", Counter, |pool| {
            pool.counters.transactions as f64
        }),
        ("trunkline_client_bytes_total", "Bytes passed from clients to servers.", Counter, |pool| {
            pool.counters.client_bytes as f64
        }),
        ("trunkline_server_bytes_total", "Bytes passed from servers to clients.", Counter, |pool| {
            pool.counters.server_bytes as f64
        }),
        (
            "trunkline_wait_seconds_total",
            "Time that clients waited for a server connection.",
            Counter,
            |pool| pool.counters.wait_us as f64 / MICROS_PER_SECOND,
        ),
        (
            "trunkline_turn_seconds_total",
            "Time that turns took from their beginning to their end.",
            Counter,
            |pool| pool.counters.turn_us as f64 / MICROS_PER_SECOND,
        ),
        (
            "trunkline_max_wait_seconds",
            "How long the client that waits longest for a server connection has waited.",
            Gauge,
            |pool| pool.max_wait_us as f64 / MICROS_PER_SECOND,
        ),
        (
            "trunkline_prepare_cache_hit_total",
            "Parse messages and uses of statements that needed no preparation on the server.",
            Counter,
            |pool| pool.counters.prepare_cache_hit as f64,
        ),
        (
            "trunkline_prepare_cache_miss_total",
            "Parse messages and uses of statements for which a statement was prepared on the server.",
            Counter,
            |pool| pool.counters.prepare_cache_miss as f64,
        ),
        (
            "trunkline_prepare_evictions_total",
            "Statements closed on a server connection to make room.",
            Counter,
            |pool| pool.counters.prepared_evicted as f64,
        ),
        (
            "trunkline_replays_total",
            "Turns sent to the server again because a statement's result type had changed or the server had lost it.",
            Counter,
            |pool| pool.counters.replays as f64,
        ),
        ("trunkline_cancels_total", "Cancel requests delivered to servers.", Counter, |pool| {
            pool.counters.cancels as f64
        }),
        ("trunkline_errors_total", "Errors that servers reported to clients.", Counter, |pool| {
            pool.counters.server_errors as f64
        }),
        ("trunkline_server_opened_total", "Server connections opened.", Counter, |pool| {
            pool.counters.opened as f64
        }),
        (
            "trunkline_server_open_failed_total",
            "Server connections that could not be opened.",
            Counter,
            |pool| pool.counters.open_failed as f64,
        ),
        ("trunkline_server_lost_total", "Server connections lost to a fault.", Counter, |pool| {
            pool.counters.lost as f64
        }),
        (
            "trunkline_server_handed_on_total",
            "Server connections handed to another worker.",
            Counter,
            |pool| pool.counters.handed_on as f64,
        ),
    ]
};

/// Appends every metric to `out`.
pub(super) fn write(
    process: &ProcessStatus,
    figures: &Figures,
    shared: &Shared,
    config: &Config,
    out: &mut String,
) {
    let mut exposition = Exposition::new(out);
    write_process(process, &mut exposition);
    write_connections(figures, shared, &mut exposition);
    write_pools(figures, shared, &mut exposition);
    write_servers(figures, &mut exposition);
    let (bytes, evicted) = shared.registry.usage();
    let single = [
        (
            "trunkline_prepared_statements",
            "Distinct prepared statements in the registry.",
            Kind::Gauge,
            shared.registry.len() as u64,
        ),
        (
            "trunkline_prepared_statement_bytes",
            "Bytes of the prepared statements in the registry.",
            Kind::Gauge,
            bytes as u64,
        ),
        (
            "trunkline_prepared_statements_dropped_total",
            "Prepared statements dropped to stay within prepared_registry_bytes_max.",
            Kind::Counter,
            evicted,
        ),
    ];
    for (name, help, kind, value) in single {
        exposition.family(name, help, kind).sample(&[], value);
    }
    class_metrics::write(&shared.classes.status(), &mut exposition);
    exposition
        .family(
            "trunkline_log_lines_left_out_total",
            "Warnings and errors beyond log.repeats_max, which were counted and not written.",
            Kind::Counter,
        )
        .sample(&[], logging::left_out());
    write_bounds(shared, config, &mut exposition);
}

fn write_process(process: &ProcessStatus, exposition: &mut Exposition<'_>) {
    exposition
        .family("trunkline_build_info", "The running version.", Kind::Gauge)
        .sample(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    let started = process.started.duration_since(UNIX_EPOCH).unwrap_or_default();
    exposition
        .family("process_start_time_seconds", "When the process started, in seconds since 1970.", Kind::Gauge)
        .sample(&[], started.as_secs_f64());
    if let Some(bytes) = resident_bytes() {
        exposition
            .family("process_resident_memory_bytes", "Resident memory.", Kind::Gauge)
            .sample(&[], bytes);
    }
    let gauges = [
        ("trunkline_workers", "Workers.", process.workers),
        (
            "trunkline_workers_answering",
            "Workers that reported their figures in time; for the others the page shows the previous figures.",
            process.answering,
        ),
        ("trunkline_paused", "1 while turns are held back (USR1), else 0.", usize::from(process.paused)),
    ];
    for (name, help, value) in gauges {
        exposition.family(name, help, Kind::Gauge).sample(&[], value);
    }
}

fn write_connections(figures: &Figures, shared: &Shared, exposition: &mut Exposition<'_>) {
    let board = &figures.board;
    let (gauge, counter) = (Kind::Gauge, Kind::Counter);
    let single = [
        (
            "trunkline_client_connections",
            "Client connections, logged in or not.",
            gauge,
            u64::from(shared.clients.load(Relaxed)),
        ),
        (
            "trunkline_unauthenticated_connections",
            "Client connections whose login has not ended.",
            gauge,
            u64::from(shared.unauthenticated.load(Relaxed)),
        ),
        (
            "trunkline_client_unsent_bytes",
            "Bytes that wait to be sent to clients.",
            gauge,
            board.client_unsent_bytes,
        ),
        (
            "trunkline_server_unsent_bytes",
            "Bytes that wait to be sent to servers.",
            gauge,
            board.server_unsent_bytes,
        ),
        (
            "trunkline_unproven_lookups",
            "Runs of auth_query under way in databases that no login has proved to exist.",
            gauge,
            u64::from(shared.unproven_look_ups()),
        ),
        (
            "trunkline_auth_cache_bytes",
            "Bytes of the cached results of auth_query.",
            gauge,
            board.auth_cache_bytes,
        ),
        ("trunkline_cancel_requests", "Cancel requests under way.", gauge, board.cancels),
        (
            "trunkline_logins_waiting",
            "Logins that wait for their share of a worker's round.",
            gauge,
            board.logins_waiting,
        ),
        (
            "trunkline_client_logins_failed_total",
            "Logins of clients that failed.",
            counter,
            board.logins_failed,
        ),
        (
            "trunkline_client_protocol_violations_total",
            "Clients that violated the protocol.",
            counter,
            board.protocol_violations,
        ),
    ];
    for (name, help, kind, value) in single {
        exposition.family(name, help, kind).sample(&[], value);
    }
}

fn write_pools(figures: &Figures, shared: &Shared, exposition: &mut Exposition<'_>) {
    exposition
        .family(
            "trunkline_pools",
            "Pools, including those that have no samples of their own on this page.",
            Kind::Gauge,
        )
        .sample(&[], shared.ledgers.len());
    let mut clients =
        exposition.family("trunkline_clients", "Clients logged in, by what they do.", Kind::Gauge);
    for ((database, user), pool) in &figures.pools {
        let states =
            [("active", pool.clients_active), ("waiting", pool.clients_waiting), ("idle", pool.clients_idle)];
        for (state, count) in states {
            clients.sample(&[("database", database), ("user", user), ("state", state)], count);
        }
    }
    let mut servers =
        exposition.family("trunkline_servers", "Server connections, by what they do.", Kind::Gauge);
    for ((database, user), pool) in &figures.pools {
        let states = [
            ("active", pool.servers_active),
            ("idle", pool.servers_idle),
            ("busy", pool.servers_busy),
            ("opening", pool.servers_opening),
        ];
        for (state, count) in states {
            servers.sample(&[("database", database), ("user", user), ("state", state)], count);
        }
    }
    let mut pinned = exposition.family(
        "trunkline_clients_pinned",
        "Clients that keep a server connection in auto mode, by what they may have left on it.",
        Kind::Gauge,
    );
    for (pin, count) in Pin::ALL.iter().zip(figures.board.clients_pinned) {
        pinned.sample(&[("reason", pin.name())], count);
    }
    for (name, help, kind, value) in POOL_METRICS {
        let mut family = exposition.family(name, help, kind);
        for ((database, user), pool) in &figures.pools {
            family.sample(&[("database", database), ("user", user)], value(pool));
        }
    }
}

/// Writes the counts of each server connection. They disappear with the connection; the counts of pools do not.
fn write_servers(figures: &Figures, exposition: &mut Exposition<'_>) {
    type ServerValue = fn(&(u64, u64)) -> u64;
    let metrics: [(&str, &str, ServerValue); 2] = [
        (
            "trunkline_server_prepare_cache_hit_total",
            "Like trunkline_prepare_cache_hit_total, but by the process id of the server connection.",
            |server| server.0,
        ),
        (
            "trunkline_server_prepare_cache_miss_total",
            "Like trunkline_prepare_cache_miss_total, but by the process id of the server connection.",
            |server| server.1,
        ),
    ];
    for (name, help, value) in metrics {
        let mut family = exposition.family(name, help, Kind::Counter);
        for ((database, process_id), counts) in &figures.servers {
            let labels = [("database", database.as_str()), ("server_pid", &process_id.to_string())];
            family.sample(&labels, value(counts));
        }
    }
}

fn write_bounds(shared: &Shared, config: &Config, exposition: &mut Exposition<'_>) {
    let mut hits = exposition.family(
        "trunkline_limit_hits_total",
        "How often a bound refused a client, ended something or made a client wait, by the bound's setting.",
        Kind::Counter,
    );
    for (limit, count) in shared.limits_hit() {
        hits.sample(&[("limit", limit)], count);
    }
    let mut bounds = exposition.family(
        "trunkline_limit",
        "The bounds in force, by their settings: counts, bytes or seconds; 0: no bound.",
        Kind::Gauge,
    );
    for (limit, value) in config.bounds() {
        bounds.sample(&[("limit", limit)], value);
    }
}

/// The resident memory, from Linux's `/proc`; `None` on other systems.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;
    use std::sync::Arc;

    use trunkline_relay::board::{BoardStatus, PoolStatus};
    use trunkline_relay::parameters::Profile;
    use trunkline_relay::prepared::{ParseRequest, Registry};
    use trunkline_relay::{Classes, Counters};

    use super::*;
    use crate::worker::Report;

    fn pool(database: &str, user: &str, turns: u64) -> PoolStatus {
        let counters = Counters { turns, wait_us: 250_000, prepare_cache_hit: 3, ..Counters::default() };
        PoolStatus {
            database: database.to_owned(),
            user: user.to_owned(),
            clients: 9,
            waiting: 1,
            clients_active: 2,
            clients_idle: 4,
            servers: 9,
            idle: 5,
            servers_active: 2,
            servers_busy: 1,
            opening: 1,
            max_wait_us: turns * 1000,
            counters,
        }
    }

    /// The page of two workers that both have a part of the pool `app`, `alice`.
    fn page() -> String {
        let server = |pid: i32, hits, misses| (pid, "app".to_owned(), hits, misses);
        let first = Report {
            pools: vec![pool("app", "alice", 3)],
            board: BoardStatus {
                prepared_by_server: vec![server(11, 5, 1), server(0, 1, 1)],
                logins_failed: 2,
                ..BoardStatus::default()
            },
        };
        let second = Report {
            pools: vec![pool("app", "alice", 4), pool("b\"} 1\nevil", "bob", 1)],
            board: BoardStatus {
                prepared_by_server: vec![server(0, 2, 0)],
                logins_failed: 1,
                ..BoardStatus::default()
            },
        };
        let shared = Shared::new(2, Registry::new(1 << 20), Classes::new(1 << 20, 7));
        shared.clients.store(6, Relaxed);
        let (profile, schema) = (Profile::default(), Arc::default());
        let parsed = ParseRequest::new(b"SELECT 1\0\0\0", &profile, &schema, 1);
        shared.registry.intern(parsed, None, &mut |bytes: &mut [u8]| bytes.fill(7));
        let process = ProcessStatus { started: UNIX_EPOCH, workers: 2, answering: 1, paused: false };
        let mut out = String::new();
        write(&process, &Figures::sum(&[first, second]), &shared, &Config::default(), &mut out);
        out
    }

    fn value<'p>(page: &'p str, sample: &str) -> &'p str {
        page.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' ')).unwrap_or("missing")
    }

    #[test]
    fn figures_of_workers_are_added_up() {
        let page = page();
        let alice = r#"{database="app",user="alice"}"#;
        assert_eq!(value(&page, &format!("trunkline_turns_total{alice}")), "7");
        assert_eq!(value(&page, &format!("trunkline_wait_seconds_total{alice}")), "0.5");
        assert_eq!(value(&page, &format!("trunkline_max_wait_seconds{alice}")), "0.004");
        assert_eq!(value(&page, &format!("trunkline_prepare_cache_hit_total{alice}")), "6");
        let state = |family: &str, state: &str| {
            value(&page, &format!(r#"{family}{{database="app",user="alice",state="{state}"}}"#)).to_owned()
        };
        let clients = ["active", "waiting", "idle"].map(|word| state("trunkline_clients", word));
        assert_eq!(clients, ["4", "2", "8"]);
        let servers = ["active", "idle", "busy", "opening"].map(|word| state("trunkline_servers", word));
        assert_eq!(servers, ["4", "10", "2", "2"]);
        let hits = r#"trunkline_server_prepare_cache_hit_total{database="app",server_pid="#;
        assert_eq!(value(&page, &format!("{hits}\"11\"}}")), "5");
        assert_eq!(value(&page, &format!("{hits}\"0\"}}")), "3");
        assert_eq!(value(&page, "trunkline_client_logins_failed_total"), "3");
    }

    #[test]
    fn the_page_has_the_process_and_its_bounds() {
        let page = page();
        assert_eq!(value(&page, "trunkline_client_connections"), "6");
        assert_eq!(value(&page, "trunkline_prepared_statements"), "1");
        assert_eq!(value(&page, "trunkline_workers_answering"), "1");
        assert_eq!(value(&page, r#"trunkline_limit{limit="max_client_conn"}"#), "10000");
        assert_eq!(value(&page, r#"trunkline_limit_hits_total{limit="max_client_conn"}"#), "0");
        assert_eq!(value(&page, "process_start_time_seconds"), "0");
    }

    #[test]
    fn each_bound_whose_hits_are_counted_is_a_setting() {
        let page = page();
        let counted: Vec<&str> = page
            .lines()
            .filter_map(|line| line.strip_prefix("trunkline_limit_hits_total")?.split_once(' '))
            .map(|hits| hits.0)
            .collect();
        assert!(counted.len() > 20);
        for limit in counted {
            assert_ne!(value(&page, &format!("trunkline_limit{limit}")), "missing", "{limit}");
        }
    }

    #[test]
    fn a_name_cannot_break_out_of_its_label() {
        let page = page();
        assert!(page.contains(r#"trunkline_turns_total{database="b\"} 1\\nevil",user="bob"} 1"#), "{page}");
        assert!(!page.lines().any(|line| line.starts_with("evil")));
    }

    #[test]
    fn the_document_lists_exactly_the_metrics_of_the_page() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/metrics.md");
        let document = std::fs::read_to_string(file).expect("docs/metrics.md");
        let documented: Vec<(&str, &str, &str)> = document
            .lines()
            .filter_map(|line| {
                let cells: Vec<&str> = line.split('|').map(str::trim).collect();
                let ["", name, kind, labels, _, ""] = cells[..] else { return None };
                Some((name.strip_prefix('`')?.strip_suffix('`')?, kind, labels))
            })
            .collect();
        let page = page();
        let shown: Vec<(&str, &str)> =
            page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect();
        let listed: Vec<(&str, &str)> = documented.iter().map(|(name, kind, _)| (*name, *kind)).collect();
        assert_eq!(listed, shown);
        let different: BTreeSet<&str> = shown.iter().map(|(name, _)| *name).collect();
        assert_eq!(different.len(), shown.len(), "a metric stands twice");
        for (name, _, labels) in documented {
            let sample = page.lines().find(|line| line.starts_with(&format!("{name}{{")));
            for label in
                labels.split(',').map(|label| label.trim().trim_matches('`')).filter(|label| *label != "-")
            {
                let has = sample.is_some_and(|sample| sample.contains(&format!("{label}=\"")));
                assert!(has, "{name} has no label {label}");
            }
            assert!(labels != "-" || sample.is_none(), "{name} has labels");
        }
    }
}
