//! What is known of one text.

use std::sync::Arc;

use trunkline_parser::cache::Weigh;
use trunkline_parser::classify::{Class, Count, Touches};
use trunkline_parser::{ParseOptions, parse_with};

use super::{Effects, Reading};

/// Bytes that the tree of a text may take for each byte of it: most take 20 to 60, `1+1+1` takes 200. A short text counts as the
/// second figure.
const TREE_BYTES_A_BYTE: usize = 512;
const TEXT_BYTES_MIN: usize = 1 << 10;

/// What a text is, and what it changes of its session.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// What it is and does. Where settings decide how it is read it is unknown.
    pub(crate) class: Class,
    /// Most change nothing.
    pub(crate) effects: Option<Arc<Effects>>,
}

impl Known {
    /// Of a text that is too long to be read.
    pub(super) fn of_long() -> Self {
        Self { class: Class::UNKNOWN, effects: Some(Arc::new(Effects::UNKNOWN)) }
    }

    /// Of a text that the grammar does not have.
    pub(super) fn unreadable(text: &[u8]) -> Self {
        Self { class: Class::UNKNOWN, effects: Some(Arc::new(Effects::of_unreadable(text))) }
    }

    /// Of a text, as a session reads it; nothing when the grammar does not have it.
    pub(super) fn parse(text: &[u8], reading: Reading<'_>) -> Option<Self> {
        let options = ParseOptions {
            standard_conforming_strings: reading.standard_conforming_strings,
            tree_bytes_max: text.len().max(TEXT_BYTES_MIN).saturating_mul(TREE_BYTES_A_BYTE),
            ..ParseOptions::default()
        };
        let tree = parse_with(&reading.to_utf8(text), options).ok()?;
        let (effects, class) = Effects::of(&tree);
        let class = if reading.is_usual() { class } else { Class::UNKNOWN };
        Some(Self { class, effects: (effects != Effects::NONE).then(|| Arc::new(effects)) })
    }
}

/// Whether a text of the class reads or writes rows and no more, so that who comes after it on a connection finds that as it
/// was, and how it is answered does not depend on who was there before.
pub(crate) fn is_only_rows(class: Class) -> bool {
    const HARMLESS: Touches = Touches::FUNCTIONS.with(Touches::TRANSACTION_TIME).with(Touches::ROW_LOCK);
    class.count() == Count::One && class.kind().is_query() && class.touches().without(HARMLESS).is_empty()
}

impl Weigh for Known {
    fn heap_bytes(&self) -> usize {
        self.effects.as_ref().map_or(0, |effects| effects.bytes())
    }
}
