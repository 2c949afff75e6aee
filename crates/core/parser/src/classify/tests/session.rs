//! Classes of transaction control and of statements about the session's state.

use super::check;

#[test]
fn transactions() {
    check(
        "
        BEGIN => Transaction Read TRANSACTION Begin
        BEGIN WORK => Transaction Read TRANSACTION Begin
        START TRANSACTION => Transaction Read TRANSACTION Begin
        BEGIN ISOLATION LEVEL SERIALIZABLE => Transaction Read TRANSACTION Begin Serializable
        BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY, DEFERRABLE => Transaction Read TRANSACTION Begin RepeatableRead ReadOnly Deferrable
        BEGIN TRANSACTION READ WRITE NOT DEFERRABLE => Transaction Read TRANSACTION Begin ReadWrite NotDeferrable
        START TRANSACTION ISOLATION LEVEL READ COMMITTED => Transaction Read TRANSACTION Begin ReadCommitted
        START TRANSACTION READ ONLY, READ WRITE => Transaction Read TRANSACTION Begin ReadWrite
        BEGIN ISOLATION LEVEL READ UNCOMMITTED => Transaction Read TRANSACTION Begin ReadUncommitted
        COMMIT => Transaction Read TRANSACTION Commit
        END => Transaction Read TRANSACTION Commit
        COMMIT AND CHAIN => Transaction Read TRANSACTION CommitAndChain
        COMMIT AND NO CHAIN => Transaction Read TRANSACTION Commit
        ROLLBACK => Transaction Read TRANSACTION Rollback
        ABORT => Transaction Read TRANSACTION Rollback
        ROLLBACK AND CHAIN => Transaction Read TRANSACTION RollbackAndChain
        SAVEPOINT a => Transaction Read TRANSACTION Savepoint
        RELEASE a => Transaction Read TRANSACTION Release
        RELEASE SAVEPOINT a => Transaction Read TRANSACTION Release
        ROLLBACK TO a => Transaction Read TRANSACTION RollbackTo
        ROLLBACK TO SAVEPOINT a => Transaction Read TRANSACTION RollbackTo
        PREPARE TRANSACTION 'x' => Transaction Maintain TRANSACTION TWO_PHASE Prepare
        COMMIT PREPARED 'x' => Transaction Maintain TRANSACTION TWO_PHASE NO_BLOCK CommitPrepared
        ROLLBACK PREPARED 'x' => Transaction Maintain TRANSACTION TWO_PHASE NO_BLOCK RollbackPrepared
        SET CONSTRAINTS ALL DEFERRED => SetConstraints Session SET_CONSTRAINTS
        "
    );
}

#[test]
fn parameters() {
    check(
        "
        SET work_mem = '64MB' => Set Session SET
        SET work_mem TO DEFAULT => Set Session SET
        SET SESSION work_mem = 1 => Set Session SET
        SET LOCAL work_mem = '64MB' => Set Session SET_LOCAL
        SET search_path TO a, b => Set Session SET
        SET my.app = 'x' => Set Session SET
        SET TIME ZONE 'UTC' => Set Session SET
        SET LOCAL TIME ZONE LOCAL => Set Session SET_LOCAL
        SET TIME ZONE INTERVAL '1' HOUR TO MINUTE => Set Session SET
        SET NAMES 'utf8' => Set Session SET
        SET SCHEMA 'x' => Set Session SET
        SET XML OPTION DOCUMENT => Set Session SET
        SET SEED TO 0.5 => Set Session SET
        SET ROLE a => Set Session ROLE
        SET ROLE NONE => Set Session ROLE
        SET LOCAL ROLE a => Set Session SET_LOCAL ROLE
        SET role TO 'a' => Set Session ROLE
        SET \"ROLE\" TO 'a' => Set Session ROLE
        RESET ROLE => Set Session ROLE
        SET SESSION AUTHORIZATION a => Set Session ROLE
        SET LOCAL SESSION AUTHORIZATION a => Set Session SET_LOCAL ROLE
        SET SESSION AUTHORIZATION DEFAULT => Set Session ROLE
        RESET SESSION AUTHORIZATION => Set Session ROLE
        RESET work_mem => Set Session SET
        RESET TIME ZONE => Set Session SET
        RESET ALL => Set Session RESET_ALL
        RESET TRANSACTION ISOLATION LEVEL => Set Session SET_TRANSACTION
        SET TRANSACTION READ ONLY => Set Session SET_TRANSACTION ReadOnly
        SET TRANSACTION ISOLATION LEVEL SERIALIZABLE READ WRITE => Set Session SET_TRANSACTION Serializable ReadWrite
        SET LOCAL TRANSACTION READ ONLY => Set Session SET_TRANSACTION ReadOnly
        SET TRANSACTION SNAPSHOT '1' => Set Session SET_TRANSACTION
        SET transaction_isolation = 'serializable' => Set Session SET_TRANSACTION
        SET transaction_read_only = on => Set Session SET_TRANSACTION
        SET LOCAL transaction_deferrable = on => Set Session SET_LOCAL SET_TRANSACTION
        SET default_transaction_read_only = on => Set Session SET
        SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY => Set Session SESSION_CHARACTERISTICS ReadOnly
        SET LOCAL SESSION CHARACTERISTICS AS TRANSACTION READ ONLY => Set Session SET_LOCAL SESSION_CHARACTERISTICS ReadOnly
        SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ, DEFERRABLE => Set Session SESSION_CHARACTERISTICS RepeatableRead Deferrable
        SHOW work_mem => Show Read SHOW
        SHOW ALL => Show Read SHOW
        SHOW TIME ZONE => Show Read SHOW
        SHOW TRANSACTION ISOLATION LEVEL => Show Read SHOW
        "
    );
}

