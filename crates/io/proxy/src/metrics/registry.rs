//! Where workers get their counters and where the metrics page finds them.
//!
//! Each worker has a set of its own for each pool, so that no two cores write to one cache line; a scrape sums them.
//! A set that its worker has let go is added to the pool's past, so that totals never go back.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::counters::{CounterSet, PoolCounters, ProcessCounters, ServerCounters};
use super::exposition::{Exposition, Kind};
use crate::config::Config;

/// All counters of the process.
#[derive(Debug)]
pub struct Registry {
    /// What is counted for the whole process.
    pub process: ProcessCounters,
    pools: Sets<(Arc<str>, Arc<str>), PoolCounters>,
    servers: Sets<Arc<str>, ServerCounters>,
    started: SystemTime,
}

impl Default for Registry {
    fn default() -> Self {
        Self {
            process: ProcessCounters::default(),
            pools: Sets::default(),
            servers: Sets::default(),
            started: SystemTime::now(),
        }
    }
}

/// The sets handed out under each name, and what those that were let go had counted.
#[derive(Debug)]
struct Sets<N, S>(Mutex<BTreeMap<N, Handed<S>>>);

#[derive(Debug)]
struct Handed<S> {
    live: Vec<Arc<S>>,
    past: Vec<i64>,
}

impl<N, S> Default for Sets<N, S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<N: Ord + Clone, S: CounterSet> Sets<N, S> {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<N, Handed<S>>> {
        // Nothing is left half done when a holder panics: every step leaves a valid map.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hand_out(&self, name: N) -> Arc<S> {
        let set = Arc::new(S::default());
        let mut sets = self.lock();
        let handed =
            sets.entry(name).or_insert_with(|| Handed { live: Vec::new(), past: vec![0; S::SHOWN.len()] });
        handed.settle();
        handed.live.push(Arc::clone(&set));
        set
    }

    fn sums(&self) -> Vec<(N, Vec<i64>)> {
        let mut sets = self.lock();
        let sum = |(name, handed): (&N, &mut Handed<S>)| {
            handed.settle();
            let mut sum = handed.past.clone();
            handed.live.iter().for_each(|set| add(&mut sum, &set.values()));
            (name.clone(), sum)
        };
        sets.iter_mut().map(sum).collect()
    }
}

impl<S: CounterSet> Handed<S> {
    /// Moves sets that nobody else holds to the past. What they gauged is gone with their holder.
    fn settle(&mut self) {
        let past = &mut self.past;
        self.live.retain(|set| {
            if Arc::strong_count(set) > 1 {
                return true;
            }
            let mut values = set.values();
            for (value, shown) in values.iter_mut().zip(S::SHOWN) {
                if shown.kind == Kind::Gauge {
                    *value = 0;
                }
            }
            add(past, &values);
            false
        });
    }
}

fn add(sum: &mut [i64], values: &[i64]) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum = sum.saturating_add(*value);
    }
}

impl Registry {
    /// A new set of counters for the pool of `database` and `user`. Each worker asks once and keeps it as long as it
    /// serves the pool.
    pub fn pool(&self, database: &str, user: &str) -> Arc<PoolCounters> {
        self.pools.hand_out((database.into(), user.into()))
    }

    /// A new set of counters for the server `host:port`.
    pub fn server(&self, server: &str) -> Arc<ServerCounters> {
        self.servers.hand_out(server.into())
    }

    /// Writes every metric in Prometheus' text format. `config` gives the bounds in force.
    pub fn expose(&self, config: &Config, out: &mut String) {
        let mut exposition = Exposition::new(out);
        self.expose_process(config, &mut exposition);
        let pools: Vec<Labelled> = self
            .pools
            .sums()
            .into_iter()
            .map(|((database, user), sum)| {
                (vec![("database", database.to_string()), ("user", user.to_string())], sum)
            })
            .collect();
        expose_sets::<PoolCounters>(&pools, &mut exposition);
        let servers: Vec<Labelled> = self
            .servers
            .sums()
            .into_iter()
            .map(|(server, sum)| (vec![("server", server.to_string())], sum))
            .collect();
        expose_sets::<ServerCounters>(&servers, &mut exposition);
    }

