//! The contenders that are measured, with equal settings: PostgreSQL itself, the bare relay, PgBouncer and Trunkline.

use std::fmt;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use trunkline_testkit::account::Account;
use trunkline_testkit::cluster::APP_USER;
use trunkline_testkit::{Binaries, Cluster, free_port, repository_root};

use crate::arguments::Options;
use crate::client::{DATABASE, USER};
use crate::daemon::{self, Daemon};

/// Server connections of a pool, for every pooler.
pub(crate) const POOL_SIZE: usize = 10;
/// Clients that every pooler must allow.
const CLIENTS_MAX: usize = 15_000;
/// pgbench's scale, in units of 100,000 rows: small enough for PostgreSQL's cache.
const SCALE: &str = "5";

/// A contender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// No proxy.
    Direct,
    /// The bare epoll relay of this crate: one server connection for each client.
    Relay,
    /// PgBouncer, transaction mode.
    PgBouncer,
    /// Trunkline, transaction mode, with its default number of workers.
    Trunkline,
    /// Trunkline with one worker, like the others.
    OneWorker,
}

impl Kind {
    /// Every contender that an option can leave out, in the tables' order.
    pub(crate) const ALL: [Self; 4] = [Self::Direct, Self::Relay, Self::PgBouncer, Self::Trunkline];

    /// The name in the tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Relay => "relay",
            Self::PgBouncer => "PgBouncer",
            Self::Trunkline => "Trunkline",
            Self::OneWorker => "Trunkline, 1 worker",
        }
    }

    /// Whether many clients share few server connections.
    pub(crate) fn pools(self) -> bool {
        matches!(self, Self::PgBouncer | Self::Trunkline | Self::OneWorker)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a proxy reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// By TCP over loopback.
    Tcp,
    /// By unix socket.
    Unix,
}

/// How clients prove who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Auth {
    /// Without a password.
    Trust,
    /// By SCRAM-SHA-256, checked against the verifier that the server has too.
    Scram,
}

impl Auth {
    /// Its name in the settings of PgBouncer and Trunkline.
    fn name(self) -> &'static str {
        match self {
            Self::Trust => "trust",
            Self::Scram => "scram-sha-256",
        }
    }
}

/// The settings of a contender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// How the contender reaches the server.
    pub(crate) route: Route,
    /// The number of Trunkline's workers; `None`: its default. The others have one.
    pub(crate) workers: Option<usize>,
    /// The CPU on which it runs; `None`: any.
    pub(crate) cpu: Option<usize>,
    /// How clients prove who they are.
    pub(crate) auth: Auth,
}

impl Default for Setting {
    fn default() -> Self {
        Self { route: Route::Tcp, workers: None, cpu: None, auth: Auth::Trust }
    }
}

/// PostgreSQL, the programs to measure, and a folder for their files.
pub(crate) struct Ground {
    /// The server.
    pub(crate) cluster: Cluster,
    /// Its programs.
    pub(crate) binaries: Binaries,
    /// PgBouncer's binary, if it is measured.
    pub(crate) pgbouncer: Option<PathBuf>,
    /// Trunkline's binary, if it is measured.
    pub(crate) trunkline: Option<PathBuf>,
    folder: tempfile::TempDir,
    account: Account,
}

