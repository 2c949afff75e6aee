//! COPY in both directions.

use trunkline_driver::Client;
use trunkline_probes::Stage;

use crate::place::{everywhere, works};

trunkline_probes::probes! {
    data_is_copied_in_and_out, a_refused_copy_is_an_error_and_no_more, a_dropped_copy_is_given_up,
    others_wait_for_a_copy, what_is_no_copy_is_told, a_copy_by_a_plain_query_ends_nothing,
}

async fn table(client: &Client) {
    client
        .batch_execute("drop table if exists copied; create table copied (n int, t text)")
        .await
        .expect("a table");
}

async fn count(client: &Client) -> i64 {
    client.query_one("select count(*) from copied", &[]).await.expect("one").get(0).expect("a count")
}

fn data_is_copied_in_and_out(stage: &Stage) {
    everywhere(stage, async |client| {
        table(&client).await;
        let mut copy = client.copy_in("copy copied from stdin").await.expect("begun");
        assert!(!copy.is_binary());
        for n in 0..100_000 {
            copy.write(format!("{n}\tline {n}\n").as_bytes()).await.expect("taken");
        }
        assert_eq!(copy.finish().await.expect("copied"), 100_000);
        let mut copy = client.copy_out("copy copied to stdout").await.expect("begun");
        let mut lines = 0;
        while let Some(line) = copy.next().await.expect("data") {
            assert!(line.ends_with(b"\n"));
            lines += 1;
        }
        assert_eq!((lines, copy.next().await.expect("the end")), (100_000, None));
        let copy = client.copy_out("copy copied to stdout (format binary)").await.expect("begun");
        assert!(copy.is_binary());
        drop(copy);
        works(&client).await;
    });
}

fn a_refused_copy_is_an_error_and_no_more(stage: &Stage) {
    everywhere(stage, async |client| {
        table(&client).await;
        let mut copy = client.copy_in("copy copied from stdin").await.expect("begun");
        for _ in 0..50_000 {
            copy.write(b"not a number\tx\n").await.expect("taken");
        }
        assert!(copy.finish().await.expect_err("refused").server().is_some());
        client.copy_in("copy nothing from stdin").await.expect_err("no such table");
        client.copy_out("copy nothing to stdout").await.expect_err("no such table");
        assert_eq!(count(&client).await, 0);
    });
}

fn a_dropped_copy_is_given_up(stage: &Stage) {
    everywhere(stage, async |client| {
        table(&client).await;
        let mut copy = client.copy_in("copy copied from stdin").await.expect("begun");
        copy.write(b"1\ta\n").await.expect("taken");
        drop(copy);
        assert_eq!(count(&client).await, 0);
        // In a transaction it fails that.
        let transaction = client.transaction().await.expect("begun");
        drop(transaction.copy_in("copy copied from stdin").await.expect("begun"));
        transaction.query("select 1", &[]).await.expect_err("failed");
        transaction.rollback().await.expect("undone");
        works(&client).await;
    });
}

fn others_wait_for_a_copy(stage: &Stage) {
    everywhere(stage, async |client| {
        table(&client).await;
        let mut copy = client.copy_in("copy copied from stdin").await.expect("begun");
        let other = tokio::spawn({
            let client = client.clone();
            async move { count(&client).await }
        });
        copy.write(b"1\ta\n").await.expect("taken");
        tokio::task::yield_now().await;
        copy.write(b"2\tb\n").await.expect("taken");
        assert_eq!(copy.finish().await.expect("copied"), 2);
        assert_eq!(other.await.expect("no panic"), 2);
    });
}

fn what_is_no_copy_is_told(stage: &Stage) {
    everywhere(stage, async |client| {
        for text in ["select 1", "copy (select 1) to stdout", ""] {
            client.copy_in(text).await.expect_err("no COPY from the client");
            works(&client).await;
        }
        for text in ["select 1", ""] {
            client.copy_out(text).await.expect_err("no COPY to the client");
            works(&client).await;
        }
    });
}

fn a_copy_by_a_plain_query_ends_nothing(stage: &Stage) {
    everywhere(stage, async |client| {
        table(&client).await;
        let text = "copy copied from stdin";
        let (others, refused) = (client.clone(), client.clone());
        let (simple, _, prepared) =
            tokio::join!(client.simple_query(text), works(&others), refused.query(text, &[]));
        assert!(simple.expect_err("no data").server().is_some());
        assert!(prepared.expect_err("told").to_string().contains("copy_in"));
        client.query("copy copied to stdout", &[]).await.expect("what comes is dropped");
        works(&client).await;
    });
}
