//! Tables and other relations.

use super::{check, relations};

#[test]
fn of_queries() {
    check(
        relations,
        "
        SELECT 1
        SELECT * FROM t => r:t
        SELECT * FROM d.s.t => r:d.s.t
        SELECT * FROM t AS x, s.u y JOIN v USING (a) LEFT JOIN w ON true => r:t/x, r:s.u/y, r:v, r:w
        SELECT * FROM ONLY t TABLESAMPLE system (1) => r:t
        SELECT * FROM (SELECT * FROM t) x => r:t@1
        SELECT (SELECT a FROM t) FROM u WHERE EXISTS (SELECT FROM v) AND b IN (SELECT c FROM w) => r:t@1, r:u, r:v@2, r:w@3
        SELECT * FROM t UNION SELECT * FROM u => r:t@1, r:u@2
        TABLE t => r:t
        SELECT * FROM f(1), LATERAL (SELECT * FROM t) x, ROWS FROM (g(2)) y => r:t@1
        SELECT * INTO u FROM t => wd:u, r:t
        INSERT INTO t VALUES (1) => w:t
        INSERT INTO t AS x SELECT * FROM u ON CONFLICT (a) DO UPDATE SET b = (SELECT 1 FROM v) => w:t/x, r:u@1, r:v@2
        UPDATE t SET a = 1 => rw:t
        UPDATE ONLY s.t x SET a = u.a FROM u, v WHERE x.b = (SELECT c FROM w) => rw:s.t/x, r:w@1, r:u, r:v
        DELETE FROM t USING u JOIN v ON true => rw:t, r:u, r:v
        MERGE INTO t x USING u y ON x.a = y.a WHEN MATCHED THEN DELETE => rw:t/x, r:u/y
        MERGE INTO t USING (SELECT * FROM u) y ON true WHEN NOT MATCHED THEN DO NOTHING => rw:t, r:u@1
        EXPLAIN ANALYZE SELECT * FROM t => r:t@1
        PREPARE p AS DELETE FROM t => rw:t@1
        DECLARE c CURSOR FOR SELECT * FROM t => r:t@1
        "
    );
}

#[test]
fn names_of_with_are_none() {
    check(
        relations,
        "
        WITH x AS (SELECT * FROM t) SELECT * FROM x => r:t@1
        WITH t AS (SELECT * FROM t) SELECT * FROM t => r:t@1
        WITH t AS (SELECT * FROM t), u AS (SELECT * FROM t, u) SELECT * FROM t, u => r:t@1, r:u@2
        WITH RECURSIVE t AS (SELECT 1 UNION ALL SELECT * FROM t) SELECT * FROM t
        WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a
        WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a => r:b@1
        WITH x AS (SELECT 1) SELECT * FROM s.x, x => r:s.x
        WITH x AS (SELECT 1) SELECT * FROM (SELECT * FROM x) y WHERE EXISTS (SELECT FROM x)
        SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x) y, x => r:x
        WITH x AS (WITH x AS (SELECT * FROM x) SELECT * FROM x) SELECT * FROM x => r:x@2
        WITH x AS (WITH y AS (SELECT 1) SELECT * FROM y) SELECT * FROM x, y => r:y
        WITH x AS (SELECT 1), y AS (WITH x AS (SELECT * FROM x) SELECT * FROM x) SELECT * FROM x, y
        WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x => rw:t@1
        WITH x AS (SELECT 1) INSERT INTO x SELECT * FROM x => w:x
        WITH x AS (SELECT 1) DELETE FROM x USING x AS y => rw:x
        WITH x AS (SELECT 1) UPDATE x SET a = 1 FROM x y => rw:x
        WITH x AS (SELECT 1) MERGE INTO x USING x y ON true WHEN MATCHED THEN DELETE => rw:x
        WITH x AS (SELECT 1) SELECT * FROM x UNION SELECT * FROM x
        (WITH x AS (SELECT 1) SELECT * FROM x) UNION SELECT * FROM x => r:x@3
        INSERT INTO t WITH x AS (SELECT 1) SELECT * FROM x => w:t
        WITH x AS (SELECT 1) SELECT (WITH y AS (SELECT * FROM x) SELECT * FROM y)
        CREATE VIEW v AS WITH x AS (SELECT 1) SELECT * FROM x, y => d:v, r?:y@1
        WITH x AS (SELECT 1), y AS (INSERT INTO x SELECT * FROM x RETURNING *) SELECT * FROM y => w:x@2
        WITH x AS (SELECT 1) SELECT * FROM x; SELECT * FROM x => r:x@2
        ",
    );
}

