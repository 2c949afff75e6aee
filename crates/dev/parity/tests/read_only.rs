//! If PostgreSQL refuses a statement in a READ ONLY transaction, its class must not be read-only.
//!
//! The statements are sent one by one to a real server whose transactions are all READ ONLY. Only the error
//! `read_only_sql_transaction` counts; other errors prove nothing.

use anyhow::{Context, Result};
use trunkline_parity::corpus::corpus;
use trunkline_parser::classify::{Class, Kind, Touches};
use trunkline_parser::parse;
use trunkline_testkit::raw::ServerError;
use trunkline_testkit::{Cluster, RawClient, Version};

/// SQLSTATE `read_only_sql_transaction`.
const REFUSED: &str = "25006";
/// One of so many statements of the corpus is tried, so that the test takes seconds.
const ONE_IN: usize = 4;

const SET_UP: &str = "
    CREATE TABLE t (id int PRIMARY KEY, a int, b text);
    CREATE TABLE u (id int, a int);
    CREATE TABLE p (id int) PARTITION BY LIST (id);
    CREATE VIEW v AS SELECT * FROM t;
    CREATE MATERIALIZED VIEW m AS SELECT * FROM t;
    CREATE SEQUENCE s;
    CREATE FUNCTION writes() RETURNS int LANGUAGE sql AS 'INSERT INTO t VALUES (1) RETURNING id';
    CREATE PROCEDURE proc() LANGUAGE sql AS 'INSERT INTO t VALUES (1)';
    INSERT INTO t VALUES (0, 0, '');
";

/// Statements. Those with `-` before them are not refused by the server.
const STATEMENTS: &str = "
    - SELECT 1
    - SELECT * FROM t WHERE id = 1
    - TABLE v
    - VALUES (1)
    - SELECT count(*) FROM t JOIN u USING (id)
    - WITH x AS (SELECT 1) SELECT * FROM x
    SELECT * FROM t FOR UPDATE
    SELECT * FROM t FOR NO KEY UPDATE
    SELECT * FROM t FOR SHARE
    SELECT * FROM t FOR KEY SHARE
    SELECT * FROM (SELECT * FROM t FOR UPDATE) x
    SELECT (SELECT id FROM t FOR SHARE)
    WITH x AS (SELECT * FROM t FOR UPDATE) SELECT * FROM x
    SELECT * INTO w FROM t
    SELECT * INTO TEMP w FROM t
    SELECT nextval('s')
    SELECT pg_catalog.nextval('s') FROM t
    SELECT setval('s', 1)
    SELECT writes()
    SELECT * FROM writes()
    WITH x AS (INSERT INTO t VALUES (1) RETURNING *) SELECT * FROM x
    WITH x AS (UPDATE t SET a = 1 RETURNING *) SELECT * FROM x
    WITH x AS (DELETE FROM t RETURNING *) SELECT 1
    INSERT INTO t VALUES (1)
    INSERT INTO t SELECT * FROM t ON CONFLICT DO NOTHING
    UPDATE t SET a = 1
    DELETE FROM t
    MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN DELETE
    - EXPLAIN INSERT INTO t VALUES (1)
    - EXPLAIN SELECT * FROM t FOR UPDATE
    - EXPLAIN ANALYZE SELECT * FROM t
    EXPLAIN ANALYZE INSERT INTO t VALUES (1)
    EXPLAIN (ANALYZE) DELETE FROM t
    EXPLAIN ANALYZE SELECT * FROM t FOR SHARE
    EXPLAIN ANALYZE SELECT nextval('s')
    - EXPLAIN ANALYZE CREATE TABLE w AS SELECT 1
    - EXPLAIN (ANALYZE off) INSERT INTO t VALUES (1)
    - COPY t TO STDOUT
    - COPY (SELECT * FROM t) TO STDOUT
    COPY (INSERT INTO t VALUES (1) RETURNING id) TO STDOUT
    COPY t FROM '/dev/null'
    COPY t FROM PROGRAM 'true'
    - BEGIN; SELECT 1; COMMIT
    BEGIN; INSERT INTO t VALUES (1)
    - ROLLBACK
    - BEGIN; DECLARE c CURSOR FOR SELECT * FROM t; FETCH c; MOVE c; CLOSE c; COMMIT
    BEGIN; DECLARE c CURSOR FOR SELECT * FROM t FOR UPDATE
    - ROLLBACK
    - PREPARE i AS INSERT INTO t VALUES (1)
    - EXPLAIN EXECUTE i
    EXECUTE i
    EXPLAIN ANALYZE EXECUTE i
    CREATE TABLE w AS EXECUTE i
    - DEALLOCATE i
    - SET work_mem = '1MB'
    - RESET work_mem
    - SHOW work_mem
    - LISTEN a
    - NOTIFY a
    - UNLISTEN *
    - SELECT pg_notify('a', 'b')
    - SELECT set_config('a.b', 'c', false)
    - SELECT pg_advisory_lock(1), pg_advisory_unlock(1)
    - SELECT txid_current()
    - DISCARD PLANS
    - DISCARD TEMP
    - LOAD 'plpgsql'
    - CHECKPOINT
    - BEGIN; LOCK TABLE t IN ACCESS SHARE MODE; ROLLBACK
    - VACUUM t
    - ANALYZE t
    - REINDEX TABLE t
    - DO 'BEGIN END'
    DO 'BEGIN INSERT INTO t VALUES (1); END'
    CALL proc()
    TRUNCATE t
    REFRESH MATERIALIZED VIEW m
    CREATE TABLE w (a int)
    CREATE TEMP TABLE w (a int)
    CREATE TABLE w AS SELECT 1
    CREATE TABLE w PARTITION OF p DEFAULT
    CREATE VIEW w AS SELECT 1
    CREATE TEMP VIEW w AS SELECT 1
    CREATE MATERIALIZED VIEW w AS SELECT 1
    CREATE INDEX ON t (a)
    CREATE SEQUENCE w
    CREATE TYPE w AS ENUM ('a')
    CREATE TYPE w AS (a int)
    CREATE DOMAIN w AS int
    CREATE SCHEMA w
    CREATE FUNCTION w() RETURNS int LANGUAGE sql AS 'SELECT 1'
    CREATE RULE w AS ON DELETE TO t DO INSTEAD NOTHING
    CREATE ROLE w
    CREATE EXTENSION plpgsql
    CREATE STATISTICS w ON id, a FROM t
    CREATE PUBLICATION w FOR TABLE t
    CREATE POLICY w ON t USING (true)
    CREATE CAST (t AS u) WITHOUT FUNCTION
    ALTER TABLE t ADD COLUMN c int
    ALTER TABLE t RENAME TO w
    ALTER TABLE t SET SCHEMA pg_catalog
    ALTER TABLE t OWNER TO app
    ALTER SEQUENCE s RESTART
    ALTER ROLE app SET work_mem = '1MB'
    ALTER DATABASE app SET work_mem = '1MB'
    ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO app
    DROP TABLE t
    DROP VIEW v
    DROP FUNCTION writes
    DROP ROLE w
    DROP OWNED BY app
    REASSIGN OWNED BY app TO postgres
    GRANT SELECT ON t TO app
    REVOKE ALL ON t FROM app
    COMMENT ON TABLE t IS ''
    SECURITY LABEL ON TABLE t IS ''
    IMPORT FOREIGN SCHEMA a FROM SERVER b INTO c
