//! Server parameters: what a session has, what its transaction would undo, what its client was told.

use std::collections::VecDeque;

use crate::frames::{self, Frame};

/// Name, default, whether the server reports it.
pub(crate) const KNOWN: [(&str, &str, bool); 7] = [
    ("application_name", "", true),
    ("client_encoding", "UTF8", true),
    ("DateStyle", "ISO, MDY", true),
    ("TimeZone", "UTC", true),
    ("standard_conforming_strings", "on", true),
    ("search_path", "public", false),
    ("work_mem", "4MB", false),
];

/// Others that a text may be read by.
pub(crate) const READ_BY_OTHERS: [&str; 8] = [
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

/// The value as the server keeps it, if it takes it.
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
    /// What RESET brings back.
    pub(crate) start: Values,
    /// What the client was told last.
    pub(crate) reported: Values,
    /// What the proxy keeps for the time of a Parse.
    pub(crate) kept: Values,
}

impl Settings {
    /// After start-up with these parameters.
    pub(crate) fn new(parameters: &[(String, String)]) -> Result<Self, String> {
        let mut values = KNOWN.map(|(_, value, _)| value.to_owned());
        for (name, value) in parameters {
            let at = index(name).ok_or_else(|| format!("no parameter {name}"))?;
            values[at] = canonical(at, value).ok_or_else(|| format!("bad value for {name}"))?;
        }
        Ok(Self { start: values.clone(), reported: values.clone(), kept: values.clone(), values })
    }

    /// What the client was told last, without the ParameterStatus messages that are `due`: by place.
    pub(crate) fn told_but(&self, due: &VecDeque<Frame>) -> Vec<(usize, String)> {
        let told = self.reported.iter().enumerate().map(|(at, value)| (at, value.clone()));
        told.filter(|(at, value)| !due.contains(&frames::parameter_status(KNOWN[*at].0, value))).collect()
    }

    /// The client was told this.
    pub(crate) fn hear(&mut self, told: Vec<(usize, String)>) {
        told.into_iter().for_each(|(at, value)| self.reported[at] = value);
    }

    /// How a string in a statement's text is read: it depends on the time zone.
    pub(crate) fn read(&self) -> String {
        format!("read in {}", self.values[3])
    }

    /// All values in one text: every row carries it.
    pub(crate) fn fingerprint(&self) -> String {
        self.values.join("|")
    }

    /// ParameterStatus of what the client does not know yet.
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
