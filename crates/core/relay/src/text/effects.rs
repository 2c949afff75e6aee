//! What a command changes of its session.

use trunkline_parser::ParsedSql;
use trunkline_parser::classify::{Class, Kind, Subject, Touches, TransactionControl};
use trunkline_parser::node::{CreateTableAsStmt, Node, RawStmt};

use super::Reset;

/// What a text changes of its session, as far as it can be told from the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// What it resets and sets, in order.
    pub(crate) resets: Vec<Reset>,
    /// It calls `set_config()` for the session, and does not show of which parameter.
    pub(crate) sets_unnamed: bool,
    /// It may be DEALLOCATE or DISCARD.
    pub(crate) forgets: bool,
    /// Parameters may have other values after it.
    pub(crate) may_set: bool,
    /// It may begin a transaction.
    pub(crate) begins_transaction: bool,
    /// It ends a transaction or a part of one, and so brings back what was set in it.
    pub(crate) ends_transaction: bool,
    /// It may make a table, though the tag of its completion is SELECT.
    pub(crate) may_define: bool,
}

/// DEALLOCATE and DISCARD.
const FORGETS: Touches = Touches::DEALLOCATE
    .with(Touches::DEALLOCATE_ALL)
    .with(Touches::DISCARD_ALL)
    .with(Touches::DISCARD_PLANS)
    .with(Touches::DISCARD_SEQUENCES)
    .with(Touches::DISCARD_TEMP);

impl Effects {
    /// It changes nothing.
    pub(crate) const NONE: Self = Self {
        resets: Vec::new(),
        sets_unnamed: false,
        forgets: false,
        may_set: false,
        begins_transaction: false,
        ends_transaction: false,
        may_define: false,
    };

    /// Of a text that the grammar does not have. A server whose grammar has it runs commands of its own, which may set
    /// parameters, or begin a transaction where the word stands in it.
    pub(super) fn of_unreadable(text: &[u8]) -> Self {
        let has = |word: &[u8]| text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
        Self { may_set: true, begins_transaction: has(b"begin") || has(b"start"), ..Self::default() }
    }

    /// It may do anything. That it makes a table is left out, as it would make all statements of its database be parsed again;
    /// the tags of nearly all that do say so.
    pub(crate) const UNKNOWN: Self = Self {
        resets: Vec::new(),
        sets_unnamed: true,
        forgets: true,
        may_set: true,
        begins_transaction: true,
        ends_transaction: false,
        may_define: false,
    };

    /// Of a text, with its class: both come of the classes of its statements.
    pub(crate) fn of(tree: &ParsedSql) -> (Self, Class) {
        let (mut effects, mut whole) = (Self::default(), Class::EMPTY);
        for statement in tree.root().nodes() {
            let class = statement.classify();
            effects.add(statement, class);
            whole = whole.and(class);
        }
        (effects, whole)
    }

