//! Checks of several settings together: settings that contradict or need each other.

use std::net::SocketAddr;

use super::modes::{AuthType, SslMode};
use super::problem::Findings;
use super::section::join;
use super::tls::RootCertificates;
use super::{Config, ServerTls};

/// Adds every contradiction to `findings`.
pub(super) fn check(config: &Config, findings: &mut Findings<'_>) {
    check_listening(config, findings);
    check_limits(config, findings);
    check_pools(config, findings);
    check_authentication(config, findings);
    check_client_tls(config, findings);
    check_server_tls("tls.server", ["sslmode", "root", "cert", "key"], &config.tls.server, findings);
    for (name, database) in &config.databases {
        // A fault of [tls.server] was already reported above.
        if database.tls != config.tls.server {
            let path = join("databases", name);
            check_server_tls(&path, ["sslmode", "sslrootcert", "sslcert", "sslkey"], &database.tls, findings);
        }
    }
}

fn check_listening(config: &Config, findings: &mut Findings<'_>) {
    let general = &config.general;
    if general.listen.is_empty() && general.unix_socket_dir.is_none() {
        findings
            .add_at("listen", "`listen` is empty and `unix_socket_dir` is not set: no client could connect");
    }
    let mut taken: Vec<SocketAddr> = Vec::new();
    for address in &general.listen {
        let sockets = address.sockets();
        if let Some(clash) = sockets.iter().find(|socket| taken.iter().any(|other| overlap(**socket, *other)))
        {
            findings.add_at(
                "listen",
                format!("`listen` has {clash} twice (\"{address}\" and another entry): keep one"),
            );
        }
        taken.extend(sockets);
    }
    if let Some(http) = config.http.listen
        && http.sockets().iter().any(|socket| taken.iter().any(|other| overlap(*socket, *other)))
    {
        findings.add_at("http.listen", format!("`http.listen`: {http} is already taken by `listen`"));
    }
    let mode = general.unix_socket_mode.bits();
    if mode & 0o200 == 0 {
        findings.add_at(
            "unix_socket_mode",
            "`unix_socket_mode` does not let its owner connect: it needs at least 0o200",
        );
    }
}

/// Whether two sockets cannot both be bound: they have the same port, and the same address or an unspecified one, which
/// stands for all addresses.
fn overlap(a: SocketAddr, b: SocketAddr) -> bool {
    let covers = a.ip() == b.ip()
        || ((a.ip().is_unspecified() || b.ip().is_unspecified()) && a.is_ipv4() == b.is_ipv4());
    a.port() == b.port() && covers
}

fn check_limits(config: &Config, findings: &mut Findings<'_>) {
    let limits = &config.limits;
    // A message's length is a signed 32-bit number.
    if limits.message_bytes_max.bytes() > i32::MAX as usize {
        findings.add_at(
            "limits.message_bytes_max",
            "`limits.message_bytes_max`: a message of the protocol has at most 2147483647 bytes",
        );
    }
    if limits.prepared_statement_bytes_max > limits.prepared_registry_bytes_max {
        findings.add_at(
            "limits.prepared_statement_bytes_max",
            "`limits.prepared_statement_bytes_max` (one statement) is more than `limits.prepared_registry_bytes_max` (all statements)",
        );
    }
    if config.general.workers > WORKERS_MAX {
        findings.add_at("workers", format!("`workers` must be at most {WORKERS_MAX} (0: one for each core)"));
    }
    if config.timeouts.server_login_retry > config.timeouts.server_login_retry_max {
        findings.add_at(
            "timeouts.server_login_retry",
            "`timeouts.server_login_retry` is more than `timeouts.server_login_retry_max`",
        );
    }
}

/// No machine has more cores than this: a larger number is a typing error.
const WORKERS_MAX: u32 = 1024;

fn check_pools(config: &Config, findings: &mut Findings<'_>) {
    let pool = &config.pool;
    if pool.pool_size == 0 {
        findings.add_at("pool.pool_size", "`pool.pool_size` must be at least 1");
    }
    if pool.min_pool_size > pool.pool_size {
        let message = format!(
            "`pool.min_pool_size` ({}) is more than `pool.pool_size` ({})",
            pool.min_pool_size, pool.pool_size
        );
        findings.add_at("pool.min_pool_size", message);
    }
    for (name, database) in &config.databases {
        let path = join("databases", name);
        let size = database.pool_size.unwrap_or(pool.pool_size);
        let least = database.min_pool_size.unwrap_or(pool.min_pool_size);
        if database.pool_size == Some(0) {
            findings.add_at(&format!("{path}.pool_size"), format!("`{path}.pool_size` must be at least 1"));
        } else if least > size && (database.pool_size.is_some() || database.min_pool_size.is_some()) {
            let key = if database.min_pool_size.is_some() { "min_pool_size" } else { "pool_size" };
            findings.add_at(
                &format!("{path}.{key}"),
                format!("[{path}]: `min_pool_size` ({least}) is more than `pool_size` ({size})"),
            );
        }
        if database.port == 0 {
            findings.add_at(&format!("{path}.port"), format!("`{path}.port` must be from 1 to 65535"));
        }
    }
    for (name, user) in &config.users {
        if user.pool_size == Some(0) {
            let path = join("users", name);
            findings.add_at(&format!("{path}.pool_size"), format!("`{path}.pool_size` must be at least 1"));
        }
    }
    if config.databases.is_empty() && !findings.mentions("databases") {
        findings.add_at(
            "databases",
            "there is no database: add [databases.NAME], or [databases.\"*\"] for every name",
        );
    }
}

