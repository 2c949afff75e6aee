//! All figures of this run, by figure and contender.

use std::collections::BTreeMap;

use crate::contender::Kind;
use crate::cost::median;

/// The repetitions of every figure.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    values: BTreeMap<(String, Kind), Vec<f64>>,
}

impl Figures {
    /// Adds one repetition. `None` adds nothing: a direct connection has no CPU time of a proxy, for example.
    pub(crate) fn add(&mut self, what: &str, kind: Kind, value: Option<f64>) {
        if let Some(value) = value {
            self.values.entry((what.to_owned(), kind)).or_default().push(value);
        }
    }

    /// The median of the repetitions.
    pub(crate) fn median(&self, what: &str, kind: Kind) -> Option<f64> {
        median(self.values.get(&(what.to_owned(), kind))?)
    }

    /// The ratio of one contender's median to another's.
    pub(crate) fn ratio(&self, what: &str, of: Kind, to: Kind) -> Option<f64> {
        Some(self.median(what, of)? / self.median(what, to)?)
    }

    /// Whether anything was measured of `what`.
    pub(crate) fn has(&self, what: &str) -> bool {
        self.values.keys().any(|(name, _)| name == what)
    }
}

/// A figure for people: `-` when there is none.
pub(crate) fn show(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| grouped(&format!("{value:.decimals$}")))
}

/// Puts commas between thousands: `12345.6` becomes `12,345.6`.
fn grouped(number: &str) -> String {
    let (whole, rest) = number.find('.').map_or((number, ""), |dot| number.split_at(dot));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut grouped = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{rest}")
}

/// A row of a Markdown table.
pub(crate) fn row(cells: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut line = String::from("|");
    for cell in cells {
        line.push(' ');
        line.push_str(cell.as_ref());
        line.push_str(" |");
    }
    line.push('\n');
    line
}

/// The head of a Markdown table: the first `texts` columns are words, the others figures.
pub(crate) fn head(columns: &[String], texts: usize) -> String {
    let rule = columns.iter().enumerate().map(|(n, _)| if n < texts { "---" } else { "---:" });
    row(columns) + &row(rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_medians_and_ratios_of_medians() {
        let mut figures = Figures::default();
        for value in [3.0, 100.0, 4.0] {
            figures.add("cpu", Kind::Trunkline, Some(value));
        }
        figures.add("cpu", Kind::PgBouncer, Some(8.0));
        figures.add("cpu", Kind::Direct, None);
        assert_eq!(figures.median("cpu", Kind::Trunkline), Some(4.0));
        assert_eq!(figures.ratio("cpu", Kind::Trunkline, Kind::PgBouncer), Some(0.5));
        assert_eq!(figures.median("cpu", Kind::Direct), None);
        assert!(figures.has("cpu") && !figures.has("rate"));
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(show(Some(12345.67), 1), "12,345.7");
        assert_eq!(show(Some(-1234.0), 0), "-1,234");
        assert_eq!(show(Some(123.0), 0), "123");
        assert_eq!(show(None, 0), "-");
    }

    #[test]
    fn tables_are_markdown() {
        let columns = ["a".to_owned(), "b".to_owned()];
        assert_eq!(head(&columns, 1), "| a | b |\n| --- | ---: |\n");
    }
}
