//! Limits repeated warnings: a few are written, the others are counted.
//!
//! A peer, or a system without free file descriptors, can cause the same warning hundreds of times in a second. All
//! events of the levels `warn` and `error` pass this limiter. In each [`WINDOW`] it lets `repeats_max` events of each kind
//! through. A kind is a place in the code, together with the event's field `kind`. At the end of the window one line says
//! how many were left out.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use super::escape::cut_position;

/// The time in which lines of one kind are counted together.
pub(super) const WINDOW: Duration = Duration::from_secs(10);

/// Most kinds that are counted separately; all further kinds are counted together. The code has fewer kinds, and no peer
/// can make one up.
const KINDS_MAX: usize = 256;

/// The greatest length of the example of a left out line.
const EXAMPLE_BYTES: usize = 200;

/// Counts the lines of each kind, and decides which are written.
#[derive(Debug)]
pub(super) struct Throttle<K> {
    lines_max: u32,
    windows: HashMap<Option<K>, Window>,
}

#[derive(Debug)]
struct Window {
    began: Instant,
    written: u32,
    left_out: LeftOut,
}

/// The left out lines of one kind in a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    pub(super) lines: u64,
    /// The first left out line.
    pub(super) example: String,
}

impl<K: Clone + Eq + std::hash::Hash> Throttle<K> {
    /// `lines_max`: lines of one kind in a [`WINDOW`]; 0: no bound.
    pub(super) fn new(lines_max: u32) -> Self {
        Self { lines_max, windows: HashMap::new() }
    }

    pub(super) fn set_lines_max(&mut self, lines_max: u32) {
        self.lines_max = lines_max;
    }

    /// Whether a line of that kind is to be written now. If not, it is counted; `example` gives the text of the line.
    pub(super) fn admit(&mut self, kind: K, now: Instant, example: impl FnOnce() -> String) -> bool {
        if self.lines_max == 0 {
            return true;
        }
        let full = self.windows.len() >= KINDS_MAX;
        let kind = Some(kind).filter(|kind| !full || self.windows.contains_key(&Some(kind.clone())));
        let window = self.windows.entry(kind).or_insert_with(|| Window::new(now));
        if window.is_over(now) && window.left_out.lines == 0 {
            *window = Window::new(now);
        }
        if window.written < self.lines_max {
            window.written += 1;
            return true;
        }
        if window.left_out.lines == 0 {
            window.left_out.example = example();
        }
        window.left_out.lines += 1;
        false
    }

    /// Removes the windows that are over at `now` (`None`: all windows), and returns their left out lines.
    pub(super) fn take_left_out(&mut self, now: Option<Instant>) -> Vec<LeftOut> {
        let mut left_out = Vec::new();
        self.windows.retain(|_, window| {
            let over = now.is_none_or(|now| window.is_over(now));
            if over && window.left_out.lines > 0 {
                left_out.push(std::mem::take(&mut window.left_out));
            }
            !over
        });
        left_out
    }
}

impl Window {
    fn new(now: Instant) -> Self {
        Self { began: now, written: 0, left_out: LeftOut::default() }
    }

    fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.began) >= WINDOW
    }
}

/// The kind of an event: the place in the code, and the event's field `kind`.
pub(super) type Kind = (tracing::callsite::Identifier, Option<String>);

/// The counts that the limiter, the workers and the metrics share.
#[derive(Debug)]
pub(super) struct LineCounts {
    throttle: Mutex<Throttle<Kind>>,
    left_out: AtomicU64,
}

impl LineCounts {
    pub(super) fn new(lines_max: u32) -> Arc<Self> {
        Arc::new(Self { throttle: Mutex::new(Throttle::new(lines_max)), left_out: AtomicU64::new(0) })
    }

    fn throttle(&self) -> std::sync::MutexGuard<'_, Throttle<Kind>> {
        self.throttle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_lines_max(&self, lines_max: u32) {
        self.throttle().set_lines_max(lines_max);
    }

