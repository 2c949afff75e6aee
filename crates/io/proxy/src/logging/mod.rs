//! Log lines: text or JSON on standard error, with a level that a reload can change.
//!
//! Text of peers in a line is escaped ([`escape`]), and repeated warnings are counted instead of written (`throttle`). Both
//! happen here, so that code that logs need not take care of them.

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
use throttle::{Limiter, LineCounts};

/// The target of lines about single connections: `debug!(target: logging::CONNECTIONS, ...)`. `[log] connections = false`
/// silences it.
pub const CONNECTIONS: &str = "trunkline::connections";

/// The target of lines that only the operator can cause. They are never left out.
pub const OPERATOR: &str = "trunkline::operator";

/// The environment variable that overrides `[log] level`: a level, or directives such as `info,trunkline::connections=debug`.
pub const LEVEL_VARIABLE: &str = "TRUNKLINE_LOG";

/// The field with an event's kind, for places in the code that log events of several kinds: `warn!(kind = "...", ...)`.
pub const KIND: &str = "kind";

/// Why logging could not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoggingError {
    /// The directives of the environment variable cannot be parsed.
    Directives(tracing_subscriber::filter::ParseError),
    /// Logging was already started in this process.
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

/// The level of the process, for [`apply`]. It is global because the subscriber is. It is unset when `-v` or the environment
/// sets the level.
static LEVEL: OnceLock<reload::Handle<EnvFilter, Registry>> = OnceLock::new();

/// The counts of written and left out lines of the process.
static LINE_COUNTS: OnceLock<Arc<LineCounts>> = OnceLock::new();

/// Logs how many lines were left out, for windows that have ended. To be called a few times a second.
pub fn report_left_out_lines() {
    if let Some(line_counts) = LINE_COUNTS.get() {
        line_counts.report(Some(Instant::now()));
    }
}

/// Logs how many lines were left out, for all windows. To be called when the process ends.
pub fn report_all_left_out_lines() {
    if let Some(line_counts) = LINE_COUNTS.get() {
        line_counts.report(None);
    }
}

/// The number of lines that were left out since the start.
pub fn left_out() -> u64 {
    LINE_COUNTS.get().map_or(0, |line_counts| line_counts.left_out())
}

/// Puts `[log] level`, `connections` and `repeats_max` of a reloaded configuration in force. `-v` and the environment still
/// override the level.
pub fn apply(log: &Log) {
    if let Some(line_counts) = LINE_COUNTS.get() {
        line_counts.set_lines_max(log.repeats_max);
    }
    if let Some(level) = LEVEL.get() {
        // This fails only when the subscriber is gone, and then nobody reads the lines.
        let _ = level.reload(filter_of(log));
    }
}

/// Starts logging. `verbosity`: the number of `-v`; `directives`: the value of [`LEVEL_VARIABLE`].
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
    let line_counts = LineCounts::new(log.repeats_max);
    tracing_subscriber::registry()
        .with(filter)
        .with(Limiter(Arc::clone(&line_counts)))
        .with(lines)
        .try_init()
        .map_err(|_| LoggingError::AlreadyStarted)?;
    let _ = LINE_COUNTS.set(line_counts);
    if !overridden {
        // `try_init` succeeds only once in a process, so the level is not set yet.
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

    /// A text of a peer that tries to forge a log line.
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
    fn a_text_of_a_peer_cannot_begin_a_new_line() {
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
    fn repeated_warnings_are_counted() {
        let (written, line_counts) = (Lines::default(), LineCounts::new(3));
        let to = written.clone();
        let subscriber = tracing_subscriber::registry().with(Limiter(Arc::clone(&line_counts))).with(lines(
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
                tracing::info!("only warnings are counted");
            }
            line_counts.report(None);
        });
        let text = written.text();
        let count = |of: &str| text.lines().filter(|line| line.contains(of)).count();
        assert_eq!((count("ERROR"), count("of one"), count("of other")), (3, 3 + 1, 3 + 1), "{text}");
        assert_eq!(count("only warnings are counted"), 100);
        assert_eq!(count("97 more in 10 s were left out, like: "), 3, "{text}");
        assert!(
            text.contains("like: cannot accept 3\n") && text.contains("like: of other kind, 3\n"),
            "{text}"
        );
        assert_eq!(line_counts.left_out(), 3 * 97);
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
