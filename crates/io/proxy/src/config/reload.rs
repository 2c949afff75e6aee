//! The settings that a reload changes, and those that need a restart.

use std::collections::BTreeSet;

use super::Config;
use super::section::{Section, join};

/// The difference between two configurations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The tables with a difference that takes effect at once (`limits`, `auth`, `databases.app`, `users.alice`...).
    pub changed: Vec<String>,
    /// Databases that are new, gone or different. Their pools must replace their server connections.
    pub databases: BTreeSet<String>,
    /// Users that are new, gone or different.
    pub users: BTreeSet<String>,
    /// The keys with a change that takes effect only after a restart.
    pub needs_restart: Vec<String>,
}

impl Changes {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.needs_restart.is_empty()
    }

    /// A log line that names the keys whose change waits for a restart, if there are any.
    pub fn warning(&self) -> Option<String> {
        (!self.needs_restart.is_empty()).then(|| {
            format!("these settings have changed, but need a restart: {}", self.needs_restart.join(", "))
        })
    }

    /// Records the differences in the table `path` that need a restart. Returns the keys whose change takes effect at once.
    fn note<S: Section>(&mut self, path: &str, old: &S, new: &S) -> Vec<&'static str> {
        let mut at_once = Vec::new();
        for key in old.differing(new) {
            match key.restart_name(path) {
                None => at_once.push(key.name),
                Some(name) if self.needs_restart.contains(&name) => {}
                Some(name) => self.needs_restart.push(name),
            }
        }
        at_once
    }

    /// The same as `note`, and adds the table itself to `changed` if a change takes effect at once.
    fn note_table<S: Section>(&mut self, path: &str, old: &S, new: &S) {
        if !self.note(path, old, new).is_empty() {
            self.changed.push(path.to_owned());
        }
    }
}

/// Compares the configuration in use with the one that was just read.
pub fn compare(old: &Config, new: &Config) -> Changes {
    let mut changes = Changes::default();
    let general = changes.note("", &old.general, &new.general);
    changes.changed.extend(general.into_iter().map(str::to_owned));
    changes.note_table("limits", &old.limits, &new.limits);
    changes.note_table("timeouts", &old.timeouts, &new.timeouts);
    changes.note_table("pool", &old.pool, &new.pool);
    let auth = changes.note("auth", &old.auth, &new.auth);
    if !auth.is_empty() || old.userlist != new.userlist {
        changes.changed.push("auth".to_owned());
    }
    changes.note_table("tls.client", &old.tls.client, &new.tls.client);
    changes.note_table("tls.server", &old.tls.server, &new.tls.server);
    changes.note_table("http", &old.http, &new.http);
    changes.note_table("log", &old.log, &new.log);
    changes.databases = differing(&old.databases, &new.databases);
    changes.users = differing(&old.users, &new.users);
    let named = |parent: &str, names: &BTreeSet<String>| -> Vec<String> {
        names.iter().map(|name| join(parent, name)).collect()
    };
    changes.changed.extend(named("databases", &changes.databases));
    changes.changed.extend(named("users", &changes.users));
    changes
}

impl Config {
    /// This configuration, but with the settings that need a restart taken from `running`: what a reload puts in force.
    #[must_use]
    pub fn keeping_restart_settings(mut self, running: &Self) -> Self {
        self.general.keep_restart_settings(&running.general);
        self.limits.keep_restart_settings(&running.limits);
        self.timeouts.keep_restart_settings(&running.timeouts);
        self.pool.keep_restart_settings(&running.pool);
        self.auth.keep_restart_settings(&running.auth);
        self.tls.client.keep_restart_settings(&running.tls.client);
        self.tls.server.keep_restart_settings(&running.tls.server);
        self.http.keep_restart_settings(&running.http);
        self.log.keep_restart_settings(&running.log);
        self
    }
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
    use crate::config::{Size, schema};

    #[test]
    fn settings_that_are_fixed_at_start_wait_for_a_restart() {
        let old = Config::default();
        let mut new = old.clone();
        new.limits.prepared_registry_bytes_max = Size::new(1 << 30);
        new.limits.statement_classes_bytes_max = Size::new(0);
        new.timeouts.tcp_keepidle = Some(Duration::from_secs(9));
        let changes = compare(&old, &new);
        let fixed =
            ["limits.statement_classes_bytes_max", "limits.prepared_registry_bytes_max", "timeouts.tcp_*"];
        assert_eq!(changes.needs_restart, fixed);
        assert!(changes.changed.is_empty(), "{:?}", changes.changed);
        assert_eq!(new.clone().keeping_restart_settings(&old), old);

        new.limits.max_client_conn = 3;
        new.timeouts.query_timeout = Some(Duration::from_secs(1));
        assert_eq!(compare(&old, &new).changed, ["limits", "timeouts"]);
    }

    #[test]
    fn no_setting_of_a_database_or_a_user_needs_a_restart() {
        // `compare` compares their tables as a whole and would overlook a mark in them.
        for key in schema::keys() {
            assert!(!(key.needs_restart && key.table.ends_with(".NAME")), "{key:?}");
        }
    }
}