#[test]
fn channels() {
    check(
        "
        LISTEN a => Listen Maintain LISTEN
        UNLISTEN a => Unlisten Session UNLISTEN
        UNLISTEN * => Unlisten Session UNLISTEN
        NOTIFY a => Notify Maintain NOTIFY
        NOTIFY a, 'b' => Notify Maintain NOTIFY
        ",
    );
}

#[test]
fn prepared_statements() {
    check(
        "
        PREPARE p AS SELECT 1 => Prepare Session PREPARE
        PREPARE p (int) AS INSERT INTO t VALUES ($1) => Prepare Session PREPARE
        PREPARE p AS SELECT nextval('s') FROM t FOR UPDATE => Prepare Session PREPARE
        PREPARE p AS SELECT * FROM pg_temp.t => Prepare Session PREPARE TEMP_SCHEMA
        EXECUTE p => Execute Write EXECUTE
        EXECUTE p (1, f(2)) => Execute Write EXECUTE FUNCTIONS UNKNOWN_FUNCTIONS
        CREATE TABLE u AS EXECUTE p => Definition Write EXECUTE SCHEMA
        CREATE TEMP TABLE u AS EXECUTE p(1) => Definition Write EXECUTE TEMP SCHEMA
        DEALLOCATE p => Deallocate Session DEALLOCATE
        DEALLOCATE PREPARE p => Deallocate Session DEALLOCATE
        DEALLOCATE ALL => Deallocate Session DEALLOCATE_ALL
        DISCARD ALL => Discard Session DISCARD_ALL NO_BLOCK
        DISCARD PLANS => Discard Session DISCARD_PLANS
        DISCARD SEQUENCES => Discard Session DISCARD_SEQUENCES
        DISCARD TEMP => Discard Session DISCARD_TEMP
        DISCARD TEMPORARY => Discard Session DISCARD_TEMP
        ",
    );
}

#[test]
fn cursors() {
    check(
        "
        DECLARE c CURSOR FOR SELECT 1 => Declare Session DECLARE
        DECLARE c CURSOR WITHOUT HOLD FOR SELECT 1 => Declare Session DECLARE
        DECLARE c CURSOR WITH HOLD FOR SELECT 1 => Declare Session DECLARE_HOLD
        DECLARE c BINARY INSENSITIVE NO SCROLL CURSOR WITH HOLD FOR SELECT f() => Declare Session DECLARE_HOLD FUNCTIONS UNKNOWN_FUNCTIONS
        DECLARE c CURSOR FOR SELECT * FROM t FOR UPDATE => Declare Write DECLARE ROW_LOCK
        FETCH c => Fetch Session FETCH
        FETCH ALL FROM c => Fetch Session FETCH
        MOVE 5 IN c => Fetch Session FETCH
        CLOSE c => Close Session CLOSE
        CLOSE ALL => Close Session CLOSE
        "
    );
}

#[test]
fn locks() {
    check(
        "
        LOCK TABLE t => Lock Maintain TABLE_LOCK
        LOCK t IN ACCESS SHARE MODE => Lock Read TABLE_LOCK
        LOCK t IN ROW EXCLUSIVE MODE => Lock Read TABLE_LOCK
        LOCK t IN SHARE UPDATE EXCLUSIVE MODE => Lock Maintain TABLE_LOCK
        LOCK t, u IN SHARE MODE NOWAIT => Lock Maintain TABLE_LOCK
        ",
    );
}

#[test]
fn copies() {
    check(
        "
        COPY t FROM STDIN => Copy Write COPY FromClient
        COPY t (a, b) FROM STDIN WITH (FORMAT binary) => Copy Write COPY FromClient
        COPY t FROM '/tmp/x' => Copy Write COPY FromFile
        COPY t FROM PROGRAM 'cat /tmp/x' => Copy Write COPY FromProgram
        COPY t FROM STDIN WHERE f(a) => Copy Write FUNCTIONS UNKNOWN_FUNCTIONS COPY FromClient
        COPY t TO STDOUT => Copy Read COPY ToClient
        COPY t TO '/tmp/x' => Copy Read COPY ToFile
        COPY t TO PROGRAM 'cat' => Copy Read COPY ToProgram
        COPY (SELECT 1) TO STDOUT => Copy Read COPY ToClient
        COPY (SELECT now()) TO STDOUT CSV => Copy Read TRANSACTION_TIME FUNCTIONS COPY ToClient
        COPY (INSERT INTO t VALUES (1) RETURNING a) TO STDOUT => Copy Write COPY ToClient
        COPY (SELECT nextval('s')) TO PROGRAM 'cat' => Copy Write NEXTVAL FUNCTIONS COPY ToProgram
        COPY pg_temp.t FROM STDIN => Copy Write TEMP_SCHEMA COPY FromClient
        ",
    );
}
