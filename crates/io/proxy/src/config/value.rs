//! The values of a configuration file, independent of its format. Each has its place in the file.
//!
//! The reader of a format (`from_toml.rs`) makes these values. The decoders of settings see only these values.

use std::ops::Range;

/// A value and its place. There is no `Debug`, because any value may be a password until its key is known.
pub(super) struct Value {
    /// The value itself.
    pub(super) data: Data,
    /// The range of its bytes in the file.
    pub(super) place: Range<usize>,
}

/// The kinds of values.
pub(super) enum Data {
    /// A text.
    Text(String),
    /// A number without a fraction.
    Integer(Integer),
    /// The text of a number with a fraction: an `f64` cannot hold 0.1 exactly.
    Float(String),
    /// True or false.
    Boolean(bool),
    /// A list of values.
    List(Vec<Value>),
    /// Values with names.
    Table(Table),
    /// A value of a type that no setting has. The text is its name for an error: "a date".
    Other(&'static str),
}

/// The text of a whole number. Errors repeat it, and permissions must be written in octal.
pub(super) struct Integer {
    /// The sign and the digits; `_` may stand between them.
    pub(super) digits: String,
    /// 8 for octal.
    pub(super) radix: u32,
}

/// Values with names, in the order in which the settings are read.
#[derive(Default)]
pub(super) struct Table {
    pub(super) entries: Vec<(Key, Value)>,
}

/// A name in a table, and its place.
pub(super) struct Key {
    /// The name.
    pub(super) name: String,
    /// The range of its bytes in the file.
    pub(super) place: Range<usize>,
}

impl Value {
    /// The text; `None` if the value is not a text.
    pub(super) fn as_text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number; `None` if the value is not one, or does not fit.
    pub(super) fn as_integer(&self) -> Option<i128> {
        match &self.data {
            Data::Integer(whole) => whole.number(),
            _ => None,
        }
    }

    /// A description for errors: the kind of the value, or its text if that is short.
    pub(super) fn describe(&self) -> String {
        match &self.data {
            // A URL may have a password in it, whatever its key is.
            Data::Text(text) if text.contains("://") && text.contains('@') => "a URL (not shown)".to_owned(),
            Data::Text(text) if text.len() <= 40 => format!("\"{text}\""),
            Data::Text(_) => "a long string".to_owned(),
            Data::Integer(Integer { digits: number, .. }) | Data::Float(number) => {
                format!("the number {number}")
            }
            Data::Boolean(flag) => flag.to_string(),
            Data::List(_) => "a list".to_owned(),
            Data::Table(_) => "a table".to_owned(),
            Data::Other(name) => (*name).to_owned(),
        }
    }
}

impl Integer {
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
