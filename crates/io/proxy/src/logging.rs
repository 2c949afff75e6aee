//! Log lines: text or JSON on standard error, with a level that a reload can change.

use std::fmt;
use std::io::IsTerminal;
use std::sync::OnceLock;

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, reload};

use crate::config::{Log, LogFormat};

/// The target of lines about single connections: `debug!(target: logging::CONNECTIONS, ...)`. `[log] connections = false`
/// silences it.
pub const CONNECTIONS: &str = "trunkline::connections";

/// The environment variable that goes before `[log] level`: a level, or `info,trunkline::connections=debug`.
pub const LEVEL_VARIABLE: &str = "TRUNKLINE_LOG";

/// Why logging could not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoggingError {
    /// The environment's directives cannot be read.
    Directives(tracing_subscriber::filter::ParseError),
    /// Something in this process logs already.
    AlreadyStarted,
}

impl fmt::Display for LoggingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directives(error) => write!(
                f,
                "{LEVEL_VARIABLE} is not usable: {error}; expected error, warn, info, debug, trace, or target=level pairs"
            ),
            Self::AlreadyStarted => f.write_str("logging was started twice"),
        }
    }
}

impl std::error::Error for LoggingError {}

/// The running process' level. As global as the subscriber it belongs to; unset when `-v` or the environment decide.
static LEVEL: OnceLock<reload::Handle<EnvFilter, Registry>> = OnceLock::new();

/// Puts `[log] level` and `connections` of a reloaded configuration in place. `-v` and the environment stay before.
pub fn apply(log: &Log) {
    if let Some(level) = LEVEL.get() {
        // It fails only when the subscriber is gone, and then nobody reads the lines.
        let _ = level.reload(filter_of(log));
    }
}

/// Starts logging. `verbosity` is the number of `-v`; `directives` is what [`LEVEL_VARIABLE`] says.
pub fn start(log: &Log, verbosity: u8, directives: Option<&str>) -> Result<(), LoggingError> {
    let directives = directives.filter(|directives| !directives.trim().is_empty());
    let (filter, overridden) = match (verbosity, directives) {
        (0, None) => (filter_of(log), false),
        (0, Some(directives)) => (EnvFilter::try_new(directives).map_err(LoggingError::Directives)?, true),
        (1, _) => (EnvFilter::new("debug"), true),
        (_, _) => (EnvFilter::new("trace"), true),
    };
    let (filter, handle) = reload::Layer::new(filter);
    let lines = lines(log.format, std::io::stderr().is_terminal(), std::io::stderr);
    tracing_subscriber::registry()
        .with(filter)
        .with(lines)
        .try_init()
        .map_err(|_| LoggingError::AlreadyStarted)?;
    if !overridden {
        // `try_init` has just succeeded, so nobody was here before.
        let _ = LEVEL.set(handle);
    }
    Ok(())
}

fn filter_of(log: &Log) -> EnvFilter {
    let level = log.level.word();
    if log.connections { EnvFilter::new(level) } else { EnvFilter::new(format!("{level},{CONNECTIONS}=off")) }
}

fn lines<S, W>(format: LogFormat, colours: bool, writer: W) -> Box<dyn Layer<S> + Send + Sync>
where
    S: tracing::Subscriber + for<'s> tracing_subscriber::registry::LookupSpan<'s>,
    W: for<'w> tracing_subscriber::fmt::MakeWriter<'w> + Send + Sync + 'static,
{
    let layer = tracing_subscriber::fmt::layer().with_writer(writer);
    match format {
        LogFormat::Text => layer.with_ansi(colours).with_target(false).boxed(),
        LogFormat::Json => layer.json().flatten_event(true).with_ansi(false).boxed(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::config::LogLevel;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("not poisoned").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Lines {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().expect("not poisoned").clone()).expect("UTF-8")
        }
    }

    fn logged(log: &Log, reloaded: Option<&Log>) -> String {
        let written = Lines::default();
        let to = written.clone();
        let (filter, handle) = reload::Layer::new(filter_of(log));
        let subscriber =
            tracing_subscriber::registry().with(filter).with(lines(log.format, false, move || to.clone()));
        tracing::subscriber::with_default(subscriber, || {
            if let Some(reloaded) = reloaded {
                handle.reload(filter_of(reloaded)).expect("the subscriber lives");
            }
            tracing::info!(port = 6432, "listening");
            tracing::debug!("detail");
            tracing::debug!(target: CONNECTIONS, "client came");
        });
        written.text()
    }

    #[test]
    fn the_level_decides_and_a_reload_changes_it() {
        let info = Log::default();
        let text = logged(&info, None);
        assert!(text.contains("listening port=6432") && !text.contains("detail"), "{text}");

        let debug = Log { level: LogLevel::Debug, ..Log::default() };
        let text = logged(&info, Some(&debug));
        assert!(text.contains("detail") && text.contains("client came"), "{text}");

        let quiet = Log { connections: false, ..debug };
        let text = logged(&quiet, None);
        assert!(text.contains("detail") && !text.contains("client came"), "{text}");
    }

    #[test]
    fn json_is_one_object_a_line() {
        let text = logged(&Log { format: LogFormat::Json, ..Log::default() }, None);
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(
            text.starts_with('{') && text.contains("\"port\":6432") && text.contains("\"level\":\"INFO\""),
            "{text}"
        );
    }
}
