//! Connections that end, and peers that are not servers.

use std::io::{Read, Write};

use trunkline_driver_blocking::{Client, Config, Fate};
use trunkline_probes::Stage;
use trunkline_testkit::RawServer;
use trunkline_wire::SqlState;

use crate::place::{direct, everywhere};

trunkline_probes::probes! { a_killed_session_says_so_and_what_may_have_run, a_batch_that_is_cut_says_so }

fn pid(client: &mut Client) -> i32 {
    client.query_one("select pg_backend_pid()", &[]).expect("one").get(0).expect("an int")
}

fn a_killed_session_says_so_and_what_may_have_run(stage: &Stage) {
    let mut client = direct(stage);
    let pid = pid(&mut client);
    client.query("select pg_sleep(0)", &[]).expect("prepared");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let asleep =
                format!("select count(*) from pg_stat_activity where pid = {pid} and wait_event = 'PgSleep'");
            stage.wait_for(&asleep, "1");
            stage.sql(&format!("select pg_terminate_backend({pid})"));
        });
        let error = client.batch_execute("select pg_sleep(600)").expect_err("killed");
        assert_eq!((error.code(), error.fate()), (Some(SqlState::ADMIN_SHUTDOWN), Some(Fate::MayHaveRun)));
        assert!(error.is_closed());
    });
    let error = client.query("select 1", &[]).expect_err("it is over");
    assert!(client.is_closed() && error.is_closed());
    assert_eq!(error.fate(), Some(Fate::NotRun));
}

fn a_batch_that_is_cut_says_so(stage: &Stage) {
    everywhere(stage, |client| {
        let statement =
            client.prepare("select pg_terminate_backend(pg_backend_pid()), $1::int").expect("prepared");
        let mut batch = client.batch(&statement);
        let pushed = (0..100_000).try_for_each(|n| batch.push(&[&n]));
        let error = pushed.and_then(|()| batch.query().map(drop)).expect_err("it ends itself");
        assert!(error.is_closed() || error.code().is_some(), "{error}");
        // A proxy may go on with another server.
        if client.is_closed() {
            client.query("select 1", &[]).expect_err("it is over");
        } else {
            client.query("select 1", &[]).expect("usable");
        }
    });
}

/// A server whose answer to the first query is this.
fn answering(answer: Vec<u8>) -> (RawServer, Config) {
    let server = RawServer::start(move |connection| {
        connection.startup()?;
        connection.send(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I")?;
        connection.frame()?;
        // The connection ends with the script.
        connection.send(&answer)
    });
    let server = server.expect("it listens");
    let text = format!("host=127.0.0.1 port={} user=a sslmode=disable", server.address().port());
    (server, Config::parse(&text).expect("usable"))
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
        let (_server, config) = answering(answer.to_vec());
        let mut client = Client::connect_to(&config).expect("a login");
        let error = client.batch_execute("select 1").expect_err("nonsense");
        assert!(error.is_closed() && client.is_closed(), "{}: {error}", answer.escape_ascii());
        assert_eq!(error.fate(), Some(Fate::MayHaveRun), "{}", answer.escape_ascii());
        client.batch_execute("select 1").expect_err("it is over");
    }
}

#[test]
fn a_row_that_is_malformed_is_an_error_where_it_is_touched() {
    let mut answer = b"T\0\0\0\x1a\0\x01a\0".to_vec();
    answer.extend([0; 18]);
    // One column of a gigabyte that is not there.
    answer.extend(b"D\0\0\0\x0b\0\x01\x3f\0\0\0xC\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I");
    let (_server, config) = answering(answer);
    let mut client = Client::connect_to(&config).expect("a login");
    let error = client.simple_query("select 1").expect_err("malformed");
    assert!(error.to_string().contains("column value"), "{error}");
}

#[test]
fn a_gigabyte_that_never_comes_takes_no_memory() {
    let (_server, config) = answering(b"T\0\0\0\x06\0\0D\x3f\0\0\0\0\0".to_vec());
    let region = stats_alloc::Region::new(ALLOCATOR);
    let mut client = Client::connect_to(&config).expect("a login");
    client.simple_query("select 1").expect_err("it never comes");
    let taken = region.change().bytes_allocated;
    assert!(taken < 100 << 20, "{taken} bytes, other tests' among them");
}

#[test]
fn an_error_before_the_login_is_not_believed_with_tls() {
    // CVE-2024-10977: what answers an SSLRequest with an error is not believed.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        stream.read_exact(&mut [0; 8]).expect("an SSLRequest");
        stream.write_all(b"E\0\0\0\x17SFATAL\0Mbelieve me\0\0").expect("sent");
    });
    let config =
        Config::parse(&format!("host=127.0.0.1 port={port} user=a sslmode=require")).expect("usable");
    let error = Client::connect_to(&config).expect_err("not believed").to_string();
    assert!(!error.contains("believe me"), "{error}");
    server.join().expect("it ends");
}

#[global_allocator]
static ALLOCATOR: &stats_alloc::StatsAlloc<std::alloc::System> = &stats_alloc::INSTRUMENTED_SYSTEM;
