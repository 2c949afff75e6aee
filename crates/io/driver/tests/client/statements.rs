//! Statements that are kept, and that heal.

use trunkline_driver::Config;
use trunkline_probes::Stage;

use crate::place::{config, direct, everywhere, log_in, works};

trunkline_probes::probes! {
    kept_statements_survive_ddl_and_discard, the_cache_is_bounded, without_a_cache_nothing_stays_prepared,
    a_statement_is_its_connections,
}

fn kept_statements_survive_ddl_and_discard(stage: &Stage) {
    direct(stage, async |client| {
        client
            .batch_execute("create table changing (a int); insert into changing values (1)")
            .await
            .expect("a table");
        let sql = "select * from changing";
        assert_eq!(client.query_one(sql, &[]).await.expect("a row").columns().len(), 1);
        client.batch_execute("alter table changing add b text default 'b'").await.expect("changed");
        let (one, two) = tokio::join!(client.query_one(sql, &[]), client.query_one(sql, &[]));
        assert_eq!((one.expect("a row").columns().len(), two.expect("a row").columns().len()), (2, 2));
        client.batch_execute("discard all").await.expect("discarded");
        assert_eq!(client.query_one(sql, &[]).await.expect("a row").columns().len(), 2);
        // In a transaction it is the caller's to begin anew.
        client.batch_execute("alter table changing drop b").await.expect("changed");
        let transaction = client.transaction().await.expect("begun");
        transaction.query_one(sql, &[]).await.expect_err("outdated");
        drop(transaction);
        assert_eq!(client.query_one(sql, &[]).await.expect("a row").columns().len(), 1);
    });
}

fn the_cache_is_bounded(stage: &Stage) {
    direct(stage, async |_| {
        let client = log_in(&Config { statement_cache: 3, ..config(stage) }).await;
        for n in 0..10 {
            let row = client.query_one(&format!("select {n}"), &[]).await.expect("a row");
            assert_eq!(row.get::<i32>(0).expect("an int"), n);
        }
        assert_eq!(client.statements_cached(), 3);
        let sql = "select count(*) from pg_prepared_statements";
        let row = client.query_one(sql, &[]).await.expect("a row");
        // This one's own among them, and one that is closed with the next turn.
        assert!(row.get::<i64>(0).expect("a count") <= 4);
    });
}

fn without_a_cache_nothing_stays_prepared(stage: &Stage) {
    let cacheless = Config { statement_cache: 0, ..config(stage) };
    direct(stage, async |_| {
        let client = log_in(&cacheless).await;
        let sql = "select count(*), $1::int from pg_prepared_statements";
        let tasks: Vec<_> = (0..50)
            .map(|n: i32| {
                let client = client.clone();
                tokio::spawn(async move {
                    let row = client.query_one(sql, &[&n]).await.expect("a row");
                    assert_eq!(
                        (row.get::<i64>(0).expect("a count"), row.get::<i32>(1).expect("an int")),
                        (0, n)
                    );
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic");
        }
        client.query("select nothing", &[]).await.expect_err("no such column");
        client.query("select $1::int", &[&"x"]).await.expect_err("no int");
        client.batch_execute("create type shade as enum ('dark')").await.expect("a type");
        let row = client.query_one("select 'dark'::shade", &[]).await.expect("a row");
        assert_eq!(row.columns()[0].ty().name(), "shade");
        assert_eq!(client.execute("create table made ()", &[]).await.expect("made"), 0);
        let transaction = client.transaction().await.expect("begun");
        works(&transaction).await;
        transaction.commit().await.expect("committed");
    });
}

fn a_statement_is_its_connections(stage: &Stage) {
    everywhere(stage, async |client| {
        let other = log_in(&config(stage)).await;
        let statement = other.prepare("select 1").await.expect("prepared");
        client.query(&statement, &[]).await.expect_err("of another connection");
        assert_eq!(other.query(&statement, &[]).await.expect("rows").len(), 1);
    });
}