fn check_authentication(config: &Config, findings: &mut Findings<'_>) {
    let auth = &config.auth;
    let asked = auth.user.is_some() || config.databases.values().any(|database| database.auth_user.is_some());
    let known = !config.users.is_empty()
        || config.userlist.names().next().is_some()
        || findings.mentions("auth.file");
    if auth.r#type != AuthType::Any && !asked && !known && !findings.mentions("auth.user") {
        let message = format!(
            "`auth.type` = \"{}\" but no user is known: add [users.NAME], set `auth.file`, or set `auth.user` to have `auth.query` asked",
            auth.r#type
        );
        findings.add_at("auth.type", message);
    }
    if auth.r#type == AuthType::Any {
        for (name, _) in config.databases.iter().filter(|(_, database)| database.user.is_none()) {
            let path = join("databases", name);
            findings.add_at(
                &path,
                format!("`auth.type` = \"any\" needs a `user` towards the server in [{path}]"),
            );
        }
    }
    if !auth.query.contains("$1") {
        findings.add_at("auth.query", "`auth.query` must name the user it asks for as $1");
    }
    let mut known_database = |path: String, name: Option<&String>| {
        let Some(name) = name else { return };
        if config.database(name).is_none() && !findings.mentions(&join("databases", name)) {
            findings.add_at(&path, format!("`{path}`: there is no [databases.{name}]"));
        }
    };
    known_database("auth.dbname".to_owned(), auth.dbname.as_ref());
    for (name, database) in &config.databases {
        known_database(format!("{}.auth_dbname", join("databases", name)), database.auth_dbname.as_ref());
    }
    for (name, database) in &config.databases {
        let query = database.auth_query.as_ref();
        let path = format!("{}.auth_query", join("databases", name));
        if query.is_some_and(|query| !query.contains("$1")) {
            findings.add_at(&path, format!("`{path}` must name the user it asks for as $1"));
        }
    }
}

fn check_client_tls(config: &Config, findings: &mut Findings<'_>) {
    let tls = &config.tls.client;
    check_pair("tls.client", ["cert", "key"], [tls.cert.is_some(), tls.key.is_some()], findings);
    if tls.mode != SslMode::Disable && tls.cert.is_none() && tls.key.is_none() {
        findings.add_at(
            "tls.client.mode",
            format!("`tls.client.mode` = \"{}\" needs `cert` and `key`", tls.mode),
        );
    }
    if tls.mode.verifies() && tls.ca.is_none() {
        findings.add_at("tls.client.mode", format!("`tls.client.mode` = \"{}\" needs `ca`", tls.mode));
    }
    let files = [("cert", &tls.cert), ("key", &tls.key), ("ca", &tls.ca)];
    for (key, path) in files {
        check_readable(&format!("tls.client.{key}"), path.as_deref(), findings);
    }
}

/// Checks the TLS settings towards a server; `keys` are the table's names for sslmode, root, cert and key.
fn check_server_tls(table: &str, keys: [&str; 4], tls: &ServerTls, findings: &mut Findings<'_>) {
    let [mode_key, root_key, cert_key, key_key] = keys;
    let mode_path = format!("{table}.{mode_key}");
    check_pair(table, [cert_key, key_key], [tls.cert.is_some(), tls.key.is_some()], findings);
    match &tls.root {
        None if tls.sslmode.verifies() => {
            let message =
                format!("`{mode_path}` = \"{}\" needs `{root_key}`: a PEM file, or \"system\"", tls.sslmode);
            findings.add_at(&mode_path, message);
        }
        // As libpq does: a public authority issues certificates to everybody, so a certificate proves something only when
        // its host name is checked too.
        Some(RootCertificates::System) if tls.sslmode != SslMode::VerifyFull => {
            let message = format!(
                "`{root_key}` = \"system\" is secure only with `{mode_key}` = \"verify-full\", but that is \"{}\"",
                tls.sslmode
            );
            findings.add_at(&format!("{table}.{root_key}"), message);
        }
        Some(RootCertificates::File(path)) => {
            check_readable(&format!("{table}.{root_key}"), Some(path), findings);
        }
        _ => {}
    }
    check_readable(&format!("{table}.{cert_key}"), tls.cert.as_deref(), findings);
    check_readable(&format!("{table}.{key_key}"), tls.key.as_deref(), findings);
}

fn check_pair(table: &str, keys: [&str; 2], given: [bool; 2], findings: &mut Findings<'_>) {
    let (present, missing) = match given {
        [true, false] => (keys[0], keys[1]),
        [false, true] => (keys[1], keys[0]),
        _ => return,
    };
    findings
        .add_at(&format!("{table}.{present}"), format!("`{table}.{present}` needs `{missing}` beside it"));
}

fn check_readable(setting: &str, path: Option<&std::path::Path>, findings: &mut Findings<'_>) {
    let Some(path) = path else { return };
    if let Err(error) = std::fs::File::open(path) {
        findings.add_at(setting, format!("`{setting}`: cannot open {}: {error}", path.display()));
    }
}
