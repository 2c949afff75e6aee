//! sqlx: binary, a statement cache on each connection, its own pool, COPY, LISTEN.

use std::env;
use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use futures_util::future::try_join_all;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgListener, PgPoolCopyExt, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection, Executor, Row};

type Failure = Box<dyn Error + Send + Sync>;
type Outcome<T = ()> = Result<T, Failure>;
type Run = fn() -> Pin<Box<dyn Future<Output = Outcome>>>;
type Check = (&'static str, Run);

const BIG_BYTES: usize = 8 << 20;
const CLIENTS: i32 = 24;
const LIMIT: Duration = Duration::from_secs(120);

macro_rules! checks {
    ($($name:ident),* $(,)?) => { [$((stringify!($name), (|| Box::pin($name())) as Run)),*] };
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut checks: Vec<Check> = checks![
        parameters_and_types,
        the_statement_cache_across_transactions,
        more_statements_than_the_cache_holds,
        without_a_statement_cache,
        transactions_and_savepoints,
        copy_in_and_out,
        copy_given_up,
        a_statement_timeout,
        a_query_given_up,
        big_rows,
        many_rows,
        errors_and_going_on,
        parameters_at_startup,
        parameters_by_set,
        a_changed_table_under_a_prepared_statement,
        several_statements,
        a_pool_of_many_connections,
        server_connection,
    ]
    .into();
    if session() {
        checks.extend(checks![listen_and_notify, temporary_tables]);
    }
    let mut failed = 0;
    for (name, run) in &checks {
        let started = Instant::now();
        let outcome = tokio::time::timeout(LIMIT, run()).await.unwrap_or_else(|_| Err("it hangs".into()));
        match outcome {
            Ok(()) => println!("ok      {name} ({:.2} s)", started.elapsed().as_secs_f64()),
            Err(error) => {
                failed += 1;
                println!("FAILED  {name}\n{error:?}");
            }
        }
    }
    println!("{} passed, {failed} failed", checks.len() - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn session() -> bool {
    env::var("POOL_MODE").as_deref() != Ok("transaction")
}

fn options() -> Outcome<PgConnectOptions> {
    Ok(env::var("DATABASE_URL")?.parse()?)
}

async fn connect() -> Outcome<PgConnection> {
    Ok(PgConnection::connect_with(&options()?).await?)
}

fn same<T: PartialEq + std::fmt::Debug>(got: T, wanted: T) -> Outcome {
    if got == wanted {
        return Ok(());
    }
    let shorten = |text: String| text.chars().take(300).collect::<String>();
    Err(format!("got {}, expected {}", shorten(format!("{got:?}")), shorten(format!("{wanted:?}"))).into())
}

fn fails<T>(result: Result<T, sqlx::Error>, sqlstate: &str) -> Outcome {
    match result {
        Ok(_) => Err(format!("no error, expected {sqlstate}").into()),
        Err(sqlx::Error::Database(error)) => same(error.code().as_deref(), Some(sqlstate)),
        Err(error) => Err(error.into()),
    }
}

async fn plus(c: &mut PgConnection, n: i32, constant: i32) -> Outcome {
    let sql = AssertSqlSafe(format!("select $1::int + {constant}"));
    same(sqlx::query_scalar::<_, i32>(sql).bind(n).fetch_one(c).await?, n + constant)
}

async fn show(c: &mut PgConnection, name: &str) -> Outcome<String> {
    Ok(sqlx::query_scalar("select current_setting($1)").bind(name).fetch_one(c).await?)
}

async fn parameters_and_types() -> Outcome {
    let mut c = connect().await?;
    let row = sqlx::query("select $1::int, $2::text, $3::float8, $4::bytea, $5::int[], null::text")
        .bind(7)
        .bind("ünïcödé")
        .bind(1.5)
        .bind(&[0_u8, 1, 255][..])
        .bind(vec![1, 2])
        .fetch_one(&mut c)
        .await?;
    same(row.get::<i32, _>(0), 7)?;
    same(row.get::<&str, _>(1), "ünïcödé")?;
    same(row.get::<f64, _>(2), 1.5)?;
    same(row.get::<&[u8], _>(3), &[0, 1, 255])?;
    same(row.get::<Vec<i32>, _>(4), vec![1, 2])?;
    same(row.get::<Option<&str>, _>(5), None)
}

async fn the_statement_cache_across_transactions() -> Outcome {
    let mut c = connect().await?;
    for n in 0..60 {
        plus(&mut c, n, 1).await?;
        plus(&mut c, n, 2).await?;
    }
    for n in 0..20 {
        let mut transaction = c.begin().await?;
        plus(&mut transaction, n, 1).await?;
        if n % 2 == 0 { transaction.commit().await? } else { transaction.rollback().await? }
    }
    Ok(())
}

async fn more_statements_than_the_cache_holds() -> Outcome {
    let mut c = PgConnection::connect_with(&options()?.statement_cache_capacity(10)).await?;
    for turn in 0..3 {
        for n in 0..30 {
            plus(&mut c, turn, n).await?;
        }
    }
    c.clear_cached_statements().await?;
    plus(&mut c, 1, 1).await
}

async fn without_a_statement_cache() -> Outcome {
    let mut c = PgConnection::connect_with(&options()?.statement_cache_capacity(0)).await?;
    for n in 0..30 {
        plus(&mut c, n, 1).await?;
        let value =
            sqlx::query_scalar::<_, i32>("select $1::int * 2").bind(n).persistent(false).fetch_one(&mut c);
        same(value.await?, n * 2)?;
    }
    Ok(())
}

async fn transactions_and_savepoints() -> Outcome {
    let mut c = connect().await?;
    c.execute("drop table if exists sqlx_tx; create table sqlx_tx (v int primary key)").await?;
    let mut transaction = c.begin().await?;
    sqlx::query("insert into sqlx_tx values ($1)").bind(1).execute(&mut *transaction).await?;
    let mut inner = transaction.begin().await?;
    fails(sqlx::query("insert into sqlx_tx values ($1)").bind(1).execute(&mut *inner).await, "23505")?;
    inner.rollback().await?;
    sqlx::query("insert into sqlx_tx values ($1)").bind(3).execute(&mut *transaction).await?;
    transaction.commit().await?;
    // A transaction that is dropped is rolled back.
    let mut transaction = c.begin().await?;
    sqlx::query("delete from sqlx_tx").execute(&mut *transaction).await?;
    drop(transaction);
    same(sqlx::query_scalar("select v from sqlx_tx order by v").fetch_all(&mut c).await?, vec![1, 3])?;
    c.execute("drop table sqlx_tx").await?;
    Ok(())
}

async fn copy_in_and_out() -> Outcome {
    let mut c = connect().await?;
    c.execute("drop table if exists sqlx_copy; create table sqlx_copy (a int, b text)").await?;
    let text: String = (0..50_000).map(|n| format!("{n}\trow {n}\n")).collect();
    let mut copy = c.copy_in_raw("copy sqlx_copy from stdin").await?;
    for piece in text.as_bytes().chunks(10_000) {
        copy.send(piece).await?;
    }
    same(copy.finish().await?, 50_000)?;
    let pieces: Vec<_> =
        c.copy_out_raw("copy (select * from sqlx_copy order by a) to stdout").await?.try_collect().await?;
    same(pieces.concat() == text.as_bytes(), true)?;
    let mut copy = c.copy_in_raw("copy sqlx_copy from stdin").await?;
    copy.send(&b"x\ty\n"[..]).await?;
    fails(copy.finish().await, "22P02")?;
    same(sqlx::query_scalar("select count(*) from sqlx_copy").fetch_one(&mut c).await?, 50_000_i64)?;
    c.execute("drop table sqlx_copy").await?;
    Ok(())
}

async fn copy_given_up() -> Outcome {
    let pool = PgPoolOptions::new().max_connections(1).connect_with(options()?).await?;
    pool.execute("drop table if exists sqlx_given_up; create table sqlx_given_up (a int)").await?;
    let mut copy = pool.copy_in_raw("copy sqlx_given_up from stdin").await?;
    copy.send(&b"1\n"[..]).await?;
    copy.abort("changed my mind").await?;
    same(sqlx::query_scalar("select count(*) from sqlx_given_up").fetch_one(&pool).await?, 0_i64)?;
    pool.execute("drop table sqlx_given_up").await?;
    pool.close().await;
    Ok(())
}

async fn a_statement_timeout() -> Outcome {
    let mut c = connect().await?;
    let mut transaction = c.begin().await?;
    transaction.execute("set local statement_timeout = '200ms'").await?;
    fails(transaction.execute("select pg_sleep(600)").await, "57014")?;
    transaction.rollback().await?;
    plus(&mut c, 1, 1).await
}

/// sqlx has no cancel: it closes the connection of a query that nobody waits for any more.
async fn a_query_given_up() -> Outcome {
    let pool = PgPoolOptions::new().max_connections(1).connect_with(options()?).await?;
    let slow = sqlx::query("select pg_sleep(2) /* sqlx sleeper */").execute(&pool);
    same(tokio::time::timeout(Duration::from_millis(200), slow).await.is_err(), true)?;
    same(sqlx::query_scalar("select $1::int").bind(5).fetch_one(&pool).await?, 5)?;
    pool.close().await;
    Ok(())
}

async fn big_rows() -> Outcome {
    let mut c = connect().await?;
    let payload: Vec<u8> = (0..BIG_BYTES).map(|n| n as u8).collect();
    let query = sqlx::query("select $1::bytea, repeat('x', $2)").bind(&payload).bind(BIG_BYTES as i32);
    let row = query.fetch_one(&mut c).await?;
    same(row.get::<&[u8], _>(0) == payload, true)?;
    same(row.get::<&str, _>(1).len(), BIG_BYTES)
}

async fn many_rows() -> Outcome {
    let mut c = connect().await?;
    let mut rows =
        sqlx::query_scalar::<_, i32>("select g from generate_series(1, $1) g").bind(100_000).fetch(&mut c);
    let mut total = 0_i64;
    while let Some(number) = rows.try_next().await? {
        total += i64::from(number);
    }
    drop(rows);
    same(total, 5_000_050_000)?;
    // A stream that is dropped half-way: the rest must not be taken for the next query's answer.
    let mut rows =
        sqlx::query_scalar::<_, i32>("select g from generate_series(1, $1) g").bind(50_000).fetch(&mut c);
    same(rows.try_next().await?, Some(1))?;
    drop(rows);
    plus(&mut c, 4, 3).await
}

async fn errors_and_going_on() -> Outcome {
    let mut c = connect().await?;
    for n in 0..5 {
        fails(sqlx::query("selec 1").execute(&mut c).await, "42601")?;
        fails(sqlx::query("select * from nothing_here where v = $1").bind(1).execute(&mut c).await, "42P01")?;
        fails(sqlx::query("select 1 / $1::int").bind(0).execute(&mut c).await, "22012")?;
        fails(c.execute("select 1; select 1 / 0; select 2").await, "22012")?;
        plus(&mut c, n, 1).await?;
    }
    Ok(())
}

async fn parameters_at_startup() -> Outcome {
    let mut c = PgConnection::connect_with(&options()?.application_name("sqlx check")).await?;
    for _ in 0..30 {
        same(show(&mut c, "application_name").await?, "sqlx check".to_owned())?;
        // sqlx asks for these two in its start-up packet.
        same(show(&mut c, "TimeZone").await?, "UTC".to_owned())?;
        same(show(&mut c, "DateStyle").await?, "ISO, MDY".to_owned())?;
    }
    Ok(())
}

async fn parameters_by_set() -> Outcome {
    let mut c = connect().await?;
    c.execute("set timezone to 'Asia/Kathmandu'; set application_name to 'renamed'").await?;
    for _ in 0..30 {
        same(show(&mut c, "TimeZone").await?, "Asia/Kathmandu".to_owned())?;
        same(show(&mut c, "application_name").await?, "renamed".to_owned())?;
    }
    Ok(())
}

async fn a_changed_table_under_a_prepared_statement() -> Outcome {
    let (mut c, mut other) = (connect().await?, connect().await?);
    c.execute("drop table if exists sqlx_changed; create table sqlx_changed (a int)").await?;
    c.execute("insert into sqlx_changed values (1)").await?;
    let sql = "select * from sqlx_changed where a = $1";
    same(sqlx::query(sql).bind(1).fetch_one(&mut c).await?.len(), 1)?;
    other.execute("alter table sqlx_changed add b text default 'new'").await?;
    // Only a pooler that heals it lets this pass; PostgreSQL itself says 0A000, and sqlx hands that on.
    match sqlx::query(sql).bind(1).fetch_one(&mut c).await {
        Ok(_) => {}
        Err(error) => fails::<()>(Err(error), "0A000")?,
    }
    c.clear_cached_statements().await?;
    same(sqlx::query(sql).bind(1).fetch_one(&mut c).await?.len(), 2)?;
    c.execute("drop table sqlx_changed").await?;
    Ok(())
}

async fn several_statements() -> Outcome {
    let mut c = connect().await?;
    let rows = sqlx::raw_sql("select 1; select 2; begin; select 3; commit").fetch_all(&mut c).await?;
    same(rows.iter().map(|row| row.get::<i32, _>(0)).collect(), vec![1, 2, 3])?;
    plus(&mut c, 1, 1).await
}

async fn a_pool_of_many_connections() -> Outcome {
    let pool = PgPoolOptions::new().max_connections(CLIENTS as u32).connect_with(options()?).await?;
    let workers = (0..CLIENTS * 2).map(|number| {
        let pool = pool.clone();
        tokio::spawn(async move {
            for turn in 0..20 {
                let mut transaction = pool.begin().await?;
                same(
                    sqlx::query_scalar("select $1::int").bind(number).fetch_one(&mut *transaction).await?,
                    number,
                )?;
                plus(&mut transaction, turn, number).await?;
                transaction.commit().await?;
            }
            Ok::<(), Failure>(())
        })
    });
    let outcome: Outcome = try_join_all(workers).await?.into_iter().collect();
    pool.close().await;
    outcome
}

async fn server_connection() -> Outcome {
    let mut c = connect().await?;
    let mut pids = std::collections::HashSet::new();
    for _ in 0..if session() { 50 } else { 5000 } {
        pids.insert(sqlx::query_scalar::<_, i32>("select pg_backend_pid()").fetch_one(&mut c).await?);
        if !session() && pids.len() > 1 {
            return Ok(());
        }
    }
    if !session() && env::var("CHURN").as_deref() == Ok("1") {
        return Err("the server connection never changed: this run has shown nothing".into());
    }
    same(pids.len(), 1)
}

async fn listen_and_notify() -> Outcome {
    let pool = PgPoolOptions::new().max_connections(2).connect_with(options()?).await?;
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.listen("sqlx_news").await?;
    sqlx::query("select pg_notify('sqlx_news', $1)").bind("extra").execute(&pool).await?;
    let news = listener.recv().await?;
    same((news.channel(), news.payload()), ("sqlx_news", "extra"))
}

async fn temporary_tables() -> Outcome {
    let mut c = connect().await?;
    c.execute("create temp table scratch (v int); insert into scratch values (5)").await?;
    same(sqlx::query_scalar("select v from scratch").fetch_one(&mut c).await?, 5)
}
