//! Malformed SCRAM messages from clients.

use std::time::Duration;

use trunkline_probes::{Bystander, MemoryWatch, Stage, expect_refusal, sqlstate, try_login};
use trunkline_testkit::cluster::PASSWORD;
use trunkline_testkit::raw::startup;
use trunkline_testkit::{Messages, Proxy, RawClient};

use crate::right;

trunkline_probes::probes! {
    cve_2026_6665_scram_messages_of_absurd_size, cve_2026_6665_a_verifier_with_absurd_iterations, scram_messages_that_make_no_sense,
    scram_proofs_are_not_replayed,
}

fn challenged(proxy: &Proxy) -> RawClient {
    let mut stranger = RawClient::connect(proxy.address()).expect("accepted");
    stranger.send(&startup(&[("user", "app"), ("database", "app")])).expect("sent");
    assert_eq!(stranger.frame().expect("a challenge").tag, b'R');
    stranger
}

fn initial(mechanism: &str, first: &[u8]) -> Messages {
    let length = u32::try_from(first.len()).expect("short").to_be_bytes();
    Messages::new().message(b'p', &[mechanism.as_bytes(), b"\0", &length, first].concat())
}

/// A connection that has got the server's challenge, and the challenge's nonce.
fn before_the_proof(proxy: &Proxy) -> (RawClient, String) {
    let mut stranger = challenged(proxy);
    stranger.send_messages(&initial("SCRAM-SHA-256", b"n,,n=,r=abcdefghijklmnopqr")).expect("sent");
    let text = String::from_utf8_lossy(&stranger.frame().expect("a challenge").body).into_owned();
    let nonce =
        text.split_once("r=").and_then(|(_, rest)| rest.split(',').next()).expect("a nonce").to_owned();
    (stranger, nonce)
}

fn cve_2026_6665_scram_messages_of_absurd_size(stage: &Stage) {
    let proxy = stage.proxy();
    let bystander = Bystander::start(&proxy);
    bystander.wait_for(20);
    let memory = MemoryWatch::start(&proxy);
    for bytes in [1100, 5_000, 60_000, 65_536, 1 << 20, 1 << 24] {
        let long = "x".repeat(bytes);
        let mut stranger = challenged(&proxy);
        // The proxy need not read the whole message to refuse it.
        let _ = stranger.send_messages(&initial("SCRAM-SHA-256", format!("n,,n=,r={long}").as_bytes()));
        expect_refusal(&mut stranger, "08P01");
        let mut stranger = challenged(&proxy);
        let _ = stranger.send_messages(&initial(&long, b"n,,n=,r=abc"));
        expect_refusal(&mut stranger, "08P01");
        let (mut stranger, nonce) = before_the_proof(&proxy);
        let last = format!("c=biws,r={nonce},p={long}");
        let _ = stranger.send_messages(&Messages::new().message(b'p', last.as_bytes()));
        expect_refusal(&mut stranger, "08P01");
    }
    for nonce in [300, 900] {
        let mut stranger = challenged(&proxy);
        let first = format!("n,,n=,r={}", "x".repeat(nonce));
        stranger.send_messages(&initial("SCRAM-SHA-256", first.as_bytes())).expect("sent");
        expect_refusal(&mut stranger, "08P01");
    }
    bystander.finish();
    let rise = memory.rise_kib();
    assert!(rise < 10 << 10, "resident memory rose by {rise} KiB");
}

/// A user who can choose a verifier must not be able to keep a core busy for an hour.
fn cve_2026_6665_a_verifier_with_absurd_iterations(stage: &Stage) {
    // Iterations that scram_iterations_max allows are computed. Their cost is compared with that of a refused verifier.
    let allowed = cost_of_a_guess(stage, "100000");
    for iterations in ["2147483647", "9999999", "200000", "99999999999999999999", "-1", "0"] {
        let spent = cost_of_a_guess(stage, iterations);
        assert!(spent * 2 < allowed, "{iterations}: {spent:?} of processor time, {allowed:?} for 100,000");
    }
}

