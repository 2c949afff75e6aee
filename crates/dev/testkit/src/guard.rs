//! Removes servers and their folders even if the test process is killed.
//!
//! A guard is a small shell that reads from a pipe. Only the test process has the pipe's other end. If the test process ends
//! without writing a line, the pipe closes; then the shell ends the process that it watches and removes its folder.
//! (PR_SET_PDEATHSIG would not work: it fires when the *thread* that started the process ends, and threads of tests end
//! all the time.)

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

/// $1 is the signal, $2 the process, $3 the folder or nothing. A line on the pipe means that everything is already cleaned up.
/// The wait is bounded, because a process that has ended looks alive for ever if init does not reap it.
const SCRIPT: &str = r#"
read -r done && exit 0
kill -s "$1" "$2" 2>/dev/null
turn=0
while kill -0 "$2" 2>/dev/null && [ $turn -lt 50 ]; do sleep 0.1; turn=$((turn + 1)); done
kill -s KILL "$2" 2>/dev/null
[ -z "$3" ] || rm -rf "$3"
"#;

/// Ends one process and removes one folder, if the test process ends without having done so.
#[derive(Debug)]
pub struct Guard {
    shell: Child,
}

impl Guard {
    /// Watches process `pid`, which `signal` ends (a name that `kill -s` knows), and `folder`.
    ///
    /// # Errors
    /// When no shell can be started.
    pub fn watch(pid: u32, signal: &str, folder: Option<&Path>) -> Result<Self> {
        let shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "trunkline-guard", signal, &pid.to_string()])
            .arg(folder.unwrap_or(Path::new("")))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A process group of its own: Ctrl-C must reach us, but not the guard, which cleans up after us.
            .process_group(0)
            .spawn()
            .context("cannot start /bin/sh to watch over a test process")?;
        Ok(Self { shell })
    }
}

impl Drop for Guard {
    /// Tells the shell that the process has ended properly, so it does nothing more.
    fn drop(&mut self) {
        if let Some(mut pipe) = self.shell.stdin.take() {
            // If the shell is already gone, it need not be told.
            let _ = pipe.write_all(b"done\n");
        }
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_ends_the_process_and_removes_the_folder() {
        let folder = tempfile::tempdir().expect("a folder").keep();
        let mut sleeper = Command::new("sleep").arg("600").spawn().expect("sleep starts");
        let mut guard = Guard::watch(sleeper.id(), "TERM", Some(&folder)).expect("a guard");
        // If we are killed, the kernel closes the pipe, and no line was written. This does the same.
        drop(guard.shell.stdin.take());
        let status = sleeper.wait().expect("the sleeper ends");
        assert!(!status.success());
        guard.shell.wait().expect("the guard ends");
        assert!(!folder.exists());
    }

    #[test]
    fn a_dropped_guard_leaves_the_process_alone() {
        let mut sleeper = Command::new("sleep").arg("600").spawn().expect("sleep starts");
        drop(Guard::watch(sleeper.id(), "TERM", None).expect("a guard"));
        assert!(sleeper.try_wait().expect("status").is_none());
        sleeper.kill().expect("killed");
        sleeper.wait().expect("reaped");
    }
}
