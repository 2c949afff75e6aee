//! The types of settings: how each is read from a file, and how the documentation and the metrics show it.

use std::ops::Range;
use std::path::PathBuf;

use super::secret::Secret;
use super::value::{Data, Value};

/// Why a value was refused.
#[derive(Debug)]
pub(super) struct Refusal {
    /// What is allowed and what was found, to be written after "`key`: ".
    pub(super) message: String,
    /// The place within the value (an element of a list), in bytes from the start of the file; `None`: the whole value.
    pub(super) place: Option<Range<usize>>,
    /// Whether the value is secret: no excerpt may show it.
    pub(super) secret: bool,
}

impl Refusal {
    /// A refusal of the whole value.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), place: None, secret: false }
    }

    /// `expected <what>, found <type>`.
    pub(super) fn expected(what: &str, value: &Value) -> Self {
        Self::new(format!("expected {what}, found {}", value.describe()))
    }
}

/// A type of a setting.
pub(super) trait Setting: Sized {
    /// Decodes a value of the file; the error says what is allowed.
    fn decode(value: &Value) -> Result<Self, Refusal>;

    /// The value as `trunkline.toml` would have it; empty for "not set".
    fn show(&self) -> String;

    /// The value as the metric of a bound shows it: a count, bytes or seconds; 0 for no bound. `None` if it is not a number.
    fn number(&self) -> Option<f64> {
        None
    }
}

macro_rules! whole_number {
    ($($type:ty),*) => {$(
        impl Setting for $type {
            fn decode(value: &Value) -> Result<Self, Refusal> {
                value.as_integer().and_then(|number| <$type>::try_from(number).ok()).ok_or_else(|| {
                    Refusal::expected(&format!("a whole number from 0 to {}", <$type>::MAX), value)
                })
            }

            fn show(&self) -> String {
                self.to_string()
            }

            fn number(&self) -> Option<f64> {
                Some((*self).into())
            }
        }
    )*};
}

whole_number!(u16, u32);

impl Setting for bool {
    fn decode(value: &Value) -> Result<Self, Refusal> {
        match value.data {
            Data::Boolean(flag) => Ok(flag),
            _ => Err(Refusal::expected("true or false", value)),
        }
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Setting for String {
    fn decode(value: &Value) -> Result<Self, Refusal> {
        let text = value.as_text().ok_or_else(|| Refusal::expected("a string", value))?;
        // The text may be sent in a start-up packet or a query, where a zero byte would end it.
        if text.contains('\0') {
            return Err(Refusal::new("a zero byte is not allowed here"));
        }
        Ok(text.to_owned())
    }

    fn show(&self) -> String {
        format!("\"{self}\"")
    }
}

impl Setting for PathBuf {
    fn decode(value: &Value) -> Result<Self, Refusal> {
        match value.as_text() {
            Some(text) if !text.is_empty() && !text.contains('\0') => Ok(Self::from(text)),
            _ => Err(Refusal::expected("a path", value)),
        }
    }

    fn show(&self) -> String {
        format!("\"{}\"", self.display())
    }
}

impl Setting for Secret {
    fn decode(value: &Value) -> Result<Self, Refusal> {
        let refuse = |message: &str| Refusal { secret: true, ..Refusal::new(message) };
        match value.as_text() {
            Some(text) if text.contains('\0') => Err(refuse("a zero byte is not allowed here")),
            Some(text) => Ok(Self::new(text)),
            None => Err(refuse("expected a string (it is not shown here, as it is a secret)")),
        }
    }

    fn show(&self) -> String {
        "***".to_owned()
    }
}

impl<T: Setting> Setting for Vec<T> {
    fn decode(value: &Value) -> Result<Self, Refusal> {
        // A value without brackets is a list of one element.
        let Data::List(elements) = &value.data else { return Ok(vec![T::decode(value)?]) };
        elements
            .iter()
            .map(|element| {
                T::decode(element).map_err(|refusal| Refusal {
                    place: refusal.place.or(Some(element.place.clone())),
                    ..refusal
                })
            })
            .collect()
    }

    fn show(&self) -> String {
        let elements: Vec<String> = self.iter().map(T::show).collect();
        format!("[{}]", elements.join(", "))
    }
}

/// A type whose settings may be left out. Durations do not have this trait: `Option<Duration>` reads 0 as "off".
pub(super) trait MayBeAbsent: Setting {}

impl MayBeAbsent for bool {}
impl MayBeAbsent for u16 {}
impl MayBeAbsent for u32 {}
impl MayBeAbsent for String {}
impl MayBeAbsent for PathBuf {}
impl MayBeAbsent for Secret {}

impl<T: MayBeAbsent> Setting for Option<T> {
    fn decode(value: &Value) -> Result<Self, Refusal> {
        T::decode(value).map(Some)
    }

    fn show(&self) -> String {
        self.as_ref().map(T::show).unwrap_or_default()
    }

    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(T::number)
    }
}
