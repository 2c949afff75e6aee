"""asyncpg: binary, every query a named prepared statement in its cache, COPY, pools, cancel by cancelling a task."""

import asyncio
import io

import asyncpg
import harness
from harness import BIG_BYTES, CHURN, CLIENTS, MANY_ROWS, SESSION, URL, expect, run


def on_a_loop(decorate):
    """Makes `decorate` take a coroutine function: each check gets an event loop of its own."""

    def register(coroutine):
        def function():
            asyncio.run(asyncio.wait_for(coroutine(), 120))

        function.__name__ = coroutine.__name__
        return decorate(function)

    return register


check = on_a_loop(harness.check)
session_check = on_a_loop(harness.session_check)


class connect:
    def __init__(self, **options):
        self.options = options

    async def __aenter__(self):
        self.connection = await asyncpg.connect(URL, **self.options)
        return self.connection

    async def __aexit__(self, *_):
        await self.connection.close()


async def fails(sqlstate, awaitable):
    try:
        await awaitable
    except asyncpg.PostgresError as error:
        expect(error.sqlstate, sqlstate)
        return
    raise AssertionError(f"no error, expected {sqlstate}")


@check
async def parameters_and_types():
    async with connect() as c:
        row = await c.fetchrow("select $1::int, $2::text, $3::float8, $4::bytea, $5::int[], null",
                               7, "ünïcödé", 1.5, b"\0\1\xff", [1, 2])
        expect(tuple(row), (7, "ünïcödé", 1.5, b"\0\1\xff", [1, 2], None))


@check
async def the_statement_cache_across_transactions():
    async with connect() as c:
        for number in range(60):
            expect(await c.fetchval("select $1::int + 1", number), number + 1)
            expect(await c.fetchval("select $1::int * 2", number), number * 2)
        for number in range(20):
            async with c.transaction():
                expect(await c.fetchval("select $1::int + 1", number), number + 1)


@check
async def more_statements_than_the_cache_holds():
    async with connect(statement_cache_size=10) as c:
        for turn in range(3):
            for number in range(30):
                expect(await c.fetchval(f"select $1::int + {number}", turn), turn + number)


@check
async def without_a_statement_cache():
    async with connect(statement_cache_size=0) as c:
        for number in range(40):
            expect(await c.fetchval("select $1::int + 1", number), number + 1)


@check
async def statements_prepared_by_hand():
    async with connect() as c:
        one = await c.prepare("select $1::int + 1")
        two = await c.prepare("select $1::text || 'x'")
        for number in range(30):
            expect(await one.fetchval(number), number + 1)
            expect(await two.fetchval(str(number)), f"{number}x")
        expect([str(parameter.name) for parameter in one.get_parameters()], ["int4"])


@check
async def executemany():
    async with connect() as c:
        await c.execute("drop table if exists asyncpg_many; create table asyncpg_many (a int primary key, b text)")
        await c.executemany("insert into asyncpg_many values ($1, $2)", [(n, f"row {n}") for n in range(5000)])
        expect(await c.fetchval("select count(*) from asyncpg_many"), 5000)
        # One bad row in the middle undoes them all, and the connection goes on.
        await fails("23505", c.executemany("insert into asyncpg_many values ($1, $2)",
                                           [(n, "again") for n in range(6000, 4999, -1)] + [(7, "twice")]))
        expect(await c.fetchval("select count(*) from asyncpg_many"), 5000)
        await c.execute("drop table asyncpg_many")


@check
async def transactions_and_savepoints():
    async with connect() as c:
        await c.execute("drop table if exists asyncpg_tx; create table asyncpg_tx (v int primary key)")
        async with c.transaction():
            await c.execute("insert into asyncpg_tx values (1)")
            try:
                async with c.transaction():
                    await c.execute("insert into asyncpg_tx values (2)")
                    await c.execute("insert into asyncpg_tx values ($1)", 1)
            except asyncpg.UniqueViolationError:
                pass
            await c.execute("insert into asyncpg_tx values (3)")
        transaction = c.transaction(isolation="serializable")
        await transaction.start()
        await c.execute("delete from asyncpg_tx")
        await transaction.rollback()
        expect([row[0] for row in await c.fetch("select v from asyncpg_tx order by v")], [1, 3])
        await c.execute("drop table asyncpg_tx")


@check
async def cursors():
    async with connect() as c:
        async with c.transaction():
            total = 0
            async for row in c.cursor("select g from generate_series(1, 10000) g", prefetch=100):
                total += row[0]
            expect(total, sum(range(1, 10001)))


@check
async def copy_in_and_out():
    async with connect() as c:
        await c.execute("drop table if exists asyncpg_copy; create table asyncpg_copy (a int, b text)")
        await c.copy_records_to_table("asyncpg_copy", records=[(n, f"row {n}") for n in range(50_000)])
        out = io.BytesIO()
        await c.copy_from_query("select * from asyncpg_copy where a < $1 order by a", 40_000, output=out)
        expect(out.getvalue().count(b"\n"), 40_000)
        await fails("22P02", c.copy_to_table("asyncpg_copy", source=io.BytesIO(b"x\ty\n" * 50_000)))
        expect(await c.fetchval("select count(*) from asyncpg_copy"), 50_000)
        await c.execute("drop table asyncpg_copy")


