//! SQL from trees of utility statements: changed ones, deep ones, long ones. `crates/dev/parity` checks the rest of the
//! text.

use std::fmt::Write as _;
use std::thread;

use trunkline_parser::edit::{
    AlterDomainStmtMut, DefElemMut, DropStmtMut, LockStmtMut, RawStmtMut, RenameStmtMut, VariableSetStmtMut,
};
use trunkline_parser::node::{ObjectType, VariableSetKind};
use trunkline_parser::{DeparseOptions, ParsedSql, parse};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// The default stack of a thread.
const STACK_BYTES: usize = 2 * 1024 * 1024;

/// What the first statement of `sql` is after `$change`: its text, or the error.
macro_rules! changed {
    ($sql:literal, $type:ident, $change:expr) => {{
        let mut tree = parse($sql)?;
        let mut statements = tree.statements_mut();
        let statement =
            statements.get_mut(0).and_then(|node| node.cast::<RawStmtMut<'_>>()).ok_or("no statement")?;
        let mut node =
            statement.into_stmt().and_then(|node| node.cast::<$type<'_>>()).ok_or("another statement")?;
        let change: fn(&mut $type<'_>) -> Outcome = $change;
        change(&mut node)?;
        tree.deparse().map_err(|error| error.to_string())
    }};
}

#[test]
fn objects_of_another_kind() -> Outcome {
    let text = changed!("DROP TABLE a.b", DropStmtMut, |drop| {
        drop.set_remove_type(ObjectType::ObjectView);
        Ok(())
    });
    assert_eq!(text.as_deref(), Ok("DROP VIEW a.b"));
    let text = changed!("DROP TABLE a.b", DropStmtMut, |drop| {
        drop.set_remove_type(ObjectType::ObjectAmop);
        Ok(())
    });
    assert!(text.as_ref().is_err_and(|error| error.contains("OBJECT_AMOP")), "{text:?}");
    let text = changed!("DROP TABLE a.b", DropStmtMut, |drop| {
        drop.set_remove_type(ObjectType::ObjectCast);
        Ok(())
    });
    assert!(text.as_ref().is_err_and(|error| error.contains("a type of a cast")), "{text:?}");
    Ok(())
}

#[test]
fn what_must_be_there_is_missing() -> Outcome {
    let text = changed!("ALTER TABLE a RENAME TO b", RenameStmtMut, |rename| Ok(rename.set_newname(None)?));
    assert!(text.as_ref().is_err_and(|error| error.ends_with("a name is missing")), "{text:?}");
    let text = changed!("SET a TO 1", VariableSetStmtMut, |set| Ok(set.set_name(None)?));
    assert!(
        text.as_ref().is_err_and(|error| error.ends_with("the name of a setting is missing")),
        "{text:?}"
    );
    let text = changed!("SET a TO 1", VariableSetStmtMut, |set| {
        set.set_kind(VariableSetKind::VarSetMulti);
        Ok(())
    });
    assert!(text.as_ref().is_err_and(|error| error.contains("SET has no form \"a\"")), "{text:?}");
    Ok(())
}

#[test]
fn numbers_that_mean_nothing() -> Outcome {
    let text = changed!("LOCK a IN SHARE MODE", LockStmtMut, |lock| {
        lock.set_mode(9);
        Ok(())
    });
    assert!(text.as_ref().is_err_and(|error| error.ends_with("9 is not a mode of LOCK")), "{text:?}");
    let text = changed!("ALTER DOMAIN a SET NOT NULL", AlterDomainStmtMut, |alter| {
        alter.set_subtype('?');
        Ok(())
    });
    assert!(
        text.as_ref().is_err_and(|error| error.contains("'?' is not a kind of ALTER DOMAIN")),
        "{text:?}"
    );
    Ok(())
}

#[test]
fn options_that_do_not_exist() -> Outcome {
    for sql in [
        "CREATE FUNCTION f() RETURNS int LANGUAGE sql RETURN 1",
        "CREATE EXTENSION e CASCADE",
        "CREATE FOREIGN DATA WRAPPER w HANDLER h",
        "DROP DATABASE d WITH (FORCE)",
        "BEGIN READ ONLY",
    ] {
        let mut tree = parse(sql)?;
        tree.edit_each(|mut slot| {
            if let Some(mut option) = slot.node_mut().cast::<DefElemMut<'_>>() {
                option.set_defname(Some("odd"))?;
            }
            Ok(())
        })?;
        let text = tree.deparse().map_err(|error| error.to_string());
        assert!(text.as_ref().is_err_and(|error| error.ends_with("\"odd\"")), "{text:?}");
    }
    Ok(())
}

fn on_a_small_stack(work: impl FnOnce() + Send + 'static) -> Outcome {
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(work)?;
    thread.join().map_err(|_| "it panicked".into())
}

#[test]
fn bodies_in_bodies() -> Outcome {
    // The grammar itself takes hardly more: its stack has 10,000 places, and a level takes eleven.
    const LEVELS: usize = 900;
    let (open, close) = ("CREATE FUNCTION f(a int) RETURNS int BEGIN ATOMIC ", "; END");
    let sql = format!("{}SELECT 1{}", open.repeat(LEVELS), close.repeat(LEVELS));
    on_a_small_stack(move || {
        let tree = parse(&sql).expect("it is SQL");
        let text = tree.deparse().expect("it has a text");
        assert!(text == sql, "{} bytes are not the {} expected", text.len(), sql.len());
        assert!(parse(&text).is_ok_and(|again| again == tree));
    })
}

#[test]
fn long_lists() -> Outcome {
    const ELEMENTS: usize = 50_000;
    fn list(before: &str, after: &str) -> String {
        let mut sql = String::from(before);
        for number in 0..ELEMENTS {
            let _ = write!(sql, "{}a{number}", if number == 0 { "" } else { ", " });
        }
        sql + after
    }
    for (before, after) in [
        ("DROP TABLE ", " CASCADE"),
        ("SET a TO ", ""),
        ("DROP FUNCTION f(", ")"),
        ("LOCK TABLE ", " NOWAIT"),
    ] {
        let sql = list(before, after);
        let tree: ParsedSql = parse(&sql)?;
        let text = tree.deparse()?;
        assert!(text == sql, "{before}: {} bytes are not the {} expected", text.len(), sql.len());
        let pretty = tree.deparse_with(&DeparseOptions { pretty: true, ..DeparseOptions::default() })?;
        assert!(parse(&pretty)? == tree, "{before}");
    }
    Ok(())
}
