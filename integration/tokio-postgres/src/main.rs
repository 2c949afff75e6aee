//! tokio-postgres: binary, statements prepared by hand, pipelines by polling several queries at once, COPY, cancel.

use std::env;
use std::error::Error;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::{join_all, try_join_all};
use futures_util::{SinkExt, StreamExt, TryStreamExt};
use tokio_postgres::{AsyncMessage, Client, Config, NoTls, SimpleQueryMessage};

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
        prepared_across_transactions,
        a_statement_used_again_after_its_client_dropped_others,
        pipelines,
        a_pipeline_with_an_error,
        transactions_and_savepoints,
        portals,
        copy_in_and_out,
        copy_given_up,
        cancel,
        big_rows,
        many_rows,
        errors_and_going_on,
        parameters_at_startup,
        parameters_by_set,
        notices,
        several_statements,
        many_connections,
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

fn config() -> Outcome<Config> {
    Ok(env::var("DATABASE_URL")?.parse()?)
}

async fn connect() -> Outcome<Client> {
    connect_by(&config()?).await
}

async fn connect_by(config: &Config) -> Outcome<Client> {
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// A client whose notices and notifications are kept.
async fn connect_and_listen() -> Outcome<(Client, Arc<Mutex<Vec<String>>>)> {
    let (client, mut connection) = config()?.connect(NoTls).await?;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ours = Arc::clone(&heard);
    tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            let text = match message {
                AsyncMessage::Notice(notice) => notice.message().to_owned(),
                AsyncMessage::Notification(news) => format!("{} {}", news.channel(), news.payload()),
                _ => continue,
            };
            ours.lock().unwrap().push(text);
        }
    });
    Ok((client, heard))
}

fn same<T: PartialEq + std::fmt::Debug>(got: T, wanted: T) -> Outcome {
    if got == wanted {
        return Ok(());
    }
    let shorten = |text: String| text.chars().take(300).collect::<String>();
    Err(format!("got {}, expected {}", shorten(format!("{got:?}")), shorten(format!("{wanted:?}"))).into())
}

fn fails<T>(result: Result<T, tokio_postgres::Error>, sqlstate: &str) -> Outcome {
    match result {
        Ok(_) => Err(format!("no error, expected {sqlstate}").into()),
        Err(error) => match error.code() {
            Some(code) => same(code.code(), sqlstate),
            None => Err(error.into()),
        },
    }
}

async fn int(client: &Client, sql: &str) -> Outcome<i32> {
    Ok(client.query_one(sql, &[]).await?.get(0))
}

async fn parameters_and_types() -> Outcome {
    let client = connect().await?;
    let sql = "select $1::int, $2::text, $3::float8, $4::bytea, $5::int[], null::text";
    let row = client.query_one(sql, &[&7, &"ünïcödé", &1.5, &&[0_u8, 1, 255][..], &vec![1, 2]]).await?;
    same(row.get::<_, i32>(0), 7)?;
    same(row.get::<_, &str>(1), "ünïcödé")?;
    same(row.get::<_, f64>(2), 1.5)?;
    same(row.get::<_, &[u8]>(3), &[0, 1, 255])?;
    same(row.get::<_, Vec<i32>>(4), vec![1, 2])?;
    same(row.get::<_, Option<&str>>(5), None)
}

async fn prepared_across_transactions() -> Outcome {
    let mut client = connect().await?;
    let one = client.prepare("select $1::int + 1").await?;
    let two = client.prepare("select $1::int * 2").await?;
    for n in 0..60 {
        same(client.query_one(&one, &[&n]).await?.get(0), n + 1)?;
        same(client.query_one(&two, &[&n]).await?.get(0), n * 2)?;
    }
    for n in 0..20 {
        let transaction = client.transaction().await?;
        same(transaction.query_one(&one, &[&n]).await?.get(0), n + 1)?;
        if n % 2 == 0 { transaction.commit().await? } else { transaction.rollback().await? }
    }
    Ok(())
}

async fn a_statement_used_again_after_its_client_dropped_others() -> Outcome {
    let client = connect().await?;
    let kept = client.prepare("select $1::int + 1000").await?;
    for n in 0..100 {
        // Dropped at once: a Close is sent with what comes next.
        let passing = client.prepare(&format!("select $1::int + {n}")).await?;
        same(client.query_one(&passing, &[&n]).await?.get(0), n + n)?;
        drop(passing);
        same(client.query_one(&kept, &[&n]).await?.get(0), n + 1000)?;
    }
    Ok(())
}