    fn expose_process(&self, config: &Config, exposition: &mut Exposition<'_>) {
        let process = &self.process;
        exposition
            .family("trunkline_build_info", "The running version.", Kind::Gauge)
            .sample(&[("version", env!("CARGO_PKG_VERSION"))], 1);
        let started = self.started.duration_since(UNIX_EPOCH).unwrap_or_default();
        exposition
            .family(
                "process_start_time_seconds",
                "When the process started, in seconds since 1970.",
                Kind::Gauge,
            )
            .sample(&[], started.as_secs_f64());
        if let Some(bytes) = resident_bytes() {
            exposition
                .family("process_resident_memory_bytes", "Memory in use.", Kind::Gauge)
                .sample(&[], bytes);
        }
        exposition
            .family("trunkline_connections_accepted_total", "Connections accepted.", Kind::Counter)
            .sample(&[], process.accepted.value());
        let gauges = [
            ("trunkline_client_connections", "Client connections open, logged in or not.", &process.clients),
            (
                "trunkline_unauthenticated_connections",
                "Client connections not logged in yet.",
                &process.unauthenticated,
            ),
            (
                "trunkline_prepared_statements",
                "Distinct prepared statements known.",
                &process.prepared_statements,
            ),
            (
                "trunkline_prepared_statement_bytes",
                "Bytes of all prepared statements known.",
                &process.prepared_bytes,
            ),
        ];
        for (name, help, gauge) in gauges {
            exposition.family(name, help, Kind::Gauge).sample(&[], gauge.value());
        }
        let mut timeouts =
            exposition.family("trunkline_timeouts_total", "Timeouts that struck, by setting.", Kind::Counter);
        process.timeouts().for_each(|(name, count)| timeouts.sample(&[("timeout", name)], count));
        let mut faults =
            exposition.family("trunkline_errors_total", "What went wrong, by kind.", Kind::Counter);
        process.faults().for_each(|(name, count)| faults.sample(&[("kind", name)], count));
        let mut hits =
            exposition.family("trunkline_limit_hits_total", "Bounds reached, by setting.", Kind::Counter);
        process.limits().for_each(|(name, count)| hits.sample(&[("limit", name)], count));
        let mut bounds = exposition.family("trunkline_limit", "Bounds in force, by setting.", Kind::Gauge);
        for (name, bound) in bounds_in_force(config) {
            bounds.sample(&[("limit", name)], bound);
        }
    }
}

