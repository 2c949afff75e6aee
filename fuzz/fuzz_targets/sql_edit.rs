//! Edits, whichever: what was edited can be read, written and freed, and a copy of it is equal.
//!
//! The text, a byte 255, then edits: what, where, with what.

#![no_main]

#[path = "sql_edit_script/mod.rs"]
mod script;
mod sql;

use libfuzzer_sys::fuzz_target;
use script::Script;
use trunkline_parser::edit::{EditError, Fragment};
use trunkline_parser::{ParsedSql, parse};

/// Copies of copies double a tree each time: past so many bytes it is not edited any further.
const TREE_BYTES_MAX: usize = 1 << 20;

fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(2, |byte| *byte == 255);
    let (Some(Ok(text)), Some(edits)) = (parts.next().map(std::str::from_utf8), parts.next()) else { return };
    let Ok(mut tree) = parse(text) else { return };
    let mut script = Script::new(edits);
    while let Some(edit) = script.next_edit() {
        let size = tree.nodes().count();
        if size == 0 || tree.bytes() > TREE_BYTES_MAX {
            break;
        }
        // What an edit may not do is refused, and the tree is as it was or in part changed, but whole.
        let _ = edit.apply(&mut tree, &mut script, size);
    }
    check(&tree, text);
});

fn check(tree: &ParsedSql, text: &str) {
    sql::read_all(tree, text);
    let mut copies = Vec::new();
    for node in tree.root().nodes() {
        match node.to_fragment() {
            Ok(copy) => {
                assert!(copy.node() == node);
                assert_eq!(copy.node().to_json(), node.to_json());
                copies.push(copy);
            }
            Err(error) => assert!(matches!(error, EditError::NoSuchNode(_)), "{error}"),
        }
    }
    for options in sql::layouts(text) {
        if let Ok(written) = tree.deparse_with(&options) {
            // It may be no SQL: what is written of names and operators is what was put there.
            let _ = parse(&written);
        }
    }
    for node in tree.nodes() {
        let _ = node.deparse();
    }
    if let Ok(list) = Fragment::list(copies) {
        assert_eq!(list.node().as_list().map(|list| list.len()), Some(tree.root().nodes().count()));
    }
}
