//! The bounds in force, by their settings' names.

use std::time::Duration;

use crate::config::Config;

/// Each bound that holds for the whole process or is the default of all pools: a number, bytes, or seconds. 0 is none.
pub(super) fn in_force(config: &Config) -> Vec<(&'static str, f64)> {
    let mut bounds = of_limits(config);
    bounds.extend(of_timeouts(config));
    bounds
}

fn of_limits(config: &Config) -> Vec<(&'static str, f64)> {
    let (limits, pool) = (&config.limits, &config.pool);
    let bytes = |size: crate::config::Size| size.bytes() as f64;
    vec![
        ("max_client_conn", limits.max_client_conn.into()),
        ("client_login_timeout", seconds(limits.client_login_timeout)),
        ("unauthenticated_conn_max", limits.unauthenticated_conn_max.into()),
        ("startup_packet_bytes_max", bytes(limits.startup_packet_bytes_max)),
        ("message_bytes_max", bytes(limits.message_bytes_max)),
        ("client_buffer_bytes", bytes(limits.client_buffer_bytes)),
        ("server_buffer_bytes", bytes(limits.server_buffer_bytes)),
        ("outstanding_turns_max", limits.outstanding_turns_max.into()),
        ("round_messages_max", limits.round_messages_max.into()),
        ("lent_turns_max", limits.lent_turns_max.into()),
        ("round_parse_bytes_max", bytes(limits.round_parse_bytes_max)),
        ("classified_text_bytes_max", bytes(limits.classified_text_bytes_max)),
        ("statement_classes_bytes_max", bytes(limits.statement_classes_bytes_max)),
        ("replay_bytes_max", bytes(limits.replay_bytes_max)),
        ("max_prepared_statements", limits.max_prepared_statements.into()),
        ("prepared_statement_bytes_max", bytes(limits.prepared_statement_bytes_max)),
        ("prepared_registry_bytes_max", bytes(limits.prepared_registry_bytes_max)),
        ("client_prepared_statements_max", limits.client_prepared_statements_max.into()),
        ("client_prepared_statement_bytes_max", bytes(limits.client_prepared_statement_bytes_max)),
        ("scram_iterations_max", limits.scram_iterations_max.into()),
        ("cancel_requests_max", limits.cancel_requests_max.into()),
        ("pools_max", limits.pools_max.into()),
        ("auth_cache_bytes_max", bytes(limits.auth_cache_bytes_max)),
        ("unproven_lookups_max", limits.unproven_lookups_max.into()),
        ("unproven_lookups_per_second", limits.unproven_lookups_per_second.into()),
        ("pool_size", pool.pool_size.into()),
        ("reserve_pool_size", pool.reserve_pool_size.into()),
        ("max_db_connections", pool.max_db_connections.into()),
        ("max_user_connections", pool.max_user_connections.into()),
        ("max_db_client_connections", pool.max_db_client_connections.into()),
        ("max_user_client_connections", pool.max_user_client_connections.into()),
    ]
}

fn of_timeouts(config: &Config) -> Vec<(&'static str, f64)> {
    let timeouts = &config.timeouts;
    vec![
        ("query_wait_timeout", seconds(timeouts.query_wait_timeout)),
        ("query_timeout", seconds(timeouts.query_timeout)),
        ("idle_transaction_timeout", seconds(timeouts.idle_transaction_timeout)),
        ("client_idle_timeout", seconds(timeouts.client_idle_timeout)),
        ("server_idle_timeout", seconds(timeouts.server_idle_timeout)),
        ("server_lifetime", seconds(timeouts.server_lifetime)),
        ("server_connect_timeout", seconds(timeouts.server_connect_timeout)),
        ("prepared_statement_lifetime", seconds(timeouts.prepared_statement_lifetime)),
        ("cancel_wait_timeout", seconds(timeouts.cancel_wait_timeout)),
        ("shutdown_timeout", seconds(timeouts.shutdown_timeout)),
        ("pool_idle_timeout", seconds(timeouts.pool_idle_timeout)),
        ("abandoned_turn_timeout", seconds(Some(timeouts.abandoned_turn_timeout))),
    ]
}

fn seconds(timeout: Option<Duration>) -> f64 {
    timeout.unwrap_or_default().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::schema;

    #[test]
    fn every_bound_of_the_configuration_is_there_once() {
        // How keepalive works, and pauses between attempts: no bounds.
        let exempt = |name: &str| {
            name.starts_with("tcp_") || name.starts_with("server_login_retry") || name == "server_check_delay"
        };
        let bounds: Vec<&str> = in_force(&Config::default()).into_iter().map(|(name, _)| name).collect();
        for key in schema::keys() {
            if matches!(key.table, "limits" | "timeouts") && !exempt(key.name) {
                let times = bounds.iter().filter(|name| **name == key.name).count();
                assert_eq!(times, 1, "{}", key.name);
            }
        }
        let settings: Vec<&str> = schema::keys().iter().map(|key| key.name).collect();
        for bound in bounds {
            assert!(settings.contains(&bound), "{bound} is shown but is no setting");
        }
    }

    #[test]
    fn the_values_are_those_configured() {
        let mut config = Config::default();
        config.limits.max_client_conn = 77;
        config.timeouts.query_timeout = Some(Duration::from_millis(1500));
        config.timeouts.client_idle_timeout = None;
        let bounds = in_force(&config);
        for expected in [("max_client_conn", 77.0), ("query_timeout", 1.5), ("client_idle_timeout", 0.0)] {
            assert!(bounds.contains(&expected), "{expected:?}");
        }
    }
}