#[test]
fn locks() {
    check(
        relations,
        "
        SELECT * FROM t FOR UPDATE => rl:t+update
        SELECT * FROM t, u FOR SHARE => rl:t+share, rl:u+share
        SELECT * FROM t x, u FOR UPDATE OF x => rl:t/x+update, r:u
        SELECT * FROM t, u FOR KEY SHARE OF u FOR NO KEY UPDATE OF t, u => rl:t+nokeyupdate, rl:u+nokeyupdate
        SELECT * FROM t JOIN u ON true FOR UPDATE => rl:t+update, rl:u+update
        SELECT * FROM (SELECT * FROM t JOIN u ON true) x, v FOR UPDATE OF x => rl:t@1+update, rl:u@1+update, r:v
        SELECT * FROM (SELECT * FROM t) x, v FOR UPDATE OF v => r:t@1, rl:v+update
        SELECT * FROM (SELECT * FROM t FOR SHARE) x FOR UPDATE => rl:t@1+update
        SELECT * FROM t WHERE a = (SELECT b FROM u) FOR UPDATE => rl:t+update, r:u@1
        WITH x AS (SELECT * FROM t) SELECT * FROM x, u FOR UPDATE => rl:u+update, r:t@1
        SELECT * FROM (SELECT * FROM (SELECT * FROM t) a) b FOR UPDATE => rl:t@2+update
        UPDATE t SET a = 1 FROM (SELECT * FROM u FOR UPDATE) x => rw:t, rl:u@1+update
        LOCK TABLE t, s.u IN SHARE MODE => l:t, l:s.u
        "
    );
}

#[test]
fn of_utility_statements() {
    check(
        relations,
        "
        COPY t FROM STDIN => w:t
        COPY s.t (a) TO STDOUT => r:s.t
        COPY (SELECT * FROM t) TO STDOUT => r:t@1
        TRUNCATE t, u => w:t, w:u
        CREATE TABLE t (a int REFERENCES u, LIKE v) INHERITS (w) => d:t, -:u, -:v, -:w
        CREATE FOREIGN TABLE t (a int) INHERITS (w) SERVER s => d:t, -:w
        CREATE TABLE t PARTITION OF p DEFAULT => d:t, -:p
        CREATE TABLE t AS SELECT * FROM u => r:u@1, wd:t
        CREATE TEMP TABLE t AS TABLE u => r:u@1, wd:t
        CREATE MATERIALIZED VIEW v AS SELECT * FROM t => r:t@1, wd:v
        REFRESH MATERIALIZED VIEW v => w:v
        CREATE VIEW v AS SELECT * FROM t => d:v, r?:t@1
        CREATE RULE r AS ON INSERT TO t DO ALSO INSERT INTO u VALUES (1) => d:t, w?:u@1
        CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT a FROM t; END => r?:t@1
        CREATE FUNCTION f() RETURNS int LANGUAGE sql RETURN (SELECT a FROM t) => r?:t@1
        CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT a FROM t'
        CREATE POLICY p ON t USING (EXISTS (SELECT FROM u)) => d:t, r?:u@1
        ALTER POLICY p ON t USING (EXISTS (SELECT FROM u)) => d:t, r?:u@1
        CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW WHEN (new.a = 1) EXECUTE FUNCTION f() => d:t
        CREATE CONSTRAINT TRIGGER g AFTER INSERT ON t FROM u FOR EACH ROW EXECUTE FUNCTION f() => d:t, -:u
        CREATE INDEX i ON t (a) => d:t
        CREATE SEQUENCE s => d:s
        ALTER SEQUENCE s RESTART => d:s
        CREATE TYPE s.t AS (a int) => d:s.t
        CREATE STATISTICS s ON a, b FROM t => -:t
        CREATE PUBLICATION p FOR TABLE t => -:t
        CREATE SCHEMA s CREATE TABLE t (a int) CREATE VIEW v AS SELECT * FROM t => d:t, d:v, r?:t@1
        ALTER TABLE t ADD COLUMN a int REFERENCES u => d:t, -:u
        ALTER TABLE t INHERIT u => d:t, -:u
        ALTER TABLE t ATTACH PARTITION u DEFAULT => d:t, d:u
        ALTER TABLE t RENAME TO u => d:t
        ALTER TABLE t SET SCHEMA s => d:t
        ALTER VIEW v OWNER TO r => d:v
        DROP TABLE t, s.u => d:t, d:s.u
        DROP VIEW v => d:v
        DROP INDEX CONCURRENTLY i => d:i
        DROP FUNCTION f
        DROP TRIGGER g ON s.t => d:s.t
        DROP POLICY p ON t => d:t
        DROP RULE r ON t => d:t
        DROP SCHEMA s
        COMMENT ON TABLE s.t IS '' => d:s.t
        COMMENT ON COLUMN t.a IS '' => d:t
        COMMENT ON COLUMN d.s.t.a IS '' => d:d.s.t
        COMMENT ON CONSTRAINT c ON t IS '' => d:t
        COMMENT ON FUNCTION f() IS ''
        COMMENT ON DATABASE d IS ''
        SECURITY LABEL ON TABLE t IS '' => d:t
        ALTER EXTENSION e ADD TABLE t => d:t
        GRANT SELECT ON t, u TO r => d:t, d:u
        VACUUM t => -:t
        ANALYZE
        CLUSTER t USING i => -:t
        REINDEX TABLE t => -:t
        ",
    );
}
