//! Classes of definitions and maintenance.

use super::check;

#[test]
fn maintenance() {
    check(
        "
        VACUUM => Maintenance Maintain NO_BLOCK
        VACUUM (FULL, ANALYZE) t => Maintenance Maintain NO_BLOCK
        ANALYZE => Maintenance Maintain
        ANALYZE t (a, b) => Maintenance Maintain
        CLUSTER => Maintenance Maintain NO_BLOCK
        CLUSTER t USING i => Maintenance Maintain
        REINDEX INDEX i => Maintenance Maintain
        REINDEX TABLE t => Maintenance Maintain
        REINDEX TABLE CONCURRENTLY t => Maintenance Maintain NO_BLOCK
        REINDEX SCHEMA s => Maintenance Maintain NO_BLOCK
        REINDEX DATABASE d => Maintenance Maintain NO_BLOCK
        REINDEX SYSTEM d => Maintenance Maintain NO_BLOCK
        CHECKPOINT => Checkpoint Session
        LOAD 'auto_explain' => Load Session LOAD
        TRUNCATE t, u RESTART IDENTITY => Truncate Write
        TRUNCATE pg_temp.t => Truncate Write TEMP_SCHEMA
        ",
    );
}

#[test]
// tidy: long because it is a table
fn definitions() {
    check(
        "
        CREATE TABLE t (a int DEFAULT nextval('s')) => Definition Write NEXTVAL FUNCTIONS SCHEMA
        CREATE TEMP TABLE t (a int) => Definition Write TEMP SCHEMA
        CREATE TEMPORARY TABLE t (a int) ON COMMIT DROP => Definition Write TEMP SCHEMA
        CREATE LOCAL TEMPORARY TABLE t (a int) => Definition Write TEMP SCHEMA
        CREATE UNLOGGED TABLE t (a int) => Definition Write SCHEMA
        CREATE TABLE pg_temp.t (a int) => Definition Write TEMP_SCHEMA SCHEMA
        CREATE TABLE t AS SELECT 1 => Definition Write SCHEMA
        CREATE TABLE t AS SELECT nextval('s') => Definition Write NEXTVAL FUNCTIONS SCHEMA
        CREATE TEMP TABLE t AS SELECT 1 => Definition Write TEMP SCHEMA
        CREATE TABLE t PARTITION OF p FOR VALUES IN (1) => Definition Write SCHEMA
        CREATE TABLE t (a date DEFAULT now()) => Definition Write TRANSACTION_TIME FUNCTIONS SCHEMA
        CREATE FOREIGN TABLE t (a int) SERVER s => Definition Write SCHEMA
        CREATE VIEW v AS SELECT f(1) => Definition Write SCHEMA
        CREATE VIEW v AS SELECT * FROM t FOR UPDATE => Definition Write SCHEMA
        CREATE TEMP VIEW v AS SELECT 1 => Definition Write TEMP SCHEMA
        CREATE OR REPLACE VIEW v AS SELECT * FROM pg_temp.t => Definition Write TEMP_SCHEMA SCHEMA
        CREATE MATERIALIZED VIEW v AS SELECT f(1) => Definition Write FUNCTIONS UNKNOWN_FUNCTIONS SCHEMA
        REFRESH MATERIALIZED VIEW v => Definition Write SCHEMA
        REFRESH MATERIALIZED VIEW CONCURRENTLY v => Definition Write SCHEMA
        CREATE TEMP SEQUENCE s => Definition Write TEMP SCHEMA
        CREATE SEQUENCE s => Definition Write SCHEMA
        CREATE INDEX i ON t (f(a)) => Definition Write FUNCTIONS UNKNOWN_FUNCTIONS SCHEMA
        CREATE INDEX CONCURRENTLY i ON t (a) => Definition Write NO_BLOCK SCHEMA
        DROP TABLE t => Definition Write SCHEMA
        DROP TABLE pg_temp.t => Definition Write TEMP_SCHEMA SCHEMA
        DROP INDEX i => Definition Write SCHEMA
        DROP INDEX CONCURRENTLY i => Definition Write NO_BLOCK SCHEMA
        DROP FUNCTION pg_temp.f() => Definition Write TEMP_SCHEMA SCHEMA
        ALTER TABLE t ADD COLUMN a int DEFAULT f() => Definition Write FUNCTIONS UNKNOWN_FUNCTIONS SCHEMA
        ALTER TABLE pg_temp.t RENAME TO u => Definition Write TEMP_SCHEMA SCHEMA
        ALTER TABLE t DETACH PARTITION p => Definition Write SCHEMA
        ALTER TABLE t DETACH PARTITION p CONCURRENTLY => Definition Write NO_BLOCK SCHEMA
        ALTER TABLE t ATTACH PARTITION p DEFAULT => Definition Write SCHEMA
        CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1' => Definition Write SCHEMA
        CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT pg_advisory_lock(1); END => Definition Write SCHEMA
        CREATE FUNCTION f() RETURNS int LANGUAGE sql SET work_mem = '1MB' AS 'SELECT 1' => Definition Write SCHEMA
        CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS 'SELECT 1' => Definition Write TEMP_SCHEMA SCHEMA
        CREATE PROCEDURE p() LANGUAGE sql AS '' => Definition Write SCHEMA
        CREATE AGGREGATE a (int) (SFUNC = f, STYPE = int) => Definition Write SCHEMA
        CREATE OPERATOR + (FUNCTION = f, LEFTARG = int) => Definition Write SCHEMA
        CREATE TYPE t AS (a int) => Definition Write SCHEMA
        CREATE TYPE t AS ENUM ('a') => Definition Write SCHEMA
        CREATE TYPE t AS RANGE (SUBTYPE = int) => Definition Write SCHEMA
        CREATE TYPE pg_temp.t AS ENUM ('a') => Definition Write TEMP_SCHEMA SCHEMA
        ALTER TYPE t ADD VALUE 'b' => Definition Write SCHEMA
        CREATE DOMAIN d AS int CHECK (f(VALUE)) => Definition Write FUNCTIONS UNKNOWN_FUNCTIONS SCHEMA
        CREATE RULE r AS ON INSERT TO t DO INSTEAD UPDATE u SET a = f() => Definition Write SCHEMA
        CREATE RULE r AS ON INSERT TO t DO NOTIFY x => Definition Write SCHEMA
        CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f() => Definition Write SCHEMA
        CREATE EVENT TRIGGER g ON ddl_command_start EXECUTE FUNCTION f() => Definition Write SCHEMA
        CREATE POLICY p ON t USING (f(a)) => Definition Write SCHEMA
        ALTER POLICY p ON t USING (a = current_setting('x')) => Definition Write SCHEMA
        CREATE SCHEMA s CREATE TABLE t (a int) => Definition Write SCHEMA
        CREATE EXTENSION e => Definition Write SCHEMA
        CREATE STATISTICS s ON a, b FROM t => Definition Write SCHEMA
        CREATE PUBLICATION p FOR TABLE t => Definition Write SCHEMA
        CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION p => Definition Write NO_BLOCK SCHEMA
        ALTER SUBSCRIPTION s REFRESH PUBLICATION => Definition Write NO_BLOCK SCHEMA
        DROP SUBSCRIPTION s => Definition Write NO_BLOCK SCHEMA
        CREATE ROLE r => Definition Write SCHEMA
        ALTER ROLE r PASSWORD 'x' => Definition Write SCHEMA
        ALTER ROLE r SET work_mem = '1MB' => Definition Write SCHEMA DEFAULTS
        ALTER ROLE r IN DATABASE d RESET ALL => Definition Write SCHEMA DEFAULTS
        ALTER DATABASE d SET work_mem = '1MB' => Definition Write SCHEMA DEFAULTS
        ALTER DATABASE d SET TABLESPACE s => Definition Write NO_BLOCK SCHEMA
        ALTER DATABASE d CONNECTION LIMIT 1 => Definition Write SCHEMA
        ALTER DATABASE d REFRESH COLLATION VERSION => Definition Write SCHEMA
        ALTER SYSTEM SET work_mem = '1MB' => Definition Write NO_BLOCK SCHEMA DEFAULTS
        CREATE DATABASE d => Definition Write NO_BLOCK SCHEMA
        DROP DATABASE d => Definition Write NO_BLOCK SCHEMA
        CREATE TABLESPACE s LOCATION '/x' => Definition Write NO_BLOCK SCHEMA
        DROP TABLESPACE s => Definition Write NO_BLOCK SCHEMA
        GRANT SELECT ON t TO r => Definition Write SCHEMA
        GRANT a TO b => Definition Write SCHEMA
        REVOKE ALL ON SCHEMA s FROM r => Definition Write SCHEMA
        ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO r => Definition Write SCHEMA
        COMMENT ON TABLE t IS 'x' => Definition Write SCHEMA
        SECURITY LABEL ON TABLE t IS 'x' => Definition Write SCHEMA
        DROP OWNED BY r => Definition Write SCHEMA
        REASSIGN OWNED BY r TO s => Definition Write SCHEMA
        ALTER TABLE ALL IN TABLESPACE a SET TABLESPACE b => Definition Write SCHEMA
        IMPORT FOREIGN SCHEMA a FROM SERVER b INTO c => Definition Write SCHEMA
        CREATE CAST (int AS text) WITH FUNCTION f(int) => Definition Write SCHEMA
        CREATE USER MAPPING FOR r SERVER s => Definition Write SCHEMA
        "
    );
}
