//! The `trunkline` binary under test.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use crate::guard::Guard;
use crate::process::{self, POLL_INTERVAL, Signal, send_signal, wait_for_exit};
use crate::{PATIENCE, cluster, free_port, http, repository_root};

/// The environment variable with the path of the binary to test. If it is not set, cargo builds one.
pub const BINARY_VARIABLE: &str = "TRUNKLINE_BIN";
/// A placeholder for the port to listen on, in a configuration or an argument.
pub const LISTEN_PORT: &str = "@LISTEN_PORT@";
/// A placeholder for the port of the HTTP page, in a configuration or an argument.
pub const HTTP_PORT: &str = "@HTTP_PORT@";

/// The proxy logs this when it has started.
const LISTENING: &str = "listening on ";
/// The proxy logs this when it has read its configuration again.
const READ_AGAIN: &str = "configuration and certificates read again";

/// The proxy's log, and a condition variable for tests that wait for a line.
type Log = Arc<(Mutex<String>, Condvar)>;

/// A running proxy.
#[derive(Debug)]
pub struct Proxy {
    child: Child,
    /// `None` once the process has ended.
    guard: Option<Guard>,
    listen_port: u16,
    http_port: u16,
    folder: TempDir,
    log: Log,
}

impl Proxy {
    /// Starts `trunkline serve --config FILE` and waits until it says that it listens. In `config`,
    /// [`LISTEN_PORT`] and [`HTTP_PORT`] become free ports.
    ///
    /// # Errors
    /// When it ends or does not listen; its log is in the error.
    pub fn start(config: &str) -> Result<Self> {
        Self::start_with(Some(config), &[])
    }

    /// Starts `trunkline serve` with `arguments`, in which the ports are replaced as in
    /// [`Proxy::start`].
    ///
    /// # Errors
    /// As [`Proxy::start`].
    pub fn start_args(arguments: &[&str]) -> Result<Self> {
        Self::start_with(None, arguments)
    }

    /// Starts `trunkline serve` with a config file, if there is a text for one, and with `arguments`.
    ///
    /// # Errors
    /// As [`Proxy::start`].
    pub fn start_with(config: Option<&str>, arguments: &[&str]) -> Result<Self> {
        Self::start_at(free_port()?, config, arguments)
    }

    /// As [`Proxy::start_with`], with `listen_port` for [`LISTEN_PORT`].
    ///
    /// # Errors
    /// As [`Proxy::start`].
    pub fn start_at(listen_port: u16, config: Option<&str>, arguments: &[&str]) -> Result<Self> {
        let http_port = free_port()?;
        let folder = tempfile::Builder::new().prefix("trunkline-proxy-").tempdir()?;
        let mut command = Command::new(binary()?);
        command.arg("serve");
        if let Some(text) = config {
            let path = folder.path().join("trunkline.toml");
            fs::write(&path, with_ports(text, listen_port, http_port))?;
            command.arg("--config").arg(path);
        }
        command.args(arguments.iter().map(|argument| with_ports(argument, listen_port, http_port)));
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A process group of its own: Ctrl-C reaches only us, and we end the proxy when we are ready.
            .process_group(0)
            .spawn()
            .context("cannot start trunkline")?;
        let guard = Guard::watch(child.id(), "KILL", Some(folder.path()))?;
        let log = Log::default();
        if let Some(output) = child.stdout.take() {
            gather(output, &log);
        }
        if let Some(output) = child.stderr.take() {
            gather(output, &log);
        }
        let mut proxy = Self { child, guard: Some(guard), listen_port, http_port, folder, log };
        proxy.wait_until_ready()?;
        Ok(proxy)
    }

