//! Right and wrong passwords, by each method and from each place where they can be stored.

use trunkline_probes::{Bystander, Stage, expect_refusal, sqlstate, try_login};
use trunkline_testkit::cluster::PASSWORD;
use trunkline_testkit::raw::startup;
use trunkline_testkit::{Messages, Proxy, RawClient};

use crate::{right, wrong};

trunkline_probes::probes! {
    wrong_passwords_scram, wrong_passwords_md5, wrong_passwords_cleartext, an_unknown_user_looks_like_a_wrong_password,
    cleartext_without_tls_is_refused, a_userlist_of_plain_md5_and_scram_passwords, a_client_that_gives_no_password,
    an_md5_user_of_the_server, a_cleartext_user_of_the_server_over_tls_only, a_server_that_refuses_the_password,
}

fn wrong_passwords(proxy: &Proxy) {
    let bystander = Bystander::start(proxy);
    for password in ["", "wrong", "correct-hors", "correct-horse ", "Correct-Horse", &"x".repeat(500)] {
        for user in ["app", "md5user", "plainuser"] {
            wrong(proxy, user, password);
        }
    }
    right(proxy, "app", PASSWORD);
    bystander.finish();
}

fn wrong_passwords_scram(stage: &Stage) {
    wrong_passwords(&stage.setup().set("auth.type", "scram-sha-256").start());
}

fn wrong_passwords_md5(stage: &Stage) {
    wrong_passwords(&stage.setup().set("auth.type", "md5").start());
}

fn wrong_passwords_cleartext(stage: &Stage) {
    wrong_passwords(
        &stage.setup().set("auth.type", "password").set("auth.cleartext_without_tls", true).start(),
    );
}

/// Everything that a client sees before its login: message types, lengths, and texts without the user's name.
fn seen_before_login(proxy: &Proxy, user: &str) -> Vec<(u8, usize, String)> {
    let mut stranger = RawClient::connect(proxy.address()).expect("accepted");
    stranger.send(&startup(&[("user", user), ("database", "app")])).expect("sent");
    let challenge = stranger.frame().expect("a challenge");
    let mut seen = vec![(challenge.tag, challenge.body.len(), String::new())];
    if challenge.body.starts_with(&10_u32.to_be_bytes()) {
        let first = [&b"SCRAM-SHA-256\0"[..], &26_u32.to_be_bytes(), b"n,,n=,r=abcdefghijklmnopqr"].concat();
        stranger.send_messages(&Messages::new().message(b'p', &first)).expect("sent");
        let salted = stranger.frame().expect("salt and iterations");
        let text = String::from_utf8_lossy(&salted.body).into_owned();
        let iterations = text.rsplit(',').next().unwrap_or_default().to_owned();
        seen.push((salted.tag, salted.body.len(), iterations));
        let (_, nonce) = text.split_once("r=").expect("a nonce");
        let nonce = nonce.split(',').next().expect("its end");
        let proof = "A".repeat(43);
        let last = format!("c=biws,r={nonce},p={proof}=");
        stranger.send_messages(&Messages::new().message(b'p', last.as_bytes())).expect("sent");
    } else {
        stranger.send_messages(&Messages::new().password("guess")).expect("sent");
    }
    let refusal = expect_refusal(&mut stranger, "28P01");
    let said = refusal.field(b'M').expect("a message").replace(user, "USER");
    seen.push((refusal.tag, 0, said));
    seen
}

fn an_unknown_user_looks_like_a_wrong_password(stage: &Stage) {
    for method in ["scram-sha-256", "password"] {
        let proxy = stage.setup().set("auth.type", method).set("auth.cleartext_without_tls", true).start();
        let known = seen_before_login(&proxy, "app");
        assert_eq!(seen_before_login(&proxy, "who"), known, "{method}");
        // A second login gets the same salt, for unknown users as for known ones.
        assert_eq!(seen_before_login(&proxy, "who"), known, "{method}");
    }
}

