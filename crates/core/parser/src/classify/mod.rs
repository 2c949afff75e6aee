//! What a pooler and a router ask of a statement, in a value of 16 bytes.
//!
//! [`ParsedSql::classify`] answers for a whole text, [`Node::classify`] for one statement of it. Names and values stand in
//! the tree: [`Node::subject`] lends them, [`crate::references`] the tables and columns.
//!
//! ```
//! use trunkline_parser::classify::{Access, Kind, Subject, Touches};
//!
//! let tree = trunkline_parser::parse("SET LOCAL work_mem = '64MB'")?;
//! let class = tree.classify();
//! assert_eq!((class.kind(), class.access()), (Kind::Set, Access::Session));
//! assert_eq!(class.touches(), Touches::SET_LOCAL);
//! let Some(Subject::Setting(setting)) = tree.subjects().next() else { panic!() };
//! assert_eq!((setting.name, setting.text()), (Some("work_mem"), Some("64MB")));
//! # Ok::<(), trunkline_parser::ParseError>(())
//! ```

mod below;
mod function;
mod kind;
mod setting;
mod statement;
mod subject;
#[cfg(test)]
mod tests;
mod touches;
mod transaction;

pub use kind::{Access, CopyWay, Count, Isolation, Kind, TransactionControl, TransactionModes};
pub use subject::{Setting, SettingScope, SettingValue, Subject};
pub use touches::Touches;

use crate::ParsedSql;
use crate::node::{Node, RawStmt};

/// What a text is and does, as far as the text tells.
///
/// It errs on the safe side: a bit too many, never one too few. A statement that is not understood may touch anything
/// ([`Touches::UNKNOWN`]). It depends on no literal's value, so that statements that differ in literals only
/// (those of one [`scan_key`](crate::key::scan_key)) have one class. A text does not tell:
///
/// - What functions do. Those of PostgreSQL's own that matter are known by name, unqualified or in `pg_catalog`; a function
///   of that name in another schema of the `search_path` may be meant instead. All others are
///   [`Touches::UNKNOWN_FUNCTIONS`]: ask the catalog for their volatility, and trust it as far as their authors.
/// - Functions without a call: operators, casts and types of one's own, `row.function`, a column's default
///   (`nextval()` of a serial column), triggers, rules, policies, and what views and foreign tables stand for.
/// - Whether an unqualified name is a temporary table's. A statement that makes one is seen.
/// - That a text or parameter becomes a time without a cast in the text: `'now'` in VALUES for a column of times.
/// - What was prepared, declared or defined before: EXECUTE, FETCH, CALL and DO have bits of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Class {
    touches: Touches,
    kind: Kind,
    access: Access,
    count: Count,
    transaction: Option<TransactionControl>,
    modes: TransactionModes,
    copy: Option<CopyWay>,
}

const _: () = assert!(size_of::<Class>() == 16);

impl Class {
    /// The class of a text that could not be parsed: the server may understand it all the same.
    pub const UNKNOWN: Self = Self {
        count: Count::Several,
        ..Self::of(Kind::Unknown, Access::Write, Touches::UNKNOWN.with(Touches::UNKNOWN_FUNCTIONS))
    };

    /// The class of a text without a statement.
    pub const EMPTY: Self = Self { count: Count::None, ..Self::of(Kind::Empty, Access::Read, Touches::NONE) };

    const fn of(kind: Kind, access: Access, touches: Touches) -> Self {
        Self {
            touches,
            kind,
            access,
            count: Count::One,
            transaction: None,
            modes: TransactionModes { isolation: None, read_only: None, deferrable: None },
            copy: None,
        }
    }

    /// The same of one statement.
    const fn one(self) -> Self {
        Self { count: Count::One, ..self }
    }

    /// What it is. Of several statements: what all of them are, else [`Kind::Mixed`].
    #[inline]
    #[must_use]
    pub const fn kind(self) -> Kind {
        self.kind
    }