impl Ground {
    /// Finds the programs, starts PostgreSQL with settings that make it as fast as possible, and fills pgbench's tables.
    ///
    /// # Errors
    /// When a program is missing, or PostgreSQL does not start.
    pub(crate) fn prepare(options: &Options) -> Result<Self> {
        let has = |kind| options.kinds.contains(&kind);
        let trunkline = has(Kind::Trunkline).then(|| find_trunkline(options)).transpose()?;
        let pgbouncer = has(Kind::PgBouncer).then(|| find_pgbouncer(options)).transpose()?;
        let binaries = Binaries::newest()?;
        let settings = [
            // PgBouncer would use TLS to the server if the server had it. Here no contender uses TLS.
            ("ssl", "off"),
            ("shared_buffers", "256MB"),
            ("autovacuum", "off"),
            ("jit", "off"),
            ("max_wal_size", "4GB"),
            ("checkpoint_timeout", "1h"),
            ("log_min_messages", "fatal"),
        ];
        let cluster = Cluster::start_with(&binaries, &settings)?;
        let folder = tempfile::Builder::new().prefix("trunkline-bench-").tempdir()?;
        // PgBouncer runs as another user and reads its files here.
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755))?;
        let ground = Self { cluster, binaries, pgbouncer, trunkline, folder, account: Account::choose()? };
        let mut fill = ground.pgbench(ground.cluster.address());
        daemon::run(fill.args(["--initialize", "--quiet", "--scale", SCALE]))?;
        ground.cluster.psql("vacuum analyze")?;
        ground.cluster.psql("checkpoint")?;
        Ok(ground)
    }

    /// A pgbench command for `address`, still without the options of a run.
    pub(crate) fn pgbench(&self, address: SocketAddr) -> Command {
        let beside = self.binaries.program("pgbench");
        let mut command = Command::new(if beside.exists() { beside } else { "pgbench".into() });
        command.args(["-h", &address.ip().to_string(), "-p", &address.port().to_string(), "-U", USER]);
        // pgbench takes the database last, but getopt lets options follow it.
        command.arg(DATABASE).env("PGSSLMODE", "disable").env("PGGSSENCMODE", "disable");
        command
    }

    /// Starts a contender.
    ///
    /// # Errors
    /// When it does not start.
    pub(crate) fn start(&self, kind: Kind, setting: Setting) -> Result<Running> {
        if kind == Kind::Direct {
            return Ok(Running { kind, address: self.cluster.address(), daemon: None });
        }
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()?));
        let name = format!("{kind}-{}", address.port());
        let command = match kind {
            Kind::PgBouncer => self.pgbouncer_command(&name, address, setting)?,
            Kind::Trunkline => self.trunkline_command(&name, address, setting)?,
            Kind::OneWorker => {
                self.trunkline_command(&name, address, Setting { workers: Some(1), ..setting })?
            }
            Kind::Relay | Kind::Direct => self.relay_command(address, setting)?,
        };
        let daemon = Daemon::start(command, &name, self.folder.path(), address)?;
        Ok(Running { kind, address, daemon: Some(daemon) })
    }

    fn relay_command(&self, address: SocketAddr, setting: Setting) -> Result<Command> {
        let mut command = pinned(Account::Ourselves, &std::env::current_exe()?, setting.cpu);
        let upstream = match setting.route {
            Route::Tcp => self.cluster.address().to_string(),
            Route::Unix => self.cluster.socket_path().display().to_string(),
        };
        command.arg("relay").arg(address.to_string()).arg(upstream);
        Ok(command)
    }

    fn pgbouncer_command(&self, name: &str, address: SocketAddr, setting: Setting) -> Result<Command> {
        let users = self.userlist()?;
        let ini = format!(
            "[databases]\n* = host={host} port={port}\n\n[pgbouncer]\nlisten_addr = {}\nlisten_port = {}\n\
             unix_socket_dir =\nauth_type = {}\nauth_file = {}\npool_mode = transaction\n\
             default_pool_size = {POOL_SIZE}\nmax_client_conn = {CLIENTS_MAX}\nmax_prepared_statements = 200\n\
             server_tls_sslmode = disable\nlog_connections = 0\nlog_disconnections = 0\n",
            address.ip(),
            address.port(),
            setting.auth.name(),
            users.display(),
            host = self.host(setting.route),
            port = self.cluster.port(),
        );
        let ini = self.write(&format!("{name}.ini"), &ini)?;
        let program = self.pgbouncer.as_deref().context("PgBouncer is left out")?;
        let mut command = pinned(self.account, program, setting.cpu);
        command.arg(ini);
        Ok(command)
    }

    fn trunkline_command(&self, name: &str, address: SocketAddr, setting: Setting) -> Result<Command> {
        let users = self.userlist()?;
        let workers = setting.workers.map(|workers| format!("workers = {workers}\n")).unwrap_or_default();
        let config = format!(
            "listen = [\"{address}\"]\n{workers}pool_mode = \"transaction\"\n\n\
             [auth]\ntype = \"{}\"\nfile = \"{}\"\n\n[pool]\npool_size = {POOL_SIZE}\n\n\
             [limits]\nmax_client_conn = {CLIENTS_MAX}\nmax_prepared_statements = 200\n\n\
             [databases.\"*\"]\nhost = \"{}\"\nport = {}\nsslmode = \"disable\"\n",
            setting.auth.name(),
            users.display(),
            self.host(setting.route),
            self.cluster.port(),
        );
        let config = self.write(&format!("{name}.toml"), &config)?;
        let program = self.trunkline.as_deref().context("Trunkline is left out")?;
        let mut command = pinned(Account::Ourselves, program, setting.cpu);
        command.arg("serve").arg("--config").arg(config);
        Ok(command)
    }

    /// Writes a userlist with the users of every benchmark: one without a password, and one with the server's SCRAM verifier.
    fn userlist(&self) -> Result<PathBuf> {
        let stored = format!("select rolpassword from pg_authid where rolname = '{APP_USER}'");
        let verifier = self.cluster.psql(&stored)?;
        self.write("userlist.txt", &format!("\"{USER}\" \"\"\n\"{APP_USER}\" \"{}\"\n", verifier.trim()))
    }

    fn host(&self, route: Route) -> String {
        match route {
            Route::Tcp => self.cluster.address().ip().to_string(),
            Route::Unix => self.cluster.socket_folder().display().to_string(),
        }
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}

