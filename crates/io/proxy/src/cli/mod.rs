//! The command line.

mod sql;
mod summary;

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgAction, Args, Parser, Subcommand};

use crate::config::{Config, ConfigError, ConfigSource, Secret};
use crate::serve::ServeError;
use crate::{logging, serve};
use sql::{Sql, SqlFailure};

/// The configuration file if the command line names none.
const DEFAULT_CONFIG: &str = "trunkline.toml";

/// The address to listen on with `--upstream`, if the command line names none.
const DEFAULT_LISTEN: &str = "127.0.0.1:6432";

/// Trunkline, a connection pooler for PostgreSQL.
#[derive(Debug, Parser)]
#[command(name = "trunkline", version, disable_help_subcommand = true)]
pub struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Task,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Run the proxy
    Serve(Serve),
    /// Read and check a configuration; exit 0 if it can be used, 1 if not
    Check(Check),
    /// Parse, format, fingerprint, split or classify SQL
    Sql(Sql),
    /// Print the version
    Version,
}

/// `trunkline serve`.
#[derive(Args)]
#[command(after_help = SERVE_HELP)]
pub struct Serve {
    /// The configuration file [default: trunkline.toml]
    #[arg(short, long, value_name = "FILE", conflicts_with = "upstream")]
    pub config: Option<PathBuf>,

    /// Without a file: pass every database on to this server, as postgres://user:password@host:port
    ///
    /// Other users of this machine can see arguments, but not the environment variable.
    #[arg(long, value_name = "URL", env = "TRUNKLINE_UPSTREAM", hide_env_values = true)]
    pub upstream: Option<String>,

    /// With --upstream: the address to listen on [default: 127.0.0.1:6432]
    #[arg(long, value_name = "ADDRESS", requires = "upstream")]
    pub listen: Option<String>,

    /// With --upstream: let clients in without a password, even on an address that other machines can reach
    #[arg(long, requires = "upstream")]
    pub allow_trust: bool,

    /// Log more: -v for debug, -vv for trace
    #[arg(short, long, action = ArgAction::Count)]
    pub verbose: u8,
}

const SERVE_HELP: &str = "\
Who may connect with --upstream:
  With user:password in the URL, clients log in as that user with that
  password (SCRAM-SHA-256). With no password in the URL, every client is let
  in without one. That is refused on an address that other machines can
  reach, unless --allow-trust is given. Trunkline logs in to the server as
  the user in the URL, or as the client's user if the URL has none.

Signals:
  HUP         read the configuration again
  INT         end as soon as no server connection is in use
  TERM        end as soon as the last client has left
  INT, TERM   a second time, and QUIT: end at once
  USR1, USR2  pause, resume";

/// `trunkline check`.
#[derive(Debug, Args)]
pub struct Check {
    /// The configuration file [default: trunkline.toml]
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Written by hand, because the URL may hold a password.
impl fmt::Debug for Serve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("config", &self.config)
            .field("upstream", &self.upstream.as_ref().map(|_| "***"))
            .field("listen", &self.listen)
            .field("allow_trust", &self.allow_trust)
            .field("verbose", &self.verbose)
            .finish()
    }
}

impl Serve {
    /// Where the configuration comes from.
    pub fn source(&self) -> ConfigSource {
        match (&self.upstream, &self.config) {
            (Some(url), None) => ConfigSource::Upstream {
                url: Secret::new(url.as_str()),
                listen: self.listen.clone().unwrap_or_else(|| DEFAULT_LISTEN.to_owned()),
                allow_trust: self.allow_trust,
            },
            (_, config) => ConfigSource::File(config.clone().unwrap_or_else(|| DEFAULT_CONFIG.into())),
        }
    }
}

/// Why a command failed.
#[derive(Debug)]
enum Failure {
    Config(ConfigError, ConfigSource),
    Logging(logging::LoggingError),
    Serve(ServeError),
    Sql(SqlFailure),
    Output(io::Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error, source) => {
                error.fmt(f)?;
                match (error, source) {
                    (ConfigError::Unreadable { source: cause, .. }, ConfigSource::File(path))
                        if cause.kind() == io::ErrorKind::NotFound && path.as_os_str() == DEFAULT_CONFIG =>
                    {
                        f.write_str("\nname another file with --config FILE, or run without one: trunkline serve --upstream postgres://user:password@host:5432")
                    }
                    (ConfigError::Refused { problems }, _) if problems.len() > 1 => {
                        write!(f, "\n\n{} problems", problems.len())
                    }
                    _ => Ok(()),
                }
            }
            Self::Logging(error) => error.fmt(f),
            Self::Serve(error) => error.fmt(f),
            Self::Sql(error) => error.fmt(f),
            Self::Output(error) => write!(f, "cannot write: {error}"),
        }
    }
}

/// Runs the command of the command line. Its output goes to `out`, an error to `err`.
pub fn run(cli: &Cli, out: &mut dyn Write, err: &mut dyn Write) -> ExitCode {
    let result = match &cli.command {
        Task::Serve(serve) => run_serve(serve),
        Task::Check(check) => run_check(check, out),
        Task::Sql(arguments) => sql::run(arguments, out).map_err(Failure::Sql),
        Task::Version => writeln!(out, "trunkline {}", env!("CARGO_PKG_VERSION")).map_err(Failure::Output),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // If standard error is closed, nobody can be told.
            let _ = writeln!(err, "{failure}");
            ExitCode::FAILURE
        }
    }
}

fn run_serve(arguments: &Serve) -> Result<(), Failure> {
    let source = arguments.source();
    let config = read(&source)?;
    let directives = std::env::var(logging::LEVEL_VARIABLE).ok();
    logging::start(&config.log, arguments.verbose, directives.as_deref()).map_err(Failure::Logging)?;
    for advice in config.advice() {
        tracing::warn!(target: logging::OPERATOR, "{advice}");
    }
    serve::run(config, source).map_err(Failure::Serve)
}

fn run_check(arguments: &Check, out: &mut dyn Write) -> Result<(), Failure> {
    let path = arguments.config.clone().unwrap_or_else(|| DEFAULT_CONFIG.into());
    let name = path.display().to_string();
    let config = read(&ConfigSource::File(path))?;
    serve::check_certificates(&config).map_err(Failure::Serve)?;
    write!(out, "{name}: OK\n{}", summary::text(&config)).map_err(Failure::Output)
}

fn read(source: &ConfigSource) -> Result<Config, Failure> {
    source.read().map_err(|error| Failure::Config(error, source.clone()))
}
