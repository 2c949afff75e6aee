//! One statement with many sets of parameters.

use trunkline_driver_blocking::Client;
use trunkline_probes::Stage;
use trunkline_wire::SqlState;

use crate::place::{direct, everywhere, unix};

trunkline_probes::probes! {
    items_come_back_in_their_order, a_failed_item_is_named_and_undoes_its_turn, items_may_be_turns_of_their_own,
    a_server_that_waits_for_its_answers_to_be_read_does_not_hang, a_dropped_batch_leaves_the_connection_usable,
    a_wrong_item_leaves_the_batch_as_it_was, an_empty_batch_is_nothing,
}

fn items_come_back_in_their_order(stage: &Stage) {
    everywhere(stage, |client| {
        let statement =
            client.prepare("select n, $1::int from generate_series(1, $1::int % 4) n").expect("prepared");
        let mut batch = client.batch(&statement);
        for n in 0..10_000 {
            batch.push(&[&n]).expect("sent");
        }
        let result = batch.query().expect("answers");
        assert_eq!(result.len(), 10_000);
        assert_eq!(result.rows().count(), 15_000);
        result
            .for_each_item(|item| {
                let n = i32::try_from(item.number).expect("few");
                assert_eq!(item.affected, Some(item.number as u64 % 4));
                let rows: Vec<i32> = item.rows().map(|row| row.get(1)).collect::<Result<_, _>>()?;
                assert_eq!(rows, vec![n; item.number % 4]);
                Ok(())
            })
            .expect("well-formed");
        client.query("select 1", &[]).expect("usable");
    });
}

fn table(client: &mut Client) {
    client.batch_execute("drop table if exists b; create table b (a int primary key)").expect("a table");
}

fn count(client: &mut Client) -> i64 {
    client.query_one("select count(*) from b", &[]).expect("one").get(0).expect("an int")
}

fn a_failed_item_is_named_and_undoes_its_turn(stage: &Stage) {
    everywhere(stage, |client| {
        table(client);
        let statement = client.prepare("insert into b values ($1)").expect("prepared");
        for failing in [0, 1, 4_999, 9_999] {
            let mut batch = client.batch(&statement);
            for n in 0..10_000 {
                // The first is 10,000, so that even an item 0 can be a second one.
                batch.push(&[&if n == failing { -1 } else { n }]).expect("sent");
                if n == failing {
                    batch.push(&[&-1]).expect("sent");
                }
            }
            let error = batch.execute().expect_err("-1 is there twice");
            let item = usize::try_from(failing).expect("small") + 1;
            assert_eq!((error.item(), error.code()), (Some(item), SqlState::new(b"23505")));
            assert_eq!(count(client), 0);
        }
        let mut batch = client.batch(&statement);
        (0..100).for_each(|n| batch.push(&[&n]).expect("sent"));
        assert_eq!(batch.execute().expect("done"), 100);
        assert_eq!(count(client), 100);
    });
}

fn items_may_be_turns_of_their_own(stage: &Stage) {
    let mut client = direct(stage);
    for (each, left) in [(1, 8), (3, 6), (100, 0)] {
        table(&mut client);
        let statement = client.prepare("insert into b values ($1)").expect("prepared");
        let mut batch = client.batch(&statement).sync_every(each);
        for n in [0, 1, 2, 3, 3, 5, 6, 7, 8] {
            batch.push(&[&n]).expect("sent");
        }
        let error = batch.execute().expect_err("3 is there twice");
        assert_eq!(error.item(), Some(4), "{each} a turn");
        assert_eq!(count(&mut client), left, "{each} a turn");
    }
}

fn a_server_that_waits_for_its_answers_to_be_read_does_not_hang(stage: &Stage) {
    everywhere(stage, |client| {
        let statement = client.prepare("select repeat('x', 10000), $1::text").expect("prepared");
        let parameter = "y".repeat(2_000);
        let mut batch = client.batch(&statement);
        // 10 MB to the server and 60 MB back: more than any socket holds.
        for _ in 0..5_000 {
            batch.push(&[&parameter]).expect("sent");
        }
        let result = batch.query().expect("answers");
        assert_eq!(
            result.rows().map(|row| row.get::<&str>(0).expect("a text").len()).sum::<usize>(),
            50_000_000
        );
    });
    // In one message, too.
    let mut client = unix(stage);
    let statement = client.prepare("select $1::text || $1").expect("prepared");
    let mut batch = client.batch(&statement);
    let parameter = "z".repeat(10 << 20);
    (0..3).for_each(|_| batch.push(&[&parameter]).expect("sent"));
    assert_eq!(batch.query().expect("answers").rows().count(), 3);
}

fn a_dropped_batch_leaves_the_connection_usable(stage: &Stage) {
    everywhere(stage, |client| {
        let statement = client.prepare("select repeat('x', 100), $1::int").expect("prepared");
        for items in [1, 20_000] {
            let mut batch = client.batch(&statement);
            (0..items).for_each(|n| batch.push(&[&n]).expect("sent"));
            drop(batch);
            assert_eq!(client.query_one("select 3", &[]).expect("usable").get::<i32>(0).expect("it"), 3);
        }
    });
}

fn a_wrong_item_leaves_the_batch_as_it_was(stage: &Stage) {
    let mut client = direct(stage);
    let statement = client.prepare("select $1::int").expect("prepared");
    let mut batch = client.batch(&statement);
    batch.push(&[&1]).expect("sent");
    batch.push(&[&"x"]).expect_err("no int");
    batch.push(&[]).expect_err("none");
    batch.push(&[&2]).expect("sent");
    let found: Vec<i32> = batch.query().expect("answers").rows().map(|row| row.get(0).expect("it")).collect();
    assert_eq!(found, [1, 2]);
}

fn an_empty_batch_is_nothing(stage: &Stage) {
    let mut client = direct(stage);
    let statement = client.prepare("select $1::int").expect("prepared");
    assert!(client.batch(&statement).query().expect("nothing").is_empty());
    let mut batch = client.batch(&statement);
    batch.push(&[&"x"]).expect_err("no int");
    assert!(batch.query().expect("nothing").is_empty());
    client.query("select 1", &[]).expect("usable");
}
