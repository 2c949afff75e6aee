//! Makes any edits of any fields of any nodes. An edited tree can be read and freed, and a copy of it is equal. SQL that is written
//! from it parses to the same tree.
//!
//! Input: SQL, a byte 255, then edits: what to do, where, and with which value.

#![no_main]

#[path = "sql_edit_script/mod.rs"]
mod script;
mod sql;

use libfuzzer_sys::fuzz_target;
use script::Script;
use trunkline_parser::edit::{EditError, Fragment};
use trunkline_parser::{ParsedSql, parse};

/// A copy of a tree in itself doubles its size. Trees larger than this are not edited any further.
const TREE_BYTES_MAX: usize = 1 << 20;

fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(2, |byte| *byte == 255);
    let (Some(Ok(text)), Some(edits)) = (parts.next().map(std::str::from_utf8), parts.next()) else { return };
    let Ok(mut tree) = parse(text) else { return };
    check_unchanged(&mut tree);
    let mut script = Script::new(edits);
    while let Some(edit) = script.next_edit() {
        let size = tree.nodes().count();
        if size == 0 || tree.bytes() > TREE_BYTES_MAX {
            break;
        }
        // An edit that is not allowed is refused. The tree is then unchanged or changed in part, but still valid.
        let _ = edit.apply(&mut tree, &mut script, size);
    }
    check(&tree, text);
});

/// A mutable borrow without an edit must not change what the tree is written as.
fn check_unchanged(tree: &mut ParsedSql) {
    let Ok(written) = tree.deparse() else { return };
    assert_eq!(tree.statements_mut().len(), tree.root().len());
    assert_eq!(tree.deparse().as_ref(), Ok(&written));
}

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
        let Ok(written) = tree.deparse_with(&options) else { continue };
        match parse(&written) {
            Err(error) => panic!("{written}\n{error}\n{options:?}"),
            Ok(again) => assert!(*tree == again, "{written}\n{options:?}\n{tree:?}\n{again:?}"),
        }
    }
    for node in tree.nodes() {
        let _ = node.deparse();
    }
    if let Ok(list) = Fragment::list(copies) {
        assert_eq!(list.node().as_list().map(|list| list.len()), Some(tree.root().nodes().count()));
    }
}
