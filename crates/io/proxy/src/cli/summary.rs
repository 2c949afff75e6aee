//! The summary that `trunkline check` prints of a usable configuration. It has no secrets.

use std::fmt::Write;

use crate::config::{Config, ListenAddress};

/// Most databases that the summary names. The others are only counted.
const DATABASES_NAMED_MAX: usize = 20;

/// The summary: a line for each subject, each with a newline at its end.
pub(super) fn text(config: &Config) -> String {
    let mut text = String::new();
    let mut line = |subject: &str, what: String| {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "  {subject:<10} {what}");
    };
    line("listen", listening(config));
    let workers = config.general.workers;
    line("workers", if workers == 0 { "one for each core".to_owned() } else { workers.to_string() });
    for (name, database) in config.databases.iter().take(DATABASES_NAMED_MAX) {
        let pool = config.pool_settings(name, database.user.as_deref().unwrap_or_default());
        let Some(pool) = pool else { continue };
        let on_server = database.dbname.as_deref().map(|dbname| format!("/{dbname}")).unwrap_or_default();
        let user = database.user.as_deref().map(|user| format!(" as {user}")).unwrap_or_default();
        let server = format!("{}:{}{on_server}{user}", database.host, database.port);
        let tls = database.tls.sslmode;
        line(
            "database",
            format!("{name} -> {server} ({}, {} connections, sslmode {tls})", pool.pool_mode, pool.pool_size),
        );
    }
    let more = config.databases.len().saturating_sub(DATABASES_NAMED_MAX);
    if more > 0 {
        line("", format!("and {more} more databases"));
    }
    line("users", users(config));
    line("clients", format!("at most {}, TLS {}", config.limits.max_client_conn, config.tls.client.mode));
    line("http", config.http.listen.map_or_else(|| "off".to_owned(), |address| address.to_string()));
    for advice in config.advice() {
        line("note", advice);
    }
    text
}

fn listening(config: &Config) -> String {
    let general = &config.general;
    let mut addresses: Vec<String> = general.listen.iter().map(ListenAddress::to_string).collect();
    addresses.extend(general.unix_socket_dir.iter().map(|directory| directory.display().to_string()));
    addresses.join(", ")
}

fn users(config: &Config) -> String {
    let mut known: Vec<&str> =
        config.users.keys().map(String::as_str).chain(config.userlist.names()).collect();
    known.sort_unstable();
    known.dedup();
    let mut text = format!("{} known, authentication {}", known.len(), config.auth.r#type);
    if let Some(user) = &config.auth.user {
        let _ = write!(text, ", others asked of the server as {user}");
    }
    text
}
