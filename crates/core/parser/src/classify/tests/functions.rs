//! Classes of calls of functions.

use super::check;

#[test]
fn functions() {
    check(
        "
        SELECT f() => Select Read FUNCTIONS UNKNOWN_FUNCTIONS
        SELECT app.f(1) => Select Read FUNCTIONS UNKNOWN_FUNCTIONS
        SELECT count(*) FROM t => Select Read FUNCTIONS
        SELECT pg_catalog.count(*) FROM t => Select Read FUNCTIONS
        SELECT app.count(*) FROM t => Select Read FUNCTIONS UNKNOWN_FUNCTIONS
        SELECT db.pg_catalog.count(*) FROM t => Select Read FUNCTIONS UNKNOWN_FUNCTIONS
        SELECT lower(a) || upper(b) FROM t => Select Read FUNCTIONS
        SELECT coalesce(a, b), greatest(a, b), nullif(a, b) FROM t => Select Read
        SELECT extract(epoch FROM a), substring(b FROM 2), trim(c), a AT TIME ZONE 'UTC', overlay(b placing 'x' from 1) FROM t => Select Read
        SELECT * FROM generate_series(1, 10) => Select Read FUNCTIONS
        SELECT * FROM app.rows_of(1) => Select Read FUNCTIONS UNKNOWN_FUNCTIONS
        SELECT sum(f(a)) OVER (PARTITION BY g(b)) FROM t => Select Read FUNCTIONS UNKNOWN_FUNCTIONS
        SELECT nextval('s') => Select Write NEXTVAL FUNCTIONS
        SELECT pg_catalog.nextval('s') => Select Write NEXTVAL FUNCTIONS
        SELECT app.nextval('s') => Select Read FUNCTIONS UNKNOWN_FUNCTIONS
        SELECT setval('s', 1), setval('s', 1, false) => Select Write SETVAL FUNCTIONS
        SELECT currval('s') => Select Read CURRVAL FUNCTIONS
        SELECT lastval() => Select Read CURRVAL FUNCTIONS
        SELECT set_config('a.b', 'c', true) => Select Session SET_CONFIG_LOCAL FUNCTIONS
        SELECT set_config('a.b', 'c', false) => Select Session SET_CONFIG FUNCTIONS
        SELECT set_config('a.b', 'c', 't') => Select Session SET_CONFIG FUNCTIONS
        SELECT set_config('a.b', $1, $2) => Select Session SET_CONFIG FUNCTIONS
        SELECT set_config(is_local => true, setting_name => 'a.b', new_value => 'c') => Select Session SET_CONFIG FUNCTIONS
        SELECT pg_catalog.set_config('search_path', '', false) => Select Session SET_CONFIG FUNCTIONS
        SELECT set_config('a.b', set_config('c.d', 'e', false), true) => Select Session SET_CONFIG SET_CONFIG_LOCAL FUNCTIONS
        SELECT current_setting('a.b') => Select Read SHOW FUNCTIONS
        SELECT pg_notify('a', 'b') => Select Maintain NOTIFY FUNCTIONS
        SELECT pg_listening_channels() => Select Read LISTENING FUNCTIONS
        SELECT pg_backend_pid() => Select Read BACKEND FUNCTIONS
        SELECT pg_my_temp_schema() => Select Read BACKEND FUNCTIONS
        SELECT pg_advisory_lock(1) => Select Session ADVISORY_LOCK FUNCTIONS
        SELECT pg_advisory_lock_shared(1, 2) => Select Session ADVISORY_LOCK FUNCTIONS
        SELECT pg_try_advisory_lock(id) FROM t => Select Session ADVISORY_LOCK FUNCTIONS
        SELECT pg_advisory_unlock(1) => Select Session ADVISORY_UNLOCK FUNCTIONS
        SELECT pg_advisory_unlock_all() => Select Session ADVISORY_UNLOCK FUNCTIONS
        SELECT pg_advisory_xact_lock(1) => Select Session ADVISORY_LOCK_TRANSACTION FUNCTIONS
        SELECT pg_try_advisory_xact_lock_shared(1) => Select Session ADVISORY_LOCK_TRANSACTION FUNCTIONS
        SELECT txid_current() => Select Maintain TRANSACTION_ID FUNCTIONS
        SELECT pg_current_xact_id_if_assigned() => Select Session TRANSACTION_ID FUNCTIONS
        SELECT pg_export_snapshot() => Select Session TRANSACTION_ID FUNCTIONS
        SELECT lo_open(1, 131072) => Select Write LARGE_OBJECT FUNCTIONS
        SELECT lo_creat(-1) => Select Write FUNCTIONS
        SELECT lo_get(1) => Select Read FUNCTIONS
        SELECT loread(1, 2) => Select Read LARGE_OBJECT FUNCTIONS
        SELECT cursor_to_xml('c', 1, true, false, '') => Select Session FETCH FUNCTIONS
        SELECT * FROM t WHERE a LIKE 'x' ESCAPE 'y' AND b SIMILAR TO 'z' => Select Read FUNCTIONS
        SELECT \"coalesce\"(1), uuidv7() => Select Read FUNCTIONS UNKNOWN_FUNCTIONS
        SELECT pg_sleep(1) => Select Read FUNCTIONS UNKNOWN_FUNCTIONS
        SELECT pg_terminate_backend(1) => Select Read FUNCTIONS UNKNOWN_FUNCTIONS
        SELECT query_to_xml('DELETE FROM t', true, true, '') => Select Read FUNCTIONS UNKNOWN_FUNCTIONS
        SELECT * FROM t WHERE a = (SELECT max(f(b)) FROM u) => Select Read FUNCTIONS UNKNOWN_FUNCTIONS
        SELECT * FROM t ORDER BY f(a) LIMIT g(1) => Select Read FUNCTIONS UNKNOWN_FUNCTIONS
        DO 'BEGIN END' => Do Write DO
        DO LANGUAGE plpgsql $$ BEGIN PERFORM 1; END $$ => Do Write DO
        CALL p(1) => Call Write CALL FUNCTIONS UNKNOWN_FUNCTIONS
        CALL app.p(f(1)) => Call Write CALL FUNCTIONS UNKNOWN_FUNCTIONS
        "
    );
}
