//! The settings by which the grammar finds the ends of strings in a session's texts.

use std::borrow::Cow;

use super::wide::{has_ascii_inside, hide_trail_bytes};
use crate::carried::parameters::Profile;

/// The settings that decide where a quoted string ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuotingSettings<'a> {
    pub(super) standard_conforming_strings: bool,
    client_encoding: Option<&'a str>,
}

impl<'a> QuotingSettings<'a> {
    /// The settings of a session with these parameters.
    pub(crate) fn of(profile: &'a Profile) -> Self {
        Self {
            standard_conforming_strings: profile.value("standard_conforming_strings") != Some("off"),
            client_encoding: profile.value("client_encoding"),
        }
    }

    /// Whether the settings are the usual ones, under which a text means the same in nearly all sessions.
    pub(super) fn is_usual(self) -> bool {
        self.standard_conforming_strings && !has_ascii_inside(self.client_encoding)
    }

    /// The text in UTF-8, with the same words and quotes. Letters that are not ASCII may be lost.
    pub(super) fn to_utf8(self, text: &[u8]) -> Cow<'_, str> {
        match hide_trail_bytes(text, self.client_encoding) {
            Cow::Borrowed(text) => String::from_utf8_lossy(text),
            Cow::Owned(text) => Cow::Owned(String::from_utf8_lossy(&text).into_owned()),
        }
    }
}
