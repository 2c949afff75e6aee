//! What a command changes of its session.

use memchr::{memchr, memchr_iter, memchr2_iter};
use trunkline_parser::lexer::{Lexer, TokenKind};

use super::statement::{Head, statements};
use super::wide::hide_trail_bytes;
use crate::parameters::{Profile, canonical_name};

/// A parameter is given a value, or its start-up value back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    /// RESET, SET ... TO DEFAULT.
    Parameter(Box<str>),
    /// SET LOCAL ... TO DEFAULT: until the transaction ends.
    LocalDefault(Box<str>),
    /// SET LOCAL: a SET LOCAL ... TO DEFAULT before it in the same text has no effect on it.
    LocalSet(Box<str>),
    /// RESET ALL.
    All,
    /// DISCARD ALL.
    Session,
    /// SET: a reset before it in the same text has no effect on it.
    Set(Box<str>),
    /// COMMIT or ROLLBACK: what becomes of the resets before it is known when it is answered.
    End,
    /// ROLLBACK TO: of the resets before it some may be undone.
    EndOfPart,
}

/// What a text changes of its session, as far as it can be told from the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// What it resets and sets, in order.
    pub(crate) resets: Vec<Reset>,
    /// It may be DEALLOCATE or DISCARD.
    pub(crate) forgets: bool,
    /// Parameters may have other values behind it.
    pub(crate) may_set: bool,
    /// It may begin a transaction.
    pub(crate) begins_transaction: bool,
    /// It ends a transaction or a part of one, and so brings back what was set in it.
    pub(crate) ends_transaction: bool,
    /// It may make a table, though the tag of its completion is SELECT.
    pub(crate) may_define: bool,
    /// It is one statement that reads or writes rows, as far as its first word tells.
    pub(crate) only_rows: bool,
}

/// Statements behind which all parameters are what they were, as long as they call no set_config().
const LEAVE_SETTINGS: [&str; 21] = [
    "select",
    "insert",
    "update",
    "delete",
    "merge",
    "with",
    "values",
    "table",
    "begin",
    "start",
    "savepoint",
    "release",
    "fetch",
    "move",
    "close",
    "declare",
    "copy",
    "show",
    "lock",
    "truncate",
    "notify",
];

/// Of these, statements that read or write rows.
const OF_ROWS: [&str; 8] = ["select", "insert", "update", "delete", "merge", "with", "values", "table"];

/// What SET SESSION CHARACTERISTICS may set.
const CHARACTERISTICS: [&str; 3] =
    ["default_transaction_isolation", "default_transaction_read_only", "default_transaction_deferrable"];

impl Effects {
    /// It changes nothing.
    pub(crate) const NONE: Self = Self {
        resets: Vec::new(),
        forgets: false,
        may_set: false,
        begins_transaction: false,
        ends_transaction: false,
        may_define: false,
        only_rows: false,
    };