async fn pipelines() -> Outcome {
    let client = connect().await?;
    let statement = client.prepare("select $1::int + 1").await?;
    let numbers: Vec<i32> = (0..500).collect();
    let asked = numbers.iter().map(|n| {
        let (client, statement) = (&client, &statement);
        async move { client.query_one(statement, &[n]).await.map(|row| row.get::<_, i32>(0)) }
    });
    same(try_join_all(asked).await?, numbers.iter().map(|n| n + 1).collect())?;
    // Prepares and uses, all under way at once.
    let mixed = numbers.iter().take(50).map(|n| {
        let client = &client;
        async move {
            let row = client.query_one(&format!("select $1::int * {}", n % 5), &[n]).await?;
            Ok::<i32, tokio_postgres::Error>(row.get(0))
        }
    });
    same(try_join_all(mixed).await?, numbers.iter().take(50).map(|n| n * (n % 5)).collect())
}

async fn a_pipeline_with_an_error() -> Outcome {
    let client = connect().await?;
    let statement = client.prepare("select 10 / $1::int").await?;
    let asked = [1, 0, 5, 0, 2].map(|n| {
        let (client, statement) = (&client, &statement);
        async move { client.query_one(statement, &[&n]).await.map(|row| row.get::<_, i32>(0)) }
    });
    let got: Vec<_> = join_all(asked)
        .await
        .into_iter()
        .map(|answer| answer.map_err(|e| e.code().map(|c| c.code().to_owned())))
        .collect();
    let error = || Err(Some("22012".to_owned()));
    same(got, vec![Ok(10), error(), Ok(2), error(), Ok(5)])?;
    same(int(&client, "select 1").await?, 1)
}

async fn transactions_and_savepoints() -> Outcome {
    let mut client = connect().await?;
    client.batch_execute("drop table if exists tokio_tx; create table tokio_tx (v int primary key)").await?;
    let mut transaction = client.transaction().await?;
    transaction.execute("insert into tokio_tx values ($1)", &[&1]).await?;
    let savepoint = transaction.savepoint("before_it").await?;
    fails(savepoint.execute("insert into tokio_tx values ($1)", &[&1]).await, "23505")?;
    savepoint.rollback().await?;
    transaction.execute("insert into tokio_tx values ($1)", &[&3]).await?;
    transaction.commit().await?;
    // A transaction that is dropped is rolled back.
    let transaction = client.transaction().await?;
    transaction.execute("delete from tokio_tx", &[]).await?;
    drop(transaction);
    let rows = client.query("select v from tokio_tx order by v", &[]).await?;
    same(rows.iter().map(|row| row.get(0)).collect(), vec![1, 3])?;
    Ok(client.batch_execute("drop table tokio_tx").await?)
}

async fn portals() -> Outcome {
    let mut client = connect().await?;
    let transaction = client.transaction().await?;
    let portal = transaction.bind("select g from generate_series(1, 10000) g", &[]).await?;
    let mut total = 0_i64;
    loop {
        let rows = transaction.query_portal(&portal, 300).await?;
        if rows.is_empty() {
            break;
        }
        total += rows.iter().map(|row| i64::from(row.get::<_, i32>(0))).sum::<i64>();
    }
    transaction.commit().await?;
    same(total, 50_005_000)
}

async fn copy_in_and_out() -> Outcome {
    let client = connect().await?;
    client.batch_execute("drop table if exists tokio_copy; create table tokio_copy (a int, b text)").await?;
    let text: String = (0..50_000).map(|n| format!("{n}\trow {n}\n")).collect();
    let mut sink = pin!(client.copy_in::<_, Bytes>("copy tokio_copy from stdin").await?);
    for piece in text.as_bytes().chunks(10_000) {
        sink.send(Bytes::copy_from_slice(piece)).await?;
    }
    same(sink.finish().await?, 50_000)?;
    let out = client.copy_out("copy (select * from tokio_copy order by a) to stdout").await?;
    let pieces: Vec<Bytes> = out.try_collect().await?;
    same(pieces.concat() == text.as_bytes(), true)?;
    let mut sink = pin!(client.copy_in::<_, Bytes>("copy tokio_copy from stdin").await?);
    let bad = Bytes::from("x\ty\n".repeat(1000));
    let refused = async {
        for _ in 0..100 {
            sink.as_mut().send(bad.clone()).await?;
        }
        sink.finish().await
    };
    fails(refused.await, "22P02")?;
    same(client.query_one("select count(*) from tokio_copy", &[]).await?.get(0), 50_000_i64)?;
    Ok(client.batch_execute("drop table tokio_copy").await?)
}

async fn copy_given_up() -> Outcome {
    let client = connect().await?;
    client.batch_execute("drop table if exists tokio_given_up; create table tokio_given_up (a int)").await?;
    {
        let mut sink = Box::pin(client.copy_in::<_, Bytes>("copy tokio_given_up from stdin").await?);
        sink.send(Bytes::from("1\n")).await?;
        // Dropped without its end: a CopyFail is sent.
    }
    same(client.query_one("select count(*) from tokio_given_up", &[]).await?.get(0), 0_i64)?;
    Ok(client.batch_execute("drop table tokio_given_up").await?)
}

