//! What an SQL text changes in its session.

use trunkline_parser::ParsedSql;
use trunkline_parser::classify::{Kind, Subject, Touches, TransactionControl};
use trunkline_parser::node::{CreateTableAsStmt, Node, RawStmt};

use super::SettingChange;

/// What a text changes in its session, as far as the text tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// The parameters that it sets and resets, in order.
    pub(crate) resets: Vec<SettingChange>,
    /// It may run DEALLOCATE or DISCARD.
    pub(crate) may_deallocate: bool,
    /// Parameters may have other values after it.
    pub(crate) may_set: bool,
    /// It may begin a transaction.
    pub(crate) begins_transaction: bool,
    /// It ends a transaction or a part of one, and so may restore settings to their values before that.
    pub(crate) ends_transaction: bool,
    /// It may create a table, although its CommandComplete may say only SELECT.
    pub(crate) may_define: bool,
}

/// All forms of DEALLOCATE and DISCARD.
const DEALLOCATES: Touches = Touches::DEALLOCATE
    .with(Touches::DEALLOCATE_ALL)
    .with(Touches::DISCARD_ALL)
    .with(Touches::DISCARD_PLANS)
    .with(Touches::DISCARD_SEQUENCES)
    .with(Touches::DISCARD_TEMP);

impl Effects {
    /// It changes nothing.
    pub(crate) const NONE: Self = Self {
        resets: Vec::new(),
        may_deallocate: false,
        may_set: false,
        begins_transaction: false,
        ends_transaction: false,
        may_define: false,
    };

    /// The effects of a text that our grammar refuses. The grammar of another server's version may accept it: then the
    /// text may set parameters, and may begin a transaction if it has a word for that.
    pub(super) fn of_unreadable(text: &[u8]) -> Self {
        let has = |word: &[u8]| text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
        Self { may_set: true, begins_transaction: has(b"begin") || has(b"start"), ..Self::default() }
    }

    /// It may do anything. Only `may_define` is false: otherwise all statements of the database would be parsed again,
    /// and the CommandComplete of nearly all commands that create tables says so anyway.
    pub(crate) const UNKNOWN: Self = Self {
        resets: Vec::new(),
        may_deallocate: true,
        may_set: true,
        begins_transaction: true,
        ends_transaction: false,
        may_define: false,
    };

    /// The effects of a parsed text.
    pub(super) fn of(tree: &ParsedSql) -> Self {
        let mut effects = Self::default();
        for statement in tree.root().nodes() {
            effects.add(statement);
        }
        effects
    }

    /// How much memory it takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.resets.capacity() * size_of::<SettingChange>()
            + self.resets.iter().filter_map(SettingChange::name).map(str::len).sum::<usize>()
    }

    /// Whether it gives a parameter its start-up value back.
    pub(crate) fn has_resets(&self) -> bool {
        self.resets.iter().any(|reset| match reset {
            SettingChange::ToDefault(_)
            | SettingChange::ToDefaultLocally(_)
            | SettingChange::ResetAll
            | SettingChange::DiscardAll => true,
            SettingChange::Set(_)
            | SettingChange::SetLocally(_)
            | SettingChange::TransactionEnd
            | SettingChange::RollbackToSavepoint => false,
        })
    }

    fn add(&mut self, statement: Node<'_>) {
        let class = statement.classify();
        let touches = class.touches();
        self.may_deallocate |= touches.any(DEALLOCATES);
        self.may_define |= makes_table_untagged(statement, class.kind(), touches);
        self.add_control(class.transaction());
        // The rule of the view pg_settings turns an UPDATE into set_config().
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
            Subject::Setting(setting) => self.resets.extend(SettingChange::of_setting(setting)),
            Subject::Discard(_) if touches.any(Touches::DISCARD_ALL) => {
                self.resets.push(SettingChange::DiscardAll);
            }
            _ => {}
        }
    }

    fn add_control(&mut self, control: Option<TransactionControl>) {
        use TransactionControl as Control;
        let Some(control) = control else { return };
        match control {
            Control::Begin => self.begins_transaction = true,
            Control::Savepoint | Control::Release => {}
            Control::RollbackTo => self.resets.push(SettingChange::RollbackToSavepoint),
            Control::Commit | Control::Rollback | Control::Prepare => {
                self.resets.push(SettingChange::TransactionEnd);
            }
            Control::CommitAndChain | Control::RollbackAndChain => {
                self.begins_transaction = true;
                self.resets.push(SettingChange::TransactionEnd);
            }
            // These end another transaction.
            Control::CommitPrepared | Control::RollbackPrepared => {}
        }
        let goes_on = matches!(control, Control::Begin | Control::Savepoint | Control::Release);
        self.may_set |= !goes_on;
        let elsewhere = matches!(control, Control::CommitPrepared | Control::RollbackPrepared);
        self.ends_transaction |= !goes_on && !elsewhere;
    }

    /// Adds the statement's calls of `set_config()`, in the order of the text.
    fn add_calls(&mut self, statement: Node<'_>) {
        let references = statement.references();
        let mut calls: Vec<_> = references.calls().iter().filter(|call| call.name == "set_config").collect();
        calls.sort_by_key(|call| call.location());
        self.resets.extend(calls.into_iter().filter_map(SettingChange::of_call));
    }
}

