//! Texts of several statements, the safe side, and that nothing slips through.

use super::super::{Access, Class, Count, Kind, Touches};
use super::check;
use crate::node::NodeTag;
use crate::parse;

#[test]
fn several_statements() {
    check(
        "
        ; ; => Empty Read
        SELECT 1; SELECT 2 => Select Read
        BEGIN; SELECT 1; COMMIT => Mixed Read TRANSACTION
        SELECT 1; INSERT INTO t VALUES (1) => Mixed Write
        SET a.b = 1; SET LOCAL c.d = 2 => Set Session SET SET_LOCAL
        SELECT 1; => Select Read
        COPY t FROM STDIN; COPY u TO STDOUT => Copy Write COPY
        ",
    );
}

#[test]
fn statements_are_counted() {
    for (sql, count) in [
        ("", Count::None),
        ("-- nothing", Count::None),
        (";", Count::None),
        ("SELECT 1;", Count::One),
        ("SELECT 1; SELECT 1", Count::Several),
        (";;SELECT 1;;SELECT 1;;", Count::Several),
    ] {
        let class = parse(sql).map(|tree| tree.classify());
        assert_eq!(class.map(Class::count).ok(), Some(count), "{sql}");
    }
}

/// Tags that end like a statement's but that the grammar does not make.
const NO_STATEMENTS: [&str; 6] = [
    // A part of ALTER TABLE.
    "ReplicaIdentityStmt",
    // A node within a query after analysis.
    "SetOperationStmt",
    // What the planner makes.
    "PlannedStmt",
    // The shell around a statement.
    "RawStmt",
    // The body of a function in SQL, and assignments in PL/pgSQL: expressions of the parser's other modes.
    "ReturnStmt",
    "PLAssignStmt",
];

/// A tag that a new PostgreSQL brings is named here, or in `statement.rs` with what its documentation says. The tables of
/// [`super`] show the classes themselves.
#[test]
fn every_statement_is_classified_on_purpose() {
    let source = include_str!("../statement.rs");
    let mut statements = 0;
    for number in 1.. {
        let tag = NodeTag::from_raw(number);
        if tag == NodeTag::Invalid {
            break;
        }
        let name = tag.c_name();
        if name.ends_with("Stmt") && !NO_STATEMENTS.contains(&name) {
            assert!(source.contains(&format!("View::{tag:?}(")), "{name} is not classified");
            statements += 1;
        }
    }
    assert!(statements > 100, "{statements}");
}

#[test]
fn what_is_no_statement_may_touch_anything() {
    let tree = parse("SELECT a").expect("it is SQL");
    let column = tree.nodes().find(|node| node.tag() == NodeTag::ColumnRef).expect("it has a column");
    let class = column.classify();
    assert_eq!((class.kind(), class.access()), (Kind::Unknown, Access::Write));
    assert!(class.touches().any(Touches::UNKNOWN) && class.may_write() && !class.is_read_only());
    assert!(Class::UNKNOWN.may_write() && !Class::UNKNOWN.runs_on_standby());
    assert_eq!(Class::UNKNOWN.and(Class::EMPTY), Class::UNKNOWN);
}
