//! Connections that end, and peers that are not servers.

use trunkline_driver::{Client, Config, Fate};
use trunkline_probes::Stage;
use trunkline_testkit::RawServer;
use trunkline_wire::SqlState;

use crate::place::{direct, everywhere};

trunkline_probes::probes! {
    each_waiting_query_hears_whether_it_may_have_run, a_cut_through_the_proxy_is_told,
    thousands_in_flight_hear_of_the_end,
}

fn each_waiting_query_hears_whether_it_may_have_run(stage: &Stage) {
    direct(stage, async |client| {
        let select = client.prepare("select 1").await.expect("prepared");
        let kill = "select pg_terminate_backend(pg_backend_pid())";
        let waiting = async || client.query(&select, &[]).await;
        let (killed, one, two) = tokio::join!(client.batch_execute(kill), waiting(), waiting());
        let killed = killed.expect_err("it ends itself");
        assert_eq!((killed.code(), killed.fate()), (Some(SqlState::ADMIN_SHUTDOWN), Some(Fate::MayHaveRun)));
        for error in [one, two] {
            let error = error.expect_err("the connection has ended");
            assert!(error.is_closed());
            // They were asked while the first was under way, and sent or not.
            assert!(matches!(error.fate(), Some(Fate::MayHaveRun | Fate::NotRun)), "{error}");
        }
        client.closed().await;
        let after = client.query(&select, &[]).await.expect_err("it is over");
        assert_eq!((client.is_closed(), after.fate()), (true, Some(Fate::NotRun)));
        client.transaction().await.expect_err("it is over");
    });
}

fn thousands_in_flight_hear_of_the_end(stage: &Stage) {
    everywhere(stage, async |client| {
        let kill =
            "select case $1::int when 700 then pg_terminate_backend(pg_backend_pid())::int else $1 end";
        let statement = client.prepare(kill).await.expect("prepared");
        let tasks: Vec<_> = (0..2_000)
            .map(|n: i32| {
                let (client, statement) = (client.clone(), statement.clone());
                tokio::spawn(async move { (n, client.query_one(&statement, &[&n]).await) })
            })
            .collect();
        let mut failed = 0;
        for task in tasks {
            let (n, outcome) = task.await.expect("no panic");
            match outcome {
                Ok(row) => assert_eq!(row.get::<i32>(0).expect("an int"), n),
                Err(error) => {
                    failed += 1;
                    assert!(error.fate().is_some() || error.server().is_some(), "{error}");
                }
            }
        }
        assert!(failed > 0, "the session was killed");
    });
}

fn a_cut_through_the_proxy_is_told(stage: &Stage) {
    everywhere(stage, async |client| {
        let transaction = client.transaction().await.expect("begun");
        let waits = tokio::spawn({
            let client = client.clone();
            async move { client.query("select 1", &[]).await }
        });
        let error = transaction.batch_execute("select pg_terminate_backend(pg_backend_pid())").await;
        error.expect_err("it ends itself");
        drop(transaction);
        // What waited for the transaction was not sent, unless a proxy goes on with another server.
        match waits.await.expect("no panic") {
            Ok(rows) => assert_eq!(rows.len(), 1),
            Err(error) => assert_eq!(error.fate(), Some(Fate::NotRun), "{error}"),
        }
    });
}

/// What becomes of a query whose answer is this.
fn answered(answer: &[u8]) -> trunkline_driver::Error {
    let answer = answer.to_vec();
    let server = RawServer::start(move |connection| {
        connection.startup()?;
        connection.send(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I")?;
        connection.frame()?;
        // The connection ends with the script.
        connection.send(&answer)
    });
    let server = server.expect("it listens");
    let text = format!("host=127.0.0.1 port={} user=a sslmode=disable", server.address().port());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let client = Client::connect_to(&Config::parse(&text).expect("usable")).await.expect("a login");
        let error = client.batch_execute("select 1").await.expect_err("nonsense");
        assert!(client.is_closed());
        client.batch_execute("select 1").await.expect_err("it is over");
        error
    })
}

#[test]
fn a_server_that_breaks_the_protocol_is_left() {
    for answer in [
        &b"Z\0\0\0\x05I"[..],
        b"D\0\0\0\x06\0\0",
        b"T\0\0\0\x06\0\x01",
        b"\0\0\0\0\0\0",
        b"C\xff\xff\xff\xff",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"E\0\0\0\x04",
        b"",
    ] {
        let error = answered(answer);
        assert!(error.is_closed(), "{}: {error}", answer.escape_ascii());
        assert_eq!(error.fate(), Some(Fate::MayHaveRun), "{}", answer.escape_ascii());
    }
}
