//! Names and values in statements.

use super::super::{Setting, SettingScope, SettingValue, Subject};
use crate::node::{DiscardMode, VariableSetKind};
use crate::parse;

/// A subject as one line.
fn in_a_line(subject: Subject<'_>) -> String {
    let or_all = |name: Option<&str>| name.map_or("ALL".to_owned(), str::to_owned);
    match subject {
        Subject::None => "nothing".to_owned(),
        Subject::Setting(setting) => setting_in_a_line(setting),
        Subject::Show(name) => format!("show {name}"),
        Subject::Prepare { name, types, query } => {
            let query = query.map_or("nothing", |query| query.tag().c_name());
            format!("prepare {name} of {} types: {query}", types.len())
        }
        Subject::Execute { name, parameters } => format!("execute {name} with {}", parameters.len()),
        Subject::Deallocate(name) => format!("deallocate {}", or_all(name)),
        Subject::Discard(what) => format!("discard {what:?}"),
        Subject::Declare { name, query } => format!("declare {name}: {}", query.is_some()),
        Subject::Fetch(name) => format!("fetch {name}"),
        Subject::Close(name) => format!("close {}", or_all(name)),
        Subject::Listen(name) => format!("listen {name}"),
        Subject::Unlisten(name) => format!("unlisten {}", or_all(name)),
        Subject::Notify { channel, payload } => format!("notify {channel} {payload:?}"),
        Subject::Savepoint(name) => format!("savepoint {name}"),
        Subject::TwoPhase(name) => format!("two-phase {name}"),
        Subject::Library(name) => format!("library {name}"),
        Subject::Copy { table, query, file } => {
            format!("copy {:?} {} {file:?}", table.and_then(|table| table.relname()), query.is_some())
        }
    }
}

fn setting_in_a_line(setting: Setting<'_>) -> String {
    let verb = match setting.kind {
        VariableSetKind::VarSetValue | VariableSetKind::VarSetMulti => "set",
        VariableSetKind::VarSetDefault => "default",
        VariableSetKind::VarSetCurrent => "current",
        VariableSetKind::VarReset | VariableSetKind::VarResetAll => "reset",
    };
    let scope = if setting.scope == SettingScope::Transaction { " local" } else { "" };
    let mut line = format!("{verb}{scope} {}", setting.name.unwrap_or("ALL"));
    for value in setting.values() {
        line.push_str(&match value {
            SettingValue::Text(text) => format!(" '{text}'"),
            SettingValue::Integer(number) => format!(" {number}"),
            SettingValue::Number(number) => format!(" #{number}"),
            SettingValue::Other(node) => format!(" {}", node.tag().c_name()),
        });
    }
    line
}

#[test]
fn subjects() -> Result<(), crate::ParseError> {
    for (sql, expected) in [
        ("SELECT 1", "nothing"),
        ("BEGIN", "nothing"),
        ("SET work_mem = '64MB'", "set work_mem '64MB'"),
        ("SET LOCAL work_mem TO 64", "set local work_mem 64"),
        ("SET search_path TO a, \"B\", 'c'", "set search_path 'a' 'B' 'c'"),
        ("SET x.y TO 0.5", "set x.y #0.5"),
        ("SET x.y TO -3", "set x.y -3"),
        ("SET enable_sort TO off", "set enable_sort 'off'"),
        ("SET enable_sort TO true", "set enable_sort 'true'"),
        ("SET TIME ZONE 'UTC'", "set timezone 'UTC'"),
        ("SET TIME ZONE LOCAL", "default timezone"),
        ("SET TIME ZONE INTERVAL '1' HOUR", "set timezone TypeCast"),
        ("SET work_mem TO DEFAULT", "default work_mem"),
        ("SET work_mem FROM CURRENT", "current work_mem"),
        ("SET NAMES 'utf8'", "set client_encoding 'utf8'"),
        ("SET ROLE a", "set role 'a'"),
        ("SET SESSION AUTHORIZATION a", "set session_authorization 'a'"),
        ("SET TRANSACTION READ ONLY", "set TRANSACTION DefElem"),
        ("RESET work_mem", "reset work_mem"),
        ("RESET ALL", "reset ALL"),
        ("SHOW work_mem", "show work_mem"),
        ("SHOW ALL", "show all"),
        ("PREPARE p (int, text) AS DELETE FROM t", "prepare p of 2 types: DeleteStmt"),
        ("EXECUTE p (1, 2)", "execute p with 2"),
        ("EXPLAIN ANALYZE EXECUTE p (1)", "execute p with 1"),
        ("CREATE TABLE t AS EXECUTE p", "execute p with 0"),
        ("EXPLAIN CREATE TABLE t AS EXECUTE p", "execute p with 0"),
        ("EXPLAIN SELECT 1", "nothing"),
        ("CREATE TABLE t AS SELECT 1", "nothing"),
        ("DEALLOCATE p", "deallocate p"),
        ("DEALLOCATE ALL", "deallocate ALL"),
        ("DISCARD TEMP", "discard DiscardTemp"),
        ("DECLARE c CURSOR FOR SELECT 1", "declare c: true"),
        ("FETCH 5 FROM c", "fetch c"),
        ("MOVE c", "fetch c"),
        ("CLOSE c", "close c"),
        ("CLOSE ALL", "close ALL"),
        ("LISTEN \"A b\"", "listen A b"),
        ("UNLISTEN a", "unlisten a"),
        ("UNLISTEN *", "unlisten ALL"),
        ("NOTIFY a", "notify a None"),
        ("NOTIFY a, 'b'", "notify a Some(\"b\")"),
        ("SAVEPOINT a", "savepoint a"),
        ("ROLLBACK TO a", "savepoint a"),
        ("RELEASE a", "savepoint a"),
        ("PREPARE TRANSACTION 'x y'", "two-phase x y"),
        ("COMMIT PREPARED 'x'", "two-phase x"),
        ("LOAD 'lib'", "library lib"),
        ("COPY t FROM STDIN", "copy Some(\"t\") false None"),
        ("COPY (SELECT 1) TO '/x'", "copy None true Some(\"/x\")"),
    ] {
        let tree = parse(sql)?;
        let found: Vec<_> = tree.subjects().map(in_a_line).collect();
        assert_eq!(found, [expected], "{sql}");
    }
    Ok(())
}

#[test]
fn each_statement_has_its_own() -> Result<(), crate::ParseError> {
    let tree = parse("SET a.b = 1; SELECT 1; DISCARD ALL")?;
    let found: Vec<_> = tree.subjects().collect();
    assert!(matches!(
        found.as_slice(),
        [Subject::Setting(_), Subject::None, Subject::Discard(DiscardMode::DiscardAll)]
    ));
    Ok(())
}

/// The prepared statement has its own class, which says what EXECUTE does.
#[test]
fn what_is_prepared_can_be_classified() -> Result<(), crate::ParseError> {
    let tree = parse("PREPARE p AS DELETE FROM t")?;
    let Some(Subject::Prepare { query: Some(query), .. }) = tree.subjects().next() else {
        panic!("it prepares nothing");
    };
    assert!(!tree.classify().may_write() && query.classify().may_write());
    Ok(())
}
