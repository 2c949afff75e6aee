//! The text format that Prometheus scrapes, version 0.0.4.

use std::fmt::{Display, Write};

/// The `Content-Type` of the format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The kind of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The value only grows.
    Counter,
    /// The value goes up and down.
    Gauge,
}

/// Writes metrics into a text.
#[derive(Debug)]
pub struct Exposition<'o> {
    out: &'o mut String,
}

/// One metric, to which samples can be added. All samples of a metric must stand together, so the borrow of the text
/// keeps another metric from starting between them.
#[derive(Debug)]
pub struct Family<'f> {
    out: &'f mut String,
    name: &'f str,
}

impl<'o> Exposition<'o> {
    /// Writes at the end of `out`.
    pub fn new(out: &'o mut String) -> Self {
        Self { out }
    }

    /// Starts a metric. `name` must be a valid metric name (`[a-zA-Z_:][a-zA-Z0-9_:]*`). It is not checked, because all
    /// callers pass constants.
    pub fn family<'f>(&'f mut self, name: &'f str, help: &str, kind: Kind) -> Family<'f> {
        self.out.push_str("# HELP ");
        self.out.push_str(name);
        self.out.push(' ');
        escape(self.out, help, false);
        self.out.push_str("\n# TYPE ");
        self.out.push_str(name);
        self.out.push_str(match kind {
            Kind::Counter => " counter\n",
            Kind::Gauge => " gauge\n",
        });
        Family { out: self.out, name }
    }
}

impl Family<'_> {
    /// Writes one sample. Label names must be `[a-zA-Z_][a-zA-Z0-9_]*`; values may be anything.
    pub fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) {
        self.out.push_str(self.name);
        for (index, (label, text)) in labels.iter().enumerate() {
            self.out.push(if index == 0 { '{' } else { ',' });
            self.out.push_str(label);
            self.out.push_str("=\"");
            escape(self.out, text, true);
            self.out.push('"');
        }
        if !labels.is_empty() {
            self.out.push('}');
        }
        // Writing into a String cannot fail.
        let _ = writeln!(self.out, " {value}");
    }
}

fn escape(out: &mut String, text: &str, quotes: bool) {
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '"' if quotes => out.push_str("\\\""),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_follow_their_help_and_type_and_labels_are_escaped() {
        let mut out = String::new();
        let mut exposition = Exposition::new(&mut out);
        let mut family = exposition.family("a_total", "How \"many\"\nback\\slashes", Kind::Counter);
        family.sample(&[], 1);
        family.sample(&[("database", "a\"b\\c\nd"), ("user", "é")], 2.5);
        exposition.family("b", "B", Kind::Gauge).sample(&[], -1);
        let expected = concat!(
            "# HELP a_total How \"many\"\\nback\\\\slashes\n# TYPE a_total counter\n",
            "a_total 1\n",
            "a_total{database=\"a\\\"b\\\\c\\nd\",user=\"é\"} 2.5\n",
            "# HELP b B\n# TYPE b gauge\nb -1\n",
        );
        assert_eq!(out, expected);
    }
}