    /// The number of lines that were left out since the start.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out.load(Relaxed)
    }

    /// Logs how many lines were left out, for the windows that are over at `now` (`None`: for all windows).
    pub(super) fn report(&self, now: Option<Instant>) {
        let left_out = self.throttle().take_left_out(now);
        for LeftOut { lines, example } in left_out {
            tracing::warn!(target: TARGET, "{lines} more in {} s were left out, like: {example}", WINDOW.as_secs());
        }
    }
}

/// The target of lines that report left out lines. They are never left out themselves.
const TARGET: &str = "trunkline::left_out";

/// The layer that leaves out repeated lines.
pub(super) struct Limiter(pub(super) Arc<LineCounts>);

impl<S: Subscriber> Layer<S> for Limiter {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        if *metadata.level() > Level::WARN || matches!(metadata.target(), TARGET | super::OPERATOR) {
            return true;
        }
        let mut seen = KindAndMessage::default();
        event.record(&mut seen);
        let kind = (metadata.callsite(), seen.kind);
        let written = self.0.throttle().admit(kind, Instant::now(), || seen.message);
        if !written {
            self.0.left_out.fetch_add(1, Relaxed);
        }
        written
    }
}

/// Reads the kind and the message of an event.
#[derive(Default)]
struct KindAndMessage {
    kind: Option<String>,
    message: String,
}

impl Visit for KindAndMessage {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == super::KIND {
            self.kind = Some(value.to_owned());
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
            let end = cut_position(&self.message, EXAMPLE_BYTES);
            self.message.truncate(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn throttle(lines_max: u32) -> (Throttle<&'static str>, Instant) {
        (Throttle::new(lines_max), Instant::now())
    }

    fn admit(throttle: &mut Throttle<&'static str>, kind: &'static str, at: Instant, times: usize) -> usize {
        (0..times).filter(|_| throttle.admit(kind, at, || format!("a line of {kind}"))).count()
    }

    #[test]
    fn a_few_lines_of_each_kind_are_written_and_the_others_are_counted() {
        let (mut throttle, begin) = throttle(3);
        assert_eq!(admit(&mut throttle, "a", begin, 600), 3);
        assert_eq!(admit(&mut throttle, "b", begin, 2), 2, "another kind is another matter");
        let almost = begin + WINDOW - Duration::from_millis(1);
        assert_eq!(admit(&mut throttle, "a", almost, 10), 0);
        assert!(throttle.take_left_out(Some(almost)).is_empty());
        let left_out = LeftOut { lines: 607, example: "a line of a".to_owned() };
        assert_eq!(throttle.take_left_out(Some(begin + WINDOW)), [left_out]);
        assert_eq!(admit(&mut throttle, "a", begin + WINDOW, 600), 3, "and again");
    }

    #[test]
    fn rare_lines_are_always_written() {
        let (mut throttle, begin) = throttle(1);
        for round in 0..1000 {
            assert_eq!(admit(&mut throttle, "a", begin + WINDOW * round, 1), 1);
        }
        assert!(throttle.take_left_out(None).is_empty());
    }

    #[test]
    fn every_left_out_line_is_reported() {
        let (mut throttle, begin) = throttle(1);
        admit(&mut throttle, "a", begin, 5);
        // No report was made after the first window.
        assert_eq!(admit(&mut throttle, "a", begin + WINDOW * 3, 5), 0);
        let lines = |left_out: Vec<LeftOut>| left_out.iter().map(|left_out| left_out.lines).sum::<u64>();
        assert_eq!(lines(throttle.take_left_out(Some(begin + WINDOW * 3))), 9);
        admit(&mut throttle, "a", begin + WINDOW * 3, 3);
        assert_eq!(lines(throttle.take_left_out(None)), 2, "at the end");
        assert!(throttle.windows.is_empty());
    }

    #[test]
    fn zero_means_no_bound_and_the_number_of_kinds_is_bounded() {
        let (mut unbounded, begin) = throttle(0);
        assert_eq!(admit(&mut unbounded, "a", begin, 1000), 1000);
        let mut throttle: Throttle<usize> = Throttle::new(1);
        for kind in 0..10_000 {
            throttle.admit(kind, begin, String::new);
        }
        assert_eq!(throttle.windows.len(), KINDS_MAX + 1);
    }
}
