//! Classes of SELECT and of statements that change rows.

use super::check;

#[test]
fn queries() {
    check(
        "
        SELECT 1 => Select Read
        SELECT abalance FROM pgbench_accounts WHERE aid = $1 => Select Read
        VALUES (1), (2) => Select Read
        TABLE t => Select Read
        SELECT * FROM t WHERE id IN (SELECT id FROM u) => Select Read
        SELECT 1 UNION ALL SELECT 2 => Select Read
        WITH x AS (SELECT 1) SELECT * FROM x => Select Read
        WITH RECURSIVE x(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM x) SELECT * FROM x => Select Read
        SELECT * FROM t FOR UPDATE => Select Write ROW_LOCK
        SELECT * FROM t FOR NO KEY UPDATE OF t => Select Write ROW_LOCK
        SELECT * FROM t FOR SHARE SKIP LOCKED => Select Write ROW_LOCK
        SELECT * FROM t FOR KEY SHARE NOWAIT => Select Write ROW_LOCK
        SELECT * FROM (SELECT * FROM t FOR UPDATE) x => Select Write ROW_LOCK
        WITH x AS (SELECT * FROM t FOR UPDATE) SELECT * FROM x => Select Write ROW_LOCK
        SELECT EXISTS (SELECT FROM t FOR SHARE) => Select Write ROW_LOCK
        WITH x AS (INSERT INTO t VALUES (1) RETURNING *) SELECT * FROM x => Select Write
        WITH x AS (UPDATE t SET a = 1 RETURNING *) SELECT * FROM x => Select Write
        WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x => Select Write
        WITH x AS (MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE RETURNING *) SELECT * FROM x => Select Write
        SELECT * INTO u FROM t => Select Write SCHEMA
        SELECT * INTO TEMP u FROM t => Select Write TEMP SCHEMA
        SELECT * INTO UNLOGGED u FROM t => Select Write SCHEMA
        SELECT * INTO pg_temp.u FROM t => Select Write TEMP_SCHEMA SCHEMA
        WITH x AS (SELECT 1) SELECT * INTO u FROM x => Select Write SCHEMA
        SELECT 1 INTO u UNION SELECT 2 => Select Write SCHEMA
        SELECT * FROM pg_temp.t => Select Read TEMP_SCHEMA
        SELECT * FROM pg_temp_3.t => Select Read TEMP_SCHEMA
        SELECT * FROM pg_temperature.t => Select Read
        SELECT pg_temp.f() => Select Read TEMP_SCHEMA FUNCTIONS UNKNOWN_FUNCTIONS
        SELECT 'a'::pg_temp.d => Select Read TEMP_SCHEMA
        SELECT 1 OPERATOR(pg_temp.+) 2 => Select Read TEMP_SCHEMA
        SELECT name FROM pg_settings => Select Read SHOW
        SELECT name FROM pg_catalog.pg_settings => Select Read SHOW
        SELECT name FROM app.pg_settings => Select Read
        SELECT * FROM pg_prepared_statements => Select Read PREPARED_STATEMENTS
        SELECT * FROM pg_cursors => Select Read CURSORS
        SELECT 'pg_temp' => Select Read
        "
    );
}

