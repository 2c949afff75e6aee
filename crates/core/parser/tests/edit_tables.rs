//! Relations under other names, and restricted by conditions.

use trunkline_parser::edit::{self, EditError, Fragment};
use trunkline_parser::{ParsedSql, parse};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn says(tree: &ParsedSql, text: &str) -> Outcome {
    assert_eq!(tree.deparse()?, text);
    assert!(parse(text)? == *tree, "{text}");
    Ok(())
}

/// Of `t`, renamed to `s.n`.
// tidy: long because it is a table of texts
#[test]
fn every_place_of_a_name() -> Outcome {
    let mut wrong = Vec::new();
    for (before, after) in [
        ("SELECT t.a, t.* FROM t ORDER BY t.a", "SELECT n.a, n.* FROM s.n ORDER BY n.a"),
        ("SELECT t.a FROM t x, u t", "SELECT t.a FROM s.n x, u t"),
        ("SELECT x.a FROM t x", "SELECT x.a FROM s.n x"),
        ("WITH t AS (SELECT 1) SELECT t.a FROM t", "WITH t AS (SELECT 1) SELECT t.a FROM t"),
        ("WITH t AS (SELECT * FROM t) SELECT t.a FROM t", "WITH t AS (SELECT * FROM s.n) SELECT t.a FROM t"),
        (
            "SELECT u.b FROM u WHERE EXISTS (SELECT FROM t WHERE t.a = u.b)",
            "SELECT u.b FROM u WHERE EXISTS (SELECT FROM s.n WHERE n.a = u.b)",
        ),
        (
            "SELECT t.a FROM t WHERE EXISTS (SELECT FROM u t WHERE t.a)",
            "SELECT n.a FROM s.n WHERE EXISTS (SELECT FROM u t WHERE t.a)",
        ),
        (
            "SELECT t.a FROM t WHERE EXISTS (SELECT FROM u WHERE t.a)",
            "SELECT n.a FROM s.n WHERE EXISTS (SELECT FROM u WHERE n.a)",
        ),
        ("SELECT q.t.a FROM q.t", "SELECT q.t.a FROM q.t"),
        ("SELECT t FROM t", "SELECT t FROM s.n t"),
        ("SELECT (t).a, t.b FROM t", "SELECT (t).a, t.b FROM s.n t"),
        ("SELECT t.a FROM t, n", "SELECT t.a FROM s.n t, n"),
        (
            "SELECT t.a FROM t WHERE EXISTS (SELECT FROM n WHERE t.a)",
            "SELECT t.a FROM s.n t WHERE EXISTS (SELECT FROM n WHERE t.a)",
        ),
        ("SELECT 1 FROM t FOR UPDATE OF t", "SELECT 1 FROM s.n FOR UPDATE OF n"),
        (
            "UPDATE t SET a = t.b FROM u WHERE u.a = t.a RETURNING t.a",
            "UPDATE s.n SET a = n.b FROM u WHERE u.a = n.a RETURNING n.a",
        ),
        (
            "DELETE FROM t USING u WHERE t.a = u.a RETURNING *",
            "DELETE FROM s.n USING u WHERE n.a = u.a RETURNING *",
        ),
        (
            "INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET a = t.a + excluded.a WHERE t.a > 1 RETURNING t.a",
            "INSERT INTO s.n (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET a = n.a + excluded.a WHERE n.a > 1 RETURNING n.a",
        ),
        (
            "MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN UPDATE SET b = t.b",
            "MERGE INTO s.n USING u ON n.a = u.a WHEN MATCHED THEN UPDATE SET b = n.b",
        ),
        (
            "SELECT 1 FROM u JOIN t USING (a) LEFT JOIN v ON v.b = t.b",
            "SELECT 1 FROM u JOIN s.n USING (a) LEFT JOIN v ON v.b = n.b",
        ),
        ("DROP TABLE t, u", "DROP TABLE s.n, u"),
        ("DROP TRIGGER x ON t", "DROP TRIGGER x ON s.n"),
        ("DROP FUNCTION t", "DROP FUNCTION t"),
        ("COMMENT ON TABLE t IS 'a'", "COMMENT ON TABLE s.n IS 'a'"),
        ("COMMENT ON COLUMN t.t IS 'a'", "COMMENT ON COLUMN s.n.t IS 'a'"),
        ("GRANT SELECT ON t TO t", "GRANT select ON s.n TO t"),
        ("LOCK TABLE t", "LOCK TABLE s.n"),
        ("TRUNCATE t, u", "TRUNCATE s.n, u"),
        ("COPY t FROM STDIN WHERE t.a > 1", "COPY s.n FROM STDIN WHERE n.a > 1"),
        (
            "CREATE TABLE x (a int REFERENCES t (a), CHECK (x.a > 1))",
            "CREATE TABLE x (a int REFERENCES s.n (a), CHECK (x.a > 1))",
        ),
        ("CREATE INDEX i ON t (a) WHERE t.b", "CREATE INDEX i ON s.n USING btree (a) WHERE n.b"),
        ("CREATE POLICY p ON t USING (t.a = 1)", "CREATE POLICY p ON s.n TO public USING (n.a = 1)"),
        ("ALTER TABLE t ADD CHECK (t.a > 1)", "ALTER TABLE s.n ADD CHECK (n.a > 1)"),
        (
            "CREATE TRIGGER x AFTER INSERT ON t EXECUTE FUNCTION f()",
            "CREATE TRIGGER x AFTER INSERT ON s.n EXECUTE FUNCTION f()",
        ),
        ("CREATE SEQUENCE q OWNED BY t.a", "CREATE SEQUENCE q OWNED BY s.n.a"),
        ("SELECT NULL::t, NULL::u.t, '1'::text", "SELECT NULL::s.n, NULL::u.t, '1'::text"),
        ("CREATE VIEW v AS SELECT t.a FROM t", "CREATE VIEW v AS SELECT n.a FROM s.n"),
        (
            "CREATE RULE r AS ON INSERT TO t DO ALSO DELETE FROM u",
            "CREATE RULE r AS ON INSERT TO s.n DO DELETE FROM u",
        ),
    ] {
        let mut tree = parse(before)?;
        tree.rename_relation("t", ("s", "n"))?;
        let written = tree.deparse().map_err(|error| error.to_string());
        if written.as_deref() != Ok(after) {
            wrong.push((after, written));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    Ok(())
}

#[test]
fn with_a_schema_and_without() -> Outcome {
    let mut tree = parse("SELECT q.t.a, t.b FROM q.t; SELECT t.a FROM t")?;
    assert_eq!(tree.rename_relation(("q", "t"), "n")?, 1);
    says(&tree, "SELECT n.a, n.b FROM n; SELECT t.a FROM t")?;
    assert_eq!(tree.rename_relation("t", "m")?, 1);
    says(&tree, "SELECT n.a, n.b FROM n; SELECT m.a FROM m")?;
    let mut tree = parse("WITH n AS (SELECT 1) SELECT 1 FROM n, t")?;
    assert_eq!(tree.rename_relation("t", "n"), Err(EditError::Taken("n".into())));
    says(&tree, "WITH n AS (SELECT 1) SELECT 1 FROM n, t")
}

#[test]
fn all_tables_get_a_schema() -> Outcome {
    let mut tree = parse(
        "WITH c AS (SELECT 1 FROM a) SELECT 1 FROM c, b FOR UPDATE OF b; DROP VIEW a, x.b; COMMENT ON COLUMN a.b IS NULL",
    )?;
    tree.tables_mut(|table| match table.schema() {
        None => table.set_schema(Some("s")),
        Some(_) => Ok(()),
    })?;
    says(
        &tree,
        "WITH c AS (SELECT 1 FROM s.a) SELECT 1 FROM c, s.b FOR UPDATE OF b; DROP VIEW s.a, x.b; COMMENT ON COLUMN s.a.b IS NULL",
    )
}

fn tenant(table: &str) -> Result<Fragment, EditError> {
    edit::operator("=", edit::column(&[table, "x"])?, edit::parameter(9)?)
}

// tidy: long because it is a table of texts
#[test]
fn a_condition_for_each_use() -> Outcome {
    for (before, after) in [
        ("SELECT 1 FROM t", "SELECT 1 FROM t WHERE t.x = $9"),
        (
            "SELECT 1 FROM t a, t b WHERE a.b OR c",
            "SELECT 1 FROM t a, t b WHERE (a.b OR c) AND a.x = $9 AND b.x = $9",
        ),
        ("TABLE t", "SELECT * FROM t WHERE t.x = $9"),
        ("SELECT 1 FROM t WHERE a AND b", "SELECT 1 FROM t WHERE a AND b AND t.x = $9"),
        (
            "SELECT 1 FROM u WHERE a IN (SELECT b FROM t)",
            "SELECT 1 FROM u WHERE a IN (SELECT b FROM t WHERE t.x = $9)",
        ),
        (
            "SELECT 1 FROM t WHERE a IN (SELECT b FROM t)",
            "SELECT 1 FROM t WHERE a IN (SELECT b FROM t WHERE t.x = $9) AND t.x = $9",
        ),
        (
            "SELECT 1 FROM t UNION SELECT 2 FROM t",
            "SELECT 1 FROM t WHERE t.x = $9 UNION SELECT 2 FROM t WHERE t.x = $9",
        ),
        ("WITH t AS (SELECT 1) SELECT 1 FROM t", "WITH t AS (SELECT 1) SELECT 1 FROM t"),
        (
            "WITH c AS (DELETE FROM t RETURNING a) SELECT 1 FROM c",
            "WITH c AS (DELETE FROM t WHERE t.x = $9 RETURNING a) SELECT 1 FROM c",
        ),
        ("UPDATE t SET a = 1", "UPDATE t SET a = 1 WHERE t.x = $9"),
        ("UPDATE u SET a = 1 FROM t", "UPDATE u SET a = 1 FROM t WHERE t.x = $9"),
        ("DELETE FROM u USING t q WHERE q.a", "DELETE FROM u USING t q WHERE q.a AND q.x = $9"),
        ("INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1)"),
        ("INSERT INTO u SELECT * FROM t", "INSERT INTO u SELECT * FROM t WHERE t.x = $9"),
        (
            "INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1",
            "INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1 WHERE t.x = $9",
        ),
        (
            "SELECT 1 FROM u LEFT JOIN t a ON a.b",
            "SELECT 1 FROM u LEFT JOIN (SELECT * FROM t a WHERE a.x = $9) a ON a.b",
        ),
        (
            "SELECT 1 FROM (t JOIN u USING (a)) j",
            "SELECT 1 FROM ((SELECT * FROM t WHERE t.x = $9) t JOIN u USING (a)) j",
        ),
        (
            "MERGE INTO u USING t ON a WHEN MATCHED THEN DELETE",
            "MERGE INTO u USING (SELECT * FROM t WHERE t.x = $9) t ON a WHEN MATCHED THEN DELETE",
        ),
        ("EXPLAIN SELECT 1 FROM t", "EXPLAIN SELECT 1 FROM t WHERE t.x = $9"),
        ("COPY (SELECT 1 FROM t) TO STDOUT", "COPY (SELECT 1 FROM t WHERE t.x = $9) TO STDOUT"),
    ] {
        let mut tree = parse(before)?;
        tree.add_condition("t", tenant)?;
        let written = tree.deparse()?;
        assert_eq!(parse(&written)?.deparse()?, parse(after)?.deparse()?, "{before}");
    }
    Ok(())
}

#[test]
fn what_cannot_be_restricted_is_an_error() -> Outcome {
    for text in [
        "MERGE INTO t USING u ON a WHEN MATCHED THEN DELETE",
        "TRUNCATE t",
        "DROP TABLE t",
        "COPY t TO STDOUT",
        "DELETE FROM t WHERE CURRENT OF c",
        "COMMENT ON TABLE t IS ''",
    ] {
        let mut tree = parse(text)?;
        let refused = tree.add_condition("t", tenant);
        assert!(matches!(refused, Err(EditError::CannotRestrict(_))), "{text}: {refused:?}");
        says(&tree, text)?;
    }
    Ok(())
}

/// Both of them have no type that takes the place of one that every program has.
#[test]
fn globs_shadow_nothing() {
    #[allow(unused_imports)]
    use trunkline_parser::{classify::*, edit::*, key::*, lexer::*, node::*, references::*};
    let text: String = format!("{}", 1);
    let list: Vec<Option<Box<str>>> = vec![Some(text.into_boxed_str())];
    let done: Result<(), ()> = Ok(());
    assert!(list.iter().all(Option::is_some) && done.is_ok());
}
