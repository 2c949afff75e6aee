//! A cache of what each SQL text does. All workers share it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use trunkline_parser::cache::{Cache, Key, Settings, Stats};
use trunkline_parser::classify::Class;

use super::analysis::Analysis;
use super::plain::leaves_session_unchanged;
use super::{Effects, QuotingSettings};
use crate::limits::TurnLimits;

/// The analyses of SQL texts. Each text is parsed only once, as long as the cache has room for it.
pub struct Classes {
    cache: Cache<Analysis>,
    parsed: AtomicU64,
    parsed_bytes: AtomicU64,
    too_long: AtomicU64,
    unreadable: AtomicU64,
}

/// What the cache has cost, and the memory that it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassesStatus {
    /// The cache's own figures.
    pub cache: Stats,
    /// How many texts were parsed.
    pub parsed: u64,
    /// How many bytes they had.
    pub parsed_bytes: u64,
    /// How many texts were longer than `classified_text_bytes_max`, and so were not parsed.
    pub too_long: u64,
    /// How many texts PostgreSQL's grammar refused.
    pub unreadable: u64,
}

/// How much text may still be parsed in a round.
#[derive(Debug)]
pub(crate) struct ParseBudget {
    /// Bytes that are left in this round. The last text may be longer than that, by less than `text_bytes_max`.
    pub(crate) bytes: usize,
    /// A longer text is not parsed (`classified_text_bytes_max`).
    pub(crate) text_bytes_max: usize,
}

impl ParseBudget {
    /// A budget without a limit on the sum, for texts that another limit bounds.
    pub(crate) fn unbounded(limits: &TurnLimits) -> Self {
        Self { bytes: usize::MAX, ..Self::of(limits) }
    }

    /// The budget of a round.
    pub(crate) fn of(limits: &TurnLimits) -> Self {
        Self { bytes: limits.round_parse_bytes_max, text_bytes_max: limits.classified_text_bytes_max }
    }
}

/// The round's parse budget is used up. The text must wait for the next round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParseBudgetUsed;

impl Classes {
    /// Makes a cache of at most `bytes_max` bytes (`statement_classes_bytes_max`). 0: nothing is kept, and each text is
    /// parsed again. `seed` must be a secret random number.
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

    /// The present figures.
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

    /// What a text changes in its session. `None`: nothing.
    #[inline]
    pub(crate) fn effects<'a>(
        &self,
        text: &[u8],
        quoting: impl FnOnce() -> QuotingSettings<'a>,
        budget: &mut ParseBudget,
    ) -> Result<Option<Arc<Effects>>, ParseBudgetUsed> {
        match leaves_session_unchanged(text) {
            true => Ok(None),
            false => self.analysis(text, quoting(), budget).map(|analysis| analysis.effects),
        }
    }

    /// The class of a text: what kind of statements it has, and what they touch.
    pub(crate) fn class(
        &self,
        text: &[u8],
        quoting: QuotingSettings<'_>,
        budget: &mut ParseBudget,
    ) -> Result<Class, ParseBudgetUsed> {
        match quoting.is_usual() {
            true => self.analysis(text, quoting, budget).map(|analysis| analysis.class),
            false => Ok(Class::UNKNOWN),
        }
    }

    fn analysis(
        &self,
        text: &[u8],
        quoting: QuotingSettings<'_>,
        budget: &mut ParseBudget,
    ) -> Result<Analysis, ParseBudgetUsed> {
        if text.len() > budget.text_bytes_max {
            self.too_long.fetch_add(1, Relaxed);
            return Ok(Analysis::too_long_text());
        }
        let key = quoting.is_usual().then(|| Key::text(text));
        if let Some(analysis) = key.and_then(|key| self.cache.get(key)) {
            return Ok((*analysis).clone());
        }
        if budget.bytes == 0 {
            return Err(ParseBudgetUsed);
        }
        budget.bytes = budget.bytes.saturating_sub(text.len().max(1));
        self.parsed.fetch_add(1, Relaxed);
        self.parsed_bytes.fetch_add(text.len() as u64, Relaxed);
        let analysis = Analysis::parse(text, quoting);
        if analysis.is_none() {
            self.unreadable.fetch_add(1, Relaxed);
        }
        let analysis = analysis.unwrap_or_else(|| Analysis::unreadable(text));
        if let Some(key) = key {
            self.cache.insert(key, analysis.clone());
        }
        Ok(analysis)
    }
}

