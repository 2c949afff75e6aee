//! The analysis of one SQL text.

use std::sync::Arc;

use trunkline_parser::cache::Weigh;
use trunkline_parser::classify::{Class, Count, Touches};
use trunkline_parser::{ParseOptions, parse_with};

use super::{Effects, QuotingSettings};

/// A parse tree may take this many bytes for each byte of its text. Most take 20 to 60, and `1+1+1` takes 200.
const TREE_BYTES_A_BYTE: usize = 512;
/// A shorter text may have the tree of a text of this size.
const TEXT_BYTES_MIN: usize = 1 << 10;

/// The class of a text, and what it changes in its session.
#[derive(Clone, Debug)]
pub(crate) struct Analysis {
    /// What kind of statements it has, and what they touch. Unknown if the session has unusual settings for quotes.
    pub(crate) class: Class,
    /// What it changes in its session. `None`: nothing.
    pub(crate) effects: Option<Arc<Effects>>,
}

impl Analysis {
    /// For a text that is too long to be parsed.
    pub(super) fn too_long_text() -> Self {
        Self { class: Class::UNKNOWN, effects: Some(Arc::new(Effects::UNKNOWN)) }
    }

    /// For a text that the grammar refuses.
    pub(super) fn unreadable(text: &[u8]) -> Self {
        Self { class: Class::UNKNOWN, effects: Some(Arc::new(Effects::of_unreadable(text))) }
    }

    /// Parses a text as a session with these settings does. `None` if the grammar refuses it.
    pub(super) fn parse(text: &[u8], quoting: QuotingSettings<'_>) -> Option<Self> {
        let options = ParseOptions {
            standard_conforming_strings: quoting.standard_conforming_strings,
            tree_bytes_max: text.len().max(TEXT_BYTES_MIN).saturating_mul(TREE_BYTES_A_BYTE),
            ..ParseOptions::default()
        };
        let tree = parse_with(&quoting.to_utf8(text), options).ok()?;
        let (effects, class) = Effects::of(&tree);
        let class = if quoting.is_usual() { class } else { Class::UNKNOWN };
        Some(Self { class, effects: (effects != Effects::NONE).then(|| Arc::new(effects)) })
    }
}

/// Whether a text of this class only reads or writes rows. Then the next client finds the connection unchanged, and the
/// answer does not depend on the client before.
pub(crate) fn is_only_rows(class: Class) -> bool {
    const HARMLESS: Touches = Touches::FUNCTIONS.with(Touches::TRANSACTION_TIME).with(Touches::ROW_LOCK);
    class.count() == Count::One && class.kind().is_query() && class.touches().without(HARMLESS).is_empty()
}

impl Weigh for Analysis {
    fn heap_bytes(&self) -> usize {
        self.effects.as_ref().map_or(0, |effects| effects.bytes())
    }
}
