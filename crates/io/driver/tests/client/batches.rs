//! Batches.

use trunkline_probes::Stage;

use crate::place::{direct, everywhere, works};

trunkline_probes::probes! { a_batch_is_answered_item_by_item, an_error_names_its_item, a_large_batch_does_not_hang }

fn a_batch_is_answered_item_by_item(stage: &Stage) {
    everywhere(stage, async |client| {
        let statement =
            client.prepare("select g, $1::int from generate_series(1, $1) g").await.expect("prepared");
        for each in [usize::MAX, 1, 7] {
            let mut batch = client.batch(&statement).sync_every(each);
            (0..100).for_each(|n: i32| batch.push(&[&(n % 5)]).expect("it fits"));
            let result = batch.query().await.expect("answers");
            assert_eq!((result.len(), result.rows().count()), (100, 200));
            let mut number = 0;
            result
                .for_each_item(|item| {
                    assert_eq!((item.number, item.affected), (number, Some(number as u64 % 5)));
                    number += 1;
                    Ok(())
                })
                .expect("well formed");
        }
        assert!(client.batch(&statement).query().await.expect("nothing").is_empty());
        let mut batch = client.batch(&statement);
        batch.push(&[&"x"]).expect_err("no int");
        batch.push(&[&3]).expect("it fits");
        assert_eq!(batch.execute().await.expect("answers"), 3);
    });
}

fn an_error_names_its_item(stage: &Stage) {
    everywhere(stage, async |client| {
        let statement = client.prepare("select 10 / $1::int").await.expect("prepared");
        for each in [usize::MAX, 1, 4] {
            let mut batch = client.batch(&statement).sync_every(each);
            (0..50).for_each(|n: i32| batch.push(&[&(n - 33)]).expect("it fits"));
            let error = batch.query().await.expect_err("by zero");
            assert_eq!(error.item(), Some(33), "with a Sync every {each}");
        }
        works(&client).await;
    });
}

fn a_large_batch_does_not_hang(stage: &Stage) {
    direct(stage, async |client| {
        // More than sockets hold, both ways.
        let statement = client.prepare("select $1::text").await.expect("prepared");
        let text = "y".repeat(5_000);
        let mut batch = client.batch(&statement);
        (0..10_000).for_each(|_| batch.push(&[&text]).expect("it fits"));
        assert_eq!(batch.query().await.expect("answers").rows().count(), 10_000);
    });
}
