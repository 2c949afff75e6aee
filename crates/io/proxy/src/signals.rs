//! Translates signals to commands. The signals mean what they mean to PgBouncer 1.23 and later.
//!
//! | signal | command |
//! |---|---|
//! | HUP | [`Command::Reload`] |
//! | INT | [`Command::ShutDown`] with [`Shutdown::WaitForServers`] |
//! | TERM | [`Command::ShutDown`] with [`Shutdown::WaitForClients`] |
//! | INT or TERM again | [`Command::ShutDown`] with [`Shutdown::Now`] |
//! | QUIT | [`Command::ShutDown`] with [`Shutdown::Now`] |
//! | USR1 | [`Command::Pause`] |
//! | USR2 | [`Command::Resume`] |

use std::io;
use std::thread::JoinHandle;

use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::{Handle, Signals};
use trunkline_relay::board::Shutdown;

use crate::command::Command;

/// Translates each signal. It remembers a first INT or TERM, because a second one ends the proxy without waiting.
#[derive(Debug, Default)]
struct Interpreter {
    stopping: bool,
}

impl Interpreter {
    fn command(&mut self, signal: i32) -> Option<Command> {
        match signal {
            SIGHUP => Some(Command::Reload),
            SIGUSR1 => Some(Command::Pause),
            SIGUSR2 => Some(Command::Resume),
            SIGQUIT => Some(Command::ShutDown(Shutdown::Now)),
            SIGINT | SIGTERM if std::mem::replace(&mut self.stopping, true) => {
                Some(Command::ShutDown(Shutdown::Now))
            }
            SIGINT => Some(Command::ShutDown(Shutdown::WaitForServers)),
            SIGTERM => Some(Command::ShutDown(Shutdown::WaitForClients)),
            // PIPE: the failed write reports that the peer has closed its socket.
            _ => None,
        }
    }
}

/// The thread that waits for signals. Dropping it ends the thread. The signal handlers stay, so later signals have no
/// effect.
#[derive(Debug)]
pub struct SignalThread {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

/// Catches signals from now on, and calls `on_command` for each on a thread of its own.
pub fn watch(mut on_command: impl FnMut(Command) + Send + 'static) -> io::Result<SignalThread> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE])?;
    let handle = signals.handle();
    let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut interpreter = Interpreter::default();
        for signal in signals.forever() {
            if let Some(command) = interpreter.command(signal) {
                on_command(command);
            }
        }
    })?;
    Ok(SignalThread { handle, thread: Some(thread) })
}

impl Drop for SignalThread {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            // A panic of the callback was already reported by its thread.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_signal_has_its_command_and_a_second_stop_ends_at_once() {
        let mut interpreter = Interpreter::default();
        let commands: Vec<_> = [SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE, SIGTERM, SIGHUP, SIGTERM]
            .into_iter()
            .map(|signal| interpreter.command(signal))
            .collect();
        use Command::{Pause, Reload, Resume, ShutDown};
        use Shutdown::{Now, WaitForClients, WaitForServers};
        let expected = [
            Some(Reload),
            Some(Pause),
            Some(Resume),
            None,
            Some(ShutDown(WaitForClients)),
            Some(Reload),
            Some(ShutDown(Now)),
        ];
        assert_eq!(commands, expected);

        let mut interpreter = Interpreter::default();
        assert_eq!(interpreter.command(SIGINT), Some(ShutDown(WaitForServers)));
        assert_eq!(interpreter.command(SIGTERM), Some(ShutDown(Now)));
        assert_eq!(Interpreter::default().command(SIGQUIT), Some(ShutDown(Now)));
    }

    #[test]
    fn a_real_signal_reaches_the_callback() {
        let (sender, receiver) = mpsc::channel();
        let watching = watch(move |command| sender.send(command).expect("the test waits")).expect("signals");
        signal_hook::low_level::raise(SIGHUP).expect("raised");
        assert_eq!(receiver.recv_timeout(Duration::from_secs(10)), Ok(Command::Reload));
        signal_hook::low_level::raise(SIGPIPE).expect("raised");
        signal_hook::low_level::raise(SIGUSR1).expect("raised");
        assert_eq!(receiver.recv_timeout(Duration::from_secs(10)), Ok(Command::Pause));
        drop(watching);
        assert_eq!(receiver.recv_timeout(Duration::from_secs(10)), Err(mpsc::RecvTimeoutError::Disconnected));
    }
}
