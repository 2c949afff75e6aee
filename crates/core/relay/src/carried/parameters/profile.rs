//! A set of parameters, and the one shared copy of each set.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use trunkline_session::frontend::{PARAMETERS_BYTES_MAX, PARAMETERS_MAX};

use crate::text::{Depth, Literals};

/// Interned profiles kept at most before those that nobody holds are dropped.
const INTERNED_SWEEP: usize = 1024;

/// Stands for a value that is not known. No value of a parameter has a zero byte: this one is nobody's.
pub const UNKNOWN: &str = "\0";

/// A set of parameters with their values.
#[derive(Debug, Default)]
pub struct Profile {
    entries: Vec<(Box<str>, Box<str>)>,
    /// The parts that decide how texts are read, by what is in the text; made when first asked for.
    readings: [OnceLock<Arc<Profile>>; 8],
}

impl Clone for Profile {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), readings: Default::default() }
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
        self.readings = Default::default();
    }

    /// Whether a server may report this many bytes of value for a parameter (by canonical name): as many parameters, and
    /// bytes of all, as it may report when it is logged in to.
    #[must_use]
    pub fn has_room_for(&self, name: &str, value_bytes: usize) -> bool {
        let others = || self.iter().filter(|(known, _)| *known != name);
        let bytes: usize = others().map(|(name, value)| name.len() + value.len()).sum();
        others().count() < PARAMETERS_MAX && bytes + name.len() + value_bytes <= PARAMETERS_BYTES_MAX
    }

    /// Takes a parameter out (by canonical name): it has the server's default.
    pub fn remove(&mut self, name: &str) {
        self.entries.retain(|(known, _)| **known != *name);
        self.readings = Default::default();
    }

    /// The parameters that decide how a text with these literals is read.
    pub(crate) fn reading(&self, literals: Literals) -> &Arc<Self> {
        let scanned = literals.depth == Depth::Scanned;
        let at = usize::from(literals.strings) + 2 * usize::from(literals.letters) + 4 * usize::from(scanned);
        self.readings[at].get_or_init(|| {
            let entries = self.entries.iter().filter(|(name, _)| literals.depend_on(name)).cloned().collect();
            Arc::new(Self { entries, readings: Default::default() })
        })
    }

    /// The parameters by which two sessions read a text with these literals differently: name, and the value in
    /// `wanted`; `None` where `wanted` has the server's default.
    pub(crate) fn misreads<'a>(
        &'a self,
        wanted: &'a Self,
        literals: Literals,
    ) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
        let others = wanted.iter().filter(|(name, value)| self.value(name) != Some(value));
        let missing = self.iter().filter(|(name, _)| wanted.value(name).is_none());
        let all =
            others.map(|(name, value)| (name, Some(value))).chain(missing.map(|(name, _)| (name, None)));
        all.filter(move |(name, _)| literals.are_read_by(name))
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

    /// What is left of it when something may have changed any parameter: those that the server reports, and of the
    /// others that they have [`UNKNOWN`] values, so that they are set or reset for the next client.
    #[must_use]
    pub fn unknown_but(&self, is_reported: impl Fn(&str) -> bool) -> Self {
        let kept = |(name, value): &(Box<str>, Box<str>)| {
            let value = if is_reported(name) { value.clone() } else { UNKNOWN.into() };
            (name.clone(), value)
        };
        Self { entries: self.entries.iter().map(kept).collect(), readings: Default::default() }
    }
}

/// A worker's profiles: equal ones are the same `Arc`.
#[derive(Debug, Default)]
pub struct Profiles {
    known: HashSet<Arc<Profile>>,
}

impl Profiles {
    /// The one shared copy of `profile`.
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
    fn equal_profiles_are_one() {
        let mut profiles = Profiles::default();
        let a = profiles.intern(profile(&[("x", "1"), ("y", "2")]));
        let b = profiles.intern(profile(&[("y", "2"), ("x", "1")]));
        assert!(Arc::ptr_eq(&a, &b));
    }
}
