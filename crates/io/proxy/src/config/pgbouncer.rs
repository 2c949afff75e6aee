//! PgBouncer's settings, for hints to people who move from it. `docs/moving-from-pgbouncer.md` has a longer table.

/// PgBouncer's settings that have another name or place in `trunkline.toml`.
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
    ("admin_users", NO_COUNTERPART),
    ("stats_users", NO_COUNTERPART),
    ("logfile", NO_COUNTERPART),
    ("pidfile", NO_COUNTERPART),
];

const NO_COUNTERPART: &str = "nothing: docs/moving-from-pgbouncer.md says what to do instead";

/// A hint that names the counterpart of a PgBouncer setting. `None` if the setting has the same name, in whatever table.
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
    fn every_counterpart_is_a_setting() {
        let keys = keys();
        for (theirs, ours) in SETTINGS.iter().filter(|(_, ours)| *ours != NO_COUNTERPART) {
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