    /// Of a command's text, as a session with these `standard_conforming_strings` reads it.
    fn of(text: &[u8], standard_conforming_strings: bool) -> Self {
        let config = mentions_set_config(text);
        let start = text.trim_ascii_start();
        // Nearly all texts are one statement that begins with a word.
        let one = memchr(b';', text).is_none_or(|at| text[at + 1..].trim_ascii().is_empty());
        if one && !config {
            let length = start.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(start.len());
            let word = &start[..length];
            if LEAVE_SETTINGS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
                && !is_into(text)
            {
                let only_rows = OF_ROWS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()));
                return Self { begins_transaction: begins_transaction(word), only_rows, ..Self::default() };
            }
        }
        let mut effects = Self::default();
        for head in statements(text, standard_conforming_strings) {
            match head {
                Ok(head) => effects.add(&head, text, config, standard_conforming_strings),
                Err(()) => (effects.may_set, effects.begins_transaction) = (true, true),
            }
        }
        effects
    }

    /// Of a command's text, as a session with these parameters reads it.
    pub(crate) fn under(profile: &Profile, text: &[u8]) -> Self {
        let standard = profile.value("standard_conforming_strings") != Some("off");
        Self::of(&hide_trail_bytes(text, profile.value("client_encoding")), standard)
    }

    /// What it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let of = |reset: &Reset| match reset {
            Reset::Parameter(name) | Reset::LocalDefault(name) | Reset::Set(name) | Reset::LocalSet(name) => {
                name.len()
            }
            Reset::All | Reset::Session | Reset::End | Reset::EndOfPart => 0,
        };
        size_of::<Self>()
            + self.resets.capacity() * size_of::<Reset>()
            + self.resets.iter().map(of).sum::<usize>()
    }

    /// Whether a parameter gets its start-up value back.
    pub(crate) fn has_resets(&self) -> bool {
        self.resets.iter().any(|reset| match reset {
            Reset::Parameter(_) | Reset::LocalDefault(_) | Reset::All | Reset::Session => true,
            Reset::Set(_) | Reset::LocalSet(_) | Reset::End | Reset::EndOfPart => false,
        })
    }

    fn add(&mut self, head: &Head<'_>, text: &[u8], config: bool, standard_conforming_strings: bool) {
        let word = head.first_word();
        self.may_define |= word == "create" || head.makes_table;
        self.begins_transaction |= begins_transaction(word.as_bytes());
        // In parentheses: a query.
        if LEAVE_SETTINGS.contains(&&*word) || head.is(0, "(") {
            if config {
                let statement = text.get(head.range.clone());
                let calls = statement.map(|text| set_configs(text, standard_conforming_strings));
                self.resets.extend(calls.unwrap_or_default());
                self.may_set = true;
            }
            return;
        }
        self.may_set = true;
        match &*word {
            "reset" => self.resets.extend(reset(head)),
            "set" if head.is(1, "session") && head.is(2, "characteristics") => {
                self.resets.extend(CHARACTERISTICS.map(|name| Reset::Set(name.into())));
            }
            "set" => self.resets.extend(set(head)),
            "discard" => {
                self.forgets = true;
                if head.is(1, "all") {
                    self.resets.push(Reset::Session);
                }
            }
            "deallocate" => self.forgets = true,
            // COMMIT PREPARED is of another transaction.
            "commit" | "end" | "rollback" | "abort" if !head.is(1, "prepared") => {
                self.ends_transaction = true;
                let part = head.is(1, "to") || head.is(2, "to");
                self.resets.push(if part { Reset::EndOfPart } else { Reset::End });
            }
            "prepare" if head.is(1, "transaction") => {
                self.ends_transaction = true;
                self.resets.push(Reset::End);
            }
            _ => {}
        }
    }
}

/// Whether a statement with this first word begins a transaction.
fn begins_transaction(word: &[u8]) -> bool {
    word.eq_ignore_ascii_case(b"begin") || word.eq_ignore_ascii_case(b"start")
}

/// Whether `set_config` stands anywhere in the text.
fn mentions_set_config(text: &[u8]) -> bool {
    memchr_iter(b'_', text).any(|at| {
        let from = at.saturating_sub(3);
        text.get(from..at + 7).is_some_and(|word| word.eq_ignore_ascii_case(b"set_config"))
    })
}

/// Whether an INTO stands anywhere in the text, outside of an INSERT or MERGE that begins it.
fn is_into(text: &[u8]) -> bool {
    let start = text.trim_ascii_start();
    let begins = |word: &[u8]| start.get(..word.len()).is_some_and(|first| first.eq_ignore_ascii_case(word));
    !begins(b"insert")
        && !begins(b"merge")
        && memchr2_iter(b'i', b'I', text)
            .any(|at| text.get(at + 1..at + 4).is_some_and(|rest| rest.eq_ignore_ascii_case(b"nto")))
}

/// `RESET name | ALL | SESSION AUTHORIZATION | TIME ZONE`.
fn reset(head: &Head<'_>) -> Option<Reset> {
    if head.is(1, "all") {
        return Some(Reset::All);
    }
    if head.is(1, "session") && head.is(2, "authorization") {
        return Some(Reset::Parameter("session_authorization".into()));
    }
    if head.is(1, "time") && head.is(2, "zone") {
        return Some(Reset::Parameter("TimeZone".into()));
    }
    head.parameter(1).map(|(name, _)| Reset::Parameter(name))
}

