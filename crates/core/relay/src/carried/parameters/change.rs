//! Writes the Query that gives a server connection the parameters of another client.

use trunkline_wire::frontend::query;
use trunkline_wire::write;

use super::Profile;
use super::names::{ROLE, SESSION_AUTHORIZATION, is_quoted_list};
use super::profile::UNKNOWN;

impl Profile {
    /// The parameters that must be set first, before a connection with `self` can get the parameters `wanted`; `None` if
    /// `wanted` can be set directly.
    ///
    /// A server reports a new value in its `client_encoding`, and cannot report a value with a character that the encoding
    /// lacks. A client can have such a value if it has set its encoding later. So this value is set and reported in UTF8 first.
    pub fn in_utf8_first(&self, wanted: &Self) -> Option<Self> {
        wanted.value("client_encoding").filter(|encoding| !matches!(*encoding, "UTF8" | UNKNOWN))?;
        let is_new = |(name, value): &(&str, &str)| !value.is_ascii() && self.value(name) != Some(value);
        wanted.iter().find(is_new)?;
        let mut between = wanted.clone();
        between.set("client_encoding", "UTF8");
        Some(between)
    }

    /// Writes the Query message that changes the parameters of a connection from `self` to `wanted`. False if nothing differs.
    ///
    /// The message is plain ASCII, so it means the same in every client encoding. The session user is reset first, and the new
    /// session user and role are set last, because one user may set parameters that another may not.
    pub fn write_change(&self, wanted: &Self, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let mark = write::begin(out, query::TAG);
        let body = out.len();
        let user_changes = self.value(SESSION_AUTHORIZATION) != wanted.value(SESSION_AUTHORIZATION);
        if user_changes {
            out.extend_from_slice(b"RESET SESSION AUTHORIZATION;");
        }
        let sets_rights = |name: &str| matches!(name, SESSION_AUTHORIZATION | ROLE);
        for (name, value) in wanted.iter().filter(|(name, _)| !sets_rights(name)) {
            if self.value(name) != Some(value) {
                write_set(name, value, out);
            }
        }
        for (name, _) in self.iter().filter(|(name, _)| !sets_rights(name) && wanted.value(name).is_none()) {
            write_reset(name, out);
        }
        for name in [SESSION_AUTHORIZATION, ROLE] {
            match (self.value(name), wanted.value(name)) {
                (was, Some(value)) if was != Some(value) || user_changes => write_set(name, value, out),
                (Some(_), None) => write_reset(name, out),
                _ => {}
            }
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

/// Writes the Query message that sets parameters for the rest of the transaction.
pub(crate) fn write_local(values: &[(Box<str>, Box<str>)], out: &mut Vec<u8>) {
    let mark = write::begin(out, query::TAG);
    for (name, value) in values {
        out.extend_from_slice(b"SELECT pg_catalog.set_config('");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"',");
        write_literal(value, out);
        // set_config returns the value, which the client's encoding may be unable to represent. A boolean has no such problem.
        out.extend_from_slice(b",true) IS NULL;");
    }
    out.push(0);
    write::end(out, mark);
}

fn write_reset(name: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"RESET ");
    out.extend_from_slice(name.as_bytes());
    out.push(b';');
}

/// One statement that sets `name`.
fn write_set(name: &str, value: &str, out: &mut Vec<u8>) {
    if value == UNKNOWN {
        return;
    }
    let is_list = is_quoted_list(name);
    out.extend_from_slice(if is_list { b"SELECT pg_catalog.set_config('" } else { b"SET " });
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(if is_list { b"'," } else { b"=" });
    write_literal(value, out);
    // set_config returns the value, which the client's encoding may be unable to represent. A boolean has no such problem.
    out.extend_from_slice(if is_list { b",false) IS NULL;" } else { b";" });
}

/// Writes a string constant in ASCII. It means the same under every `client_encoding` and `standard_conforming_strings`
/// (PostgreSQL manual, 4.1.2.2).
pub(crate) fn write_literal(value: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"E'");
    for letter in value.chars() {
        match letter {
            '\'' => out.extend_from_slice(b"''"),
            '\\' => out.extend_from_slice(b"\\\\"),
            letter if letter.is_ascii() => out.push(letter as u8),
            letter => out.extend_from_slice(format!("\\U{:08x}", u32::from(letter)).as_bytes()),
        }
    }
    out.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::super::tests::profile;
    use super::*;

