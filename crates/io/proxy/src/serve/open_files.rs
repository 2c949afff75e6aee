//! The operating system's limit of open files. Each connection is an open file.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::Config;

/// Open files that are not sockets: logs, polls, certificates while they are read.
const OTHER_FILES: u64 = 64;

/// Raises the limit as far as this is possible without privileges. Warns if it is still less than `config` may need.
pub(super) fn raise_limit(config: &Config, workers: usize) {
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
            "this process may open only {bound} files, but max_client_conn = {} and the server connections may need {needed}: \
             raise the limit (ulimit -Hn, or LimitNOFILE= of the systemd unit) or lower max_client_conn",
            config.limits.max_client_conn
        );
    }
}

/// The number of files: each client, one full pool of server connections for each database, the listeners, and the rest.
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
    fn the_limit_is_raised_to_the_maximum() {
        raise_limit(&Config::default(), 1);
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
