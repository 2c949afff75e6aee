//! Functions, parameters and levels.

use super::check;
use crate::parse;

#[test]
fn calls() {
    check(
        |found| {
            let calls = found.calls().iter().map(|call| {
                let schema = call.schema.map(|schema| format!("{schema}.")).unwrap_or_default();
                let syntax = if call.is_syntax() { "*" } else { "" };
                format!("{syntax}{schema}{}/{}@{}", call.name, call.arguments, call.level)
            });
            calls.collect::<Vec<_>>().join(", ")
        },
        "
        SELECT f(1, g(2)), s.h() FROM r() WHERE count(*) > 1 => f/2@0, g/1@0, s.h/0@0, r/0@0, count/0@0
        SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) OVER w FROM t => percentile_cont/1@0
        SELECT extract(year FROM a), a AT TIME ZONE 'UTC' => *pg_catalog.extract/2@0, *pg_catalog.timezone/2@0
        SELECT a.b.c.d() => /0@0
        CALL p(1, 2) => p/2@0
        SELECT (SELECT f() FROM t) => f/0@1
        INSERT INTO t VALUES (nextval('s')) => nextval/1@1
        CREATE TABLE t (a int DEFAULT f()) => f/0@0
        ",
    );
}

#[test]
fn parameters() -> Result<(), crate::ParseError> {
    let tree = parse("SELECT $3, $1::int FROM t WHERE a = $1 LIMIT $2")?;
    let found = tree.references();
    let all: Vec<_> = found.parameters().iter().map(|one| (one.number, one.location)).collect();
    assert_eq!(all, [(3, 7), (1, 11), (1, 36), (2, 45)]);
    assert_eq!(found.largest_parameter(), 3);
    assert_eq!(parse("SELECT 1")?.references().largest_parameter(), 0);
    Ok(())
}

#[test]
fn levels() {
    check(
        |found| {
            let levels = found.levels().iter().map(|level| {
                let outermost = if level.is_outermost { "" } else { "+" };
                let above = level.above.map(|above| above.to_string()).unwrap_or_default();
                format!("{outermost}{}<{above}", level.statement.tag().c_name())
            });
            levels.collect::<Vec<_>>().join(", ")
        },
        "
        SELECT 1; SELECT 2 => SelectStmt<, SelectStmt<
        SELECT (SELECT 1), (SELECT (SELECT 2)) => SelectStmt<, +SelectStmt<0, +SelectStmt<0, +SelectStmt<2
        SELECT 1 UNION SELECT 2 => SelectStmt<, +SelectStmt<0, +SelectStmt<0
        EXPLAIN SELECT (SELECT 1) => ExplainStmt<, SelectStmt<0, +SelectStmt<1
        COPY t FROM STDIN => CopyStmt<
        COPY (SELECT 1) TO STDOUT => CopyStmt<, SelectStmt<0
        WITH x AS (DELETE FROM t RETURNING *) INSERT INTO u SELECT * FROM x => InsertStmt<, +SelectStmt<0, +DeleteStmt<0
        "
    );
}

#[test]
fn a_part_of_a_tree_by_itself() -> Result<(), crate::ParseError> {
    let tree = parse("SELECT FROM t JOIN u ON u.a = 1 WHERE t.b = 2")?;
    let join = tree.nodes().find(|node| node.tag() == crate::node::NodeTag::JoinExpr);
    let found = join.map(crate::node::Node::references).unwrap_or_default();
    assert_eq!((found.relations().len(), found.comparisons().len()), (2, 1));
    Ok(())
}
