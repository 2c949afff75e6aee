//! Builds a proxy's configuration, one setting after the other.

use std::net::SocketAddr;
use std::path::Path;

use trunkline_testkit::Proxy;
use trunkline_testkit::cluster::{APP_USER, DATABASE, MD5_USER, PASSWORD, PLAIN_USER, TRUSTED_USER};
use trunkline_testkit::proxy::{HTTP_PORT, LISTEN_PORT};

/// A setting's value as TOML writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value(String);

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self(format!("{text:?}"))
    }
}

impl From<&Path> for Value {
    fn from(path: &Path) -> Self {
        Self(format!("{path:?}"))
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self(number.to_string())
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self(truth.to_string())
    }
}

/// The value of the proxy's timeouts for servers and clients. A probe that tests such a timeout sets its own.
const PATIENT: [&str; 5] = [
    "timeouts.server_connect_timeout",
    "timeouts.abandoned_turn_timeout",
    "timeouts.cancel_wait_timeout",
    "timeouts.query_wait_timeout",
    "limits.client_login_timeout",
];

/// Builds a `trunkline.toml`. It begins with two workers, an HTTP page, the test's database as `app`, and the roles `app`,
/// `md5user`, `plainuser` and `trusted` with their passwords. Connections to servers have no TLS. Timeouts are so long that a
/// peer on a slow machine never reaches them.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Table, key and value, in the order they were set.
    settings: Vec<(String, String, Value)>,
}

impl Setup {
    /// A configuration for one database of the server at `address`.
    pub(crate) fn new(address: SocketAddr, database: &str) -> Self {
        let listen = Value(format!("[\"127.0.0.1:{LISTEN_PORT}\"]"));
        let mut setup = Self { settings: Vec::new() }
            .put("", "listen", listen)
            .set("workers", 2)
            .set("http.listen", format!("127.0.0.1:{HTTP_PORT}").as_str())
            .set("tls.server.sslmode", "disable")
            .server(address)
            .set(&format!("databases.{DATABASE}.dbname"), database);
        // On a busy machine, a slow server must not be mistaken for one that hangs.
        for limit in PATIENT {
            setup = setup.set(limit, "10m");
        }
        for user in [APP_USER, MD5_USER, PLAIN_USER, TRUSTED_USER] {
            setup = setup.set(&format!("users.{user}.password"), PASSWORD);
        }
        setup
    }

    /// Sets the setting that `path` names: `"pool_mode"`, `"limits.max_client_conn"`, `"databases.app.pool_size"`. The last
    /// value counts.
    #[must_use]
    pub fn set(self, path: &str, value: impl Into<Value>) -> Self {
        let (table, key) = path.rsplit_once('.').unwrap_or(("", path));
        self.put(table, key, value.into())
    }

    /// Removes everything under `path`: a setting, or a table such as `"users.app"`.
    #[must_use]
    pub fn unset(mut self, path: &str) -> Self {
        self.settings.retain(|(table, key, _)| table != path && format!("{table}.{key}") != path);
        self
    }

    /// Puts another server behind the proxy: a CutProxy in front of the real one, or a fake server.
    #[must_use]
    pub fn server(self, address: SocketAddr) -> Self {
        self.set(&format!("databases.{DATABASE}.host"), address.ip().to_string().as_str())
            .set(&format!("databases.{DATABASE}.port"), i64::from(address.port()))
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let mut tables: Vec<&str> = self.settings.iter().map(|(table, ..)| table.as_str()).collect();
        // The settings without a table must stand before all tables: the empty name sorts first.
        tables.sort_unstable();
        tables.dedup();
        let mut text = String::new();
        for name in tables {
            if !name.is_empty() {
                text.push_str(&format!("[{name}]\n"));
            }
            for (_, key, Value(value)) in self.settings.iter().filter(|(table, ..)| table == name) {
                text.push_str(&format!("{key} = {value}\n"));
            }
        }
        text
    }

    /// Starts a proxy with this configuration.
    ///
    /// # Panics
    /// When it does not start; the message has its log.
    pub fn start(&self) -> Proxy {
        Proxy::start(&self.text()).unwrap_or_else(|error| panic!("{error:#}\n{}", self.text()))
    }

    fn put(mut self, table: &str, key: &str, value: Value) -> Self {
        self.settings.retain(|(known, name, _)| known != table || name != key);
        self.settings.push((table.to_owned(), key.to_owned(), value));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_counts_and_tables_come_after_the_rest() {
        let setup = Setup::new(([127, 0, 0, 1], 5432).into(), "probe_0")
            .set("pool.pool_size", 7)
            .set("pool_mode", "session")
            .set("pool.pool_size", 8)
            .unset("users.md5user");
        let text = setup.text();
        assert!(text.find("pool_mode = \"session\"") < text.find("[databases.app]"), "{text}");
        assert!(text.contains("[pool]\npool_size = 8\n") && !text.contains("= 7"), "{text}");
        assert!(text.contains("[users.app]") && !text.contains("md5user"), "{text}");
    }
}
