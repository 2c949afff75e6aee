//! TLS between clients and the proxy.

use std::io::{Read, Write};
use std::process::{Command, Output};

use trunkline_probes::{Bystander, Setup, Stage, expect_refusal};
use trunkline_testkit::cluster::PASSWORD;
use trunkline_testkit::raw::{read_frame, ssl_request, startup};
use trunkline_testkit::{Binaries, Messages, Proxy, RawClient};

use crate::certificates::{Certificate, TlsStream, dial};

trunkline_probes::probes! {
    tls_by_ssl_request_with_psql, scram_sha_256_plus_with_psql, direct_tls, direct_tls_needs_its_alpn, clients_without_tls_where_it_is_required,
    cve_2021_3935_bytes_after_an_ssl_request_with_tls, nonsense_in_the_handshake, certificates_are_reloaded_by_hup,
    a_password_in_the_clear_over_tls,
}

fn with_tls(stage: &Stage, mode: &str, certificate: &Certificate) -> Setup {
    stage
        .setup()
        .set("tls.client.mode", mode)
        .set("tls.client.cert", certificate.cert().as_path())
        .set("tls.client.key", certificate.key().as_path())
}

/// Runs psql against the proxy, to test it with libpq.
fn psql(proxy: &Proxy, parameters: &str, command: &str) -> Output {
    let program = Binaries::installed()
        .into_iter()
        .map(|binaries| binaries.program("psql"))
        .find(|path| path.is_file())
        .unwrap_or_else(|| "psql".into());
    let target = format!(
        "host=localhost hostaddr=127.0.0.1 port={} user=app dbname=app connect_timeout=120",
        proxy.port()
    );
    Command::new(program)
        .env("PGPASSWORD", PASSWORD)
        .args(["-XAt", "-c", command, &format!("{target} {parameters}")])
        .output()
        .expect("psql runs")
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn tls_by_ssl_request_with_psql(stage: &Stage) {
    let (certificate, other) = (Certificate::new(), Certificate::new());
    let proxy = with_tls(stage, "allow", &certificate).start();
    for mode in ["require", "prefer"] {
        let output = psql(&proxy, &format!("sslmode={mode}"), "\\conninfo");
        assert!(output.status.success() && said(&output).contains("TLSv1.3"), "{mode}: {}", said(&output));
    }
    let output = psql(&proxy, "sslmode=disable", "\\conninfo");
    assert!(output.status.success() && !said(&output).contains("TLS"), "{}", said(&output));
    let verified = |root: &Certificate| {
        let parameters = format!("sslmode=verify-full sslrootcert={}", root.cert().display());
        psql(&proxy, &parameters, "select 'verified'")
    };
    assert_eq!(said(&verified(&certificate)), "verified\n");
    assert!(!verified(&other).status.success());
    let old = psql(&proxy, "sslmode=require ssl_max_protocol_version=TLSv1.2", "\\conninfo");
    assert!(said(&old).contains("TLSv1.2"), "{}", said(&old));
}

fn scram_sha_256_plus_with_psql(stage: &Stage) {
    let certificate = Certificate::new();
    let proxy = with_tls(stage, "require", &certificate).start();
    let bound = psql(&proxy, "sslmode=require channel_binding=require", "select 'bound'");
    assert_eq!(said(&bound), "bound\n");
    let unbound = psql(&proxy, "sslmode=require channel_binding=disable", "select 'unbound'");
    assert_eq!(said(&unbound), "unbound\n");
}

/// Sends a start-up packet of a trusted user and one query over a TLS stream, and returns the answers.
fn login_and_query_over(stream: &mut TlsStream) -> Vec<u8> {
    stream.write_all(&startup(&[("user", "app"), ("database", "app")])).expect("sent");
    stream.write_all(Messages::new().query("select 1").bytes()).expect("sent");
    let mut seen = Vec::new();
    while seen.iter().filter(|tag| **tag == b'Z').count() < 2 {
        seen.push(read_frame(stream).expect("a message").tag);
    }
    seen
}

fn direct_tls(stage: &Stage) {
    let certificate = Certificate::new();
    let proxy = with_tls(stage, "require", &certificate).set("auth.type", "trust").start();
    for _ in 0..5 {
        let mut stream = certificate.client(dial(proxy.address()), &[b"postgresql"]);
        assert!(login_and_query_over(&mut stream).ends_with(b"TDCZ"));
        assert_eq!(stream.conn.alpn_protocol(), Some(&b"postgresql"[..]));
    }
}

/// Without ALPN, the proxy could accept bytes that were meant for a server of another protocol (the ALPACA attack).
fn direct_tls_needs_its_alpn(stage: &Stage) {
    let certificate = Certificate::new();
    let proxy = with_tls(stage, "allow", &certificate).set("auth.type", "trust").start();
    let bystander = Bystander::start(&proxy);
    for alpn in [&[][..], &[&b"http/1.1"[..]], &[b"h2", b"imap"]] {
        let mut stream = certificate.client(dial(proxy.address()), alpn);
        let _ = stream.write_all(&startup(&[("user", "app"), ("database", "app")]));
        let mut byte = [0];
        assert!(!matches!(stream.read(&mut byte), Ok(1)), "{alpn:?} got an answer");
    }
    bystander.finish();
}

fn clients_without_tls_where_it_is_required(stage: &Stage) {
    let certificate = Certificate::new();
    let proxy = with_tls(stage, "require", &certificate).start();
    for (user, database) in [("app", "app"), ("stranger", "nowhere")] {
        let mut client = RawClient::connect(proxy.address()).expect("accepted");
        client.send(&startup(&[("user", user), ("database", database)])).expect("sent");
        let refusal = expect_refusal(&mut client, "28000");
        assert!(refusal.field(b'H').is_some_and(|hint| hint.contains("sslmode=require")), "{refusal:?}");
    }
}

/// Without the check, these bytes would be read as if they had come through TLS.
fn cve_2021_3935_bytes_after_an_ssl_request_with_tls(stage: &Stage) {
    let certificate = Certificate::new();
    let proxy = with_tls(stage, "allow", &certificate).start();
    let bystander = Bystander::start(&proxy);
    let packet = startup(&[("user", "app"), ("database", "app")]);
    for stuffed in [&packet[..], Messages::new().query("drop table x").bytes(), b"\x16", b"\0"] {
        let mut client = RawClient::connect(proxy.address()).expect("accepted");
        client.send(&[&ssl_request()[..], stuffed].concat()).expect("sent");
        expect_refusal(&mut client, "08P01");
    }
    bystander.finish();
}

fn nonsense_in_the_handshake(stage: &Stage) {
    let certificate = Certificate::new();
    let setup = with_tls(stage, "allow", &certificate);
    let proxy = setup.start();
    let bystander = Bystander::start(&proxy);
    // The timeout is so short only now, so that it could not affect the bystander's login.
    let short = setup.set("limits.client_login_timeout", "3s").text();
    proxy.reload_and_wait(&short).expect("reloaded");
    for nonsense in [
        &b"\x16\x03\x01\xff\xff"[..],
        b"\0\0\0\x08\x04\xd2\x16\x2f",
        b"GET / HTTP/1.1\r\n\r\n",
        &[0x16; 20_000],
        b"",
    ] {
        let mut stream = dial(proxy.address());
        stream.write_all(&ssl_request()).expect("sent");
        let mut answer = [0];
        stream.read_exact(&mut answer).expect("an answer");
        assert_eq!(&answer, b"S");
        let _ = stream.write_all(nonsense);
        // The proxy may send a TLS alert. Then it closes the connection, at the latest when the login takes too long.
        let mut rest = Vec::new();
        match stream.read_to_end(&mut rest) {
            Ok(_) => assert!(rest.len() < 100, "{rest:?}"),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{nonsense:?}"),
        }
    }
    bystander.finish();
}

fn certificates_are_reloaded_by_hup(stage: &Stage) {
    let (certificate, renewed) = (Certificate::new(), Certificate::new());
    let first_root = tempfile::NamedTempFile::new().expect("a file");
    std::fs::copy(certificate.cert(), first_root.path()).expect("copied");
    let setup = with_tls(stage, "allow", &certificate).set("auth.type", "trust");
    let proxy = setup.start();
    let bystander = Bystander::start(&proxy);
    let mut before = certificate.client(dial(proxy.address()), &[b"postgresql"]);
    login_and_query_over(&mut before);
    let trusts = |root: &std::path::Path| {
        let parameters = format!("sslmode=verify-full sslrootcert={}", root.display());
        psql(&proxy, &parameters, "select 1").status.success()
    };
    assert!(trusts(first_root.path()) && !trusts(&renewed.cert()));
    certificate.replace_by(&renewed);
    proxy.reload(&setup.text()).expect("reloaded");
    proxy.wait_for_log("certificates read again").expect("read");
    stage.eventually("the new certificate is shown", || {
        if trusts(&renewed.cert()) { Ok(()) } else { Err("the old one is".to_owned()) }
    });
    assert!(!trusts(first_root.path()));
    before.write_all(Messages::new().query("select 'still here'").bytes()).expect("sent");
    assert_eq!(read_frame(&mut before).expect("the old connection stays").tag, b'T');
    // If the new file is broken, the old certificate stays in use.
    std::fs::write(certificate.cert(), "no certificate").expect("written");
    proxy.reload(&setup.text()).expect("reloaded");
    proxy.wait_for_log("stay in use").expect("refused");
    assert!(trusts(&renewed.cert()));
    bystander.finish();
}

fn a_password_in_the_clear_over_tls(stage: &Stage) {
    let certificate = Certificate::new();
    let proxy = with_tls(stage, "require", &certificate).set("auth.type", "password").start();
    assert_eq!(said(&psql(&proxy, "sslmode=require", "select 'in'")), "in\n");
    let wrong = psql(&proxy, "sslmode=require password=guess", "select 'in'");
    assert!(
        !wrong.status.success() && said(&wrong).contains("password authentication failed"),
        "{}",
        said(&wrong)
    );
}
