//! A process that runs while it is measured, and is always ended afterwards.

use std::fs::File;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use trunkline_testkit::guard::Guard;
use trunkline_testkit::process::{Signal, send_signal, wait_for_exit};

/// How long a program may take to listen.
const START_LIMIT: Duration = Duration::from_secs(20);
/// How long a program may take to end before it is killed.
const STOP_LIMIT: Duration = Duration::from_secs(10);
/// The interval between two checks whether a program has started.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How many lines of a program's log an error contains.
const LOG_LINES: usize = 15;

/// A started program.
#[derive(Debug)]
pub(crate) struct Daemon {
    child: Child,
    name: String,
    log: PathBuf,
    /// Ends the program and removes its folder if this process is killed.
    _guard: Guard,
}

impl Daemon {
    /// Starts `command` with output to `<folder>/<name>.log`, and waits until it accepts connections.
    ///
    /// # Errors
    /// When it cannot be started, ends, or does not listen on `address` within 20 seconds; with the last lines of its
    /// log.
    pub(crate) fn start(
        mut command: Command,
        name: &str,
        folder: &Path,
        address: SocketAddr,
    ) -> Result<Self> {
        let log = folder.join(format!("{name}.log"));
        let output = File::create(&log).with_context(|| format!("cannot create {}", log.display()))?;
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let child = command.spawn().with_context(|| format!("cannot start {name}: {command:?}"))?;
        let guard = Guard::watch(child.id(), "KILL", Some(folder))?;
        let mut daemon = Self { child, name: name.to_owned(), log, _guard: guard };
        daemon.wait_until_listening(address)?;
        Ok(daemon)
    }

    /// The program's process id. `setpriv` and `taskset` replace themselves by the program, so it is the same.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn wait_until_listening(&mut self, address: SocketAddr) -> Result<()> {
        let deadline = Instant::now() + START_LIMIT;
        while TcpStream::connect(address).is_err() {
            if let Some(status) = self.child.try_wait()? {
                bail!("{} ended at its start ({status}):\n{}", self.name, self.log_end());
            }
            if Instant::now() > deadline {
                bail!("{} does not listen on {address}:\n{}", self.name, self.log_end());
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// The last lines of its log.
    pub(crate) fn log_end(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // QUIT ends each of these proxies at once. If the proxy has already ended, the error does not matter.
        let _ = send_signal(self.child.id(), Signal::QUIT);
        if wait_for_exit(&mut self.child, STOP_LIMIT).is_err() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Runs a program to its end and returns what it printed.
///
/// # Errors
/// When it fails; the error has its output.
pub(crate) fn run(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot run {command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{command:?} failed ({}):\n{said}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
