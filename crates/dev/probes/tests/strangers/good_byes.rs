//! Clients that leave before their login. As with PostgreSQL, they get no answer and cause no line in the log.

use trunkline_probes::Stage;
use trunkline_testkit::raw::startup;
use trunkline_testkit::{Messages, Proxy, RawClient};

use crate::begin_login;

trunkline_probes::probes! {
    a_terminate_as_the_first_packet, a_terminate_in_place_of_a_password, a_client_that_says_nothing_at_all,
}

/// The proxy's log after its start.
fn log_after_start(proxy: &Proxy) -> String {
    proxy.wait_for_log("listening on").expect("it says where");
    proxy.log()
}

const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// PostgreSQL sends nothing either, except for the answer to an SSLRequest.
fn a_terminate_as_the_first_packet(stage: &Stage) {
    let proxy = stage.proxy();
    let before = log_after_start(&proxy);
    let terminate = Messages::new().terminate();
    for address in [stage.cluster().address(), proxy.address()] {
        let mut client = RawClient::connect(address).expect("accepted");
        client.send(terminate.bytes()).expect("sent");
        client.expect_end().expect("no word");
    }
    let mut client = RawClient::connect(proxy.address()).expect("accepted");
    client.send(&SSL_REQUEST).expect("sent");
    let mut answer = [0];
    std::io::Read::read_exact(&mut client, &mut answer).expect("an answer");
    assert_eq!(answer, *b"N");
    client.send(terminate.bytes()).expect("sent");
    client.expect_end().expect("no word");
    // The packet comes byte by byte.
    let mut client = RawClient::connect(proxy.address()).expect("accepted");
    for byte in terminate.bytes() {
        client.send(&[*byte]).expect("sent");
    }
    client.expect_end().expect("no word");
    assert_eq!(proxy.metric("trunkline_client_logins_failed_total", &[]).expect("a metric"), 0.0);
    assert_eq!(proxy.log(), before, "nothing is worth a line");
}

/// PostgreSQL calls this a protocol violation, but drivers do it when they have no password.
fn a_terminate_in_place_of_a_password(stage: &Stage) {
    for method in ["scram-sha-256", "md5"] {
        let proxy = stage.setup().set("auth.type", method).start();
        let before = log_after_start(&proxy);
        for (user, database) in [("app", "app"), ("nobody at all", "app"), ("app", "no such database")] {
            let mut client = begin_login(&proxy, user, database);
            assert_eq!(client.frame().expect("a challenge").tag, b'R');
            client.send_messages(&Messages::new().terminate()).expect("sent");
            client.expect_end().expect("no word");
            let mut client = RawClient::connect(proxy.address()).expect("accepted");
            let both = [&startup(&[("user", user), ("database", database)])[..], b"X\0\0\0\x04"].concat();
            client.send(&both).expect("sent");
            assert_eq!(client.frame().expect("a challenge").tag, b'R');
            client.expect_end().expect("no word");
        }
        assert_eq!(proxy.metric("trunkline_client_logins_failed_total", &[]).expect("a metric"), 0.0);
        assert_eq!(proxy.log(), before, "nothing is worth a line");
    }
}

fn a_client_that_says_nothing_at_all(stage: &Stage) {
    let proxy = stage.proxy();
    let before = log_after_start(&proxy);
    for said in [&b""[..], &SSL_REQUEST, b"X", b"\0\0\0\x20\0\x03"] {
        for _ in 0..20 {
            let mut client = RawClient::connect(proxy.address()).expect("accepted");
            client.send(said).expect("sent");
        }
    }
    for _ in 0..20 {
        let mut client = begin_login(&proxy, "app", "app");
        assert_eq!(client.frame().expect("a challenge").tag, b'R');
    }
    stage.eventually("all are gone", || {
        let left = proxy.metric("trunkline_unauthenticated_connections", &[]).expect("a metric");
        if left == 0.0 { Ok(()) } else { Err(format!("{left} are left")) }
    });
    assert_eq!(proxy.log(), before, "nothing is worth a line");
}