    /// How far it may go in changing what is stored, as far as the text tells; the most of several statements. What the
    /// functions that it calls do is not in it: see [`Class::may_write`].
    #[inline]
    #[must_use]
    pub const fn access(self) -> Access {
        self.access
    }

    /// What it may touch beyond rows; of several statements, all that any touches.
    #[inline]
    #[must_use]
    pub const fn touches(self) -> Touches {
        self.touches
    }

    /// How many statements the text has.
    #[inline]
    #[must_use]
    pub const fn count(self) -> Count {
        self.count
    }

    /// Which transaction control it is. None for several statements: they are [`Touches::TRANSACTION`]; ask them one by
    /// one.
    #[inline]
    #[must_use]
    pub const fn transaction(self) -> Option<TransactionControl> {
        self.transaction
    }

    /// The modes that BEGIN, SET TRANSACTION or SET SESSION CHARACTERISTICS names; none for several statements.
    #[inline]
    #[must_use]
    pub const fn modes(self) -> TransactionModes {
        self.modes
    }

    /// From where to where it copies. None for several statements: they are [`Touches::COPY`].
    #[inline]
    #[must_use]
    pub const fn copy(self) -> Option<CopyWay> {
        self.copy
    }

    /// Whether PostgreSQL would run it in a READ ONLY transaction, as far as the text tells.
    #[inline]
    #[must_use]
    pub const fn is_read_only(self) -> bool {
        !matches!(self.access, Access::Write) && !self.touches.any(Touches::UNKNOWN)
    }

    /// Whether PostgreSQL would run it on a standby, as far as the text tells.
    #[inline]
    #[must_use]
    pub const fn runs_on_standby(self) -> bool {
        matches!(self.access, Access::Read | Access::Session) && !self.touches.any(Touches::UNKNOWN)
    }

    /// Whether it may change what is stored: by itself or by a function that is not known.
    #[inline]
    #[must_use]
    pub const fn may_write(self) -> bool {
        !self.runs_on_standby() || self.touches.any(Touches::UNKNOWN_FUNCTIONS)
    }

    /// Whether it locks rows that it reads: FOR UPDATE, FOR SHARE and their like.
    #[inline]
    #[must_use]
    pub const fn locks_rows(self) -> bool {
        self.touches.any(Touches::ROW_LOCK)
    }

    /// Whether it begins, ends or divides a transaction; of several statements, whether any does. COMMIT within a
    /// procedure or DO is not seen.
    #[inline]
    #[must_use]
    pub const fn controls_transaction(self) -> bool {
        self.touches.any(Touches::TRANSACTION)
    }

    /// The class of both, one after the other.
    #[must_use]
    pub fn and(self, next: Self) -> Self {
        match (self.count, next.count) {
            (Count::None, _) => return next,
            (_, Count::None) => return self,
            _ => {}
        }
        Self {
            touches: self.touches | next.touches,
            kind: if self.kind == next.kind { self.kind } else { Kind::Mixed },
            access: self.access.max(next.access),
            count: Count::Several,
            transaction: None,
            modes: TransactionModes::default(),
            copy: None,
        }
    }
}

impl ParsedSql {
    /// What the text is and does. Goes once through the tree.
    #[must_use]
    pub fn classify(&self) -> Class {
        self.root().nodes().fold(Class::EMPTY, |class, statement| class.and(statement.classify()))
    }

    /// The names and values of each statement: those of [`Node::subject`], in order.
    pub fn subjects(&self) -> impl Iterator<Item = Subject<'_>> {
        self.root().nodes().map(Node::subject)
    }
}

impl<'a> Node<'a> {
    /// What this statement is and does. A node that is no statement is [`Kind::Unknown`].
    #[must_use]
    pub fn classify(self) -> Class {
        let statement = self.statement();
        let (mut class, runs) = statement::of(statement);
        below::add(statement, &mut class, runs);
        class
    }

    /// The statement that a `RawStmt` is the shell of; any other node itself.
    fn statement(self) -> Node<'a> {
        self.cast::<RawStmt<'a>>().and_then(RawStmt::stmt).unwrap_or(self)
    }
}
