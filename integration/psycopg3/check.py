"""psycopg 3: server-side binding, prepared statements, pipeline mode, COPY, cancel."""

import threading

import psycopg
from harness import (BIG_BYTES, CLIENTS, MANY_ROWS, SESSION, URL, check, expect, expect_changing, expect_error,
                     in_threads, run, session_check, wait_until)


def connect(**options):
    return psycopg.connect(URL, **{"autocommit": True, **options})


def scalar(connection, sql, values=None, **options):
    return connection.execute(sql, values, **options).fetchone()[0]


@check
def parameters_and_types():
    with connect() as connection:
        row = connection.execute("select %s::int, %s::text, %s::float8, %s::bytea, %s::int[], null",
                                 (7, "ünïcödé", 1.5, b"\0\1\xff", [1, 2])).fetchone()
        expect(row, (7, "ünïcödé", 1.5, b"\0\1\xff", [1, 2], None))
        expect(connection.cursor(binary=True).execute("select %s::int8", (2**40,)).fetchone(), (2**40,))


@check
def prepared_statements_across_transactions():
    with connect() as connection:
        for number in range(60):
            expect(scalar(connection, "select %s::int + 1", (number,), prepare=True), number + 1)
        connection.autocommit = False
        for number in range(20):
            expect(scalar(connection, "select %s::int + 1", (number,), prepare=True), number + 1)
            expect(scalar(connection, "select %s::int * 2", (number,), prepare=True), number * 2)
            connection.commit()


@check
def statements_are_prepared_after_five_uses():
    with connect() as connection:
        for number in range(50):
            expect(scalar(connection, "select %s::text || 'x'", (str(number),)), f"{number}x")
            expect(scalar(connection, f"select {number} + %s::int", (1,)), number + 1)


@check
def more_statements_than_the_client_keeps():
    # Past `prepared_max`, psycopg deallocates the oldest.
    with connect() as connection:
        connection.prepared_max = 10
        for turn in range(3):
            for number in range(30):
                expect(scalar(connection, f"select %s::int + {number}", (turn,), prepare=True), turn + number)


@check
def transactions_and_savepoints():
    with connect() as connection:
        connection.execute("drop table if exists psycopg3_tx; create table psycopg3_tx (v int primary key)")
        with connection.transaction():
            connection.execute("insert into psycopg3_tx values (1)")
            try:
                with connection.transaction():
                    connection.execute("insert into psycopg3_tx values (2)")
                    connection.execute("insert into psycopg3_tx values (1)")
            except psycopg.errors.UniqueViolation:
                pass
            connection.execute("insert into psycopg3_tx values (3)")
        try:
            with connection.transaction():
                connection.execute("delete from psycopg3_tx")
                raise psycopg.Rollback
        except psycopg.Rollback:
            pass
        expect(connection.execute("select v from psycopg3_tx order by v").fetchall(), [(1,), (3,)])
        connection.execute("drop table psycopg3_tx")


@check
def pipeline():
    with connect() as connection:
        with connection.pipeline():
            cursors = [connection.execute("select %s::int", (number,)) for number in range(500)]
        expect([cursor.fetchone()[0] for cursor in cursors], list(range(500)))


@check
def pipeline_with_an_error():
    with connect() as connection:
        good = []

        def work():
            with connection.pipeline() as pipeline:
                good.append(connection.execute("select %s::int", (1,), prepare=True))
                pipeline.sync()
                connection.execute("select 1 / %s::int", (0,), prepare=True)
                connection.execute("select %s::int + 2", (2,), prepare=True)

        expect_error("22012", work)
        expect(good[0].fetchone(), (1,))
        # The statement that was skipped was never prepared; the one before the error was.
        expect(scalar(connection, "select %s::int + 2", (4,), prepare=True), 6)
        expect(scalar(connection, "select %s::int", (4,), prepare=True), 4)
        expect(scalar(connection, "select 1 / %s::int", (1,), prepare=True), 1)


@check
def copy_in_and_out():
    with connect() as connection:
        connection.execute("drop table if exists psycopg3_copy; create table psycopg3_copy (a int, b text)")
        with connection.cursor() as cursor:
            with cursor.copy("copy psycopg3_copy from stdin") as copy:
                for number in range(50_000):
                    copy.write_row((number, f"row {number}"))
            with cursor.copy("copy (select a, b from psycopg3_copy order by a) to stdout") as copy:
                lines = b"".join(copy).count(b"\n")
            expect(lines, 50_000)
            with cursor.copy("copy psycopg3_copy to stdout (format binary)") as copy:
                copy.set_types(["int4", "text"])
                expect(sum(row[0] for row in copy.rows()), sum(range(50_000)))
        connection.execute("drop table psycopg3_copy")


@check
def copy_that_fails():
    with connect() as connection:
        connection.execute("drop table if exists psycopg3_fail; create table psycopg3_fail (a int)")

        def bad_data():
            with connection.cursor().copy("copy psycopg3_fail from stdin") as copy:
                for _ in range(10_000):
                    copy.write("not a number\n" * 10)

        def given_up():
            with connection.cursor().copy("copy psycopg3_fail from stdin") as copy:
                copy.write("1\n")
                raise KeyError("changed my mind")

        expect_error("22P02", bad_data)
        try:
            given_up()
        except KeyError:
            pass
        expect(scalar(connection, "select count(*) from psycopg3_fail"), 0)
        connection.execute("drop table psycopg3_fail")


