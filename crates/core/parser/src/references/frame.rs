//! The query that the walk is in: how it locks its tables.

use std::collections::HashMap;

use crate::node::{LockClauseStrength, LockingClause, Node, RangeVar, SelectStmt};

/// A level that the walk has entered and not left.
pub(super) struct Frame<'a> {
    /// Which node it leaves it with.
    pub(super) statement: Node<'a>,
    /// Its number.
    pub(super) level: u32,
    /// Whether it is a query, and no utility statement.
    pub(super) is_query: bool,
    /// How many names of its WITH are declared.
    pub(super) names: usize,
    locks: Locks<'a>,
}

/// What FOR UPDATE and its like lock. Of several the strongest counts, as in PostgreSQL.
#[derive(Default)]
pub(super) struct Locks<'a> {
    all: Option<LockClauseStrength>,
    /// Those of `OF name`. A query may name as many as it has tables.
    named: HashMap<&'a str, LockClauseStrength>,
}

impl<'a> Frame<'a> {
    pub(super) fn new(statement: Node<'a>, level: u32, is_query: bool, locks: Locks<'a>) -> Self {
        Self { statement, level, is_query, names: 0, locks }
    }

    /// How what is called `reference` in this query's FROM is locked.
    pub(super) fn lock_of(&self, reference: &str) -> Option<LockClauseStrength> {
        let named = self.locks.named.get(reference).copied();
        stronger(self.locks.all, named)
    }
}

impl<'a> Locks<'a> {
    /// A SELECT's locks. `inherited`: that of the query in whose FROM it stands, which goes for all its tables.
    pub(super) fn of(select: SelectStmt<'a>, inherited: Option<LockClauseStrength>) -> Self {
        let mut locks = Self { all: inherited, named: HashMap::new() };
        for clause in select.locking_clause().nodes().filter_map(|node| node.cast::<LockingClause<'a>>()) {
            let strength = Some(clause.strength());
            if clause.locked_rels().is_empty() {
                locks.all = stronger(locks.all, strength);
                continue;
            }
            let named = &mut locks.named;
            for table in clause.locked_rels().nodes().filter_map(|node| node.cast::<RangeVar<'a>>()) {
                let name = table.relname().unwrap_or("");
                if let Some(strength) = stronger(named.get(name).copied(), strength) {
                    named.insert(name, strength);
                }
            }
        }
        locks
    }
}

fn stronger(
    one: Option<LockClauseStrength>,
    other: Option<LockClauseStrength>,
) -> Option<LockClauseStrength> {
    // C's constants are in the order of their strength.
    match (one, other) {
        (Some(one), Some(other)) => Some(if one as i32 >= other as i32 { one } else { other }),
        (one, other) => one.or(other),
    }
}