";

/// Whether the server refuses a statement because the transaction is READ ONLY.
fn refuses(client: &mut RawClient, sql: &str) -> Result<bool> {
    match client.sql(sql) {
        Ok(_) => Ok(false),
        Err(error) => {
            let refusal = error.downcast::<ServerError>().with_context(|| format!("in {sql}"))?;
            Ok(refusal.sqlstate == REFUSED)
        }
    }
}

/// Whether the server's refusal contradicts a class.
fn contradicts(class: Class) -> bool {
    // Only `may_write` takes unknown functions into account.
    !class.may_write() || (class.is_read_only() && !class.touches().any(Touches::UNKNOWN_FUNCTIONS))
}

fn read_only_session(cluster: &Cluster) -> Result<RawClient> {
    let mut client = cluster.superuser("app")?;
    client.sql("SET default_transaction_read_only = on")?;
    client.sql("SET statement_timeout = '2s'")?;
    Ok(client)
}

#[test]
fn what_the_server_refuses_is_not_read_only() -> Result<()> {
    let cluster = Cluster::start(Version::PG15)?;
    cluster.psql(SET_UP)?;
    let mut client = read_only_session(&cluster)?;
    let mut wrong = Vec::new();
    for line in STATEMENTS.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (passes, sql) = line.strip_prefix("- ").map_or((false, line), |sql| (true, sql));
        let class = parse(sql).with_context(|| sql.to_owned())?.classify();
        let is_refused = refuses(&mut client, sql)?;
        if is_refused == passes {
            wrong.push(format!("the server {}: {sql}", if passes { "refuses" } else { "takes" }));
        }
        if is_refused && contradicts(class) {
            wrong.push(format!("{class:?}: {sql}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    corpus_against(&mut client)
}

/// Tries one in [`ONE_IN`] of the corpus's statements, without those that change the session. Their tables do not exist, so the test
/// is about utility statements, which the server refuses before it looks for their objects.
fn corpus_against(client: &mut RawClient) -> Result<()> {
    let (mut refused, mut wrong) = (0, Vec::new());
    for statement in corpus().iter().step_by(ONE_IN) {
        let Ok(tree) = parse(&statement.sql) else { continue };
        let class = tree.classify();
        // These would change the session, or take long. They are in the list above.
        let leaves = class.touches().any(Touches::SET | Touches::SET_CONFIG | Touches::ROLE | Touches::COPY);
        let controls = class.touches().any(Touches::TRANSACTION | Touches::RESET_ALL | Touches::DISCARD_ALL);
        let kind = class.kind();
        if leaves || controls || !kind.is_utility() || matches!(kind, Kind::Set | Kind::Maintenance) {
            continue;
        }
        if refuses(client, &statement.sql)? {
            refused += 1;
            if contradicts(class) {
                wrong.push(format!("{}:{}: {class:?}", statement.file, statement.line));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused > REFUSED_MIN, "the server refused {refused} statements of the corpus");
    Ok(())
}

/// The server refuses at least this many statements of the sample.
const REFUSED_MIN: usize = 2_000;
