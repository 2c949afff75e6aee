"""psycopg 2: everything by the simple protocol, literals in the text, COPY, named cursors, cancel from a thread."""

import io
import threading

import psycopg2
import psycopg2.extras
from harness import (BIG_BYTES, CLIENTS, MANY_ROWS, SESSION, URL, check, expect, expect_changing, expect_error,
                     in_threads, run, session_check, wait_until)


class Connection:
    """One connection, closed at the end of the block (psycopg2's own block only ends the transaction)."""

    def __init__(self, autocommit=True, **options):
        self.raw = psycopg2.connect(URL, **options)
        self.raw.autocommit = autocommit

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.raw.close()

    def rows(self, sql, values=None):
        with self.raw.cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetchall() if cursor.description else None

    def scalar(self, sql, values=None):
        return self.rows(sql, values)[0][0]


def fails(sqlstate, action):
    return expect_error(sqlstate, action, read=lambda error: error.pgcode)


@check
def parameters_and_types():
    with Connection() as c:
        row = c.rows("select %s::int, %s, %s::float8, %s, %s, null", (7, "ünï'cödé\\", 1.5, b"\0\1\xff", [1, 2]))[0]
        expect((row[0], row[1], row[2], bytes(row[3]), row[4], row[5]),
               (7, "ünï'cödé\\", 1.5, b"\0\1\xff", [1, 2], None))


@check
def transactions_and_savepoints():
    with Connection(autocommit=False) as c:
        c.rows("drop table if exists psycopg2_tx")
        c.rows("create table psycopg2_tx (v int primary key)")
        c.raw.commit()
        c.rows("insert into psycopg2_tx values (1)")
        c.rows("savepoint before")
        fails("23505", lambda: c.rows("insert into psycopg2_tx values (1)"))
        fails("25P02", lambda: c.rows("select 1"))
        c.rows("rollback to savepoint before")
        c.rows("insert into psycopg2_tx values (3)")
        c.raw.commit()
        c.rows("delete from psycopg2_tx")
        c.raw.rollback()
        expect(c.rows("select v from psycopg2_tx order by v"), [(1,), (3,)])
        c.raw.commit()
        c.rows("drop table psycopg2_tx")
        c.raw.commit()


@check
def isolation_level_and_read_only():
    with Connection(autocommit=False) as c:
        c.raw.set_session(isolation_level="SERIALIZABLE", readonly=True)
        for _ in range(10):
            expect(c.scalar("show transaction_isolation"), "serializable")
            expect(c.scalar("show transaction_read_only"), "on")
            c.raw.rollback()


@check
def copy_in_and_out():
    with Connection() as c:
        c.rows("drop table if exists psycopg2_copy; create table psycopg2_copy (a int, b text)")
        text = "".join(f"{number}\trow {number}\n" for number in range(50_000))
        with c.raw.cursor() as cursor:
            cursor.copy_expert("copy psycopg2_copy from stdin", io.StringIO(text))
            back = io.StringIO()
            cursor.copy_expert("copy (select * from psycopg2_copy order by a) to stdout", back)
        expect(back.getvalue() == text, True)
        with c.raw.cursor() as cursor:
            fails("22P02", lambda: cursor.copy_expert("copy psycopg2_copy from stdin", io.StringIO("x\ty\n" * 10_000)))
        expect(c.scalar("select count(*) from psycopg2_copy"), 50_000)
        c.rows("drop table psycopg2_copy")


@check
def cancel_a_running_query():
    with Connection() as c, Connection() as observer:

        def cancel():
            sleeping = "select count(*) from pg_stat_activity where query like '%psycopg2 sleeper%' and wait_event = 'PgSleep'"
            wait_until(lambda: observer.scalar(sleeping) == 1, "the query sleeps")
            c.raw.cancel()

        thread = threading.Thread(target=cancel)
        thread.start()
        fails("57014", lambda: c.rows("select pg_sleep(600) /* psycopg2 sleeper */"))
        thread.join()
        expect(c.scalar("select 1"), 1)


