//! PostgreSQL's own SQL parser: trees, and what is made of them.

use std::fmt::Debug;

use serde_json::json;
use trunkline_codec::boundary::{Bytes, Out, call};
use trunkline_codec::handles::Table;
use trunkline_codec::objects::FREE_KIND;
use trunkline_codec::status::TRUNKLINE_OK;
use trunkline_parser::{ParsedSql, parse};

use crate::failure::{ErrorOut, Failure};

/// A tree, and the text that it was made of.
pub(crate) struct Tree {
    sql: String,
    parsed: ParsedSql,
}

static TREES: Table<Tree> = Table::new(FREE_KIND + 1);
static TEXTS: Table<String> = Table::new(FREE_KIND + 2);

/// Parses SQL: any number of statements, separated by semicolons. Free the tree with trunkline_tree_free. The error of a
/// text that does not parse has PostgreSQL's message, SQLSTATE and position.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_sql_parse(sql: Bytes, tree: *mut u64, error: *mut u64) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (sql, mut out, error) = unsafe { (sql.text()?, Out::new(tree)?, ErrorOut::new(error)?) };
        let mut parsed = || {
            let parsed = parse(sql).map_err(|error| Failure::of_parse(&error))?;
            out.put(TREES.insert(Tree { sql: sql.to_owned(), parsed })?);
            Ok(TRUNKLINE_OK)
        };
        error.end(parsed())
    })
}

/// Frees a tree.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_tree_free(tree: u64) -> i32 {
    call(|| TREES.remove(tree).map(|_| TRUNKLINE_OK))
}

/// The tree as JSON, as pg_query has it. Free the text with trunkline_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_tree_json(tree: u64, text: *mut u64) -> i32 {
    text_of(tree, text, std::ptr::null_mut(), |tree| Ok(tree.parsed.to_json()))
}

/// The tree's fingerprint, 16 hexadecimal digits: that of pg_query. Free the text with trunkline_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_tree_fingerprint(tree: u64, text: *mut u64) -> i32 {
    text_of(tree, text, std::ptr::null_mut(), |tree| Ok(tree.parsed.fingerprint().to_string()))
}

/// The text with its constants replaced by parameters. Free it with trunkline_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_tree_normalize(tree: u64, text: *mut u64) -> i32 {
    text_of(tree, text, std::ptr::null_mut(), |tree| Ok(tree.parsed.normalize(&tree.sql)))
}

/// SQL of the tree. Free the text with trunkline_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_tree_deparse(tree: u64, text: *mut u64, error: *mut u64) -> i32 {
    text_of(tree, text, error, |tree| tree.parsed.deparse().map_err(|error| Failure::of_deparse(&error)))
}

/// What each statement is and does, as JSON: an array of objects with kind, access, is_read_only, runs_on_standby, may_write,
/// locks_rows, controls_transaction and touches. Free the text with trunkline_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_tree_classify(tree: u64, text: *mut u64) -> i32 {
    text_of(tree, text, std::ptr::null_mut(), |tree| Ok(classes(&tree.parsed)))
}

/// A text's bytes, in UTF-8. Valid until it is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_text_bytes(text: u64, bytes: *mut Bytes) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let mut out = unsafe { Out::new(bytes) }?;
        out.put(TEXTS.with(text, |text| Ok(Bytes::of(text.as_bytes())))?);
        Ok(TRUNKLINE_OK)
    })
}

/// Frees a text.
#[unsafe(no_mangle)]
pub extern "C" fn trunkline_text_free(text: u64) -> i32 {
    call(|| TEXTS.remove(text).map(|_| TRUNKLINE_OK))
}

fn text_of(
    tree: u64,
    text: *mut u64,
    error: *mut u64,
    of: impl FnOnce(&mut Tree) -> Result<String, Failure>,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let (mut out, error) = unsafe { (Out::new(text)?, ErrorOut::new(error)?) };
        let made = TREES.with(tree, |tree| Ok(of(tree)))?;
        error.end(made.and_then(|made| {
            out.put(TEXTS.insert(made)?);
            Ok(TRUNKLINE_OK)
        }))
    })
}

fn classes(parsed: &ParsedSql) -> String {
    let classes = parsed.root().nodes().map(|statement| {
        let class = statement.classify();
        json!({
            "kind": name(class.kind()),
            "access": name(class.access()),
            "is_read_only": class.is_read_only(),
            "runs_on_standby": class.runs_on_standby(),
            "may_write": class.may_write(),
            "locks_rows": class.locks_rows(),
            "controls_transaction": class.controls_transaction(),
            "touches": class.touches().names().map(str::to_ascii_lowercase).collect::<Vec<_>>(),
        })
    });
    serde_json::Value::from_iter(classes).to_string()
}

/// A variant's name as JSON has it: `CommitAndChain` is `commit_and_chain`.
fn name(variant: impl Debug) -> String {
    let mut name = String::new();
    for character in format!("{variant:?}").chars() {
        if character.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(character.to_ascii_lowercase());
    }
    name
}
