//! Classes of texts with several statements; tests that no statement is forgotten, and that unknown ones may do
//! anything.

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

/// Tags that end like a statement's tag, but that the grammar does not make.
const NOT_STATEMENTS: [&str; 6] = [
    // A part of ALTER TABLE.
    "ReplicaIdentityStmt",
    // A node within a query after analysis.
    "SetOperationStmt",
    // The planner makes it.
    "PlannedStmt",
    // The node around each statement.
    "RawStmt",
    // The parser's other modes make these: the body of an SQL function, and assignments in PL/pgSQL.
    "ReturnStmt",
    "PLAssignStmt",
];

/// A tag of a new PostgreSQL version must be added here, or to `statement.rs` as its documentation says. The tables in
/// [`super`] test the classes themselves.
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
        if name.ends_with("Stmt") && !NOT_STATEMENTS.contains(&name) {
            assert!(source.contains(&format!("View::{tag:?}(")), "{name} is not classified");
            statements += 1;
        }
    }
    assert!(statements > 100, "{statements}");
}

#[test]
fn a_node_that_is_not_a_statement_may_touch_anything() {
    let tree = parse("SELECT a").expect("it is SQL");
    let column = tree.nodes().find(|node| node.tag() == NodeTag::ColumnRef).expect("it has a column");
    let class = column.classify();
    assert_eq!((class.kind(), class.access()), (Kind::Unknown, Access::Write));
    assert!(class.touches().any(Touches::UNKNOWN) && class.may_write() && !class.is_read_only());
    assert!(Class::UNKNOWN.may_write() && !Class::UNKNOWN.runs_on_standby());
    assert_eq!(Class::UNKNOWN.and(Class::EMPTY), Class::UNKNOWN);
}
