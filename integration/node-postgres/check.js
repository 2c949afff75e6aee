// node-postgres: parameterized and named queries, pools, COPY streams, cursors, cancel.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { Readable } from "node:stream";
import { pipeline as flow } from "node:stream/promises";
import assert from "node:assert/strict";
import pg from "pg";
import Cursor from "pg-cursor";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";

const url = process.env.DATABASE_URL;
const session = (process.env.POOL_MODE ?? "session") === "session";
const churn = process.env.CHURN === "1";
const BIG_BYTES = 8 * 1024 * 1024;
const CLIENTS = 24;

const checks = [];
const check = (name, run) => checks.push({ name, run });
const sessionCheck = (name, run) => session && check(name, run);

async function connected(run, options = {}) {
  const client = new pg.Client({ connectionString: url, ...options });
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}

const scalar = async (client, text, values) => Object.values((await client.query(text, values)).rows[0])[0];
const fails = (code, promise) => assert.rejects(promise, (error) => (assert.equal(error.code, code), true));

check("parameters and types", () =>
  connected(async (c) => {
    const { rows } = await c.query({
      text: "select $1::int, $2::text, $3::float8, $4::bytea, $5::int[], null",
      values: [7, "ünïcödé", 1.5, Buffer.from([0, 1, 255]), [1, 2]],
      rowMode: "array",
    });
    assert.deepEqual(rows[0], [7, "ünïcödé", 1.5, Buffer.from([0, 1, 255]), [1, 2], null]);
  }));

check("named statements across transactions", () =>
  connected(async (c) => {
    const one = (n) => c.query({ name: "one", text: "select $1::int + 1 as v", values: [n] });
    const two = (n) => c.query({ name: "two", text: "select $1::int * 2 as v", values: [n] });
    for (let n = 0; n < 60; n++) {
      assert.equal((await one(n)).rows[0].v, n + 1);
      assert.equal((await two(n)).rows[0].v, n * 2);
    }
    for (let n = 0; n < 20; n++) {
      await c.query("begin");
      assert.equal((await one(n)).rows[0].v, n + 1);
      await c.query(n % 2 ? "commit" : "rollback");
    }
  }));

check("one name, two texts, two clients", () =>
  connected((a) =>
    connected(async (b) => {
      for (let n = 0; n < 20; n++) {
        assert.equal((await a.query({ name: "same", text: "select 'a' as v, $1::int", values: [n] })).rows[0].v, "a");
        assert.equal((await b.query({ name: "same", text: "select 'b' as v, $1::text", values: [n] })).rows[0].v, "b");
      }
    })));

check("a named statement that fails to parse", () =>
  connected(async (c) => {
    await fails("42601", c.query({ name: "broken", text: "selec $1", values: [1] }));
    await fails("42P01", c.query({ name: "broken2", text: "select * from nothing_here where v = $1", values: [1] }));
    assert.equal((await c.query({ name: "fine", text: "select $1::int as v", values: [3] })).rows[0].v, 3);
  }));

check("queries without waiting", () =>
  connected(async (c) => {
    const answers = [];
    for (let n = 0; n < 300; n++) answers.push(scalar(c, "select $1::int", [n]));
    answers.push(assert.rejects(c.query("select 1 / $1::int", [0])));
    for (let n = 0; n < 30; n++) answers.push(scalar(c, "select $1::int", [n]));
    const got = await Promise.all(answers);
    assert.deepEqual(got.slice(0, 300), [...Array(300).keys()]);
    assert.deepEqual(got.slice(301), [...Array(30).keys()]);
  }));

check("transactions and savepoints", () =>
  connected(async (c) => {
    await c.query("drop table if exists node_tx; create table node_tx (v int primary key)");
    await c.query("begin");
    await c.query("insert into node_tx values ($1)", [1]);
    await c.query("savepoint s");
    await fails("23505", c.query("insert into node_tx values ($1)", [1]));
    await fails("25P02", c.query("select 1"));
    await c.query("rollback to s");
    await c.query("insert into node_tx values ($1)", [3]);
    await c.query("commit");
    await c.query("begin");
    await c.query("delete from node_tx");
    await c.query("rollback");
    const { rows } = await c.query("select v from node_tx order by v");
    assert.deepEqual(rows.map((row) => row.v), [1, 3]);
    await c.query("drop table node_tx");
  }));

check("copy in and out", () =>
  connected(async (c) => {
    await c.query("drop table if exists node_copy; create table node_copy (a int, b text)");
    const lines = Array.from({ length: 50_000 }, (_, n) => `${n}\trow ${n}\n`);
    await flow(Readable.from(lines), c.query(copyFrom("copy node_copy from stdin")));
    const hash = createHash("md5");
    for await (const chunk of c.query(copyTo("copy (select * from node_copy order by a) to stdout"))) hash.update(chunk);
    assert.equal(hash.digest("hex"), createHash("md5").update(lines.join("")).digest("hex"));
    await fails("22P02", flow(Readable.from(Array(5000).fill("x\ty\n")), c.query(copyFrom("copy node_copy from stdin"))));
    assert.equal(await scalar(c, "select count(*)::int from node_copy"), 50_000);
    await c.query("drop table node_copy");
  }));

