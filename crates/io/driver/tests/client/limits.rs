//! Bounds of time and of what waits.

use std::time::Duration;

use trunkline_driver::{Bounds, Client};
use trunkline_probes::Stage;
use trunkline_wire::SqlState;

use crate::place::{config, direct, everywhere, works};

trunkline_probes::probes! {
    a_query_that_takes_too_long_is_cancelled, a_deadline_hits_nobody_else, what_was_not_sent_in_time_is_not_run,
    more_than_the_bounds_waits, a_silent_server_is_given_up,
}

const SHORT: Duration = Duration::from_millis(100);
const LONG: Duration = Duration::from_secs(600);

fn a_query_that_takes_too_long_is_cancelled(stage: &Stage) {
    everywhere(stage, async |client| {
        let hasty = client.with_timeout(SHORT);
        let patient = client.with_timeout(LONG);
        works(&patient).await;
        let error = hasty.batch_execute("select pg_sleep(600)").await.expect_err("too long");
        // Either the server was in time to say so, or the connection was given up.
        assert!(error.code() == Some(SqlState::QUERY_CANCELED) || error.is_timeout(), "{error}");
        if !client.is_closed() {
            works(&client).await;
        }
    });
}

fn a_deadline_hits_nobody_else(stage: &Stage) {
    direct(stage, async |client| {
        // It is asked behind the one that is cancelled, while that runs.
        let hasty = client.with_timeout(SHORT);
        let (late, other) = tokio::join!(hasty.query("select pg_sleep(600)", &[]), async {
            client.query_one("select 7", &[]).await
        });
        let late = late.expect_err("too long");
        match other {
            Ok(row) => assert_eq!(row.get::<i32>(0).expect("an int"), 7),
            Err(error) => assert!(late.is_timeout() && error.is_closed(), "{error}"),
        }
    });
}

fn what_was_not_sent_in_time_is_not_run(stage: &Stage) {
    direct(stage, async |client| {
        client.batch_execute("create table untouched (n int)").await.expect("a table");
        let transaction = client.transaction().await.expect("begun");
        let hasty = client.with_timeout(SHORT);
        let error = hasty.execute("insert into untouched values (1)", &[]).await.expect_err("it waited");
        assert!(error.is_timeout() && !error.is_closed(), "{error}");
        transaction.commit().await.expect("committed");
        let row = client.query_one("select count(*) from untouched", &[]).await.expect("one");
        assert_eq!(row.get::<i64>(0).expect("a count"), 0);
    });
}

fn more_than_the_bounds_waits(stage: &Stage) {
    let bounds = Bounds { turns_max: 3, unsent_bytes_max: 200, stream_bytes_max: 1, unasked_max: 1 };
    direct(stage, async |_| {
        let client = Client::connect_with(&config(stage), bounds).await.expect("a login");
        let tasks: Vec<_> = (0..500)
            .map(|n: i32| {
                let client = client.clone();
                tokio::spawn(async move {
                    let row =
                        client.query_one("select $1::int, repeat('x', 100)", &[&n]).await.expect("a row");
                    assert_eq!(row.get::<i32>(0).expect("an int"), n);
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic");
        }
        let mut stream = client.query_stream("select generate_series(1, 1000)", &[]).await.expect("begun");
        let mut rows = 0;
        while let Some(part) = stream.next_rows().await.expect("rows") {
            rows += part.len();
        }
        assert_eq!(rows, 1_000);
        let mut copy = client.copy_in("copy (select 1) to stdout").await.map(drop);
        copy.expect_err("no COPY from the client");
        client.batch_execute("create temp table c (n int)").await.expect("a table");
        let mut begun = client.copy_in("copy c from stdin").await.expect("begun");
        for _ in 0..100_000 {
            begun.write(b"1\n").await.expect("taken");
        }
        copy = begun.finish().await.map(|count| assert_eq!(count, 100_000));
        copy.expect("copied");
    });
}

fn a_silent_server_is_given_up(stage: &Stage) {
    direct(stage, async |_| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut silent = config(stage);
        silent.hosts[0].port = listener.local_addr().expect("an address").port();
        silent.connect_timeout = Some(Duration::from_millis(50));
        assert!(Client::connect_to(&silent).await.expect_err("it says nothing").is_timeout());
    });
}
