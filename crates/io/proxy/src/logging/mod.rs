//! Log lines: text or JSON on standard error, with a level that a reload can change.
//!
//! Whatever a peer may have chosen of a line's text is escaped ([`escape`]), and warnings that come again and again are
//! counted instead of written (`throttle`): code that logs need not think of either.

pub mod escape;
mod throttle;

use std::fmt;
use std::io::IsTerminal;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, reload};

use crate::config::{Log, LogFormat};
use throttle::{Counted, Limiter};

/// The target of lines about single connections: `debug!(target: logging::CONNECTIONS, ...)`. `[log] connections = false`
/// silences it.
pub const CONNECTIONS: &str = "trunkline::connections";

/// The target of lines that only the operator brings about, however many: they are never left out.
pub const OPERATOR: &str = "trunkline::operator";

/// The environment variable that goes before `[log] level`: a level, or `info,trunkline::connections=debug`.
pub const LEVEL_VARIABLE: &str = "TRUNKLINE_LOG";

/// The field of an event that names its kind, where one place in the code writes of several: `warn!(kind = "...", ...)`.
pub const KIND: &str = "kind";

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

/// The running process' lines that were left out.
static COUNTED: OnceLock<Arc<Counted>> = OnceLock::new();

/// Says how many lines were left out, where it is time to. Call a few times a second.
pub fn tend() {
    if let Some(counted) = COUNTED.get() {
        counted.tell(Some(Instant::now()));
    }
}

/// Says how many lines were left out that nothing was said of yet. Call at the end.
pub fn finish() {
    if let Some(counted) = COUNTED.get() {
        counted.tell(None);
    }
}

/// Lines that were left out so far.
pub fn left_out() -> u64 {
    COUNTED.get().map_or(0, |counted| counted.left_out())
}

/// Puts `[log] level`, `connections` and `repeats_max` of a reloaded configuration in place. `-v` and the environment stay
/// before the level.
pub fn apply(log: &Log) {
    if let Some(counted) = COUNTED.get() {
        counted.set_lines_max(log.repeats_max);
    }
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
    let counted = Counted::new(log.repeats_max);
    tracing_subscriber::registry()
        .with(filter)
        .with(Limiter(Arc::clone(&counted)))
        .with(lines)
        .try_init()
        .map_err(|_| LoggingError::AlreadyStarted)?;
    let _ = COUNTED.set(counted);
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
    let layer = tracing_subscriber::fmt::layer();
    match format {
        LogFormat::Text => {
            let layer = layer.with_writer(writer).fmt_fields(escape::EscapedFields);
            layer.with_ansi(colours).with_target(false).boxed()
        }
        LogFormat::Json => {
            layer.with_writer(escape::JsonLines(writer)).json().flatten_event(true).with_ansi(false).boxed()
        }
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

    /// What everything that a peer has chosen may look like.
    const FORGED: &str = "x\n2026-01-01T00:00:00Z  INFO all is well\r\u{1b}[31m\u{2028}";

    fn forged(format: LogFormat) -> String {
        let written = Lines::default();
        let to = written.clone();
        let subscriber = tracing_subscriber::registry().with(lines(format, false, move || to.clone()));
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!("no database \"{FORGED}\"");
            tracing::warn!(error = %FORGED, user = FORGED, kind = "forged", "refused");
            tracing::warn!("{FORGED}{}", "long".repeat(10_000));
        });
        written.text()
    }

    #[test]
    fn no_name_begins_a_line_of_its_own() {
        for format in [LogFormat::Text, LogFormat::Json] {
            let text = forged(format);
            assert_eq!(text.split(['\n', '\r', '\u{2028}']).count(), 3 + 1, "{text}");
            assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
            assert_eq!(text.lines().count(), 3, "{text}");
        }
        let text = forged(LogFormat::Text);
        assert!(
            text.contains(r#"no database "x\n2026-01-01T00:00:00Z  INFO all is well\r\u{1b}[31m\u{2028}""#),
            "{text}"
        );
        assert!(text.contains("bytes more)") && text.len() < 5_000, "{}", text.len());
        assert!(!text.contains("kind"), "{text}");
    }

    #[test]
    fn what_comes_again_and_again_is_counted() {
        let (written, counted) = (Lines::default(), Counted::new(3));
        let to = written.clone();
        let subscriber = tracing_subscriber::registry().with(Limiter(Arc::clone(&counted))).with(lines(
            LogFormat::Text,
            false,
            move || to.clone(),
        ));
        tracing::subscriber::with_default(subscriber, || {
            for number in 0..100 {
                tracing::error!("cannot accept {number}");
                for kind in ["one", "other"] {
                    tracing::warn!(kind, "of {kind} kind, {number}");
                }
                tracing::info!("what is no warning is not counted");
            }
            counted.tell(None);
        });
        let text = written.text();
        let count = |of: &str| text.lines().filter(|line| line.contains(of)).count();
        assert_eq!((count("ERROR"), count("of one"), count("of other")), (3, 3 + 1, 3 + 1), "{text}");
        assert_eq!(count("what is no warning"), 100);
        assert_eq!(count("97 more in 10 s were left out, like: "), 3, "{text}");
        assert!(
            text.contains("like: cannot accept 3\n") && text.contains("like: of other kind, 3\n"),
            "{text}"
        );
        assert_eq!(counted.left_out(), 3 * 97);
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