check("cursor", () =>
  connected(async (c) => {
    await c.query("begin");
    const cursor = c.query(new Cursor("select g from generate_series(1, $1::int) g", [10_000]));
    let total = 0;
    for (let rows = await cursor.read(300); rows.length > 0; rows = await cursor.read(300)) {
      for (const row of rows) total += row.g;
    }
    await cursor.close();
    await c.query("commit");
    assert.equal(total, 50_005_000);
  }));

check("cancel a running query", () =>
  connected((c) =>
    connected(async (observer) => {
      const sleeping = "select count(*)::int from pg_stat_activity where query like '%node sleeper%' and wait_event = 'PgSleep'";
      const query = c.query("select pg_sleep(600) /* node sleeper */");
      const rejected = fails("57014", query);
      while ((await scalar(observer, sleeping)) !== 1);
      // As node-postgres does it itself: a second connection with the first one's key.
      const canceller = new pg.Connection({});
      canceller.connect(c.port, c.host);
      await once(canceller, "connect");
      canceller.cancel(c.processID, c.secretKey);
      await rejected;
      assert.equal(await scalar(c, "select 1"), 1);
    })));

check("big rows", () =>
  connected(async (c) => {
    assert.equal((await scalar(c, "select repeat('x', $1)", [BIG_BYTES])).length, BIG_BYTES);
    const payload = Buffer.alloc(BIG_BYTES, Buffer.from([...Array(256).keys()]));
    assert.ok(payload.equals(await scalar(c, "select $1::bytea", [payload])));
  }));

check("many rows", () =>
  connected(async (c) => {
    const { rows } = await c.query("select g, 'row ' || g as t from generate_series(1, 100000) g");
    assert.equal(rows.length, 100_000);
    assert.deepEqual(rows.at(-1), { g: 100_000, t: "row 100000" });
  }));

check("errors and going on", () =>
  connected(async (c) => {
    for (let n = 0; n < 5; n++) {
      await fails("42601", c.query("selec 1"));
      await fails("22012", c.query("select 1 / $1::int", [0]));
      await fails("22P02", c.query("select $1::int", ["no number"]));
      assert.equal(await scalar(c, "select $1::int", [n]), n);
    }
  }));

check("parameters at start-up", () =>
  connected(
    async (c) => {
      for (let n = 0; n < 30; n++) assert.equal(await scalar(c, "show application_name"), "node check");
    },
    { application_name: "node check" },
  ));

check("parameters by set", () =>
  connected(async (c) => {
    await c.query("set timezone to 'Asia/Kathmandu'");
    await c.query("set application_name to 'renamed'");
    for (let n = 0; n < 30; n++) {
      assert.equal(await scalar(c, "show timezone"), "Asia/Kathmandu");
      assert.equal(await scalar(c, "select current_setting($1)", ["application_name"]), "renamed");
    }
  }));

check("notices", () =>
  connected(async (c) => {
    const heard = [];
    c.on("notice", (notice) => heard.push(notice.message));
    await c.query("do $$ begin raise notice 'hear %', 'me'; end $$");
    assert.deepEqual(heard, ["hear me"]);
  }));

check("several statements in one query", () =>
  connected(async (c) => {
    const results = await c.query("select 1 as v; select 2 as v; begin; select 3 as v; commit");
    assert.deepEqual(results.map((result) => result.command), ["SELECT", "SELECT", "BEGIN", "SELECT", "COMMIT"]);
    assert.equal(results[3].rows[0].v, 3);
  }));

check("a pool of many connections", async () => {
  const pool = new pg.Pool({ connectionString: url, max: CLIENTS });
  await Promise.all(
    Array.from({ length: CLIENTS * 2 }, async (_, number) => {
      for (let turn = 0; turn < 20; turn++) {
        const client = await pool.connect();
        try {
          await client.query("begin");
          const values = [number];
          assert.equal((await client.query({ name: "work", text: "select $1::int as v", values })).rows[0].v, number);
          assert.equal(await scalar(client, `select $1::int + ${number}`, [turn]), turn + number);
          await client.query("commit");
        } finally {
          client.release();
        }
      }
    }),
  );
  await pool.end();
});

check("server connection", () =>
  connected(async (c) => {
    const pids = new Set();
    for (let n = 0; n < (session ? 50 : 5000) && (session || pids.size < 2); n++) {
      pids.add(await scalar(c, "select pg_backend_pid()"));
    }
    if (session) assert.deepEqual([...pids], [c.processID]);
    else if (churn) assert.ok(pids.size > 1, "the server connection never changed: this run has shown nothing");
  }));

sessionCheck("listen and notify", () =>
  connected((listener) =>
    connected(async (speaker) => {
      await listener.query("listen node_news");
      const heard = once(listener, "notification");
      await speaker.query("select pg_notify('node_news', $1)", ["extra"]);
      const [news] = await heard;
      assert.deepEqual([news.channel, news.payload], ["node_news", "extra"]);
    })));

sessionCheck("temporary tables", () =>
  connected(async (c) => {
    await c.query("create temp table scratch (v int)");
    await c.query("insert into scratch values ($1)", [5]);
    assert.equal(await scalar(c, "select v from scratch"), 5);
  }));

let failed = 0;
for (const { name, run } of checks) {
  const started = performance.now();
  try {
    await run();
    console.log(`ok      ${name} (${((performance.now() - started) / 1000).toFixed(2)} s)`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
console.log(`${checks.length - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
