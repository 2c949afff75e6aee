//! Futures and streams that are dropped before they are through.

use std::pin::pin;
use std::task::Poll;

use trunkline_driver::Client;
use trunkline_probes::Stage;
use trunkline_wire::SqlState;

use crate::place::{everywhere, works};

trunkline_probes::probes! {
    a_dropped_query_runs_and_its_answer_is_drained, a_dropped_beginning_is_rolled_back, a_dropped_commit_is_done,
    a_dropped_stream_is_drained, a_slow_reader_holds_back_and_loses_nothing, the_last_handle_closes_the_connection,
    a_dropped_preparation_is_another_tasks,
}

/// Polls once, so that it is sent, and drops it. On a busy machine it may be answered by then.
async fn begin_and_drop<T>(future: impl Future<Output = T>) {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| {
        let _ = future.as_mut().poll(cx);
        Poll::Ready(())
    })
    .await;
}

async fn kept(client: &Client) -> i64 {
    client.query_one("select count(*) from kept", &[]).await.expect("one").get(0).expect("a count")
}

async fn table(client: &Client) {
    client.batch_execute("drop table if exists kept; create table kept (n int)").await.expect("a table");
}

fn a_dropped_query_runs_and_its_answer_is_drained(stage: &Stage) {
    everywhere(stage, async |client| {
        table(&client).await;
        let insert =
            client.prepare("insert into kept select generate_series(1, $1::int)").await.expect("prepared");
        let select = client.prepare("select generate_series(1, $1::int)").await.expect("prepared");
        for _ in 0..10 {
            begin_and_drop(client.execute(&insert, &[&3])).await;
            begin_and_drop(client.query(&select, &[&20_000])).await;
            begin_and_drop(client.simple_query("select 1; select nothing")).await;
            works(&client).await;
        }
        // What was sent has run; what was never polled has not.
        drop(client.execute(&insert, &[&3]));
        assert_eq!(kept(&client).await, 30);
    });
}

fn a_dropped_beginning_is_rolled_back(stage: &Stage) {
    everywhere(stage, async |client| {
        table(&client).await;
        begin_and_drop(client.transaction()).await;
        client.execute("insert into kept values (1)", &[]).await.expect("a row");
        assert!(!client.is_in_transaction());
        let transaction = client.transaction().await.expect("nothing holds it");
        begin_and_drop(transaction.execute("insert into kept values (2)", &[])).await;
        drop(transaction);
        assert_eq!(kept(&client).await, 1);
    });
}

fn a_dropped_commit_is_done(stage: &Stage) {
    everywhere(stage, async |client| {
        table(&client).await;
        let transaction = client.transaction().await.expect("begun");
        transaction.execute("insert into kept values (1)", &[]).await.expect("a row");
        begin_and_drop(transaction.commit()).await;
        assert_eq!(kept(&client).await, 1);
    });
}

fn a_dropped_stream_is_drained(stage: &Stage) {
    everywhere(stage, async |client| {
        let sql = "select repeat('x', 1000) from generate_series(1, $1::int)";
        for _ in 0..3 {
            let mut stream = client.query_stream(sql, &[&10_000]).await.expect("begun");
            assert!(!stream.next_rows().await.expect("rows").expect("some").is_empty());
            drop(stream);
            works(&client).await;
        }
    });
}

fn a_slow_reader_holds_back_and_loses_nothing(stage: &Stage) {
    everywhere(stage, async |client| {
        let sql = "select g, repeat('x', 1000) from generate_series(1, $1::int) g";
        let mut stream = client.query_stream(sql, &[&20_000]).await.expect("begun");
        // This one's answer is behind 20 MB that nobody has read.
        let behind = tokio::spawn({
            let client = client.clone();
            async move { works(&client).await }
        });
        let (mut sum, mut rows) = (0_i64, 0);
        while let Some(part) = stream.next_rows().await.expect("rows") {
            assert!(rows > 0 || !behind.is_finished());
            rows += part.len();
            sum += part.iter().map(|row| i64::from(row.get::<i32>(0).expect("an int"))).sum::<i64>();
        }
        assert_eq!((rows, sum), (20_000, 200_010_000));
        assert!(stream.next_rows().await.expect("the end").is_none());
        behind.await.expect("no panic");
        let mut failing =
            client.query_stream("select 1 / (5 - g) from generate_series(1, 9) g", &[]).await.expect("sent");
        // The rows before it come first.
        let mut rows = 0;
        let error = loop {
            match failing.next_rows().await {
                Ok(part) => rows += part.expect("the error before the end").len(),
                Err(error) => break error,
            }
        };
        assert_eq!((rows, error.code()), (4, SqlState::new(b"22012")));
        works(&client).await;
    });
}

fn the_last_handle_closes_the_connection(stage: &Stage) {
    everywhere(stage, async |client| {
        table(&client).await;
        let (clone, watched, pid) = (client.clone(), client.notifications(), client.process_id());
        drop(client);
        works(&clone).await;
        let insert = clone.prepare("insert into kept values (1)").await.expect("prepared");
        begin_and_drop(clone.execute(&insert, &[])).await;
        drop((clone, insert));
        let mut watched = watched;
        // What was asked is answered first.
        assert_eq!(watched.next().await, None);
        assert_eq!(stage.sql("select count(*) from kept")[0], "1", "by {pid}");
    });
}

fn a_dropped_preparation_is_another_tasks(stage: &Stage) {
    everywhere(stage, async |client| {
        let sql = "select 'one text of many'";
        begin_and_drop(client.query(sql, &[])).await;
        assert_eq!(client.query(sql, &[]).await.expect("rows").len(), 1);
        assert_eq!(client.statements_cached(), 1);
    });
}