/// `SET [SESSION | LOCAL] name { = | TO } value | DEFAULT`, and the forms with a grammar of their own.
fn set(head: &Head<'_>) -> Option<Reset> {
    let local = head.is(1, "local");
    let at = if local
        || (head.is(1, "session") && !head.is(2, "authorization") && !head.is(2, "characteristics"))
    {
        2
    } else {
        1
    };
    let (name, value): (Box<str>, usize) = if head.is(at, "time") && head.is(at + 1, "zone") {
        ("TimeZone".into(), at + 2)
    } else if head.is(at, "schema") && !head.is(at + 1, "=") && !head.is(at + 1, "to") {
        ("search_path".into(), at + 1)
    } else if head.is(at, "names") {
        ("client_encoding".into(), at + 1)
    } else if head.is(at, "session") && head.is(at + 1, "authorization") {
        ("session_authorization".into(), at + 2)
    } else {
        let (name, behind) = head.parameter(at)?;
        if !head.is(behind, "=") && !head.is(behind, "to") {
            return None;
        }
        (name, behind + 1)
    };
    let default = head.is(value, "default") || (&*name == "TimeZone" && head.is(value, "local"));
    match (default, local) {
        (true, false) => Some(Reset::Parameter(name)),
        (true, true) => Some(Reset::LocalDefault(name)),
        (false, false) => Some(Reset::Set(name)),
        (false, true) => Some(Reset::LocalSet(name)),
    }
}

