//! Durations and sizes with units: `"30s"`, `"1h30m"`, `"64KiB"`.

use std::time::Duration;

use super::setting::{MayBeAbsent, Refusal, Setting};
use super::value::{Data, Value};

/// The longest duration that is accepted. Adding it to a clock cannot overflow.
const DURATION_MAX: Duration = Duration::from_secs(10 * 366 * 24 * 3600);

/// The largest size that is accepted.
const SIZE_BYTES_MAX: u64 = 64 << 30;

const DURATION_EXPECTED: &str =
    "a duration such as \"500ms\", \"30s\", \"5m\" or \"1h\" (a plain number is seconds)";
const SIZE_EXPECTED: &str = "a size such as \"64KiB\" or \"1MiB\" (a plain number is bytes)";

/// Splits `1h30m` into `(1, "h"), (30, "m")`, multiplies each number by the factor that `unit` returns, and adds them up. A
/// number without a unit has the unit "".
fn sum_of_parts(text: &str, unit: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let tail = tail.trim_start();
        let letters = tail.find(|c: char| !c.is_alphabetic()).unwrap_or(tail.len());
        let (name, next) = tail.split_at(letters);
        // Only a single number may lack its unit: the author of "1h 30" may not have meant seconds.
        if name.is_empty() && (digits != text.trim().len()) {
            return None;
        }
        total += number.parse::<f64>().ok()? * unit(name)?;
        rest = next.trim_start();
    }
    Some(total)
}

/// Reads a duration from text; plain numbers are seconds, as PgBouncer's are.
pub(super) fn duration_from_text(text: &str) -> Option<Duration> {
    let seconds = sum_of_parts(text, |unit| {
        Some(match unit {
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "" | "s" | "sec" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            "d" => 86400.0,
            _ => return None,
        })
    })?;
    // Rounded to microseconds, so that "0.1s 0.2s" is not shown as 300.000000004ms.
    Duration::try_from_secs_f64((seconds * 1e6).round() / 1e6).ok()
}

fn decode_duration(value: &Value) -> Result<Duration, Refusal> {
    let read = match &value.data {
        Data::Text(text) => duration_from_text(text),
        Data::Float(number) => duration_from_text(&number.replace('_', "")),
        _ => value.as_integer().and_then(|number| u64::try_from(number).ok()).map(Duration::from_secs),
    };
    match read {
        Some(duration) if duration <= DURATION_MAX => Ok(duration),
        Some(_) => Err(Refusal::new("longer than ten years; write 0 where you mean \"no limit\"")),
        None => Err(Refusal::expected(DURATION_EXPECTED, value)),
    }
}

/// A duration that must be more than 0.
impl Setting for Duration {
    fn decode(value: &Value) -> Result<Self, Refusal> {
        match decode_duration(value)? {
            Duration::ZERO => Err(Refusal::new("must be more than 0: this one cannot be switched off")),
            duration => Ok(duration),
        }
    }

    fn show(&self) -> String {
        format!("\"{}\"", duration_text(*self))
    }

    fn number(&self) -> Option<f64> {
        Some(self.as_secs_f64())
    }
}

/// A duration where 0 means "off" and becomes `None`.
impl Setting for Option<Duration> {
    fn decode(value: &Value) -> Result<Self, Refusal> {
        decode_duration(value).map(|duration| (!duration.is_zero()).then_some(duration))
    }

    fn show(&self) -> String {
        self.as_ref().map_or_else(|| "0".to_owned(), Setting::show)
    }

    fn number(&self) -> Option<f64> {
        Some(self.unwrap_or_default().as_secs_f64())
    }
}

impl MayBeAbsent for Option<Duration> {}

