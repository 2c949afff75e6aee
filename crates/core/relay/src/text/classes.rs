//! What each SQL text does: a cache that all workers share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use trunkline_parser::cache::{Cache, Key, Settings, Stats};
use trunkline_parser::classify::Class;

use super::known::Known;
use super::plain::keeps_session;
use super::{Effects, Reading};
use crate::limits::TurnLimits;

/// What is known of texts, so that each is parsed once as long as there is room.
pub struct Classes {
    cache: Cache<Known>,
    parsed: AtomicU64,
    parsed_bytes: AtomicU64,
    too_long: AtomicU64,
    unreadable: AtomicU64,
}

/// What the classes of texts have cost, and what they take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassesStatus {
    /// The cache's own figures.
    pub cache: Stats,
    /// Texts parsed.
    pub parsed: u64,
    /// Their bytes.
    pub parsed_bytes: u64,
    /// Texts that were longer than `classified_text_bytes_max`: nothing is known of them.
    pub too_long: u64,
    /// Texts that PostgreSQL's grammar does not have.
    pub unreadable: u64,
}

/// How much may still be parsed.
#[derive(Debug)]
pub(crate) struct ParseBudget {
    /// Bytes in this round. The last text may take it below: it is not more than `text_bytes_max` too long.
    pub(crate) bytes: usize,
    /// Bytes of a text at most (`classified_text_bytes_max`).
    pub(crate) text_bytes_max: usize,
}

impl ParseBudget {
    /// For what is bounded otherwise: a turn that is short, or what has come of a client.
    pub(crate) fn unbounded(limits: &TurnLimits) -> Self {
        Self { bytes: usize::MAX, ..Self::of(limits) }
    }

    /// A round's.
    pub(crate) fn of(limits: &TurnLimits) -> Self {
        Self { bytes: limits.round_parse_bytes_max, text_bytes_max: limits.classified_text_bytes_max }
    }
}

/// The round's share of parsing is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Later;

impl Classes {
    /// At most this many bytes are kept (`statement_classes_bytes_max`); 0: none, each text is parsed again. Nobody may know the
    /// seed.
    #[must_use]
    pub fn new(bytes_max: usize, seed: u64) -> Self {
        Self {
            cache: Cache::new(&Settings::with_bytes_max(bytes_max), seed),
            parsed: AtomicU64::new(0),
            parsed_bytes: AtomicU64::new(0),
            too_long: AtomicU64::new(0),
            unreadable: AtomicU64::new(0),
        }
    }

    /// The figures now.
    #[must_use]
    pub fn status(&self) -> ClassesStatus {
        ClassesStatus {
            cache: self.cache.stats(),
            parsed: self.parsed.load(Relaxed),
            parsed_bytes: self.parsed_bytes.load(Relaxed),
            too_long: self.too_long.load(Relaxed),
            unreadable: self.unreadable.load(Relaxed),
        }
    }

    /// What a text changes of its session.
    #[inline]
    pub(crate) fn effects<'a>(
        &self,
        text: &[u8],
        reading: impl FnOnce() -> Reading<'a>,
        share: &mut ParseBudget,
    ) -> Result<Option<Arc<Effects>>, Later> {
        match keeps_session(text) {
            true => Ok(None),
            false => self.known(text, reading(), share).map(|known| known.effects),
        }
    }

    /// What a text is.
    pub(crate) fn class(
        &self,
        text: &[u8],
        reading: Reading<'_>,
        share: &mut ParseBudget,
    ) -> Result<Class, Later> {
        match reading.is_usual() {
            true => self.known(text, reading, share).map(|known| known.class),
            false => Ok(Class::UNKNOWN),
        }
    }

    fn known(&self, text: &[u8], reading: Reading<'_>, share: &mut ParseBudget) -> Result<Known, Later> {
        if text.len() > share.text_bytes_max {
            self.too_long.fetch_add(1, Relaxed);
            return Ok(Known::of_long());
        }
        let key = reading.is_usual().then(|| Key::text(text));
        if let Some(known) = key.and_then(|key| self.cache.get(key)) {
            return Ok((*known).clone());
        }
        if share.bytes == 0 {
            return Err(Later);
        }
        share.bytes = share.bytes.saturating_sub(text.len().max(1));
        self.parsed.fetch_add(1, Relaxed);
        self.parsed_bytes.fetch_add(text.len() as u64, Relaxed);
        let known = Known::parse(text, reading);
        if known.is_none() {
            self.unreadable.fetch_add(1, Relaxed);
        }
        let known = known.unwrap_or_else(|| Known::unreadable(text));
        if let Some(key) = key {
            self.cache.insert(key, known.clone());
        }
        Ok(known)
    }
}

