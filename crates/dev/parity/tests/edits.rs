//! Edits trees of the corpus at random. If an edited tree can be written as SQL, the SQL must have the same tree. A mutable borrow
//! without an edit must not change what is written.

use std::sync::atomic::{AtomicUsize, Ordering};

use trunkline_parity::compare;
use trunkline_parser::edit::{EditError, Fragment, NewValue, NodeMut};
use trunkline_parser::node::{CollateClause, FieldKind, GrantStmt, GrantTargetType, NodeTag};
use trunkline_parser::{ParsedSql, parse};

/// How often each statement is edited.
const ROUNDS: u64 = 1;
/// At least so many percent of the edits must succeed. With fewer, the test would prove little.
const RIGHT_MIN_PERCENT: usize = 3;

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }

    fn text(&mut self) -> &'static str {
        const TEXTS: [&str; 24] = [
            "",
            "a",
            "A b",
            "select",
            "\"",
            "'",
            "é",
            "+",
            "--",
            "/*",
            "*/",
            "pg_catalog",
            "int4",
            "interval",
            "1",
            "-1.5e3",
            "b101",
            "; DROP TABLE x; --",
            "$1",
            "\\",
            "\n",
            "like",
            "csv",
            "current_user",
        ];
        TEXTS[self.below(TEXTS.len())]
    }

    fn value(&mut self, kind: FieldKind, fragment: Fragment) -> NewValue<'static> {
        match kind {
            FieldKind::Node | FieldKind::View(_) => NewValue::Node((self.below(6) > 0).then_some(fragment)),
            FieldKind::Str => NewValue::Str((self.below(6) > 0).then(|| self.text())),
            FieldKind::Bool => NewValue::Bool(self.below(2) == 0),
            FieldKind::Char => NewValue::Char(char::from(b' ' + self.below(95) as u8)),
            FieldKind::Enum(_) => NewValue::Int(self.below(12) as i64),
            _ => NewValue::Int([-1, 0, 1, 2, 16, i64::from(i32::MAX), i64::from(i32::MIN)][self.below(7)]),
        }
    }

    fn change(&mut self, mut node: NodeMut<'_>, fragment: Fragment) -> Result<(), EditError> {
        let fields: Vec<_> = node.settable().collect();
        let Some(field) = fields.get(self.below(fields.len())) else { return Ok(()) };
        if let FieldKind::List = field.kind() {
            let mut list = node.list_mut(field.name())?;
            let index = self.below(list.len() + 1);
            return match self.below(4) {
                0 => list.replace(index, fragment),
                1 => list.insert(index, fragment),
                2 => {
                    list.remove(index);
                    Ok(())
                }
                _ => {
                    list.clear();
                    Ok(())
                }
            };
        }
        let value = self.value(field.kind(), fragment);
        node.set(field.name(), value)
    }

    /// Makes one edit. True if it was allowed.
    fn edit(&mut self, tree: &mut ParsedSql) -> bool {
        let size = tree.nodes().count();
        let (at, from) = (self.below(size), self.below(size));
        let fragment = match self.below(4) {
            0 => Fragment::new(NodeTag::from_raw(self.below(500) as u32)).ok(),
            _ => tree.nodes().nth(from).and_then(|node| node.to_fragment().ok()),
        };
        let (mut seen, mut fragment, mut is_made) = (0, fragment, false);
        let _ = tree.edit_each(|mut slot| {
            seen += 1;
            let Some(fragment) = fragment.take_if(|_| seen == at + 1) else { return Ok(()) };
            is_made = match self.below(5) {
                0 => slot.replace(fragment).is_ok(),
                _ => self.change(slot.node_mut(), fragment).is_ok(),
            };
            Ok(())
        });
        is_made
    }
}

#[test]
fn sql_of_an_edited_tree_parses_to_the_same_tree() {
    let (made, right) = (AtomicUsize::new(0), AtomicUsize::new(0));
    compare("edits", |statement| {
        let Ok(mut tree) = parse(&statement.sql) else { return Ok(()) };
        let before = tree.deparse().map_err(|error| error.to_string())?;
        if tree.statements_mut().is_empty() {
            return Ok(());
        }
        if tree.deparse().as_deref() != Ok(before.as_str()) {
            return Err(format!("unchanged, but {:?}", tree.deparse()));
        }
        let seed = statement.sql.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(31) + u64::from(byte));
        for round in 0..ROUNDS {
            let mut tree = parse(&statement.sql).map_err(|error| error.to_string())?;
            if !Random(seed ^ round << 40).edit(&mut tree) {
                continue;
            }
            made.fetch_add(1, Ordering::Relaxed);
            let Ok(text) = tree.deparse() else { continue };
            right.fetch_add(1, Ordering::Relaxed);
            let again = parse(&text).map_err(|error| format!("{text}\n{error}"))?;
            if again != tree {
                return Err(format!("{text}\n{tree:?}"));
            }
        }
        Ok(())
    });
    let (made, right) = (made.into_inner(), right.into_inner());
    assert!(right * 100 > made * RIGHT_MIN_PERCENT, "{right} of {made}");
}

/// Each part of a statement that can be written alone is written and parsed again.
#[test]
fn parts_of_statements_are_written_alone() {
    compare("parts", |statement| {
        let Ok(tree) = parse(&statement.sql) else { return Ok(()) };
        for node in tree.nodes() {
            match node.deparse() {
                // A column's COLLATE is a clause, and not an expression.
                _ if node.cast::<CollateClause<'_>>().is_some_and(|clause| clause.arg().is_none()) => {}
                // ALTER DEFAULT PRIVILEGES contains a GRANT without an object.
                _ if node
                    .cast::<GrantStmt<'_>>()
                    .is_some_and(|grant| grant.targtype() == GrantTargetType::AclTargetDefaults) => {}
                Err(error) if error.to_string().contains("text that would be written") => {
                    return Err(format!("{:?}: {error}", node.tag()));
                }
                _ => {}
            }
        }
        Ok(())
    });
}
