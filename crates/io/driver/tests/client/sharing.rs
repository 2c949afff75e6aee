//! Many tasks on one connection.

use trunkline_driver::pool::{Manager, Pool};
use trunkline_probes::Stage;
use trunkline_wire::SqlState;

use crate::place::{config, direct, everywhere, works};

trunkline_probes::probes! {
    tasks_get_their_own_answers, an_error_touches_nobody_else, each_query_is_its_own_transaction,
    a_transaction_is_nobody_elses, a_pool_gives_living_connections,
}

fn tasks_get_their_own_answers(stage: &Stage) {
    everywhere(stage, async |client| {
        let tasks: Vec<_> = (0..2_000)
            .map(|n: i32| {
                let client = client.clone();
                tokio::spawn(async move {
                    let rows =
                        client.query("select g, $1::int from generate_series(1, $1 % 7) g", &[&n]).await;
                    let rows = rows.expect("rows");
                    assert_eq!(rows.len(), usize::try_from(n % 7).expect("small"));
                    assert!(rows.iter().all(|row| row.get::<i32>(1).expect("an int") == n));
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic");
        }
        // They all waited for one preparation.
        assert_eq!(client.statements_cached(), 1);
    });
}

fn an_error_touches_nobody_else(stage: &Stage) {
    everywhere(stage, async |client| {
        let statement = client.prepare("select 10 / $1::int").await.expect("prepared");
        let tasks: Vec<_> = (0..600)
            .map(|n: i32| {
                let (client, statement) = (client.clone(), statement.clone());
                tokio::spawn(async move { (n, client.query_one(&statement, &[&(n % 3)]).await) })
            })
            .collect();
        for task in tasks {
            let (n, outcome) = task.await.expect("no panic");
            match n % 3 {
                0 => assert_eq!(outcome.expect_err("by zero").code(), SqlState::new(b"22012")),
                d => assert_eq!(outcome.expect("a row").get::<i32>(0).expect("an int"), 10 / d),
            }
        }
    });
}

fn each_query_is_its_own_transaction(stage: &Stage) {
    direct(stage, async |client| {
        client.batch_execute("create table kept (n int)").await.expect("a table");
        let insert = client.prepare("insert into kept values (10 / $1::int)").await.expect("prepared");
        let (one, zero, two) = tokio::join!(
            client.execute(&insert, &[&1]),
            client.execute(&insert, &[&0]),
            client.execute(&insert, &[&2]),
        );
        assert_eq!((one.expect("a row"), two.expect("a row")), (1, 1));
        zero.expect_err("by zero");
        let row = client.query_one("select count(*) from kept", &[]).await.expect("one");
        assert_eq!(row.get::<i64>(0).expect("a count"), 2);
    });
}

fn a_transaction_is_nobody_elses(stage: &Stage) {
    everywhere(stage, async |client| {
        client
            .batch_execute("drop table if exists seen; create table seen (who text)")
            .await
            .expect("a table");
        let transaction = client.transaction().await.expect("begun");
        transaction.execute("insert into seen values ('inside')", &[]).await.expect("a row");
        let other = client.clone();
        let outside =
            tokio::spawn(async move { other.execute("insert into seen values ('outside')", &[]).await });
        transaction.execute("insert into seen values ('inside')", &[]).await.expect("a row");
        tokio::task::yield_now().await;
        assert!(!outside.is_finished(), "it waits");
        transaction.rollback().await.expect("undone");
        assert_eq!(outside.await.expect("no panic").expect("a row"), 1);
        let rows = client.query("select who from seen", &[]).await.expect("rows");
        let who: Vec<String> = rows.iter().map(|row| row.get(0).expect("a text")).collect();
        assert_eq!(who, ["outside"]);
        // Any number of them take turns.
        let tasks: Vec<_> = (0..50)
            .map(|_| {
                let client = client.clone();
                tokio::spawn(async move {
                    let transaction = client.transaction().await.expect("begun");
                    let count = "select count(*) from seen";
                    let before: i64 =
                        transaction.query_one(count, &[]).await.expect("one").get(0).expect("a count");
                    transaction.execute("insert into seen values ('x')", &[]).await.expect("a row");
                    let after: i64 =
                        transaction.query_one(count, &[]).await.expect("one").get(0).expect("a count");
                    assert_eq!(after, before + 1);
                    transaction.commit().await.expect("committed");
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic");
        }
        works(&client).await;
    });
}

fn a_pool_gives_living_connections(stage: &Stage) {
    direct(stage, async |_| {
        let pool = Pool::builder(Manager::new(config(stage))).max_size(2).build().expect("a pool");
        let first = pool.get().await.expect("a client");
        let pid = first.process_id();
        drop(first);
        assert_eq!(pool.get().await.expect("a client").process_id(), pid);
        // One that was left in a transaction is not given out again, nor one that is dead.
        let left = pool.get().await.expect("a client");
        left.batch_execute("begin").await.expect("begun");
        drop(left);
        let next = pool.get().await.expect("a client");
        assert_ne!(next.process_id(), pid);
        next.batch_execute("select pg_terminate_backend(pg_backend_pid())")
            .await
            .expect_err("it ends itself");
        drop(next);
        works(&pool.get().await.expect("a client")).await;
    });
}