impl std::fmt::Debug for Classes {
    /// Shows only the figures, because the texts are the clients' secrets.
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

    fn budget() -> ParseBudget {
        ParseBudget { bytes: 1 << 20, text_bytes_max: 1 << 10 }
    }

    fn has_resets(classes: &Classes, text: &[u8], profile: &Profile) -> bool {
        let effects = classes.effects(text, || QuotingSettings::of(profile), &mut budget());
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

    /// A backslash before a quote decides where a string ends. Some characters have the byte of a backslash in them.
    #[test]
    fn a_text_is_parsed_under_its_sessions_settings() {
        let classes = Classes::new(1 << 20, 7);
        let (usual, off) = (Profile::default(), profile(&[("standard_conforming_strings", "off")]));
        let text = br"set x = '\'; reset all; --'";
        for _ in 0..2 {
            assert!(has_resets(&classes, text, &usual) && !has_resets(&classes, text, &off));
        }
        let sjis = profile(&[("client_encoding", "SJIS")]);
        let text = b"set x = E'\x95\\'; reset all; --'";
        assert!(has_resets(&classes, text, &sjis) && !has_resets(&classes, text, &usual));
        let class = |profile| classes.class(b"select 1", QuotingSettings::of(profile), &mut budget());
        assert_eq!((class(&off), class(&sjis)), (Ok(Class::UNKNOWN), Ok(Class::UNKNOWN)));
        assert_ne!(class(&usual), Ok(Class::UNKNOWN));
    }

    #[test]
    fn letters_that_are_not_utf8_do_not_matter() {
        let latin = profile(&[("client_encoding", "LATIN1")]);
        assert!(has_resets(&Classes::new(1 << 20, 7), b"set my.x = '\xe9'; reset all", &latin));
    }

    #[test]
    fn a_round_parses_only_its_budget() {
        let (classes, usual) = (Classes::new(1 << 20, 7), Profile::default());
        let mut budget = ParseBudget { bytes: 12, text_bytes_max: 10 };
        let mut of =
            |text: &str| classes.effects(text.as_bytes(), || QuotingSettings::of(&usual), &mut budget);
        assert!(of("reset a").is_ok() && of("reset b").is_ok());
        assert_eq!(of("reset c"), Err(ParseBudgetUsed));
        assert!(of("reset a").is_ok(), "it is in the cache");
        assert!(of("select 1").is_ok(), "it needs no parse");
        assert_eq!(of("reset longer").ok().flatten().as_deref(), Some(&Effects::UNKNOWN));
        assert_eq!(classes.status().too_long, 1);
    }

    #[test]
    fn a_text_with_a_large_tree_is_parsed() {
        let (classes, usual) = (Classes::new(1 << 20, 7), Profile::default());
        let text = format!("reset timezone; select 1{}", "+1".repeat(30_000));
        let mut budget = ParseBudget { bytes: 1 << 20, text_bytes_max: 64 << 10 };
        let effects = classes.effects(text.as_bytes(), || QuotingSettings::of(&usual), &mut budget);
        assert!(effects.ok().flatten().is_some_and(|effects| effects.has_resets()));
    }

    #[test]
    fn a_text_that_does_not_parse_may_set_parameters() {
        let (classes, usual) = (Classes::new(0, 7), Profile::default());
        for (text, begins) in [("wrong", false), ("BEGIN; select wrong wrong wrong", true)] {
            let effects = classes.effects(text.as_bytes(), || QuotingSettings::of(&usual), &mut budget());
            let effects = effects.ok().flatten().expect("it may set");
            assert!(effects.may_set && effects.begins_transaction == begins, "{text}");
        }
        let status = classes.status();
        assert_eq!((status.parsed, status.unreadable, status.cache.entries), (2, 2, 0));
    }
}