    fn change(from: &[(&str, &str)], to: &[(&str, &str)]) -> Option<String> {
        let mut out = Vec::new();
        profile(from).write_change(&profile(to), &mut out).then(|| {
            assert_eq!(out[0], b'Q');
            assert_eq!(u32::from_be_bytes([out[1], out[2], out[3], out[4]]) as usize, out.len() - 1);
            String::from_utf8_lossy(&out[5..out.len() - 1]).into_owned()
        })
    }

    #[test]
    fn only_values_that_differ_are_set() {
        let base = [("TimeZone", "UTC"), ("application_name", "a")];
        assert_eq!(change(&base, &base), None);
        assert_eq!(
            change(&base, &[("TimeZone", "UTC"), ("application_name", "it's \\")]).as_deref(),
            Some("SET application_name=E'it''s \\\\';")
        );
        assert_eq!(
            change(&[("work_mem", "1MB")], &[("search_path", "a, b")]).as_deref(),
            Some("SELECT pg_catalog.set_config('search_path',E'a, b',false) IS NULL;RESET work_mem;")
        );
    }

    #[test]
    fn a_value_that_the_encoding_may_lack_is_set_in_utf8_first() {
        let latin = [("client_encoding", "LATIN1"), ("search_path", "\"日\"")];
        let wanted = profile(&latin);
        let between = profile(&[("client_encoding", "UTF8"), latin[1]]);
        assert_eq!(profile(&[("client_encoding", "LATIN1")]).in_utf8_first(&wanted), Some(between.clone()));
        assert_eq!(profile(&[("client_encoding", "UTF8"), latin[1]]).in_utf8_first(&wanted), None);
        assert_eq!(profile(&[]).in_utf8_first(&between), None);
    }

    #[test]
    fn values_are_written_in_ascii() {
        let wanted = change(&[], &[("search_path", "\"é\", \"日😀\"")]);
        let text = wanted.expect("differs");
        assert!(text.is_ascii() && text.contains("\\U000000e9") && text.contains("\\U0001f600"), "{text}");
    }

    #[test]
    fn the_session_user_is_reset_first_and_set_last() {
        let (app, joe) = (("session_authorization", "app"), ("session_authorization", "joe"));
        assert_eq!(
            change(&[joe, ("TimeZone", "UTC")], &[app, ("TimeZone", "CET"), ("role", "r")]).as_deref(),
            Some(
                "RESET SESSION AUTHORIZATION;SET TimeZone=E'CET';SET session_authorization=E'app';SET role=E'r';"
            )
        );
        // SET SESSION AUTHORIZATION resets the role, so the role is set again.
        assert_eq!(
            change(&[joe, ("role", "r")], &[app, ("role", "r")]).as_deref(),
            Some("RESET SESSION AUTHORIZATION;SET session_authorization=E'app';SET role=E'r';")
        );
        assert_eq!(change(&[app, ("role", "r")], &[app]).as_deref(), Some("RESET role;"));
    }

    #[test]
    fn unknown_values_are_set_or_reset() {
        let before = profile(&[("TimeZone", "UTC"), ("work_mem", "1MB")]);
        let unknown = before.with_unreported_unknown(|name| name == "TimeZone");
        let query = |wanted: &Profile| {
            let mut out = Vec::new();
            unknown.write_change(wanted, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        };
        assert!(query(&before).ends_with("SET work_mem=E'1MB';\0"));
        assert!(query(&profile(&[("TimeZone", "UTC")])).ends_with("RESET work_mem;\0"));
    }
}