/// What the calls of `set_config('name', value, is_local)` in a statement do that have constant arguments: NULL stands for
/// the default.
fn set_configs(statement: &[u8], standard_conforming_strings: bool) -> Vec<Reset> {
    let lexer = Lexer::new(statement).standard_conforming_strings(standard_conforming_strings);
    let tokens: Vec<_> = lexer.map_while(Result::ok).collect();
    let is = |at: usize, word: &[u8]| {
        tokens.get(at).is_some_and(|token| token.bytes(statement).eq_ignore_ascii_case(word))
    };
    let calls: Vec<usize> = (0..tokens.len()).filter(|at| is(*at, b"set_config")).collect();
    let constant = |at: usize| tokens.get(at).is_some_and(|token| token.kind == TokenKind::String);
    let plain = |at: usize| {
        is(at + 1, b"(")
            && constant(at + 2)
            && (is(at + 4, b"null") || constant(at + 4))
            && (is(at + 6, b"true") || is(at + 6, b"false"))
            && is(at + 7, b")")
    };
    let mut resets = Vec::new();
    for at in calls.iter().copied().filter(|at| plain(*at)) {
        let name = tokens.get(at + 2).map(|name| String::from_utf8_lossy(name.bytes(statement)));
        let name = canonical_name(name.unwrap_or_default().trim_matches('\'')).into();
        resets.push(match (is(at + 4, b"null"), is(at + 6, b"true")) {
            (true, false) => Reset::Parameter(name),
            (true, true) => Reset::LocalDefault(name),
            (false, false) => Reset::Set(name),
            (false, true) => Reset::LocalSet(name),
        });
    }
    resets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resets(text: &str) -> Vec<Reset> {
        Effects::of(text.as_bytes(), true).resets
    }

    fn parameter(name: &str) -> Reset {
        Reset::Parameter(name.into())
    }

    #[test]
    fn resets_are_seen_in_all_their_forms() {
        for text in [
            "reset timezone",
            " /* c */ RESET \"TimeZone\" ;",
            "-- c\nreset time zone",
            "set timezone to default",
            "SET SESSION timezone = DEFAULT",
            "set time zone default",
            "set time zone local",
            "select set_config('timezone', null, false)",
            "select 1; select pg_catalog.set_config('TIMEZONE',NULL,false) as x",
            "(select set_config('timezone', null, false))",
            "insert into t select set_config('timezone', null, false)",
            "merge into t using u on true when matched then update set a = set_config('timezone', null, false)",
            "set timezone = 'CET'; reset timezone",
        ] {
            let found = resets(text);
            assert_eq!(found.last(), Some(&parameter("TimeZone")), "{text}: {found:?}");
        }
        assert_eq!(resets("reset all; discard all"), [Reset::All, Reset::Session]);
        assert_eq!(resets("reset a.b"), [parameter("a.b")]);
        assert_eq!(resets("set local a.b.c.d to default"), [Reset::LocalDefault("a.b.c.d".into())]);
        assert_eq!(resets("set names default"), [parameter("client_encoding")]);
        assert_eq!(resets("reset session authorization"), [parameter("session_authorization")]);
        assert_eq!(resets("set session authorization default"), [parameter("session_authorization")]);
        assert_eq!(resets("set local work_mem to default"), [Reset::LocalDefault("work_mem".into())]);
        assert_eq!(
            resets("reset all; select set_config('x', '1', false)"),
            [Reset::All, Reset::Set("x".into())]
        );
        assert_eq!(
            resets("select set_config('x', null, false), set_config('x', '1', false)"),
            [parameter("x"), Reset::Set("x".into())]
        );
        assert_eq!(resets("reset all; set x = 1"), [Reset::All, Reset::Set("x".into())]);
        assert_eq!(resets("reset all; set local x = 1"), [Reset::All, Reset::LocalSet("x".into())]);
        assert_eq!(resets("reset x; commit"), [parameter("x"), Reset::End]);
        assert_eq!(resets("prepare transaction 'a'; commit prepared 'a'"), [Reset::End]);
        assert_eq!(resets("reset x; rollback work to a"), [parameter("x"), Reset::EndOfPart]);
        let path = [parameter("search_path"), Reset::Set("search_path".into())];
        assert_eq!(resets("set search_path to default; set schema 's'"), path);
        let behind = resets("reset all; set session characteristics as transaction read only");
        assert!(behind.contains(&Reset::Set("default_transaction_read_only".into())), "{behind:?}");
    }

    #[test]
    fn what_resets_nothing_is_left_alone() {
        for text in [
            "select 'reset timezone'",
            "insert into t values (default)",
            "set timezone = 'default'",
            "set session characteristics as transaction read only",
            "set x = 1",
            "set local x = 1",
            "set transaction read only",
            "alter table t alter a set default 1",
        ] {
            assert!(!Effects::of(text.as_bytes(), true).has_resets(), "{text}");
        }
    }

    #[test]
    fn what_may_change_settings_is_told_from_what_does_not() {
        let may_set = |text: &str| Effects::of(text.as_bytes(), true).may_set;
        for text in [
            "select 1",
            " insert into t values (';')",
            "begin",
            "select 1; select 2;",
            "with x as (select 1) table x",
        ] {
            assert!(!may_set(text), "{text}");
        }
        for text in [
            "set x = 1",
            "select set_config($1, $2, false)",
            "select 1; set x = 1",
            "commit",
            "rollback",
            "do $$ $$",
            "call f()",
            "'unterminated",
            "execute s",
        ] {
            assert!(may_set(text), "{text}");
        }
    }

    #[test]
    fn what_makes_a_table_without_saying_so_is_seen() {
        let may_define = |text: &str| Effects::of(text.as_bytes(), true).may_define;
        for text in [
            "create table a as select 1",
            "/* c */ create materialized view v as table t",
            "select 1 into t",
            "SELECT * INTO TEMP t FROM u; select 1",
            "with x as (select 1) select * into t from x",
            "explain analyze create table a as select 1",
        ] {
            assert!(may_define(text), "{text}");
        }
        for text in [
            "select 'into' from t",
            "insert into t select 1",
            "with x as (select 1) insert into t table x",
            "merge into t using u on true when matched then do nothing",
            "select pinto, \"into\" from t",
        ] {
            assert!(!may_define(text), "{text}");
        }
    }

    #[test]
    fn what_forgets_statements_is_seen_behind_comments() {
        for text in ["/* c */ DEALLOCATE ALL", "-- c\n discard all", "select 1; deallocate x"] {
            assert!(Effects::of(text.as_bytes(), true).forgets, "{text}");
        }
        assert!(!Effects::of(b"select 'deallocate'", true).forgets);
    }
}