@check
def big_rows():
    with Connection() as c:
        expect(len(c.scalar("select repeat('x', %s)", (BIG_BYTES,))), BIG_BYTES)
        payload = bytes(range(256)) * (BIG_BYTES // 256)
        expect(bytes(c.scalar("select %s::bytea", (payload,))) == payload, True)


@check
def many_rows():
    with Connection() as c:
        rows = c.rows("select g, 'row ' || g from generate_series(1, %s) g", (MANY_ROWS,))
        expect((len(rows), rows[-1]), (MANY_ROWS, (MANY_ROWS, f"row {MANY_ROWS}")))


@check
def named_cursor():
    with Connection(autocommit=False) as c:
        with c.raw.cursor("psycopg2_cursor") as cursor:
            cursor.itersize = 500
            cursor.execute("select g from generate_series(1, 10000) g")
            expect(sum(row[0] for row in cursor), sum(range(1, 10001)))
        c.raw.commit()


@check
def bulk_inserts():
    with Connection() as c:
        c.rows("drop table if exists psycopg2_bulk; create table psycopg2_bulk (a int, b text)")
        with c.raw.cursor() as cursor:
            rows = [(number, f"row {number}") for number in range(5000)]
            psycopg2.extras.execute_values(cursor, "insert into psycopg2_bulk values %s", rows, page_size=1000)
            psycopg2.extras.execute_batch(cursor, "update psycopg2_bulk set b = %s where a = %s",
                                          [("new", number) for number in range(200)])
        expect(c.scalar("select count(*) from psycopg2_bulk where b = 'new'"), 200)
        c.rows("drop table psycopg2_bulk")


@check
def errors_and_going_on():
    with Connection() as c:
        for _ in range(5):
            fails("42601", lambda: c.rows("selec 1"))
            fails("42P01", lambda: c.rows("select * from no_such_table"))
            expect(c.scalar("select 1"), 1)
        # The statements before the error are undone, the ones after it never run.
        c.rows("drop table if exists psycopg2_errors; create table psycopg2_errors (v int)")
        fails("22012", lambda: c.rows("insert into psycopg2_errors values (1); select 1/0; insert into psycopg2_errors values (2)"))
        expect(c.scalar("select count(*) from psycopg2_errors"), 0)
        c.rows("drop table psycopg2_errors")


@check
def parameters_at_startup():
    with Connection(application_name="psycopg2 check", client_encoding="LATIN1") as c:
        for _ in range(30):
            expect(c.scalar("show application_name"), "psycopg2 check")
            expect(c.scalar("show client_encoding"), "LATIN1")
            expect(c.scalar("select 'é'"), "é")


@check
def parameters_by_set():
    with Connection() as c:
        c.rows("set timezone to 'Asia/Kathmandu'")
        c.rows("set datestyle to 'German'")
        c.raw.set_client_encoding("LATIN1")
        for _ in range(30):
            expect(c.scalar("show timezone"), "Asia/Kathmandu")
            expect(c.scalar("select '2001-02-03'::date::text"), "03.02.2001")
            expect(c.scalar("show client_encoding"), "LATIN1")
        expect(c.raw.get_parameter_status("TimeZone"), "Asia/Kathmandu")


@check
def notices():
    with Connection() as c:
        c.rows("do $$ begin raise notice 'hear %', 'me'; raise warning 'and me'; end $$")
        expect([line.strip() for line in c.raw.notices], ["NOTICE:  hear me", "WARNING:  and me"])


@check
def several_statements_in_one_query():
    with Connection() as c:
        expect(c.rows("select 1; select 2; select 3"), [(3,)])
        expect(c.rows("begin; select 4; commit; select 5"), [(5,)])


@check
def many_connections():
    def work(number):
        with Connection(autocommit=False) as c:
            for turn in range(30):
                expect(c.scalar("select %s", (number,)), number)
                expect(c.scalar("select %s + %s", (number, turn)), number + turn)
                c.raw.commit()

    in_threads(CLIENTS, work)


@check
def server_connection():
    with Connection() as c:
        expect_changing(lambda: c.scalar("select pg_backend_pid()"))
        if SESSION:
            expect(c.raw.get_backend_pid(), c.scalar("select pg_backend_pid()"))


@session_check
def listen_and_notify():
    with Connection() as listener, Connection() as speaker:
        listener.rows("listen psycopg2_news")
        speaker.rows("select pg_notify('psycopg2_news', 'extra')")

        def heard():
            listener.raw.poll()
            return listener.raw.notifies

        wait_until(heard, "the notification arrives")
        expect((listener.raw.notifies[0].channel, listener.raw.notifies[0].payload), ("psycopg2_news", "extra"))


@session_check
def temporary_tables_and_advisory_locks():
    with Connection() as c, Connection() as other:
        c.rows("create temp table scratch (v int)")
        c.rows("insert into scratch values (5)")
        expect(c.scalar("select v from scratch"), 5)
        expect(c.scalar("select pg_try_advisory_lock(4711)"), True)
        expect(other.scalar("select pg_try_advisory_lock(4711)"), False)
        expect(c.scalar("select pg_advisory_unlock(4711)"), True)


@session_check
def sql_prepare():
    with Connection() as c:
        c.rows("prepare by_hand as select $1::int + 1")
        for _ in range(5):
            expect(c.scalar("execute by_hand (4)"), 5)
        c.rows("deallocate by_hand")
        fails("26000", lambda: c.rows("execute by_hand (4)"))


run()