    /// The address for clients.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.listen_port))
    }

    /// The port clients connect to.
    pub fn port(&self) -> u16 {
        self.listen_port
    }

    /// The address of the HTTP page, if the configuration has one.
    pub fn http_address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.http_port))
    }

    /// A connection URL through the proxy for one of the [`cluster`]'s roles.
    pub fn url(&self, user: &str) -> String {
        let (password, database) = (cluster::PASSWORD, cluster::DATABASE);
        format!("postgres://{user}:{password}@127.0.0.1:{}/{database}", self.listen_port)
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes another configuration and sends SIGHUP. It does not wait for the reload; the log or a metric shows its end.
    ///
    /// # Errors
    /// When the file cannot be written or the process has ended.
    pub fn reload(&self, config: &str) -> Result<()> {
        let text = with_ports(config, self.listen_port, self.http_port);
        // The new file replaces the old one in one step, because the proxy may still be reading it after an earlier signal.
        let (new, path) =
            (self.folder.path().join("trunkline.toml.new"), self.folder.path().join("trunkline.toml"));
        fs::write(&new, text)?;
        fs::rename(new, path)?;
        self.signal(Signal::HUP)
    }

    /// As [`Proxy::reload`], and waits until every worker uses the new configuration, which must have an HTTP page. Do not
    /// call it while an earlier [`Proxy::reload`] may still run.
    ///
    /// # Errors
    /// As [`Proxy::reload`], and when the config is refused; the log is in the error.
    pub fn reload_and_wait(&self, config: &str) -> Result<()> {
        let before = self.log().matches(READ_AGAIN).count();
        self.reload(config)?;
        self.wait_for_log_that(|log| log.matches(READ_AGAIN).count() > before)
            .context("the config was not read again")?;
        // A worker reads its messages in order. So if it answers for the page, it has read the new configuration.
        self.metrics().map(drop)
    }

    /// Sends a signal.
    ///
    /// # Errors
    /// When the process has ended.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        send_signal(self.pid(), signal)
    }

    /// Waits until the process has ended.
    ///
    /// # Errors
    /// When it does not end.
    pub fn wait_for_exit(&mut self) -> Result<ExitStatus> {
        let status = wait_for_exit(&mut self.child, PATIENCE)?;
        self.guard = None;
        Ok(status)
    }

    /// Whether the process still runs.
    ///
    /// # Errors
    /// When the system will not tell.
    pub fn is_running(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// CPU time used so far, user and kernel mode, all threads; in steps of 10 ms.
    ///
    /// # Errors
    /// When the process has ended.
    pub fn cpu_time(&self) -> Result<Duration> {
        process::cpu_time(self.pid())
    }

    /// Resident memory in KiB.
    ///
    /// # Errors
    /// When the process has ended.
    pub fn rss_kib(&self) -> Result<u64> {
        process::rss_kib(self.pid())
    }

    /// The text of `/metrics` with current figures of every worker. (The page itself does not wait for busy workers.)
    ///
    /// # Errors
    /// When the page does not answer with status 200, or a worker does not answer.
    pub fn metrics(&self) -> Result<String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answer = http::fetch(self.http_address(), "/metrics")?;
            ensure!(answer.status == 200, "/metrics answers {}: {}", answer.status, answer.body);
            let workers = |name| answer.body.lines().find_map(|line| line.strip_prefix(name));
            if workers("trunkline_workers ") == workers("trunkline_workers_answering ") {
                return Ok(answer.body);
            }
            ensure!(Instant::now() < deadline, "a worker does not answer: {}", answer.body);
        }
    }

    /// The sum of a metric over all its samples whose labels contain every text of `labels` (such as `database="app"`).
    ///
    /// # Errors
    /// When the page does not answer, or has no such sample.
    pub fn metric(&self, name: &str, labels: &[&str]) -> Result<f64> {
        let text = self.metrics()?;
        let values: Vec<f64> = text
            .lines()
            .filter(|line| line.split(['{', ' ']).next() == Some(name))
            .filter(|line| labels.iter().all(|label| line.contains(label)))
            .filter_map(|line| line.rsplit(' ').next()?.parse().ok())
            .collect();
        ensure!(!values.is_empty(), "/metrics has no {name} with {labels:?}:\n{text}");
        Ok(values.iter().sum())
    }

    /// Everything the proxy has written so far.
    pub fn log(&self) -> String {
        self.log.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until the log contains `text`.
    ///
    /// # Errors
    /// When it does not within [`PATIENCE`]; the log is in the error.
    pub fn wait_for_log(&self, text: &str) -> Result<()> {
        self.wait_for_log_that(|log| log.contains(text)).with_context(|| format!("no {text:?}"))
    }

    fn wait_for_log_that(&self, matches: impl Fn(&str) -> bool) -> Result<()> {
        let (lines, bell) = &*self.log;
        let guard = lines.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = bell.wait_timeout_while(guard, PATIENCE, |log| !matches(log));
        let (log, outcome) = waited.unwrap_or_else(PoisonError::into_inner);
        ensure!(!outcome.timed_out(), "after {PATIENCE:?}, trunkline's log:\n{log}");
        Ok(())
    }

    /// Waits for the line that the proxy logs when it serves clients, signals and the page. A connection would show less, and
    /// would count as a client until the proxy sees its end.
    fn wait_until_ready(&mut self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let log = self.log();
            if log.contains(LISTENING) {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("trunkline ended at start ({status}). Its log:\n{}", self.log());
            }
            ensure!(Instant::now() < deadline, "trunkline does not listen. Its log:\n{log}");
            thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if thread::panicking() {
            // The output of a failed test should have the proxy's log.
            let _ = writeln!(std::io::stderr(), "--- trunkline's log ---\n{}", self.log());
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The binary to test: named by [`BINARY_VARIABLE`], else built by cargo, once.
///
/// # Errors
/// When it does not build.
pub fn binary() -> Result<PathBuf> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    if let Some(path) = std::env::var_os(BINARY_VARIABLE) {
        return Ok(PathBuf::from(path));
    }
    let built = BUILT.get_or_init(|| build().map_err(|error| format!("{error:#}")));
    built.clone().map_err(anyhow::Error::msg)
}

fn build() -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let done = Command::new(cargo)
        .args(["build", "--quiet", "--package", "trunkline", "--bin", "trunkline"])
        .current_dir(repository_root())
        .stdin(Stdio::null())
        .output()
        .context("cannot run cargo to build trunkline")?;
    ensure!(done.status.success(), "trunkline does not build:\n{}", String::from_utf8_lossy(&done.stderr));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    Ok(repository_root().join(target).join("debug/trunkline"))
}

fn with_ports(text: &str, listen: u16, http: u16) -> String {
    text.replace(LISTEN_PORT, &listen.to_string()).replace(HTTP_PORT, &http.to_string())
}

/// Copies a pipe's output to the log, on a thread of its own.
fn gather(output: impl Read + Send + 'static, log: &Log) {
    let log = Arc::clone(log);
    thread::spawn(move || {
        let mut lines = BufReader::new(output);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            let mut text = log.0.lock().unwrap_or_else(PoisonError::into_inner);
            text.push_str(&String::from_utf8_lossy(&line));
            log.1.notify_all();
            line.clear();
        }
    });
}