    /// What it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.resets.capacity() * size_of::<Reset>()
            + self.resets.iter().filter_map(Reset::name).map(str::len).sum::<usize>()
    }

    /// Whether a parameter gets its start-up value back.
    pub(crate) fn has_resets(&self) -> bool {
        self.resets.iter().any(|reset| match reset {
            Reset::Parameter(_) | Reset::LocalDefault(_) | Reset::All | Reset::Session => true,
            Reset::Set(_) | Reset::LocalSet(_) | Reset::End | Reset::EndOfPart => false,
        })
    }

    fn add(&mut self, statement: Node<'_>, class: Class) {
        let touches = class.touches();
        self.forgets |= touches.any(FORGETS);
        self.may_define |= defines_unsaid(statement, class.kind(), touches);
        self.add_control(class.transaction());
        // An UPDATE of the view pg_settings is a set_config() by its rule.
        self.may_set |= class.kind().is_data_modifying() && touches.any(Touches::SHOW);
        if leaves_settings(class.kind()) {
            if touches.any(Touches::SET_CONFIG | Touches::SET_CONFIG_LOCAL) {
                self.may_set = true;
                self.add_calls(statement);
            }
            return;
        }
        self.may_set |= class.kind() != Kind::Transaction;
        match statement.subject() {
            Subject::Setting(setting) => self.resets.extend(Reset::of_setting(setting)),
            Subject::Discard(_) if touches.any(Touches::DISCARD_ALL) => self.resets.push(Reset::Session),
            _ => {}
        }
    }

    fn add_control(&mut self, control: Option<TransactionControl>) {
        use TransactionControl as Control;
        let Some(control) = control else { return };
        match control {
            Control::Begin => self.begins_transaction = true,
            Control::Savepoint | Control::Release => {}
            Control::RollbackTo => self.resets.push(Reset::EndOfPart),
            Control::Commit | Control::Rollback | Control::Prepare => self.resets.push(Reset::End),
            Control::CommitAndChain | Control::RollbackAndChain => {
                self.begins_transaction = true;
                self.resets.push(Reset::End);
            }
            // Of another transaction.
            Control::CommitPrepared | Control::RollbackPrepared => {}
        }
        let goes_on = matches!(control, Control::Begin | Control::Savepoint | Control::Release);
        self.may_set |= !goes_on;
        let elsewhere = matches!(control, Control::CommitPrepared | Control::RollbackPrepared);
        self.ends_transaction |= !goes_on && !elsewhere;
    }

    /// Its calls of `set_config()`, in the order of the text.
    fn add_calls(&mut self, statement: Node<'_>) {
        let references = statement.references();
        let mut calls: Vec<_> = references.calls().iter().filter(|call| call.name == "set_config").collect();
        calls.sort_by_key(|call| call.location());
        let resets = calls.iter().map(|call| Reset::of_call(call)).collect::<Vec<_>>();
        let for_session = statement.classify().touches().any(Touches::SET_CONFIG);
        self.sets_unnamed |= for_session && resets.contains(&None);
        self.resets.extend(resets.into_iter().flatten());
    }
}

/// Whether all parameters have the same values after a statement of the kind as before it, as long as it calls no `set_config()`.
fn leaves_settings(kind: Kind) -> bool {
    kind.is_query()
        || matches!(
            kind,
            Kind::Empty
                | Kind::Copy
                | Kind::Declare
                | Kind::Fetch
                | Kind::Close
                | Kind::Show
                | Kind::Lock
                | Kind::Truncate
                | Kind::Notify
        )
}

/// Whether it may make a table without a CREATE in the tag of its completion: CREATE TABLE AS, SELECT INTO, EXPLAIN ANALYZE
/// of either.
fn defines_unsaid(statement: Node<'_>, kind: Kind, touches: Touches) -> bool {
    let within = statement.cast::<RawStmt<'_>>().and_then(RawStmt::stmt).unwrap_or(statement);
    let wraps = kind.is_query() || kind == Kind::Explain;
    (wraps && touches.any(Touches::SCHEMA)) || within.cast::<CreateTableAsStmt<'_>>().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Effects {
        trunkline_parser::parse(text).map_or(Effects::UNKNOWN, |tree| Effects::of(&tree).0)
    }

    fn resets(text: &str) -> Vec<Reset> {
        of(text).resets
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
        let after = resets("reset all; set session characteristics as transaction read only");
        assert!(after.contains(&Reset::Set("default_transaction_read_only".into())), "{after:?}");
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
            assert!(!of(text).has_resets(), "{text}");
        }
    }

    #[test]
    fn what_may_change_settings_is_told_from_what_does_not() {
        let may_set = |text: &str| of(text).may_set;
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
            "update pg_catalog.pg_settings set setting = 'x' where name = 'y'",
            "call f()",
            "'unterminated",
            "execute s",
        ] {
            assert!(may_set(text), "{text}");
        }
    }

    #[test]
    fn what_makes_a_table_without_saying_so_is_seen() {
        let may_define = |text: &str| of(text).may_define;
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
            assert!(of(text).forgets, "{text}");
        }
        assert!(!of("select 'deallocate'").forgets);
    }
}