/// A duration in the largest unit that expresses it exactly.
pub(super) fn duration_text(duration: Duration) -> String {
    let micros = duration.as_micros();
    let units = [(3_600_000_000, "h"), (60_000_000, "m"), (1_000_000, "s"), (1_000, "ms"), (1, "us")];
    let unit = units.into_iter().find(|(size, _)| micros >= *size && micros.is_multiple_of(*size));
    // One hour and times below 20 minutes stay in seconds ("60s", "3600s"), because PgBouncer's users know them so.
    match unit {
        Some((3_600_000_000, _)) if micros == 3_600_000_000 => "3600s".to_owned(),
        Some((60_000_000, _)) if micros < 1_200_000_000 => format!("{}s", micros / 1_000_000),
        Some((size, name)) => format!("{}{name}", micros / size),
        None => "0".to_owned(),
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(usize);

impl Size {
    /// `bytes` bytes.
    pub const fn new(bytes: usize) -> Self {
        Self(bytes)
    }

    /// The number of bytes.
    pub const fn bytes(self) -> usize {
        self.0
    }
}

impl Setting for Size {
    fn decode(value: &Value) -> Result<Self, Refusal> {
        let bytes = match &value.data {
            Data::Text(text) => size_from_text(text),
            _ => value.as_integer().and_then(|number| u64::try_from(number).ok()),
        };
        match bytes {
            Some(bytes) if bytes > SIZE_BYTES_MAX => Err(Refusal::new("larger than 64GiB")),
            Some(bytes) => usize::try_from(bytes)
                .map(Self)
                .map_err(|_| Refusal::new("larger than this machine's memory")),
            None => Err(Refusal::expected(SIZE_EXPECTED, value)),
        }
    }

    fn show(&self) -> String {
        let bytes = self.0;
        let unit = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
            .into_iter()
            .find(|(size, _)| bytes >= *size && bytes.is_multiple_of(*size));
        match unit {
            Some((size, name)) => format!("\"{}{name}\"", bytes / size),
            None => bytes.to_string(),
        }
    }

    fn number(&self) -> Option<f64> {
        Some(self.0 as f64)
    }
}

fn size_from_text(text: &str) -> Option<u64> {
    let bytes = sum_of_parts(text, |unit| {
        Some(match unit {
            "" | "B" => 1.0,
            // PostgreSQL's kB, MB and GB are powers of two (manual, "Setting Parameters").
            "KiB" | "kB" | "KB" => 1024.0,
            "MiB" | "MB" => 1048576.0,
            "GiB" | "GB" => 1073741824.0,
            _ => return None,
        })
    })?;
    // Within 2^53 a float is exact; SIZE_BYTES_MAX is far below it.
    (bytes.fract() == 0.0 && bytes < 9e15).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_with_units() {
        let seconds = |text: &str| duration_from_text(text).map(|duration| duration.as_secs_f64());
        assert_eq!(seconds("30s"), Some(30.0));
        assert_eq!(seconds("30"), Some(30.0));
        assert_eq!(seconds("1h30m"), Some(5400.0));
        assert_eq!(seconds("1 h 30 min"), Some(5400.0));
        assert_eq!(seconds("250ms"), Some(0.25));
        assert_eq!(seconds("0"), Some(0.0));
        for wrong in ["", "s", "5 parsecs", "-5s", "1h30", "1.2.3s", "30S", "1e400", "NaN", "inf"] {
            assert_eq!(seconds(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn sizes_with_units() {
        assert_eq!(size_from_text("64KiB"), Some(65536));
        assert_eq!(size_from_text("1MB"), Some(1 << 20));
        assert_eq!(size_from_text("10000"), Some(10000));
        assert_eq!(size_from_text("1.5KiB"), Some(1536));
        for wrong in ["", "KiB", "64kb!", "0.3", "64 K", "99999999999999999999"] {
            assert_eq!(size_from_text(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn durations_are_shown_in_the_unit_that_pgbouncer_uses() {
        let shown = |micros| duration_text(Duration::from_micros(micros));
        assert_eq!(shown(60_000_000), "60s");
        assert_eq!(shown(3_600_000_000), "3600s");
        assert_eq!(shown(7_200_000_000), "2h");
        assert_eq!(shown(1_500_000), "1500ms");
        assert_eq!(shown(0), "0");
    }
}
