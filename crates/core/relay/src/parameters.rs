//! Server parameters that follow a client from server connection to server connection.
//!
//! A [`Profile`] is a sorted, immutable set of parameters. Profiles are interned in a worker, so that
//! "does this connection fit this client" is one comparison of pointers on the hot path.

use std::collections::HashSet;
use std::sync::Arc;

use trunkline_wire::write;

/// Parameters that PostgreSQL reports and that clients may set (PostgreSQL manual, 55.2.7; `search_path` is
/// reported from version 18 on). Spelt as the server reports them.
pub const TRACKED: [&str; 7] = [
    "client_encoding",
    "DateStyle",
    "TimeZone",
    "IntervalStyle",
    "standard_conforming_strings",
    "application_name",
    "search_path",
];

/// `GUC_LIST_QUOTE` parameters: `SET x = 'a, b'` would make one name of their value.
const QUOTED_LISTS: [&str; 5] = [
    "search_path",
    "temp_tablespaces",
    "session_preload_libraries",
    "local_preload_libraries",
    "unix_socket_directories",
];

/// Interned profiles kept at most before those that nobody holds are dropped.
const INTERNED_SWEEP: usize = 1024;

/// Stands for a value that is not known. No value of a parameter has a zero byte: this one is nobody's.
pub const UNKNOWN: &str = "\0";

/// The spelling under which a parameter is kept: the server's for [`TRACKED`] ones, lower case else.
#[must_use]
pub fn canonical_name(name: &str) -> String {
    TRACKED
        .iter()
        .find(|tracked| tracked.eq_ignore_ascii_case(name))
        .map_or_else(|| name.to_ascii_lowercase(), |tracked| (*tracked).to_owned())
}

/// Whether a name can be a parameter's (letters, digits, `_`, `$`, and `.` of extensions'), so that it can stand
/// in a SET unquoted.
#[must_use]
pub fn is_parameter_name(name: &str) -> bool {
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    first && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$'))
}

/// A set of parameters with their values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Profile {
    entries: Vec<(Box<str>, Box<str>)>,
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
    /// others that they have [`UNKNOWN`] values, so that whoever comes next sets or resets them.
    #[must_use]
    pub fn unknown_but(&self, is_reported: impl Fn(&str) -> bool) -> Self {
        let kept = |(name, value): &(Box<str>, Box<str>)| {
            let value = if is_reported(name) { value.clone() } else { UNKNOWN.into() };
            (name.clone(), value)
        };
        Self { entries: self.entries.iter().map(kept).collect() }
    }

    /// Writes the Query message that turns a connection with `self` into one with `wanted`. False when
    /// nothing differs.
    pub fn write_change(&self, wanted: &Self, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let mark = write::begin(out, b'Q');
        let body = out.len();
        for (name, value) in wanted.iter() {
            if self.value(name) != Some(value) {
                write_set(name, value, out);
            }
        }
        for (name, _) in self.iter().filter(|(name, _)| wanted.value(name).is_none()) {
            out.extend_from_slice(b"RESET ");
            out.extend_from_slice(name.as_bytes());
            out.push(b';');
        }
        if out.len() == body {
            out.truncate(start);
            return false;
        }
        out.push(0);
        write::end(out, mark);
        true
    }
}

/// One statement that sets `name`. E'' strings mean the same whatever `standard_conforming_strings` says.
fn write_set(name: &str, value: &str, out: &mut Vec<u8>) {
    let list = QUOTED_LISTS.contains(&name);
    out.extend_from_slice(if list { b"SELECT pg_catalog.set_config('" } else { b"SET " });
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(if list { b"',E'" } else { b"=E'" });
    for byte in value.bytes() {
        if matches!(byte, b'\'' | b'\\') {
            out.push(byte);
        }
        out.push(byte);
    }
    out.extend_from_slice(if list { b"',false);" } else { b"';" });
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
    use super::*;

    fn profile(entries: &[(&str, &str)]) -> Profile {
        let mut profile = Profile::default();
        for (name, value) in entries {
            profile.set(name, value);
        }
        profile
    }

    fn change(from: &[(&str, &str)], to: &[(&str, &str)]) -> Option<String> {
        let mut out = Vec::new();
        profile(from).write_change(&profile(to), &mut out).then(|| {
            assert_eq!(out[0], b'Q');
            assert_eq!(u32::from_be_bytes([out[1], out[2], out[3], out[4]]) as usize, out.len() - 1);
            String::from_utf8_lossy(&out[5..out.len() - 1]).into_owned()
        })
    }

    #[test]
    fn only_what_differs_is_set() {
        let base = [("TimeZone", "UTC"), ("application_name", "a")];
        assert_eq!(change(&base, &base), None);
        assert_eq!(
            change(&base, &[("TimeZone", "UTC"), ("application_name", "it's \\")]).as_deref(),
            Some("SET application_name=E'it''s \\\\';")
        );
        assert_eq!(
            change(&[("work_mem", "1MB")], &[("search_path", "a, b")]).as_deref(),
            Some("SELECT pg_catalog.set_config('search_path',E'a, b',false);RESET work_mem;")
        );
    }

    #[test]
    fn what_is_not_known_is_set_or_reset() {
        let before = profile(&[("TimeZone", "UTC"), ("work_mem", "1MB")]);
        let unknown = before.unknown_but(|name| name == "TimeZone");
        let query = |wanted: &Profile| {
            let mut out = Vec::new();
            unknown.write_change(wanted, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        };
        assert!(query(&before).ends_with("SET work_mem=E'1MB';\0"));
        assert!(query(&profile(&[("TimeZone", "UTC")])).ends_with("RESET work_mem;\0"));
    }

    #[test]
    fn equal_profiles_are_one() {
        let mut profiles = Profiles::default();
        let a = profiles.intern(profile(&[("x", "1"), ("y", "2")]));
        let b = profiles.intern(profile(&[("y", "2"), ("x", "1")]));
        assert!(Arc::ptr_eq(&a, &b));
    }

    #[test]
    fn names_are_spelt_as_the_server_does() {
        assert_eq!(canonical_name("datestyle"), "DateStyle");
        assert_eq!(canonical_name("Work_Mem"), "work_mem");
        assert!(is_parameter_name("my.ext_x$1") && !is_parameter_name("a;b") && !is_parameter_name("1a"));
    }
}
