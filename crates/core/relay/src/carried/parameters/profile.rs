//! A set of parameters, and a worker's table of all sets.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use trunkline_session::frontend::{PARAMETERS_BYTES_MAX, PARAMETERS_MAX};

use crate::text::{Depth, Literals};

/// With this many profiles in the table, and each time that their number has doubled, unused ones are dropped.
const INTERNED_SWEEP: usize = 1024;

/// Stands for a value that we do not know. It has a zero byte, so it is not the value of any parameter.
pub const UNKNOWN: &str = "\0";

/// A set of parameters with their values.
#[derive(Debug, Default)]
pub struct Profile {
    entries: Vec<(Box<str>, Box<str>)>,
    /// The parts of this set on which the reading of a text depends, by what the text contains. Each is made when it is first
    /// needed.
    parse_settings: [OnceLock<Arc<Profile>>; 8],
}

impl Clone for Profile {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), parse_settings: Default::default() }
    }
}

impl PartialEq for Profile {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl Eq for Profile {}

impl std::hash::Hash for Profile {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.entries.hash(state);
    }
}

impl Profile {
    /// The value of a parameter (by canonical name).
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        let at = self.entries.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        Some(&self.entries[at].1)
    }

    /// Sets a parameter (by canonical name).
    pub fn set(&mut self, name: &str, value: &str) {
        match self.entries.binary_search_by(|(known, _)| (**known).cmp(name)) {
            Ok(at) => self.entries[at].1 = value.into(),
            Err(at) => self.entries.insert(at, (name.into(), value.into())),
        }
        self.parse_settings = Default::default();
    }

    /// Whether a server may report a value of this length for a parameter (by canonical name). The number of parameters, and
    /// the bytes of all of them, have the same limits as at login.
    #[must_use]
    pub fn has_room_for(&self, name: &str, value_bytes: usize) -> bool {
        let others = || self.iter().filter(|(known, _)| *known != name);
        let bytes: usize = others().map(|(name, value)| name.len() + value.len()).sum();
        others().count() < PARAMETERS_MAX && bytes + name.len() + value_bytes <= PARAMETERS_BYTES_MAX
    }

    /// Takes a parameter (by canonical name) out of the set. This means that it has the server's default.
    pub fn remove(&mut self, name: &str) {
        self.entries.retain(|(known, _)| **known != *name);
        self.parse_settings = Default::default();
    }

    /// The parameters on which the reading of a text with these literals depends.
    pub(crate) fn parse_settings(&self, literals: Literals) -> &Arc<Self> {
        let scanned = literals.depth == Depth::Scanned;
        let at = usize::from(literals.strings)
            + 2 * usize::from(literals.encoding_dependent)
            + 4 * usize::from(scanned);
        self.parse_settings[at].get_or_init(|| {
            let entries = self.entries.iter().filter(|(name, _)| literals.depend_on(name)).cloned().collect();
            Arc::new(Self { entries, parse_settings: Default::default() })
        })
    }

    /// The parameters that must change so that a session with `self` reads a text with these literals as one with `wanted` does.
    /// Each comes with its value in `wanted`, or `None` if it has the server's default there.
    pub(crate) fn differing_parse_settings<'a>(
        &'a self,
        wanted: &'a Self,
        literals: Literals,
    ) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
        let changed = wanted.iter().filter(|(name, value)| self.value(name) != Some(value));
        let missing = self.iter().filter(|(name, _)| wanted.value(name).is_none());
        let all =
            changed.map(|(name, value)| (name, Some(value))).chain(missing.map(|(name, _)| (name, None)));
        all.filter(move |(name, _)| literals.parse_depends_on(name))
    }

    /// All parameters, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(name, value)| (&**name, &**value))
    }

    /// How many parameters are set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no parameter is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// This set after something that may have changed any parameter. Parameters that the server reports keep their values. All
    /// others get the value [`UNKNOWN`], so that they are set or reset for the next client.
    #[must_use]
    pub fn with_unreported_unknown(&self, is_reported: impl Fn(&str) -> bool) -> Self {
        let kept = |(name, value): &(Box<str>, Box<str>)| {
            let value = if is_reported(name) { value.clone() } else { UNKNOWN.into() };
            (name.clone(), value)
        };
        Self { entries: self.entries.iter().map(kept).collect(), parse_settings: Default::default() }
    }
}

/// A worker's table of profiles: it stores equal profiles once.
#[derive(Debug, Default)]
pub struct Profiles {
    known: HashSet<Arc<Profile>>,
}

impl Profiles {
    /// The stored copy of `profile`. If there is none, `profile` is stored.
    pub fn intern(&mut self, profile: Profile) -> Arc<Profile> {
        if let Some(known) = self.known.get(&profile) {
            return Arc::clone(known);
        }
        if self.known.len() >= INTERNED_SWEEP && self.known.len().is_power_of_two() {
            self.known.retain(|known| Arc::strong_count(known) > 1);
        }
        let profile = Arc::new(profile);
        self.known.insert(Arc::clone(&profile));
        profile
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::profile;
    use super::*;

    #[test]
    fn equal_profiles_are_stored_once() {
        let mut profiles = Profiles::default();
        let a = profiles.intern(profile(&[("x", "1"), ("y", "2")]));
        let b = profiles.intern(profile(&[("y", "2"), ("x", "1")]));
        assert!(Arc::ptr_eq(&a, &b));
    }
}