/// The CPU time that the proxy spends on a wrong password of a user whose verifier has so many iterations.
fn cost_of_a_guess(stage: &Stage, iterations: &str) -> Duration {
    let key = format!("{}=", "A".repeat(43));
    let verifier = format!("SCRAM-SHA-256${iterations}:c2FsdHNhbHRzYWx0c2FsdA==${key}:{key}");
    let query = format!("select $1::text, '{verifier}'");
    let setup = stage.setup().unset("users.app").set("auth.query", query.as_str());
    let setup = setup.set("auth.user", "postgres").set("users.postgres.password", PASSWORD);
    let proxy = setup.set("auth.type", "password").set("auth.cleartext_without_tls", true).start();
    right(&proxy, "md5user", PASSWORD);
    let before = proxy.cpu_time().expect("time");
    let error = try_login(&proxy, "app", "guess").expect_err("no such password");
    assert_eq!(sqlstate(&error), "28P01", "{error:#}");
    proxy.cpu_time().expect("time") - before
}

fn scram_messages_that_make_no_sense(stage: &Stage) {
    let proxy = stage.proxy();
    let bystander = Bystander::start(&proxy);
    let first: [(&str, &[u8]); 14] = [
        ("SCRAM-SHA-1", b"n,,n=,r=abc"),
        ("PLAIN", b"\0app\0correct-horse"),
        ("", b"n,,n=,r=abc"),
        ("SCRAM-SHA-256-PLUS", b"p=tls-server-end-point,,n=,r=abc"),
        ("SCRAM-SHA-256", b""),
        ("SCRAM-SHA-256", b"n,,"),
        ("SCRAM-SHA-256", b"n,,n=,r="),
        ("SCRAM-SHA-256", b"x,,n=,r=abc"),
        ("SCRAM-SHA-256", b"n,a=someone,n=,r=abc"),
        ("SCRAM-SHA-256", b"n,,m=must,n=,r=abc"),
        ("SCRAM-SHA-256", b"p=tls-unique,,n=,r=abc"),
        ("SCRAM-SHA-256", b"n,,n=,r=\xff\xfe"),
        ("SCRAM-SHA-256", b"n,,n=,r=a\0b"),
        ("SCRAM-SHA-256", b"GET / HTTP/1.1"),
    ];
    for (mechanism, message) in first {
        let mut stranger = challenged(&proxy);
        stranger.send_messages(&initial(mechanism, message)).expect("sent");
        let refusal = stranger.frame().expect("a refusal");
        let code = refusal.sqlstate().unwrap_or_default();
        assert!(matches!(code.as_str(), "08P01" | "28000" | "0A000"), "{mechanism} {message:?}: {refusal:?}");
        stranger.expect_end().expect("closed");
    }
    let last: [fn(&str) -> String; 7] = [
        |_| String::new(),
        |nonce| format!("c=biws,r={nonce}"),
        |_| format!("c=biws,r=another,p={}=", "A".repeat(43)),
        |nonce| format!("c=eSws,r={nonce},p={}=", "A".repeat(43)),
        |nonce| format!("c=biws,r={nonce},p=not base64"),
        |nonce| format!("c=biws,r={nonce},p=AAAA"),
        |nonce| format!("r={nonce},c=biws,p={}=", "A".repeat(43)),
    ];
    for message in last {
        let (mut stranger, nonce) = before_the_proof(&proxy);
        let message = message(&nonce);
        stranger.send_messages(&Messages::new().message(b'p', message.as_bytes())).expect("sent");
        let code = stranger.frame().expect("a refusal").sqlstate().unwrap_or_default();
        assert!(matches!(code.as_str(), "08P01" | "28000"), "{message}: {code}");
        stranger.expect_end().expect("closed");
    }
    // The client chooses a mechanism a second time instead of sending a proof.
    let (mut stranger, _) = before_the_proof(&proxy);
    stranger.send_messages(&initial("SCRAM-SHA-256", b"n,,n=,r=abc")).expect("sent");
    expect_refusal(&mut stranger, "08P01");
    bystander.finish();
}

/// Each challenge has a new nonce, also if the client's nonce is the same.
fn scram_proofs_are_not_replayed(stage: &Stage) {
    let proxy = stage.proxy();
    let mut nonces: Vec<String> = (0..50).map(|_| before_the_proof(&proxy).1).collect();
    assert!(nonces.iter().all(|nonce| nonce.len() >= 18 + 24 && nonce.starts_with("abcdefghijklmnopqr")));
    nonces.sort();
    nonces.dedup();
    assert_eq!(nonces.len(), 50);
}