#[test]
fn changes_of_rows() {
    check(
        "
        INSERT INTO t VALUES (1) => Insert Write
        INSERT INTO t (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET a = excluded.a => Insert Write
        INSERT INTO t DEFAULT VALUES => Insert Write
        INSERT INTO t SELECT * FROM u FOR UPDATE => Insert Write ROW_LOCK
        INSERT INTO t VALUES (nextval('s')) => Insert Write NEXTVAL FUNCTIONS
        INSERT INTO t VALUES (now()) => Insert Write TRANSACTION_TIME FUNCTIONS
        INSERT INTO pg_temp.t VALUES (1) => Insert Write TEMP_SCHEMA
        WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x => Insert Write
        UPDATE t SET a = 1 => Update Write
        UPDATE t SET a = b FROM u WHERE t.id = u.id RETURNING * => Update Write
        UPDATE t SET a = lower(a) => Update Write FUNCTIONS
        UPDATE t SET a = 1 WHERE CURRENT OF c => Update Write FETCH
        DELETE FROM t => Delete Write
        DELETE FROM t USING u WHERE t.id = u.id => Delete Write
        DELETE FROM t WHERE CURRENT OF c => Delete Write FETCH
        MERGE INTO t USING u ON t.id = u.id WHEN NOT MATCHED THEN INSERT VALUES (1) => Merge Write
        ",
    );
}

#[test]
fn times() {
    check(
        "
        SELECT now() => Select Read TRANSACTION_TIME FUNCTIONS
        SELECT CURRENT_TIMESTAMP => Select Read TRANSACTION_TIME
        SELECT CURRENT_TIMESTAMP(3) => Select Read TRANSACTION_TIME
        SELECT CURRENT_DATE => Select Read TRANSACTION_TIME
        SELECT LOCALTIME => Select Read TRANSACTION_TIME
        SELECT CURRENT_USER => Select Read
        SELECT transaction_timestamp() => Select Read TRANSACTION_TIME FUNCTIONS
        SELECT clock_timestamp() => Select Read FUNCTIONS
        SELECT statement_timestamp() => Select Read FUNCTIONS
        SELECT age('2001-01-01') => Select Read TRANSACTION_TIME FUNCTIONS
        SELECT 'now'::timestamptz => Select Read TRANSACTION_TIME
        SELECT '2001-01-01'::date => Select Read TRANSACTION_TIME
        SELECT $1::timestamp => Select Read TRANSACTION_TIME
        SELECT CAST($1 AS time with time zone) => Select Read TRANSACTION_TIME
        SELECT DATE 'today' => Select Read TRANSACTION_TIME
        SELECT a::date FROM t => Select Read TRANSACTION_TIME
        SELECT 'now'::text::timestamp => Select Read TRANSACTION_TIME
        SELECT '{now}'::timestamptz[] => Select Read TRANSACTION_TIME
        SELECT '[now,)'::tstzrange => Select Read TRANSACTION_TIME
        SELECT '1 day'::interval => Select Read
        SELECT $1::int => Select Read
        ",
    );
}

#[test]
fn explained() {
    check(
        "
        EXPLAIN SELECT 1 => Explain Read
        EXPLAIN SELECT f(1) => Explain Read FUNCTIONS UNKNOWN_FUNCTIONS
        EXPLAIN SELECT nextval('s') => Explain Read FUNCTIONS
        EXPLAIN INSERT INTO t VALUES (1) => Explain Read
        EXPLAIN SELECT * FROM t FOR UPDATE => Explain Read
        EXPLAIN ANALYZE SELECT 1 => Explain Read EXPLAIN_ANALYZE
        EXPLAIN ANALYZE SELECT nextval('s') => Explain Write NEXTVAL FUNCTIONS EXPLAIN_ANALYZE
        EXPLAIN ANALYZE SELECT * FROM t FOR UPDATE => Explain Write ROW_LOCK EXPLAIN_ANALYZE
        EXPLAIN ANALYZE INSERT INTO t VALUES (1) => Explain Write EXPLAIN_ANALYZE
        EXPLAIN ANALYZE WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x => Explain Write EXPLAIN_ANALYZE
        EXPLAIN ANALYZE UPDATE t SET a = 1 => Explain Write EXPLAIN_ANALYZE
        EXPLAIN ANALYZE DELETE FROM t => Explain Write EXPLAIN_ANALYZE
        EXPLAIN ANALYZE MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE => Explain Write EXPLAIN_ANALYZE
        EXPLAIN (ANALYZE) INSERT INTO t VALUES (1) => Explain Write EXPLAIN_ANALYZE
        EXPLAIN (ANALYZE true) SELECT 1 => Explain Read EXPLAIN_ANALYZE
        EXPLAIN (ANALYZE 1) SELECT 1 => Explain Read EXPLAIN_ANALYZE
        EXPLAIN (ANALYZE on, VERBOSE) SELECT 1 => Explain Read EXPLAIN_ANALYZE
        EXPLAIN (ANALYZE off) INSERT INTO t VALUES (1) => Explain Read
        EXPLAIN (ANALYZE false) INSERT INTO t VALUES (1) => Explain Read
        EXPLAIN (ANALYZE 0) INSERT INTO t VALUES (1) => Explain Read
        EXPLAIN (ANALYZE false, ANALYZE true) INSERT INTO t VALUES (1) => Explain Write EXPLAIN_ANALYZE
        EXPLAIN (COSTS off, ANALYZE) SELECT 1 => Explain Read EXPLAIN_ANALYZE
        EXPLAIN VERBOSE SELECT 1 => Explain Read
        EXPLAIN EXECUTE p => Explain Read EXECUTE
        EXPLAIN ANALYZE EXECUTE p(1) => Explain Write EXECUTE EXPLAIN_ANALYZE
        EXPLAIN CREATE TABLE u AS SELECT 1 => Explain Read
        EXPLAIN ANALYZE CREATE TABLE u AS SELECT 1 => Explain Write EXPLAIN_ANALYZE SCHEMA
        EXPLAIN ANALYZE CREATE TEMP TABLE u AS EXECUTE p => Explain Write EXECUTE TEMP EXPLAIN_ANALYZE SCHEMA
        EXPLAIN ANALYZE SELECT 1 INTO u => Explain Write EXPLAIN_ANALYZE SCHEMA
        EXPLAIN ANALYZE DECLARE c CURSOR FOR SELECT 1 => Explain Read EXPLAIN_ANALYZE
        EXPLAIN DECLARE c CURSOR FOR SELECT 1 => Explain Read
        EXPLAIN ANALYZE REFRESH MATERIALIZED VIEW v => Explain Write EXPLAIN_ANALYZE
        "
    );
}
