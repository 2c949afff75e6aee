//! A throwaway PostgreSQL server with its own folder, port and account. Dropping it ends and removes it.

use std::fs::{self, File};
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use crate::account::Account;
use crate::binaries::cache_folder;
use crate::certificate::Certificate;
use crate::guard::Guard;
use crate::process::{POLL_INTERVAL, Signal, send_signal, wait_for_exit};
use crate::raw::RawClient;
use crate::{Binaries, PATIENCE, Version, free_port, ram_disk, template};

/// The superuser. It needs no password on the unix socket, and [`PASSWORD`] by SCRAM over TCP.
pub const SUPERUSER: &str = "postgres";
/// An ordinary user who logs in by SCRAM. It owns [`DATABASE`].
pub const APP_USER: &str = "app";
/// A user whose password is stored and asked for as MD5.
pub const MD5_USER: &str = "md5user";
/// A user who is asked for a cleartext password.
pub const PLAIN_USER: &str = "plainuser";
/// A user who needs no password.
pub const TRUSTED_USER: &str = "trusted";
/// A user (SCRAM) whose password's VALID UNTIL has passed.
pub const EXPIRED_USER: &str = "expired";
/// Every user's password. It need not be secret: the servers run for minutes and can be reached from this machine only.
pub const PASSWORD: &str = "correct-horse";
/// The application name of [`Cluster::superuser`]'s connections: code that counts connections ignores them.
pub const OURS: &str = "testkit";
/// The database that tests use.
pub const DATABASE: &str = "app";

/// How often a start is tried, each time with a new port: a program that is not a test may take the port first.
const PORT_TRIES: usize = 5;
const INITDB_ARGUMENTS: [&str; 8] = [
    "--username",
    SUPERUSER,
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    // Each new server creates a WAL segment and copies it, so segments are small.
    "--wal-segsize=1",
    "--no-sync",
    "--no-instructions",
];

/// A running server.
#[derive(Debug)]
pub struct Cluster {
    binaries: Binaries,
    account: Account,
    port: u16,
    certificate: Certificate,
    /// The postmaster and its guard; `None` while the server is stopped.
    running: Option<(Child, Guard)>,
    folder: TempDir,
}

impl Cluster {
    /// Starts a server of `version` with [`Cluster`]'s roles, TLS, and 300 connections; its folder is in memory if there is
    /// room.
    ///
    /// # Errors
    /// When there are no binaries, or the server does not start; the server's log is in the error.
    pub fn start(version: Version) -> Result<Self> {
        Self::start_in(&Binaries::find(version)?, &[], &ram_disk::folder())
    }

    /// Starts a server from `binaries` in the folder for temporary files, with further lines of `postgresql.conf` such
    /// as `("log_statement", "all")`.
    ///
    /// # Errors
    /// As [`Cluster::start`].
    pub fn start_with(binaries: &Binaries, settings: &[(&str, &str)]) -> Result<Self> {
        Self::start_in(binaries, settings, &std::env::temp_dir())
    }

    fn start_in(binaries: &Binaries, settings: &[(&str, &str)], parent: &Path) -> Result<Self> {
        let mut cluster = Self::stopped_in(binaries, parent)?;
        let made_by = format!("{INITDB_ARGUMENTS:?} {}", roles());
        template::copy(binaries, cluster.account, &made_by, &cache_folder()?, &cluster.data(), |to| {
            let made = Self::initialized(binaries, parent)?;
            template::copy_folder(&made.data(), to)?;
            made.write_through(to)
        })?;
        cluster.configure(settings)?;
        cluster.launch()?;
        Ok(cluster)
    }

    /// A folder for a server that does not exist yet.
    fn stopped_in(binaries: &Binaries, parent: &Path) -> Result<Self> {
        let account = Account::choose()?;
        let folder = tempfile::Builder::new().prefix("trunkline-pg-").tempdir_in(parent)?;
        account.give(folder.path())?;
        let certificate = Certificate::generate(folder.path(), account)?;
        Ok(Self { binaries: binaries.clone(), account, port: 0, certificate, running: None, folder })
    }

    /// A new server with all roles, stopped.
    fn initialized(binaries: &Binaries, parent: &Path) -> Result<Self> {
        let mut cluster = Self::stopped_in(binaries, parent)?;
        cluster.initialize()?;
        cluster.configure(&[])?;
        cluster.launch()?;
        cluster.create_roles()?;
        cluster.stop(Signal::INT)?;
        Ok(cluster)
    }

    /// Starts the server on a new port.
    fn launch(&mut self) -> Result<()> {
        let mut tries = PORT_TRIES;
        loop {
            self.port = free_port()?;
            match self.resume() {
                Err(_) if tries > 1 && self.log().contains("could not bind") => {
                    // The server has ended by itself.
                    self.running = None;
                    tries -= 1;
                }
                outcome => return outcome,
            }
        }
    }

