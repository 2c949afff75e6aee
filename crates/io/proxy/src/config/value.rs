//! What a configuration file says, whatever its format: plain values, each with its place in the file.
//!
//! Who reads a format makes these of its text (`from_toml.rs`); who decodes settings knows nothing else.

use std::ops::Range;

/// A value and where it stands. There is no `Debug`: it may be a password, and nobody knows that before its key is read.
pub(super) struct Value {
    /// What it is.
    pub(super) data: Data,
    /// Its bytes from the start of the file.
    pub(super) place: Range<usize>,
}

/// The kinds of values.
pub(super) enum Data {
    /// A text.
    Text(String),
    /// A number without a fraction.
    Whole(Whole),
    /// A number with a fraction, as it was written: a float would not say 0.1 exactly.
    Float(String),
    /// True or false.
    Truth(bool),
    /// Values one after the other.
    List(Vec<Value>),
    /// Values with names.
    Table(Table),
    /// What no setting can be, by its name for an error: "a date".
    Other(&'static str),
}

/// A whole number as it was written: an error repeats it, and permissions must have been written in octal.
pub(super) struct Whole {
    /// The sign and the digits; `_` may stand between them.
    pub(super) digits: String,
    /// 8 for octal.
    pub(super) radix: u32,
}

/// Values with names, in the order in which they are read.
#[derive(Default)]
pub(super) struct Table {
    pub(super) entries: Vec<(Key, Value)>,
}

/// A name in a table, and where it stands.
pub(super) struct Key {
    /// The name.
    pub(super) name: String,
    /// Its bytes from the start of the file.
    pub(super) place: Range<usize>,
}

impl Value {
    /// The text, if it is one.
    pub(super) fn as_text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number, if it is one that fits.
    pub(super) fn as_whole(&self) -> Option<i128> {
        match &self.data {
            Data::Whole(whole) => whole.number(),
            _ => None,
        }
    }

    /// The value by its kind, and by its text where that is short: for errors.
    pub(super) fn describe(&self) -> String {
        match &self.data {
            // It may have a password in it, wherever it stands.
            Data::Text(text) if text.contains("://") && text.contains('@') => "a URL (not shown)".to_owned(),
            Data::Text(text) if text.len() <= 40 => format!("\"{text}\""),
            Data::Text(_) => "a long string".to_owned(),
            Data::Whole(Whole { digits: number, .. }) | Data::Float(number) => format!("the number {number}"),
            Data::Truth(flag) => flag.to_string(),
            Data::List(_) => "a list".to_owned(),
            Data::Table(_) => "a table".to_owned(),
            Data::Other(name) => (*name).to_owned(),
        }
    }
}

impl Whole {
    /// The number; `None` if it does not fit.
    pub(super) fn number(&self) -> Option<i128> {
        i128::from_str_radix(&self.digits.replace('_', ""), self.radix).ok()
    }
}

impl Table {
    /// The value of `name`.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.entries.iter().find(|(key, _)| key.name == name).map(|(_, value)| value)
    }
}
