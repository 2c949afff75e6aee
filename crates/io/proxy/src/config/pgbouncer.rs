//! PgBouncer's settings, for those who come from there: `docs/moving-from-pgbouncer.md` has the same table with more words.

/// Settings that have another name or place here.
const SETTINGS: [(&str, &str); 28] = [
    ("listen_addr", "`listen = [\"ADDRESS:PORT\"]` at the top of the file"),
    ("listen_port", "`listen = [\"ADDRESS:PORT\"]` at the top of the file"),
    ("auth_type", "`type` in [auth]"),
    ("auth_file", "`file` in [auth]"),
    ("auth_user", "`user` in [auth]"),
    ("auth_query", "`query` in [auth]"),
    ("auth_dbname", "`dbname` in [auth]"),
    ("default_pool_size", "`pool_size` in [pool]"),
    ("max_packet_size", "`message_bytes_max` in [limits]"),
    ("pkt_buf", "`client_buffer_bytes` and `server_buffer_bytes` in [limits]"),
    ("autodb_idle_timeout", "`pool_idle_timeout` in [timeouts]"),
    ("client_tls_sslmode", "`mode` in [tls.client]"),
    ("client_tls_ca_file", "`ca` in [tls.client]"),
    ("client_tls_cert_file", "`cert` in [tls.client]"),
    ("client_tls_key_file", "`key` in [tls.client]"),
    ("client_tls_protocols", "`min_protocol` in [tls.client]"),
    ("server_tls_sslmode", "`sslmode` in [tls.server]"),
    ("server_tls_ca_file", "`root` in [tls.server]"),
    ("server_tls_cert_file", "`cert` in [tls.server]"),
    ("server_tls_key_file", "`key` in [tls.server]"),
    ("verbose", "`level` in [log]"),
    ("log_connections", "`connections` in [log]"),
    ("log_disconnections", "`connections` in [log]"),
    ("stats_period", "the metrics that `listen` in [http] serves"),
    ("admin_users", NOTHING),
    ("stats_users", NOTHING),
    ("logfile", NOTHING),
    ("pidfile", NOTHING),
];

const NOTHING: &str = "nothing: docs/moving-from-pgbouncer.md says what to do instead";

/// What a setting of PgBouncer's is here, where it is not simply in another table.
pub(super) fn counterpart(setting: &str) -> Option<String> {
    let (_, ours) = SETTINGS.iter().find(|(theirs, _)| *theirs == setting)?;
    Some(format!("PgBouncer's `{setting}` is {ours}"))
}

/// Whether a file is a `pgbouncer.ini`.
pub(super) fn is_ini(text: &str) -> bool {
    text.lines().any(|line| line.trim() == "[pgbouncer]")
}

#[cfg(test)]
mod tests {
    use super::super::schema::keys;
    use super::*;

    #[test]
    fn counterparts_are_there() {
        let keys = keys();
        for (theirs, ours) in SETTINGS.iter().filter(|(_, ours)| *ours != NOTHING) {
            let named = |key: &&super::super::schema::Key| {
                let name = format!("`{}", key.name);
                let place = match key.table {
                    "" => "at the top of the file".to_owned(),
                    table => format!("in [{table}]"),
                };
                ours.contains(&name) && ours.contains(&place)
            };
            assert!(keys.iter().any(|key| named(&key)), "{theirs}: {ours}");
        }
    }
}
