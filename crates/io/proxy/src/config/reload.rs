//! What a reload changes, and what it cannot.

use std::collections::BTreeSet;

use super::{Config, General, Log, Timeouts};

/// The difference between two configurations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The tables with a difference that takes effect at once (`limits`, `auth`, `databases.app`, `users.alice`...).
    pub changed: Vec<String>,
    /// Databases that are new, gone or different: their pools' server connections must be made anew.
    pub databases: BTreeSet<String>,
    /// Users that are new, gone or different.
    pub users: BTreeSet<String>,
    /// The keys whose change takes effect only after a restart.
    pub needs_restart: Vec<&'static str>,
}

impl Changes {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.needs_restart.is_empty()
    }

    /// A line for the log about what waits for a restart, if anything does.
    pub fn warning(&self) -> Option<String> {
        (!self.needs_restart.is_empty()).then(|| {
            format!("changed, but kept as they were until a restart: {}", self.needs_restart.join(", "))
        })
    }
}

/// Compares the configuration in use with the one that was just read.
pub fn compare(old: &Config, new: &Config) -> Changes {
    let mut changes = Changes::default();
    let (was, is) = (&old.general, &new.general);
    let fixed = [
        ("listen", was.listen != is.listen),
        ("unix_socket_dir", was.unix_socket_dir != is.unix_socket_dir),
        ("unix_socket_mode", was.unix_socket_mode != is.unix_socket_mode),
        ("workers", was.workers != is.workers),
        ("listen_backlog", was.listen_backlog != is.listen_backlog),
        ("so_reuseport", was.so_reuseport != is.so_reuseport),
        (
            "limits.prepared_registry_bytes_max",
            old.limits.prepared_registry_bytes_max != new.limits.prepared_registry_bytes_max,
        ),
        (
            "limits.statement_classes_bytes_max",
            old.limits.statement_classes_bytes_max != new.limits.statement_classes_bytes_max,
        ),
        ("timeouts.tcp_*", keepalive(old) != keepalive(new)),
        ("http.listen", old.http.listen != new.http.listen),
        ("http.connections_max", old.http.connections_max != new.http.connections_max),
        ("http.header_timeout", old.http.header_timeout != new.http.header_timeout),
        ("log.format", old.log.format != new.log.format),
    ];
    changes.needs_restart = fixed.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect();
    let in_force = new.clone().keeping_fixed(old);
    let tables = [
        ("pool_mode", was.pool_mode != is.pool_mode),
        ("ignore_startup_parameters", was.ignore_startup_parameters != is.ignore_startup_parameters),
        ("track_extra_parameters", was.track_extra_parameters != is.track_extra_parameters),
        ("limits", old.limits != in_force.limits),
        ("timeouts", old.timeouts != in_force.timeouts),
        ("pool", old.pool != new.pool),
        ("auth", old.auth != new.auth || old.userlist != new.userlist),
        ("tls.client", old.tls.client != new.tls.client),
        ("tls.server", old.tls.server != new.tls.server),
        ("log", logged(&old.log) != logged(&new.log)),
    ];
    changes.changed =
        tables.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key.to_owned()).collect();
    changes.databases = differing(&old.databases, &new.databases);
    changes.users = differing(&old.users, &new.users);
    let named = |parent: &str, names: &BTreeSet<String>| -> Vec<String> {
        names.iter().map(|name| super::section::join(parent, name)).collect()
    };
    changes.changed.extend(named("databases", &changes.databases));
    changes.changed.extend(named("users", &changes.users));
    changes
}

impl Config {
    /// This configuration with what needs a restart taken from `running`: what a reload puts in place.
    #[must_use]
    pub fn keeping_fixed(mut self, running: &Self) -> Self {
        let general = running.general.clone();
        self.general = General {
            pool_mode: self.general.pool_mode,
            ignore_startup_parameters: self.general.ignore_startup_parameters,
            track_extra_parameters: self.general.track_extra_parameters,
            ..general
        };
        self.limits.prepared_registry_bytes_max = running.limits.prepared_registry_bytes_max;
        self.limits.statement_classes_bytes_max = running.limits.statement_classes_bytes_max;
        self.timeouts = Timeouts {
            tcp_keepalive: running.timeouts.tcp_keepalive,
            tcp_keepidle: running.timeouts.tcp_keepidle,
            tcp_keepintvl: running.timeouts.tcp_keepintvl,
            tcp_keepcnt: running.timeouts.tcp_keepcnt,
            tcp_user_timeout: running.timeouts.tcp_user_timeout,
            ..self.timeouts
        };
        self.http = running.http.clone();
        self.log.format = running.log.format;
        self
    }
}

/// What a reload changes of the log.
fn logged(log: &Log) -> impl PartialEq {
    (log.level, log.connections, log.repeats_max)
}

/// Probes are set up with the workers.
fn keepalive(config: &Config) -> impl PartialEq {
    let timeouts = &config.timeouts;
    (
        timeouts.tcp_keepalive,
        timeouts.tcp_keepidle,
        timeouts.tcp_keepintvl,
        timeouts.tcp_keepcnt,
        timeouts.tcp_user_timeout,
    )
}

fn differing<V: PartialEq>(
    old: &std::collections::BTreeMap<String, V>,
    new: &std::collections::BTreeMap<String, V>,
) -> BTreeSet<String> {
    old.keys().chain(new.keys()).filter(|name| old.get(*name) != new.get(*name)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::Size;

    #[test]
    fn what_is_made_with_the_workers_waits_for_a_restart() {
        let old = Config::default();
        let mut new = old.clone();
        new.limits.prepared_registry_bytes_max = Size::new(1 << 30);
        new.limits.statement_classes_bytes_max = Size::new(0);
        new.timeouts.tcp_keepidle = Some(Duration::from_secs(9));
        let changes = compare(&old, &new);
        let fixed =
            ["limits.prepared_registry_bytes_max", "limits.statement_classes_bytes_max", "timeouts.tcp_*"];
        assert_eq!(changes.needs_restart, fixed);
        assert!(changes.changed.is_empty(), "{:?}", changes.changed);
        assert_eq!(new.clone().keeping_fixed(&old), old);

        new.limits.max_client_conn = 3;
        new.timeouts.query_timeout = Some(Duration::from_secs(1));
        assert_eq!(compare(&old, &new).changed, ["limits", "timeouts"]);
    }
}