fn cleartext_without_tls_is_refused(stage: &Stage) {
    let proxy = stage.setup().set("auth.type", "password").start();
    let mut stranger = RawClient::connect(proxy.address()).expect("accepted");
    stranger.send(&startup(&[("user", "app"), ("database", "app")])).expect("sent");
    let refusal = expect_refusal(&mut stranger, "28000");
    assert!(refusal.field(b'H').is_some_and(|hint| hint.contains("sslmode=require")), "{refusal:?}");
}

fn stored(stage: &Stage, user: &str) -> String {
    stage.sql(&format!("select rolpassword from pg_authid where rolname = '{user}'")).concat()
}

fn a_userlist_of_plain_md5_and_scram_passwords(stage: &Stage) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("userlist.txt");
    let lines = format!(
        "\"app\" \"{}\"\n; a comment\n\"md5user\" \"{}\"\n\"plainuser\" \"{PASSWORD}\"\n",
        stored(stage, "app"),
        stored(stage, "md5user"),
    );
    std::fs::write(&file, lines).expect("written");
    for method in ["scram-sha-256", "md5"] {
        let mut setup = stage.setup().set("auth.file", file.as_path()).set("auth.type", method);
        for user in ["app", "md5user", "plainuser", "trusted"] {
            setup = setup.unset(&format!("users.{user}"));
        }
        let proxy = setup.start();
        // The file has the server's own verifier, so the client's keys also work for the server.
        right(&proxy, "app", PASSWORD);
        wrong(&proxy, "app", "guess");
        wrong(&proxy, "trusted", PASSWORD);
        if method == "md5" {
            right(&proxy, "md5user", PASSWORD);
        } else {
            // SCRAM cannot use an MD5 hash, and the hash itself is not a password.
            wrong(&proxy, "md5user", PASSWORD);
        }
        wrong(&proxy, "md5user", &stored(stage, "md5user"));
        wrong(&proxy, "app", &stored(stage, "app"));
        assert!(!proxy.log().contains(PASSWORD) && !proxy.log().contains(&stored(stage, "app")));
    }
}

/// psql without a password closes the connection when it is asked for one, and connects again.
fn a_client_that_gives_no_password(stage: &Stage) {
    let proxy = stage.proxy();
    for _ in 0..20 {
        let mut stranger = RawClient::connect(proxy.address()).expect("accepted");
        stranger.send(&startup(&[("user", "app"), ("database", "app")])).expect("sent");
        assert_eq!(stranger.frame().expect("a challenge").tag, b'R');
        stranger.send_messages(&Messages::new().terminate()).expect("sent");
        stranger.expect_end().expect("closed without a word");
    }
    right(&proxy, "app", PASSWORD);
}

fn an_md5_user_of_the_server(stage: &Stage) {
    let proxy = stage.proxy();
    right(&proxy, "md5user", PASSWORD);
    // For the server, the MD5 hash alone is enough.
    let setup = stage
        .setup()
        .set("auth.type", "md5")
        .set("users.md5user.password", stored(stage, "md5user").as_str());
    right(&setup.start(), "md5user", PASSWORD);
}

fn a_cleartext_user_of_the_server_over_tls_only(stage: &Stage) {
    let refused = try_login(&stage.proxy(), "plainuser", PASSWORD).expect_err("the server asks in the clear");
    assert_eq!(sqlstate(&refused), "08006", "{refused:#}");
    assert!(refused.to_string().contains("TLS"), "{refused:#}");
    right(&stage.setup().set("tls.server.sslmode", "require").start(), "plainuser", PASSWORD);
}

/// The proxy's password differs from the server's. The client gets the server's error, and nobody gets the password.
fn a_server_that_refuses_the_password(stage: &Stage) {
    let proxy = stage.setup().set("users.app.password", "battery-staple").start();
    let error = try_login(&proxy, "app", "battery-staple").expect_err("the server has another");
    assert_eq!(sqlstate(&error), "28P01", "{error:#}");
    wrong(&proxy, "app", PASSWORD);
    assert!(!proxy.log().contains("battery-staple"), "{}", proxy.log());
}
