//! Compares our trees' JSON with pg_query's, byte for byte.

use std::collections::BTreeSet;
use std::sync::Mutex;

use trunkline_parity::{compare, oracle, same};
use trunkline_parser::node::{FieldInfo, MultiAssignRef, Node, Value, View};
use trunkline_parser::parse;

#[test]
fn json() {
    compare("json", |statement| {
        let Ok(expected) = oracle::json(&statement.sql) else { return Ok(()) };
        let tree = parse(&statement.sql).map_err(|error| format!("we refuse it: {error}"))?;
        let got = tree.to_json();
        serde_json::from_str::<serde::de::IgnoredAny>(&got).map_err(|error| format!("no JSON: {error}"))?;
        same(&expected, &got)
    });
}

/// Two parses of one text are equal. The walk, the fields and the JSON reach the same nodes.
#[test]
fn walk_and_fields_reach_the_same_nodes() {
    let seen = Mutex::new(BTreeSet::new());
    compare("walk", |statement| {
        let (Ok(tree), Ok(again)) = (parse(&statement.sql), parse(&statement.sql)) else { return Ok(()) };
        if tree != again {
            return Err("two parses differ".to_owned());
        }
        let mut tags = BTreeSet::new();
        for node in tree.nodes() {
            if let View::Other(tag) = node.view() {
                return Err(format!("a node of a type no header has: {tag:?}"));
            }
            tags.insert(node.tag().c_name());
            let by_links: Vec<_> = node.children().map(|child| child.node.address()).collect();
            let mut by_fields = below(node);
            if node.cast::<MultiAssignRef<'_>>().is_some_and(|column| column.colno() > 1) {
                by_fields.clear();
            }
            if by_links != by_fields {
                return Err(format!("children of {} differ", node.tag().c_name()));
            }
        }
        if let Ok(mut seen) = seen.lock() {
            seen.extend(tags);
        }
        Ok(())
    });
    let seen = seen.into_inner().map(|seen| seen.len()).unwrap_or_default();
    assert!(seen >= NODE_TYPES_MIN, "the corpus has {seen} types of nodes");
}

/// The least number of node types in the statements of PostgreSQL's scripts.
const NODE_TYPES_MIN: usize = 200;

/// The nodes directly below a node, found by its fields.
fn below(node: Node<'_>) -> Vec<*const ()> {
    let mut found: Vec<_> =
        node.as_list().into_iter().flat_map(|list| list.nodes()).map(Node::address).collect();
    collect(node.fields(), &mut found);
    found
}

fn collect<'a>(fields: impl Iterator<Item = (&'static FieldInfo, Value<'a>)>, found: &mut Vec<*const ()>) {
    for (_, value) in fields {
        match value {
            Value::Node(node) | Value::View(node) => found.extend(node.map(Node::address)),
            Value::List(list) => found.extend(list.nodes().map(Node::address)),
            Value::Inner(fields) => collect(fields, found),
            _ => {}
        }
    }
}
