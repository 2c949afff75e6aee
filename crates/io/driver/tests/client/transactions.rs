//! Transactions, savepoints and portals.

use trunkline_driver::{Begin, Client, IsolationLevel};
use trunkline_probes::Stage;

use crate::place::{config, direct, everywhere, log_in, works};

trunkline_probes::probes! {
    what_is_committed_stays, savepoints_are_undone_alone, a_failed_transaction_is_not_committed,
    modes_are_as_asked, a_portal_gives_rows_piece_by_piece, queries_of_a_transaction_pipeline,
    what_could_not_be_serialized_can_be_done_again,
}

async fn count(client: &Client) -> i64 {
    client.query_one("select count(*) from kept", &[]).await.expect("one").get(0).expect("a count")
}

async fn table(client: &Client) {
    client.batch_execute("drop table if exists kept; create table kept (n int)").await.expect("a table");
}

fn what_is_committed_stays(stage: &Stage) {
    everywhere(stage, async |client| {
        table(&client).await;
        let insert = "insert into kept values (1)";
        let transaction = client.transaction().await.expect("begun");
        transaction.execute(insert, &[]).await.expect("a row");
        transaction.commit().await.expect("committed");
        let transaction = client.transaction().await.expect("begun");
        transaction.execute(insert, &[]).await.expect("a row");
        drop(transaction);
        let transaction = client.transaction().await.expect("begun");
        transaction.execute(insert, &[]).await.expect("a row");
        transaction.rollback().await.expect("undone");
        assert_eq!(count(&client).await, 1);
    });
}

fn savepoints_are_undone_alone(stage: &Stage) {
    everywhere(stage, async |client| {
        table(&client).await;
        let mut outer = client.transaction().await.expect("begun");
        outer.execute("insert into kept values (1)", &[]).await.expect("a row");
        let mut inner = outer.transaction().await.expect("a savepoint");
        inner.execute("insert into kept values (2)", &[]).await.expect("a row");
        let innermost = inner.transaction().await.expect("a savepoint");
        innermost.query("select 1 / 0", &[]).await.expect_err("by zero");
        drop(innermost);
        inner.commit().await.expect("released");
        let dropped = outer.transaction().await.expect("a savepoint");
        dropped.execute("insert into kept values (3)", &[]).await.expect("a row");
        drop(dropped);
        outer.commit().await.expect("committed");
        assert_eq!(count(&client).await, 2);
    });
}

fn a_failed_transaction_is_not_committed(stage: &Stage) {
    everywhere(stage, async |client| {
        let transaction = client.transaction().await.expect("begun");
        transaction.query("select 1 / 0", &[]).await.expect_err("by zero");
        transaction.query("select 1", &[]).await.expect_err("it has failed");
        let error = transaction.commit().await.expect_err("it was rolled back");
        assert!(error.to_string().contains("rolled back"), "{error}");
        works(&client).await;
    });
}

fn modes_are_as_asked(stage: &Stage) {
    direct(stage, async |client| {
        let begin = Begin {
            isolation: Some(IsolationLevel::Serializable),
            read_only: Some(true),
            deferrable: Some(true),
        };
        let transaction = client.transaction_with(&begin).await.expect("begun");
        for (name, value) in [("transaction_isolation", "serializable"), ("transaction_read_only", "on")] {
            let row = transaction.query_one("select current_setting($1)", &[&name]).await.expect("one");
            assert_eq!(row.get::<&str>(0).expect("a text"), value);
        }
        transaction.commit().await.expect("committed");
    });
}

fn a_portal_gives_rows_piece_by_piece(stage: &Stage) {
    everywhere(stage, async |client| {
        let transaction = client.transaction().await.expect("begun");
        let sql = "select g from generate_series(1, $1::int) g";
        let statement = transaction.prepare(sql).await.expect("prepared");
        let portal = transaction.bind(&statement, &[&10]).await.expect("bound");
        let mut found = Vec::new();
        for (size, more) in [(4, true), (4, true), (2, false)] {
            let (rows, may_have_more) = portal.fetch(4).await.expect("rows");
            assert_eq!((rows.len(), may_have_more), (size, more));
            found.extend(rows.iter().map(|row| row.get::<i32>(0).expect("an int")));
        }
        assert_eq!(found, (1..=10).collect::<Vec<_>>());
        drop(portal);
        transaction.commit().await.expect("committed");
    });
}

fn queries_of_a_transaction_pipeline(stage: &Stage) {
    everywhere(stage, async |client| {
        table(&client).await;
        let transaction = client.transaction().await.expect("begun");
        let insert = transaction.prepare("insert into kept values ($1)").await.expect("prepared");
        let (a, b, c) = tokio::join!(
            transaction.execute(&insert, &[&1]),
            transaction.execute(&insert, &[&2]),
            transaction.execute(&insert, &[&3]),
        );
        assert_eq!([a, b, c].map(|rows| rows.expect("a row")), [1; 3]);
        transaction.commit().await.expect("committed");
        assert_eq!(count(&client).await, 3);
    });
}

fn what_could_not_be_serialized_can_be_done_again(stage: &Stage) {
    direct(stage, async |client| {
        table(&client).await;
        client.execute("insert into kept values (0)", &[]).await.expect("a row");
        let other = log_in(&config(stage)).await;
        // As services do it: in a task.
        let outcome = tokio::spawn(async move {
            let mut attempts = 0;
            loop {
                attempts += 1;
                let faster = if attempts < 3 { Some(&other) } else { None };
                match add_one(&client, faster).await {
                    Err(error) if error.is_conflict() => {}
                    outcome => break (attempts, outcome),
                }
            }
        });
        let (attempts, n) = outcome.await.expect("no panic");
        assert_eq!((attempts, n.expect("it passes")), (3, 21));
    });
}

/// Adds one to the row; before it has, `faster` adds ten.
async fn add_one(client: &Client, faster: Option<&Client>) -> Result<i32, trunkline_driver::Error> {
    let begin = Begin { isolation: Some(IsolationLevel::RepeatableRead), ..Begin::default() };
    let transaction = client.transaction_with(&begin).await?;
    let n: i32 = transaction.query_one("select n from kept", &[]).await?.get(0)?;
    if let Some(faster) = faster {
        faster.execute("update kept set n = n + 10", &[]).await?;
    }
    transaction.execute("update kept set n = $1", &[&(n + 1)]).await?;
    transaction.commit().await?;
    Ok(n + 1)
}
