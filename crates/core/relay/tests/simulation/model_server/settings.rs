//! The parameters of a session: their values, the values that RESET restores, and the values that the client was told.

use std::collections::VecDeque;

use crate::frames::{self, Frame};

/// The name, the default, and whether the server reports the parameter.
pub(crate) const KNOWN: [(&str, &str, bool); 7] = [
    ("application_name", "", true),
    ("client_encoding", "UTF8", true),
    ("DateStyle", "ISO, MDY", true),
    ("TimeZone", "UTC", true),
    ("standard_conforming_strings", "on", true),
    ("search_path", "public", false),
    ("work_mem", "4MB", false),
];

/// Other parameters that decide how Parse understands a text.
pub(crate) const OTHER_PARSE_SETTINGS: [&str; 8] = [
    "backslash_quote",
    "escape_string_warning",
    "transform_null_equals",
    "IntervalStyle",
    "timezone_abbreviations",
    "array_nulls",
    "lc_monetary",
    "xmloption",
];

pub(crate) fn index(name: &str) -> Option<usize> {
    KNOWN.iter().position(|(known, ..)| known.eq_ignore_ascii_case(name))
}

/// The value in the server's own form, if the server accepts it.
pub(crate) fn canonical(at: usize, value: &str) -> Option<String> {
    match KNOWN[at].0 {
        _ if value == "bad" => None,
        "DateStyle" | "TimeZone" => Some(value.to_ascii_uppercase()),
        _ => Some(value.to_owned()),
    }
}

pub(crate) type Values = [String; KNOWN.len()];

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) values: Values,
    /// The values that RESET restores.
    pub(crate) start: Values,
    /// The values that the client was told last.
    pub(crate) reported: Values,
    /// The values that the proxy has saved during a Parse.
    pub(crate) kept: Values,
}

impl Settings {
    /// The settings after a start-up with these parameters.
    pub(crate) fn new(parameters: &[(String, String)]) -> Result<Self, String> {
        let mut values = KNOWN.map(|(_, value, _)| value.to_owned());
        for (name, value) in parameters {
            let at = index(name).ok_or_else(|| format!("no parameter {name}"))?;
            values[at] = canonical(at, value).ok_or_else(|| format!("bad value for {name}"))?;
        }
        Ok(Self { start: values.clone(), reported: values.clone(), kept: values.clone(), values })
    }

    /// The values that the client was told last, with their indexes, except those whose ParameterStatus is still `due`.
    pub(crate) fn reported_except(&self, due: &VecDeque<Frame>) -> Vec<(usize, String)> {
        let told = self.reported.iter().enumerate().map(|(at, value)| (at, value.clone()));
        told.filter(|(at, value)| !due.contains(&frames::parameter_status(KNOWN[*at].0, value))).collect()
    }

    /// Notes that the client was told these values.
    pub(crate) fn set_reported(&mut self, told: Vec<(usize, String)>) {
        told.into_iter().for_each(|(at, value)| self.reported[at] = value);
    }

    /// The value of a string constant that is parsed now. It depends on the time zone.
    pub(crate) fn read(&self) -> String {
        format!("read in {}", self.values[3])
    }

    /// All values in one text. Every row contains it.
    pub(crate) fn fingerprint(&self) -> String {
        self.values.join("|")
    }

    /// ParameterStatus messages for the values that the client does not know yet.
    pub(crate) fn report(&mut self) -> Vec<Frame> {
        let mut out = Vec::new();
        for (at, (name, _, reported)) in KNOWN.iter().enumerate() {
            if *reported && self.values[at] != self.reported[at] {
                self.reported[at].clone_from(&self.values[at]);
                out.push(frames::parameter_status(name, &self.values[at]));
            }
        }
        out
    }
}