/// The labels of a name, and the sum of its sets.
type Labelled = (Vec<(&'static str, String)>, Vec<i64>);

fn expose_sets<S: CounterSet>(sums: &[Labelled], exposition: &mut Exposition<'_>) {
    let mut index = 0;
    while let Some(first) = S::SHOWN.get(index) {
        let fields = S::SHOWN[index..].iter().take_while(|shown| shown.metric == first.metric).count();
        let mut family = exposition.family(first.metric, first.help, first.kind);
        for (names, sum) in sums {
            for (shown, value) in S::SHOWN.iter().zip(sum).skip(index).take(fields) {
                let mut labels: Vec<(&str, &str)> =
                    names.iter().map(|(name, text)| (*name, text.as_str())).collect();
                labels.extend(shown.label);
                if shown.micros {
                    family.sample(&labels, *value as f64 / 1e6);
                } else {
                    family.sample(&labels, value);
                }
            }
        }
        index += fields;
    }
}

fn bounds_in_force(config: &Config) -> Vec<(&'static str, usize)> {
    let (limits, pool) = (&config.limits, &config.pool);
    let count = |count: u32| count as usize;
    vec![
        ("max_client_conn", count(limits.max_client_conn)),
        ("unauthenticated_conn_max", count(limits.unauthenticated_conn_max)),
        ("startup_packet_bytes_max", limits.startup_packet_bytes_max.bytes()),
        ("message_bytes_max", limits.message_bytes_max.bytes()),
        ("client_buffer_bytes", limits.client_buffer_bytes.bytes()),
        ("server_buffer_bytes", limits.server_buffer_bytes.bytes()),
        ("outstanding_turns_max", count(limits.outstanding_turns_max)),
        ("max_prepared_statements", count(limits.max_prepared_statements)),
        ("prepared_statement_bytes_max", limits.prepared_statement_bytes_max.bytes()),
        ("prepared_registry_bytes_max", limits.prepared_registry_bytes_max.bytes()),
        ("client_prepared_statements_max", count(limits.client_prepared_statements_max)),
        ("scram_iterations_max", count(limits.scram_iterations_max)),
        ("cancel_requests_max", count(limits.cancel_requests_max)),
        ("pool_size", count(pool.pool_size)),
        ("max_db_connections", count(pool.max_db_connections)),
        ("max_user_connections", count(pool.max_user_connections)),
        ("max_db_client_connections", count(pool.max_db_client_connections)),
        ("max_user_client_connections", count(pool.max_user_client_connections)),
    ]
}

/// Resident memory as Linux tells it; `None` elsewhere.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{LimitKind, TimeoutKind};

    fn page(registry: &Registry) -> String {
        let mut out = String::new();
        registry.expose(&Config::default(), &mut out);
        out
    }

    fn line<'p>(page: &'p str, sample: &str) -> &'p str {
        page.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' ')).unwrap_or("missing")
    }

    #[test]
    fn workers_sets_are_summed_and_outlive_their_workers() {
        let registry = Registry::default();
        let (first, second) = (registry.pool("app", "alice"), registry.pool("app", "alice"));
        first.turns.add(3);
        first.clients_active.add(1);
        first.wait_us.add(1_500_000);
        second.turns.add(4);
        second.clients_active.add(2);
        let turns = r#"trunkline_turns_total{database="app",user="alice"}"#;
        let active = r#"trunkline_clients{database="app",user="alice",state="active"}"#;
        assert_eq!(line(&page(&registry), turns), "7");
        assert_eq!(line(&page(&registry), active), "3");
        assert_eq!(
            line(&page(&registry), r#"trunkline_wait_seconds_total{database="app",user="alice"}"#),
            "1.5"
        );
        drop(first);
        assert_eq!(line(&page(&registry), turns), "7");
        assert_eq!(line(&page(&registry), active), "2");
        drop(second);
        assert_eq!(line(&page(&registry), turns), "7");
        assert_eq!(line(&page(&registry), active), "0");
    }

    #[test]
    fn every_bound_has_a_value_and_every_family_stands_once() {
        let registry = Registry::default();
        registry.process.limit(LimitKind::MaxClientConn);
        registry.process.timeout(TimeoutKind::QueryWait);
        registry.server("db:5432").prepare_cache_hit.increment();
        let page = page(&registry);
        assert_eq!(line(&page, r#"trunkline_limit_hits_total{limit="max_client_conn"}"#), "1");
        assert_eq!(line(&page, r#"trunkline_timeouts_total{timeout="query_wait_timeout"}"#), "1");
        assert_eq!(line(&page, r#"trunkline_limit{limit="max_client_conn"}"#), "10000");
        assert_eq!(line(&page, r#"trunkline_server_prepare_cache_hit_total{server="db:5432"}"#), "1");
        for word in LimitKind::WORDS {
            assert_ne!(line(&page, &format!("trunkline_limit{{limit=\"{word}\"}}")), "missing");
        }
        let mut families: Vec<&str> = page.lines().filter(|line| line.starts_with("# TYPE")).collect();
        let all = families.len();
        families.sort_unstable();
        families.dedup();
        assert_eq!(families.len(), all);
    }

    #[test]
    fn a_name_cannot_break_out_of_its_label() {
        let registry = Registry::default();
        let _pool = registry.pool("a\"} 1\nevil", "b\\");
        let page = page(&registry);
        assert!(page.contains(r#"{database="a\"} 1\nevil",user="b\\"} 0"#), "{page}");
        assert!(!page.lines().any(|line| line.starts_with("evil")));
    }
}
