//! The bound that the operating system puts on open files: each connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::Config;

/// Files beside connections: logs, listeners, polls, certificates while they are read.
const OTHER_FILES: u64 = 64;

/// Raises the bound as far as it goes without privileges, and warns when that is less than `config` may need.
pub(super) fn raise(config: &Config, workers: usize) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let mut bound = current;
    if current != maximum {
        match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
            Ok(()) => bound = maximum,
            Err(error) => tracing::warn!(
                "cannot raise the limit of open files from {current:?} to {maximum:?}: {error}"
            ),
        }
    }
    let needed = needed(config, workers);
    if let Some(bound) = bound.filter(|bound| *bound < needed) {
        tracing::warn!(
            "at most {bound} files may be open, and max_client_conn = {} with the servers' connections may need {needed}: \
             raise the limit (ulimit -Hn, or LimitNOFILE= of the systemd unit) or lower max_client_conn",
            config.limits.max_client_conn
        );
    }
}

/// A file for each client, for each server connection of a full pool of each database, and the rest.
fn needed(config: &Config, workers: usize) -> u64 {
    let servers: u64 = config
        .databases
        .values()
        .map(|database| u64::from(database.pool_size.unwrap_or(config.pool.pool_size)))
        .sum();
    let listeners = config.general.listen.len() as u64 + 3;
    u64::from(config.limits.max_client_conn) + servers + listeners * workers as u64 + OTHER_FILES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_raised_to_what_is_allowed() {
        raise(&Config::default(), 1);
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
    }

    #[test]
    fn every_client_and_every_pool_counts() {
        let mut config = Config::default();
        let without = needed(&config, 2);
        config.limits.max_client_conn += 5;
        assert_eq!(needed(&config, 2), without + 5);
        assert!(needed(&config, 3) > needed(&config, 2));
    }
}