/// Whether a statement of this kind changes no parameter unless it calls `set_config()`.
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

/// Whether the statement may create a table although its CommandComplete has no CREATE: CREATE TABLE AS, SELECT INTO, and
/// EXPLAIN ANALYZE of either.
fn makes_table_untagged(statement: Node<'_>, kind: Kind, touches: Touches) -> bool {
    let within = statement.cast::<RawStmt<'_>>().and_then(RawStmt::stmt).unwrap_or(statement);
    let wraps = kind.is_query() || kind == Kind::Explain;
    (wraps && touches.any(Touches::SCHEMA)) || within.cast::<CreateTableAsStmt<'_>>().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Effects {
        trunkline_parser::parse(text).map_or(Effects::UNKNOWN, |tree| Effects::of(&tree))
    }

    fn resets(text: &str) -> Vec<SettingChange> {
        of(text).resets
    }

    fn parameter(name: &str) -> SettingChange {
        SettingChange::ToDefault(name.into())
    }

    #[test]
    fn all_forms_of_resets_are_found() {
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
        assert_eq!(resets("reset all; discard all"), [SettingChange::ResetAll, SettingChange::DiscardAll]);
        assert_eq!(resets("reset a.b"), [parameter("a.b")]);
        assert_eq!(
            resets("set local a.b.c.d to default"),
            [SettingChange::ToDefaultLocally("a.b.c.d".into())]
        );
        assert_eq!(resets("set names default"), [parameter("client_encoding")]);
        assert_eq!(resets("reset session authorization"), [parameter("session_authorization")]);
        assert_eq!(resets("set session authorization default"), [parameter("session_authorization")]);
        assert_eq!(
            resets("set local work_mem to default"),
            [SettingChange::ToDefaultLocally("work_mem".into())]
        );
        assert_eq!(
            resets("reset all; select set_config('x', '1', false)"),
            [SettingChange::ResetAll, SettingChange::Set("x".into())]
        );
        assert_eq!(
            resets("select set_config('x', null, false), set_config('x', '1', false)"),
            [parameter("x"), SettingChange::Set("x".into())]
        );
        assert_eq!(resets("reset all; set x = 1"), [SettingChange::ResetAll, SettingChange::Set("x".into())]);
        assert_eq!(
            resets("reset all; set local x = 1"),
            [SettingChange::ResetAll, SettingChange::SetLocally("x".into())]
        );
        assert_eq!(resets("reset x; commit"), [parameter("x"), SettingChange::TransactionEnd]);
        assert_eq!(resets("prepare transaction 'a'; commit prepared 'a'"), [SettingChange::TransactionEnd]);
        assert_eq!(
            resets("reset x; rollback work to a"),
            [parameter("x"), SettingChange::RollbackToSavepoint]
        );
        let path = [parameter("search_path"), SettingChange::Set("search_path".into())];
        assert_eq!(resets("set search_path to default; set schema 's'"), path);
        let after = resets("reset all; set session characteristics as transaction read only");
        assert!(after.contains(&SettingChange::Set("default_transaction_read_only".into())), "{after:?}");
    }

    #[test]
    fn other_texts_reset_nothing() {
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
    fn texts_that_may_change_settings_are_found() {
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
    fn texts_that_create_a_table_without_a_create_tag_are_found() {
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
    fn deallocate_and_discard_are_found_behind_comments() {
        for text in ["/* c */ DEALLOCATE ALL", "-- c\n discard all", "select 1; deallocate x"] {
            assert!(of(text).may_deallocate, "{text}");
        }
        assert!(!of("select 'deallocate'").may_deallocate);
    }
}