impl std::fmt::Debug for Classes {
    /// The figures only: the texts are clients'.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.status().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carried::parameters::Profile;

    fn profile(values: &[(&str, &str)]) -> Profile {
        let mut profile = Profile::default();
        values.iter().for_each(|(name, value)| profile.set(name, value));
        profile
    }

    fn share() -> ParseBudget {
        ParseBudget { bytes: 1 << 20, text_bytes_max: 1 << 10 }
    }

    fn has_resets(classes: &Classes, text: &[u8], profile: &Profile) -> bool {
        let effects = classes.effects(text, || Reading::of(profile), &mut share());
        effects.expect("there is room").is_some_and(|effects| effects.has_resets())
    }

    #[test]
    fn a_text_is_parsed_once() {
        let (classes, usual) = (Classes::new(1 << 20, 7), Profile::default());
        for _ in 0..3 {
            assert!(has_resets(&classes, b"reset all", &usual));
            assert!(!has_resets(&classes, b"select 1", &usual));
        }
        let status = classes.status();
        assert_eq!((status.parsed, status.parsed_bytes, status.cache.text.hits), (1, 9, 2));
    }

    /// A backslash before a quote, or a character that has one in it, decides where a string ends.
    #[test]
    fn a_text_is_known_by_how_its_session_reads_it() {
        let classes = Classes::new(1 << 20, 7);
        let (usual, off) = (Profile::default(), profile(&[("standard_conforming_strings", "off")]));
        let text = br"set x = '\'; reset all; --'";
        for _ in 0..2 {
            assert!(has_resets(&classes, text, &usual) && !has_resets(&classes, text, &off));
        }
        let sjis = profile(&[("client_encoding", "SJIS")]);
        let text = b"set x = E'\x95\\'; reset all; --'";
        assert!(has_resets(&classes, text, &sjis) && !has_resets(&classes, text, &usual));
        let class = |profile| classes.class(b"select 1", Reading::of(profile), &mut share());
        assert_eq!((class(&off), class(&sjis)), (Ok(Class::UNKNOWN), Ok(Class::UNKNOWN)));
        assert_ne!(class(&usual), Ok(Class::UNKNOWN));
    }

    #[test]
    fn letters_of_any_encoding_hinder_no_one() {
        let latin = profile(&[("client_encoding", "LATIN1")]);
        assert!(has_resets(&Classes::new(1 << 20, 7), b"set my.x = '\xe9'; reset all", &latin));
    }

    #[test]
    fn a_round_has_its_share_of_parsing() {
        let (classes, usual) = (Classes::new(1 << 20, 7), Profile::default());
        let mut share = ParseBudget { bytes: 12, text_bytes_max: 10 };
        let mut of = |text: &str| classes.effects(text.as_bytes(), || Reading::of(&usual), &mut share);
        assert!(of("reset a").is_ok() && of("reset b").is_ok());
        assert_eq!(of("reset c"), Err(Later));
        assert!(of("reset a").is_ok(), "it is known");
        assert!(of("select 1").is_ok(), "it needs no parse");
        assert_eq!(of("reset longer").ok().flatten().as_deref(), Some(&Effects::UNKNOWN));
        assert_eq!(classes.status().too_long, 1);
    }

    #[test]
    fn a_dense_text_is_read() {
        let (classes, usual) = (Classes::new(1 << 20, 7), Profile::default());
        let text = format!("reset timezone; select 1{}", "+1".repeat(30_000));
        let mut share = ParseBudget { bytes: 1 << 20, text_bytes_max: 64 << 10 };
        let effects = classes.effects(text.as_bytes(), || Reading::of(&usual), &mut share);
        assert!(effects.ok().flatten().is_some_and(|effects| effects.has_resets()));
    }

    #[test]
    fn what_the_grammar_does_not_have_may_set_parameters() {
        let (classes, usual) = (Classes::new(0, 7), Profile::default());
        for (text, begins) in [("wrong", false), ("BEGIN; select wrong wrong wrong", true)] {
            let effects = classes.effects(text.as_bytes(), || Reading::of(&usual), &mut share());
            let effects = effects.ok().flatten().expect("it may set");
            assert!(effects.may_set && effects.begins_transaction == begins, "{text}");
        }
        let status = classes.status();
        assert_eq!((status.parsed, status.unreadable, status.cache.entries), (2, 2, 0));
    }
}