@check
def cancel_a_running_query():
    with connect() as connection, connect() as observer:
        pid = []

        def cancel():
            sleeping = "select count(*) from pg_stat_activity where query like '%%psycopg3 sleeper%%' and wait_event = 'PgSleep'"
            wait_until(lambda: scalar(observer, sleeping) == 1, "the query sleeps")
            connection.cancel_safe()
            pid.append(True)

        thread = threading.Thread(target=cancel)
        thread.start()
        expect_error("57014", lambda: connection.execute("select pg_sleep(600) /* psycopg3 sleeper */"))
        thread.join()
        expect(pid, [True])
        expect(scalar(connection, "select 1"), 1)


@check
def big_rows():
    with connect() as connection:
        expect(len(scalar(connection, "select repeat('x', %s::int)", (BIG_BYTES,))), BIG_BYTES)
        payload = bytes(range(256)) * (BIG_BYTES // 256)
        expect(scalar(connection, "select md5(%b::bytea)", (payload,)) == scalar(connection, "select md5(%t::bytea)", (payload,)), True)
        expect(scalar(connection, "select %b::bytea", (payload,)) == payload, True)


@check
def many_rows():
    with connect() as connection:
        rows = connection.execute("select g, 'row ' || g from generate_series(1, %s) g", (MANY_ROWS,)).fetchall()
        expect((len(rows), rows[-1]), (MANY_ROWS, (MANY_ROWS, f"row {MANY_ROWS}")))


@check
def server_side_cursor():
    with connect(autocommit=False) as connection:
        with connection.cursor("psycopg3_cursor") as cursor:
            cursor.execute("select g from generate_series(1, 10000) g")
            cursor.itersize = 500
            expect(sum(row[0] for row in cursor), sum(range(1, 10001)))
        connection.commit()


@check
def errors_and_going_on():
    with connect() as connection:
        expect_error("42601", lambda: connection.execute("selec 1"))
        expect_error("42P01", lambda: connection.execute("select * from no_such_table where v = %s", (1,), prepare=True))
        expect_error("22012", lambda: connection.execute("select 1 / %s::int", (0,), prepare=True))
        expect(scalar(connection, "select 1 / %s::int", (1,), prepare=True), 1)
        connection.autocommit = False
        expect_error("42601", lambda: connection.execute("selec 1"))
        expect_error("25P02", lambda: connection.execute("select 1"))
        connection.rollback()
        expect(scalar(connection, "select 1"), 1)


@check
def parameters_at_startup():
    options = {"application_name": "psycopg3 check", "client_encoding": "LATIN1"}
    with connect(**options) as connection:
        for _ in range(30):
            expect(scalar(connection, "show application_name"), "psycopg3 check")
            expect(scalar(connection, "show client_encoding"), "LATIN1")
            expect(scalar(connection, "select 'é'"), "é")


@check
def parameters_by_set():
    with connect() as connection:
        connection.execute("set timezone to 'Asia/Kathmandu'")
        connection.execute("set application_name to 'renamed'")
        for _ in range(30):
            expect(scalar(connection, "show timezone"), "Asia/Kathmandu")
            expect(scalar(connection, "show application_name"), "renamed")
        expect(connection.info.timezone.key, "Asia/Kathmandu")


@check
def notices():
    with connect() as connection:
        heard = []
        connection.add_notice_handler(lambda notice: heard.append(notice.message_primary))
        connection.execute("do $$ begin raise notice 'hear %', 'me'; raise notice 'twice'; end $$")
        expect(heard, ["hear me", "twice"])


@check
def several_statements_in_one_query():
    with connect() as connection:
        cursor = connection.execute("select 1; select 2, 3; select 4 where false")
        expect(cursor.fetchall(), [(1,)])
        cursor.nextset()
        expect(cursor.fetchall(), [(2, 3)])
        cursor.nextset()
        expect(cursor.fetchall(), [])


@check
def two_connections_with_the_same_statement_name():
    # psycopg numbers its statements from _pg3_0 on each connection: the same name, another text.
    with connect() as one, connect() as two:
        for _ in range(20):
            expect(scalar(one, "select 'one', %s::int", (1,), prepare=True), "one")
            expect(scalar(two, "select 'two', %s::int", (1,), prepare=True), "two")


@check
def many_connections():
    def work(number):
        with connect() as connection:
            for turn in range(30):
                with connection.transaction():
                    expect(scalar(connection, "select %s::int", (number,), prepare=True), number)
                    expect(scalar(connection, f"select {number} + %s::int", (turn,), prepare=True), number + turn)

    in_threads(CLIENTS, work)


@check
def server_connection():
    with connect() as connection:
        expect_changing(lambda: scalar(connection, "select pg_backend_pid()"))
        if SESSION:
            expect(connection.info.backend_pid, scalar(connection, "select pg_backend_pid()"))


@session_check
def listen_and_notify():
    with connect() as listener, connect() as speaker:
        listener.execute("listen psycopg3_news")
        speaker.execute("select pg_notify('psycopg3_news', 'extra')")
        news = next(listener.notifies(timeout=120))
        expect((news.channel, news.payload), ("psycopg3_news", "extra"))


@session_check
def temporary_tables():
    with connect() as connection:
        connection.execute("create temp table scratch (v int)")
        connection.execute("insert into scratch values (5)")
        expect(scalar(connection, "select v from scratch"), 5)


@session_check
def sql_prepare():
    with connect() as connection:
        connection.execute("prepare by_hand as select $1::int + 1")
        expect(scalar(connection, "execute by_hand (4)"), 5)


run()
