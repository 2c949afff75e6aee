//! The bounds in force, by the names of their settings.

use super::Config;
use super::section::Section;

impl Config {
    /// Every bound that holds for the whole process or is the default of all pools, as a count, bytes or seconds. 0: no bound.
    ///
    /// These are the numbers of `[limits]`, `[pool]` and `[timeouts]`, except the settings that are declared with
    /// `NoBound`.
    pub fn bounds(&self) -> Vec<(&'static str, f64)> {
        [self.limits.bounds(), self.pool.bounds(), self.timeouts.bounds()].concat()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::{Size, schema};

    #[test]
    fn every_limit_is_listed_once_as_a_bound() {
        let bounds: Vec<&str> = Config::default().bounds().into_iter().map(|(name, _)| name).collect();
        let times = |name: &str| bounds.iter().filter(|bound| **bound == name).count();
        for key in schema::keys().iter().filter(|key| key.table == "limits") {
            assert_eq!(times(key.name), 1, "{}", key.name);
        }
        for bound in &bounds {
            assert_eq!(times(bound), 1, "{bound}");
        }
        for bound in ["pool_size", "max_user_client_connections", "query_timeout", "abandoned_turn_timeout"] {
            assert_eq!(times(bound), 1, "{bound}");
        }
        // Not bounds: how keepalive works, pauses between attempts, connections kept open, and a text.
        for other in
            ["tcp_keepalive", "tcp_keepidle", "server_login_retry", "min_pool_size", "server_check_query"]
        {
            assert_eq!(times(other), 0, "{other}");
        }
    }

    #[test]
    fn the_values_are_those_configured() {
        let mut config = Config::default();
        config.limits.max_client_conn = 77;
        config.limits.message_bytes_max = Size::new(1 << 20);
        config.timeouts.query_timeout = Some(Duration::from_millis(1500));
        config.timeouts.client_idle_timeout = None;
        config.timeouts.abandoned_turn_timeout = Duration::from_secs(7);
        let bounds = config.bounds();
        for expected in [
            ("max_client_conn", 77.0),
            ("message_bytes_max", 1_048_576.0),
            ("query_timeout", 1.5),
            ("client_idle_timeout", 0.0),
            ("abandoned_turn_timeout", 7.0),
        ] {
            assert!(bounds.contains(&expected), "{expected:?}");
        }
    }
}