    /// The server's major version.
    pub fn version(&self) -> Version {
        self.binaries.version
    }

    /// The TCP port on 127.0.0.1. It stays the same over a restart.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The TCP address on which it listens.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    /// The folder of its unix socket, which libpq accepts as a host.
    pub fn socket_folder(&self) -> &Path {
        self.folder.path()
    }

    /// The unix socket itself.
    pub fn socket_path(&self) -> PathBuf {
        self.folder.path().join(format!(".s.PGSQL.{}", self.port))
    }

    /// The server's certificate (PEM), which is its own authority: for `sslrootcert`.
    pub fn certificate(&self) -> &Path {
        &self.certificate.certificate
    }

    /// A connection URL over TCP for one of the roles.
    pub fn url(&self, user: &str) -> String {
        format!("postgres://{user}:{PASSWORD}@127.0.0.1:{}/{DATABASE}", self.port)
    }

    /// The postmaster's process id; `None` while stopped.
    pub fn pid(&self) -> Option<u32> {
        self.running.as_ref().map(|(child, _)| child.id())
    }

    /// Everything the server has logged.
    pub fn log(&self) -> String {
        fs::read(self.log_path())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    /// Runs SQL in [`DATABASE`] as the superuser over the unix socket, on a connection of its own. Rows come
    /// as `psql -At` prints them, a line each, columns joined by `|`.
    ///
    /// # Errors
    /// The server's error, as [`crate::raw::ServerError`].
    pub fn psql(&self, sql: &str) -> Result<String> {
        Ok(self.superuser(DATABASE)?.sql(sql).with_context(|| format!("in {sql:?}"))?.join("\n"))
    }

    /// A superuser's connection over the unix socket.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn superuser(&self, database: &str) -> Result<RawClient> {
        let mut client = RawClient::connect_unix(&self.socket_path())?;
        let named = ("application_name", OURS);
        client.authenticate("", &[("user", SUPERUSER), ("database", database), named])?;
        Ok(client)
    }

    /// Process ids of the client backends that serve [`DATABASE`], without those of [`Cluster::superuser`].
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn backends(&self) -> Result<Vec<u32>> {
        self.psql(&backends_of_others())?.lines().map(|line| line.parse().context("a process id")).collect()
    }

    /// Waits until `sql` (one row, one column) gives `expected`.
    ///
    /// # Errors
    /// When it does not within [`PATIENCE`]. The error has the last result.
    pub fn wait_for(&self, sql: &str, expected: &str) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        let mut client = self.superuser(DATABASE)?;
        loop {
            let got = client.sql(sql)?.join("\n");
            if got == expected {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "after {PATIENCE:?}, {sql:?} gives {got:?}, not {expected:?}");
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Sends a signal to one of the server's processes. As in production, SIGKILL to a backend makes the whole server
    /// restart.
    ///
    /// # Errors
    /// When there is no such process.
    pub fn kill_backend(&self, pid: u32, signal: Signal) -> Result<()> {
        send_signal(pid, signal)
    }

    /// Stops the server, ending its clients (a "fast" shutdown), and starts it again on the same port.
    ///
    /// # Errors
    /// When either fails.
    pub fn restart(&mut self) -> Result<()> {
        self.stop(Signal::INT)?;
        self.resume()
    }

    /// Stops the server: SIGINT is a fast shutdown, SIGQUIT an immediate one.
    ///
    /// # Errors
    /// When it does not end.
    pub fn stop(&mut self, signal: Signal) -> Result<()> {
        let Some((child, _)) = self.running.as_mut() else { return Ok(()) };
        send_signal(child.id(), signal)?;
        wait_for_exit(child, PATIENCE).context("PostgreSQL does not stop")?;
        self.running = None;
        Ok(())
    }

    /// Starts a stopped server on its old port, and waits until it takes connections.
    ///
    /// # Errors
    /// When it does not start; the server's log is in the error.
    pub fn resume(&mut self) -> Result<()> {
        ensure!(self.running.is_none(), "PostgreSQL runs already");
        let log = File::options().create(true).append(true).open(self.log_path())?;
        let mut child = self
            .account
            .command(&self.binaries.program("postgres"))
            .arg("-D")
            .arg(self.data())
            .args(["-c", &format!("port={}", self.port)])
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            // A process group of its own: Ctrl-C reaches only us, and we end the server when we are ready.
            .process_group(0)
            .spawn()
            .context("cannot start postgres")?;
        let guard = Guard::watch(child.id(), "QUIT", Some(self.folder.path()))?;
        let ready = self.wait_until_ready(&mut child);
        self.running = Some((child, guard));
        ready
    }

    /// Asks the server again and again until it answers or its process ends: a start causes no event to wait for.
    fn wait_until_ready(&self, child: &mut Child) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = child.try_wait()? {
                bail!("PostgreSQL ended at start ({status}). Its log:\n{}", self.log());
            }
            match self.superuser(SUPERUSER) {
                Ok(_) => return Ok(()),
                Err(error) if Instant::now() >= deadline => {
                    return Err(error.context(format!("PostgreSQL does not start. Its log:\n{}", self.log())));
                }
                Err(_) => thread::sleep(POLL_INTERVAL),
            }
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path().join("server.log")
    }