@check
async def cancel_a_running_query():
    async with connect() as c, connect() as observer:
        task = asyncio.ensure_future(c.fetchval("select pg_sleep(600) /* asyncpg sleeper */"))
        sleeping = "select count(*) from pg_stat_activity where query like '%asyncpg sleeper%' and wait_event = 'PgSleep'"
        while await observer.fetchval(sleeping) != 1:
            await asyncio.sleep(0.01)
        task.cancel()
        try:
            await task
            raise AssertionError("the query was not cancelled")
        except asyncio.CancelledError:
            pass
        expect(await c.fetchval("select 1"), 1)
        expect(await observer.fetchval(sleeping), 0)


@check
async def big_rows():
    async with connect() as c:
        expect(len(await c.fetchval("select repeat('x', $1)", BIG_BYTES)), BIG_BYTES)
        payload = bytes(range(256)) * (BIG_BYTES // 256)
        expect(await c.fetchval("select $1::bytea", payload) == payload, True)


@check
async def many_rows():
    async with connect() as c:
        rows = await c.fetch("select g, 'row ' || g from generate_series(1, $1::int) g", MANY_ROWS)
        expect((len(rows), tuple(rows[-1])), (MANY_ROWS, (MANY_ROWS, f"row {MANY_ROWS}")))


@check
async def errors_and_going_on():
    async with connect() as c:
        for _ in range(5):
            await fails("42601", c.fetch("selec 1"))
            await fails("42P01", c.fetch("select * from no_such_table where v = $1", 1))
            await fails("22012", c.fetch("select 1 / $1::int", 0))
            expect(await c.fetchval("select 1 / $1::int", 1), 1)


@check
async def parameters_at_startup():
    settings = {"application_name": "asyncpg check", "timezone": "Asia/Kathmandu"}
    async with connect(server_settings=settings) as c:
        for _ in range(30):
            expect(await c.fetchval("show application_name"), "asyncpg check")
            expect(await c.fetchval("show timezone"), "Asia/Kathmandu")
        expect(c.get_settings().TimeZone, "Asia/Kathmandu")


@check
async def parameters_by_set():
    async with connect() as c:
        await c.execute("set timezone to 'Asia/Kathmandu'; set application_name to 'renamed'")
        for _ in range(30):
            expect(await c.fetchval("show timezone"), "Asia/Kathmandu")
            expect(await c.fetchval("show application_name"), "renamed")


@check
async def a_changed_table_under_a_prepared_statement():
    # asyncpg itself prepares again outside a transaction, unless the pooler has healed it before.
    async with connect() as c, connect() as other:
        await c.execute("drop table if exists asyncpg_changed; create table asyncpg_changed (a int)")
        await c.execute("insert into asyncpg_changed values (1)")
        expect(tuple(await c.fetchrow("select * from asyncpg_changed")), (1,))
        await other.execute("alter table asyncpg_changed add b text default 'new'")
        expect(tuple(await c.fetchrow("select * from asyncpg_changed")), (1, "new"))
        await c.execute("drop table asyncpg_changed")


@check
async def notices():
    async with connect() as c:
        heard = []
        c.add_log_listener(lambda _, notice: heard.append(notice.message))
        await c.execute("do $$ begin raise notice 'hear %', 'me'; end $$")
        await c.fetchval("select 1")
        expect(heard, ["hear me"])


@check
async def several_statements_in_one_query():
    async with connect() as c:
        expect(await c.execute("select 1; select 2; create temp table t (v int) on commit drop"), "CREATE TABLE")
        expect(await c.fetchval("select 1"), 1)


@check
async def a_pool_of_many_connections():
    # reset() of a connection that goes back to asyncpg's pool is a multi-statement query.
    async with asyncpg.create_pool(URL, min_size=CLIENTS, max_size=CLIENTS) as pool:

        async def work(number):
            for turn in range(20):
                async with pool.acquire() as c, c.transaction():
                    expect(await c.fetchval("select $1::int", number), number)
                    expect(await c.fetchval(f"select $1::int + {number}", turn), turn + number)

        await asyncio.gather(*(work(number) for number in range(CLIENTS * 2)))


@check
async def server_connection():
    async with connect() as c:
        pids = set()
        for _ in range(50 if SESSION else 5000):
            pids.add(await c.fetchval("select pg_backend_pid()"))
            if not SESSION and len(pids) > 1:
                break
        if SESSION:
            expect(pids, {c.get_server_pid()})
        elif CHURN:
            expect(len(pids) > 1, True)


@session_check
async def listen_and_notify():
    async with connect() as listener, connect() as speaker:
        heard = asyncio.get_running_loop().create_future()
        await listener.add_listener("asyncpg_news", lambda _c, _pid, channel, payload: heard.set_result((channel, payload)))
        await speaker.execute("select pg_notify('asyncpg_news', 'extra')")
        expect(await asyncio.wait_for(heard, 20), ("asyncpg_news", "extra"))


@session_check
async def temporary_tables():
    async with connect() as c:
        await c.execute("create temp table scratch (v int)")
        await c.execute("insert into scratch values ($1)", 5)
        expect(await c.fetchval("select v from scratch"), 5)


run()
