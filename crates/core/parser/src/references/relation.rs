//! Relations: whatever has a row in `pg_class`.

use super::call::Parts;
use crate::node::{LockClauseStrength, RangeVar};

/// What is done with a relation. All false: it is only named, as in FOREIGN KEY, INHERITS, LIKE, VACUUM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Its rows are read: FROM, the targets of UPDATE, DELETE and MERGE, COPY TO.
    pub is_read: bool,
    /// Its rows change: INSERT, UPDATE, DELETE, MERGE, TRUNCATE, COPY FROM, SELECT INTO, CREATE TABLE AS, REFRESH.
    pub is_written: bool,
    /// It or its rows are locked because the text says so: LOCK TABLE, and SELECT .. FOR UPDATE and its like.
    pub is_locked: bool,
    /// It is made, changed or dropped, or its privileges are.
    pub is_defined: bool,
}

impl Usage {
    pub(super) const NAMED: Self =
        Self { is_read: false, is_written: false, is_locked: false, is_defined: false };
    pub(super) const READ: Self = Self { is_read: true, ..Self::NAMED };
    pub(super) const WRITTEN: Self = Self { is_written: true, ..Self::NAMED };
    pub(super) const CHANGED: Self = Self { is_read: true, is_written: true, ..Self::NAMED };
    pub(super) const LOCKED: Self = Self { is_locked: true, ..Self::NAMED };
    pub(super) const DEFINED: Self = Self { is_defined: true, ..Self::NAMED };
    pub(super) const MADE: Self = Self { is_written: true, is_defined: true, ..Self::NAMED };
}

/// A relation where it is named.
#[derive(Debug, Clone, Copy)]
pub struct Relation<'a> {
    /// The database, if the name has one.
    pub catalog: Option<&'a str>,
    /// The schema, if the name has one.
    pub schema: Option<&'a str>,
    /// The name.
    pub name: &'a str,
    /// What it is called within its level.
    pub alias: Option<&'a str>,
    /// What is done with it. Of PREPARE, DECLARE and EXPLAIN what would be if the query ran.
    pub usage: Usage,
    /// How strongly its rows are locked: FOR UPDATE and its like, also of a query around its own. None of LOCK TABLE.
    pub lock: Option<LockClauseStrength>,
    /// Whether it stands in what is only written down: the query of a view, the body of a function in SQL, the
    /// actions of a rule, the condition of a policy or trigger. It is used when those are, not by this statement.
    pub is_in_definition: bool,
    /// The level it stands in.
    pub level: u32,
    /// The place of the name in the text, in bytes; -1 if unknown.
    pub location: i32,
    /// The node; None where the name is a list of strings: DROP TABLE, COMMENT ON and their like.
    pub node: Option<RangeVar<'a>>,
}

impl<'a> Relation<'a> {
    pub(super) fn of(node: RangeVar<'a>, usage: Usage, level: u32) -> Self {
        Self {
            catalog: node.catalogname(),
            schema: node.schemaname(),
            name: node.relname().unwrap_or(""),
            alias: alias(node),
            usage,
            lock: None,
            is_in_definition: false,
            level,
            location: node.location(),
            node: Some(node),
        }
    }

    /// The relation of a name without a node of its own; None without a name.
    pub(super) fn of_name(name: Parts<'a>, usage: Usage, level: u32) -> Option<Self> {
        Some(Self {
            catalog: name.catalog,
            schema: name.schema,
            name: name.name?,
            alias: None,
            usage,
            lock: None,
            is_in_definition: false,
            level,
            location: -1,
            node: None,
        })
    }

    /// What columns of it are qualified with in its level: the alias, else the name.
    #[must_use]
    pub fn reference(&self) -> &'a str {
        self.alias.unwrap_or(self.name)
    }
}

pub(super) fn alias<'a>(node: RangeVar<'a>) -> Option<&'a str> {
    node.alias().and_then(|alias| alias.aliasname())
}