    fn initialize(&self) -> Result<()> {
        self.initdb(&self.data(), &INITDB_ARGUMENTS)
    }

    /// Writes a data folder to its disk, so that it survives a crash of the machine.
    fn write_through(&self, data: &Path) -> Result<()> {
        self.initdb(data, &["--sync-only"])
    }

    fn initdb(&self, data: &Path, arguments: &[&str]) -> Result<()> {
        let mut command = self.account.command(&self.binaries.program("initdb"));
        let done = command.arg("-D").arg(data).args(arguments).current_dir("/").stdin(Stdio::null()).output();
        let done = done.context("cannot run initdb")?;
        ensure!(done.status.success(), "initdb failed: {}", String::from_utf8_lossy(&done.stderr));
        Ok(())
    }

    /// Writes the settings to the file that is read last.
    fn configure(&self, settings: &[(&str, &str)]) -> Result<()> {
        let mut lines = format!(
            "listen_addresses = '127.0.0.1'\nunix_socket_directories = '{}'\n\
             ssl = on\nssl_cert_file = '{}'\nssl_key_file = '{}'\n",
            self.folder.path().display(),
            self.certificate.certificate.display(),
            self.certificate.key.display(),
        );
        let fixed = [
            ("max_connections", "300"),
            ("max_prepared_transactions", "10"),
            ("shared_buffers", "64MB"),
            ("max_wal_size", "256MB"),
            ("fsync", "off"),
            ("synchronous_commit", "off"),
            ("full_page_writes", "off"),
            ("password_encryption", "scram-sha-256"),
            ("lc_messages", "C"),
            ("timezone", "UTC"),
            ("log_timezone", "UTC"),
        ];
        for (name, value) in fixed.iter().chain(settings) {
            lines.push_str(&format!("{name} = '{value}'\n"));
        }
        fs::write(self.data().join("postgresql.auto.conf"), lines)?;
        fs::write(self.data().join("pg_hba.conf"), host_based_authentication())?;
        Ok(())
    }

    fn create_roles(&self) -> Result<()> {
        self.superuser(SUPERUSER)?.sql(&roles())?;
        self.superuser(SUPERUSER)?.sql(&format!("create database {DATABASE} owner {APP_USER}"))?;
        // From version 15 on, only the owner may create in `public`.
        self.psql("grant all on schema public to public").map(|_| ())
    }
}

impl Drop for Cluster {
    /// Ends the server at once: its data is not needed any more.
    fn drop(&mut self) {
        if thread::panicking() {
            // The output of a failed test should have the server's log.
            let _ = writeln!(std::io::stderr(), "--- PostgreSQL's log ---\n{}", self.log());
        }
        if let Some((child, _)) = self.running.as_mut() {
            let _ = send_signal(child.id(), Signal::QUIT);
            if wait_for_exit(child, PATIENCE).is_err() {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

/// SQL for the process ids of a database's client backends, without those of [`Cluster::superuser`]: a backend of these
/// may still be listed while it ends.
pub fn backends_of_others() -> String {
    format!(
        "select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend' \
         and application_name <> '{OURS}' order by pid"
    )
}

/// SQL that makes the roles.
fn roles() -> String {
    format!(
        "alter role {SUPERUSER} password '{PASSWORD}';
         create role {APP_USER} login password '{PASSWORD}';
         create role {PLAIN_USER} login password '{PASSWORD}';
         create role {TRUSTED_USER} login;
         create role {EXPIRED_USER} login password '{PASSWORD}' valid until '2001-01-01';
         set password_encryption = 'md5';
         create role {MD5_USER} login password '{PASSWORD}'"
    )
}

/// pg_hba.conf: each user has one method, over TCP and over the unix socket. The superuser is trusted on the unix socket.
fn host_based_authentication() -> String {
    let mut lines = format!("local all {SUPERUSER} trust\n");
    for (user, method) in
        [(TRUSTED_USER, "trust"), (MD5_USER, "md5"), (PLAIN_USER, "password"), ("all", "scram-sha-256")]
    {
        lines.push_str(&format!("local all {user} {method}\nhost all {user} 127.0.0.1/32 {method}\n"));
    }
    lines
}