/// A running contender.
pub(crate) struct Running {
    /// Which contender it is.
    pub(crate) kind: Kind,
    /// The address for clients.
    pub(crate) address: SocketAddr,
    daemon: Option<Daemon>,
}

impl Running {
    /// The proxy's process id; `None` for a direct connection.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.daemon.as_ref().map(Daemon::pid)
    }

    /// Adds the end of the proxy's log to an error.
    pub(crate) fn explain<T>(&self, result: Result<T>) -> Result<T> {
        result.with_context(|| {
            let log = self.daemon.as_ref().map(Daemon::log_end).unwrap_or_default();
            format!("measuring {}; the end of its log:\n{log}", self.kind)
        })
    }
}

/// A command that runs `program` as `account`. If a CPU is given, `taskset` keeps it there.
fn pinned(account: Account, program: &Path, cpu: Option<usize>) -> Command {
    let Some(cpu) = cpu else { return account.command(program) };
    let mut command = account.command(Path::new("taskset"));
    command.args(["-c", &cpu.to_string()]).arg(program);
    command
}

/// The binary that the options name. Without one, the checked-out tree is built now.
fn find_trunkline(options: &Options) -> Result<PathBuf> {
    if let Some(path) = &options.trunkline {
        anyhow::ensure!(path.is_file(), "no {}", path.display());
        return Ok(path.clone());
    }
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--release", "--locked", "--package", "trunkline", "--bin", "trunkline"]);
    daemon::run(cargo.current_dir(repository_root()))
        .context("name a binary by --trunkline, or leave it out by --without trunkline")?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    Ok(repository_root().join(target).join("release/trunkline"))
}

fn find_pgbouncer(options: &Options) -> Result<PathBuf> {
    if let Some(path) = &options.pgbouncer {
        anyhow::ensure!(path.is_file(), "no {}", path.display());
        return Ok(path.clone());
    }
    let said = daemon::run(&mut Command::new(repository_root().join("scripts/fetch-pgbouncer")));
    let said = said.context("name one by --pgbouncer, or leave it out by --without pgbouncer")?;
    Ok(said.lines().last().unwrap_or_default().into())
}
