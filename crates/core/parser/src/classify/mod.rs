//! Classifies statements: the facts that a pooler or a router needs, in a value of 16 bytes.
//!
//! [`ParsedSql::classify`] classifies a whole text, [`Node::classify`] one statement of it. A class has no names and
//! values: [`Node::subject`] returns those of utility statements, and [`crate::references`] the tables and columns of
//! queries.
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

pub use kind::{Access, CopyDirection, Count, Isolation, Kind, TransactionControl, TransactionModes};
pub use subject::{Setting, SettingScope, SettingValue, Subject};
pub use touches::Touches;

use crate::ParsedSql;
use crate::node::{Node, RawStmt};

/// What a text is and does, as far as the text shows it.
///
/// In doubt a class has a bit too many, never one too few. A statement that is not understood may touch anything
/// ([`Touches::UNKNOWN`]). The class depends on no literal's value, so statements that differ only in literals (those
/// with the same [`scan_key`](crate::key::scan_key)) have the same class. A text does not show:
///
/// - What functions do. PostgreSQL's own functions with an effect are known by name, unqualified or in `pg_catalog`. But
///   the name may mean a function in another schema of the `search_path`. All unknown functions are
///   [`Touches::UNKNOWN_FUNCTIONS`]: ask the catalog for their volatility, which is as reliable as their authors.
/// - Functions that are called without a call in the text: user-defined operators, casts and types, `row.function`, a
///   column's default (`nextval()` of a serial column), triggers, rules, policies, views and foreign tables.
/// - Whether an unqualified name is the name of a temporary table. (A statement that makes one shows it.)
/// - That a text or a parameter becomes a time without a cast, such as `'now'` in VALUES for a column of times.
/// - What was prepared, declared or defined before. EXECUTE, FETCH, CALL and DO have their own bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Class {
    touches: Touches,
    kind: Kind,
    access: Access,
    count: Count,
    transaction: Option<TransactionControl>,
    modes: TransactionModes,
    copy: Option<CopyDirection>,
}

const _: () = assert!(size_of::<Class>() == 16);

impl Class {
    /// The class of a text that could not be parsed. The server may still understand it.
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

    /// This class, for a text of one statement.
    const fn one(self) -> Self {
        Self { count: Count::One, ..self }
    }

    /// The kind of the statement. For several statements of different kinds it is [`Kind::Mixed`].
    #[inline]
    #[must_use]
    pub const fn kind(self) -> Kind {
        self.kind
    }

    /// How much the text may change, as far as it shows; of several statements the highest. It does not include what
    /// called functions change: see [`Class::may_write`].
    #[inline]
    #[must_use]
    pub const fn access(self) -> Access {
        self.access
    }

    /// What the text may touch besides rows. For several statements it has the bits of all.
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

    /// Which statement of transaction control the text is. `None` for several statements: they have
    /// [`Touches::TRANSACTION`], so classify them one by one.
    #[inline]
    #[must_use]
    pub const fn transaction(self) -> Option<TransactionControl> {
        self.transaction
    }

    /// The modes that BEGIN, SET TRANSACTION or SET SESSION CHARACTERISTICS names. For several statements they are
    /// all `None`.
    #[inline]
    #[must_use]
    pub const fn modes(self) -> TransactionModes {
        self.modes
    }

    /// The source or destination of COPY. `None` for several statements: they have [`Touches::COPY`].
    #[inline]
    #[must_use]
    pub const fn copy(self) -> Option<CopyDirection> {
        self.copy
    }

    /// Whether PostgreSQL would run the text in a READ ONLY transaction, as far as the text shows.
    #[inline]
    #[must_use]
    pub const fn is_read_only(self) -> bool {
        !matches!(self.access, Access::Write) && !self.touches.any(Touches::UNKNOWN)
    }

    /// Whether PostgreSQL would run the text on a standby, as far as the text shows.
    #[inline]
    #[must_use]
    pub const fn runs_on_standby(self) -> bool {
        matches!(self.access, Access::Read | Access::Session) && !self.touches.any(Touches::UNKNOWN)
    }

    /// Whether the text may change stored data, itself or by an unknown function.
    #[inline]
    #[must_use]
    pub const fn may_write(self) -> bool {
        !self.runs_on_standby() || self.touches.any(Touches::UNKNOWN_FUNCTIONS)
    }

    /// Whether the text locks rows that it reads, with FOR UPDATE, FOR SHARE or similar.
    #[inline]
    #[must_use]
    pub const fn locks_rows(self) -> bool {
        self.touches.any(Touches::ROW_LOCK)
    }

    /// Whether one of the text's statements begins or ends a transaction, or sets a savepoint. A COMMIT within a
    /// procedure or DO is not found.
    #[inline]
    #[must_use]
    pub const fn controls_transaction(self) -> bool {
        self.touches.any(Touches::TRANSACTION)
    }

    /// The class of a text with the statements of both classes, one after the other.
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
    /// The class of the text. Visits each node of the tree once.
    #[must_use]
    pub fn classify(&self) -> Class {
        self.root().nodes().fold(Class::EMPTY, |class, statement| class.and(statement.classify()))
    }

    /// The [`Node::subject`] of each statement, in order.
    pub fn subjects(&self) -> impl Iterator<Item = Subject<'_>> {
        self.root().nodes().map(Node::subject)
    }
}

impl<'a> Node<'a> {
    /// The class of this statement. A node that is not a statement is [`Kind::Unknown`].
    #[must_use]
    pub fn classify(self) -> Class {
        let statement = self.statement();
        let (mut class, execution) = statement::class_of(statement);
        below::add_nodes_below(statement, &mut class, execution);
        class
    }

    /// The statement inside a `RawStmt`; any other node unchanged.
    fn statement(self) -> Node<'a> {
        self.cast::<RawStmt<'a>>().and_then(RawStmt::stmt).unwrap_or(self)
    }
}