async fn cancel() -> Outcome {
    let (client, observer) = (connect().await?, connect().await?);
    let token = client.cancel_token();
    let sleeping = "select count(*)::int from pg_stat_activity where query like '%tokio sleeper%' and wait_event = 'PgSleep'";
    let ask = async {
        while int(&observer, sleeping).await? != 1 {}
        Ok::<(), Failure>(token.cancel_query(NoTls).await?)
    };
    let (slept, asked) = tokio::join!(client.batch_execute("select pg_sleep(600) /* tokio sleeper */"), ask);
    asked?;
    fails(slept, "57014")?;
    same(int(&client, "select 1").await?, 1)
}

async fn big_rows() -> Outcome {
    let client = connect().await?;
    let payload: Vec<u8> = (0..BIG_BYTES).map(|n| n as u8).collect();
    let row = client.query_one("select $1::bytea, repeat('x', $2)", &[&payload, &(BIG_BYTES as i32)]).await?;
    same(row.get::<_, &[u8]>(0) == payload, true)?;
    same(row.get::<_, &str>(1).len(), BIG_BYTES)
}

async fn many_rows() -> Outcome {
    let client = connect().await?;
    let rows = client.query_raw("select g from generate_series(1, $1::int) g", [100_000_i32]).await?;
    let mut rows = pin!(rows);
    let mut total = 0_i64;
    while let Some(row) = rows.next().await {
        total += i64::from(row?.get::<_, i32>(0));
    }
    same(total, 5_000_050_000)
}

async fn errors_and_going_on() -> Outcome {
    let client = connect().await?;
    for n in 0..5 {
        fails(client.query("selec 1", &[]).await, "42601")?;
        fails(client.query("select * from nothing_here where v = $1", &[&1]).await, "42P01")?;
        fails(client.query("select 1 / $1::int", &[&0]).await, "22012")?;
        fails(client.batch_execute("select 1; select 1 / 0; select 2").await, "22012")?;
        same(client.query_one("select $1::int", &[&n]).await?.get(0), n)?;
    }
    Ok(())
}

async fn parameters_at_startup() -> Outcome {
    let client = connect_by(config()?.application_name("tokio check")).await?;
    for _ in 0..30 {
        same(client.query_one("show application_name", &[]).await?.get(0), "tokio check")?;
        same(client.query_one("show client_encoding", &[]).await?.get(0), "UTF8")?;
    }
    Ok(())
}

async fn parameters_by_set() -> Outcome {
    let client = connect().await?;
    client.batch_execute("set timezone to 'Asia/Kathmandu'; set application_name to 'renamed'").await?;
    for _ in 0..30 {
        same(client.query_one("show timezone", &[]).await?.get(0), "Asia/Kathmandu")?;
        same(client.query_one("show application_name", &[]).await?.get(0), "renamed")?;
    }
    Ok(())
}

async fn notices() -> Outcome {
    let (client, heard) = connect_and_listen().await?;
    client.batch_execute("do $$ begin raise notice 'hear %', 'me'; end $$").await?;
    same(heard.lock().unwrap().clone(), vec!["hear me".to_owned()])
}

async fn several_statements() -> Outcome {
    let client = connect().await?;
    let messages = client.simple_query("select 1; select 2, 3; begin; select 4; commit").await?;
    let rows = messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    same(rows.collect(), vec!["1".to_owned(), "2".to_owned(), "4".to_owned()])
}

async fn many_connections() -> Outcome {
    let workers = (0..CLIENTS).map(|number| {
        tokio::spawn(async move {
            let mut client = connect().await?;
            let statement = client.prepare("select $1::int").await?;
            for turn in 0..30 {
                let transaction = client.transaction().await?;
                same(transaction.query_one(&statement, &[&number]).await?.get(0), number)?;
                let own = format!("select $1::int + {number}");
                same(transaction.query_one(&own, &[&turn]).await?.get(0), number + turn)?;
                transaction.commit().await?;
            }
            Ok::<(), Failure>(())
        })
    });
    try_join_all(workers).await?.into_iter().collect()
}

async fn server_connection() -> Outcome {
    let client = connect().await?;
    let mut pids = std::collections::HashSet::new();
    for _ in 0..if session() { 50 } else { 5000 } {
        pids.insert(int(&client, "select pg_backend_pid()").await?);
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
    let (listener, heard) = connect_and_listen().await?;
    listener.batch_execute("listen tokio_news").await?;
    connect().await?.execute("select pg_notify('tokio_news', $1)", &[&"extra"]).await?;
    while heard.lock().unwrap().is_empty() {
        // Each round trip lets the connection read what has come.
        int(&listener, "select 1").await?;
    }
    same(heard.lock().unwrap().clone(), vec!["tokio_news extra".to_owned()])
}

async fn temporary_tables() -> Outcome {
    let client = connect().await?;
    client.batch_execute("create temp table scratch (v int); insert into scratch values (5)").await?;
    same(int(&client, "select v from scratch").await?, 5)
}
