//! A server that sends nonsense, at each stage of a connection. Its clients get an error, and other clients are not affected.

use std::time::Duration;

use anyhow::{Context, Result};
use trunkline_probes::{Setup, Stage, expect_error, tags};
use trunkline_testkit::raw::ServerConnection;
use trunkline_testkit::{Messages, Proxy, RawClient, RawServer};

use crate::undisturbed;

trunkline_probes::probes! {
    nonsense_before_the_login, nonsense_in_the_login, nonsense_in_a_query, nonsense_without_a_query, a_server_that_says_nothing,
    a_server_that_closes_at_once, cve_2026_6665_scram_of_absurd_size_or_iterations_from_a_server,
    cve_2026_6666_an_error_without_sqlstate_in_the_login, cve_2026_6666_an_error_without_sqlstate_in_a_query,
}

/// The SQLSTATE that clients get when a server connection is lost or broken.
const CONNECTION_FAILURE: &str = "08006";

/// The stage's config, with the fake server's database `fake` beside the real one.
fn beside(stage: &Stage, fake: &RawServer) -> Setup {
    stage
        .setup()
        .set("databases.fake.host", "127.0.0.1")
        .set("databases.fake.port", i64::from(fake.address().port()))
        // The proxy connects again at once for the next client.
        .set("timeouts.server_login_retry", "1ms")
        .set("timeouts.server_login_retry_max", "1ms")
}

/// Tries to log in to the fake server's database. The client must get a refusal with this SQLSTATE, and then the close.
fn refused_by_fake(proxy: &Proxy, sqlstate: &str) -> String {
    let mut client = RawClient::connect(proxy.address()).expect("accepted");
    let outcome = client.authenticate("correct-horse", &[("user", "app"), ("database", "fake")]);
    let error = outcome.expect_err("nothing can be had from this server");
    assert_eq!(trunkline_probes::sqlstate(&error), sqlstate, "{error:#}");
    client.expect_end().expect("closed");
    error.to_string()
}

fn frame(tag: u8, body: &[u8]) -> Vec<u8> {
    Messages::new().message(tag, body).bytes().to_vec()
}

/// Bytes that are not a valid answer to anything.
fn nonsense() -> Vec<Vec<u8>> {
    vec![
        b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
        b"E\0\0\0\x03".to_vec(),
        b"E\xff\xff\xff\xff".to_vec(),
        b"Z\x7f\xff\xff\xff".to_vec(),
        frame(b'Z', b""),
        frame(b'Z', b"?"),
        frame(b'Z', b"II"),
        frame(b'S', b"no ends"),
        frame(b'Q', b"select 1\0"),
        frame(0xff, b""),
        vec![0; 100],
    ]
}

fn nonsense_before_the_login(stage: &Stage) {
    let all = nonsense();
    let count = all.len();
    let fake = RawServer::start(move |peer| {
        peer.startup()?;
        let bytes = all.get(peer.number % all.len()).context("one of them")?.clone();
        send_and_stay(peer, &bytes)
    })
    .expect("a server");
    undisturbed(&beside(stage, &fake), |proxy| {
        for _ in 0..count {
            refused_by_fake(proxy, CONNECTION_FAILURE);
        }
    });
}

/// Sends bytes and keeps the connection open until the proxy closes it, which it must do.
fn send_and_stay(peer: &mut ServerConnection, bytes: &[u8]) -> Result<()> {
    peer.send(bytes)?;
    while peer.frame().is_ok() {}
    Ok(())
}

fn nonsense_in_the_login(stage: &Stage) {
    let ok = frame(b'R', &[0; 4]);
    let mut all: Vec<Vec<u8>> = nonsense();
    all.extend([
        frame(b'K', b"short"),
        frame(b'K', &[7; 3]),
        frame(b'R', &[0; 4]),
        frame(b'D', b"\0\0"),
        // More parameters than any server has.
        (0..20_000).flat_map(|number| frame(b'S', format!("p{number}\0x\0").as_bytes())).collect(),
        // A megabyte for one parameter.
        frame(b'S', &[&b"TimeZone\0"[..], &vec![b'x'; 1 << 20], b"\0"].concat()),
    ]);
    // An unexpected ReadyForQuery would end the login successfully, so it is no nonsense here.
    let count = all.len();
    let fake = RawServer::start(move |peer| {
        peer.startup()?;
        let bytes = all.get(peer.number % all.len()).context("one of them")?.clone();
        send_and_stay(peer, &[&ok[..], &bytes].concat())
    })
    .expect("a server");
    undisturbed(&beside(stage, &fake), |proxy| {
        for _ in 0..count {
            refused_by_fake(proxy, CONNECTION_FAILURE);
        }
    });
}

/// Logs in to a fake server that behaves correctly until it gets a query.
fn fake_client(proxy: &Proxy) -> RawClient {
    let mut client = RawClient::connect(proxy.address()).expect("accepted");
    client.authenticate("correct-horse", &[("user", "app"), ("database", "fake")]).expect("a login");
    client
}

/// A server that answers each odd query with a row, and each even one with the bytes that `answer` returns.
fn every_second_answer(answer: impl Fn(usize) -> Vec<u8> + Send + Sync + 'static) -> RawServer {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    RawServer::start(move |peer| {
        peer.handshake()?;
        while let Ok(frame) = peer.frame() {
            if frame.tag == b'Q' && frame.text().contains("nonsense") {
                peer.send(&answer(asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst)))?;
            } else if frame.tag == b'Q' {
                peer.answer("sense")?;
            }
        }
        Ok(())
    })
    .expect("a server")
}

fn nonsense_in_a_query(stage: &Stage) {
    let mut all = nonsense();
    let columns = frame(b'T', b"\0\x01v\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0");
    all.extend([
        frame(b'R', &[0; 4]),
        frame(b'K', &[0; 8]),
        frame(b'1', b""),
        frame(b'2', b""),
        frame(b'3', b""),
        frame(b't', b"\0\0"),
        frame(b'V', b"\0\0\0\0"),
        frame(b'v', b"\0\x03\0\0\0\0\0\0"),
        [columns.clone(), frame(b'Z', b"")].concat(),
        [columns, b"D\0\0\0\x01".to_vec()].concat(),
        [frame(b'C', &vec![b'x'; 70_000]), frame(b'Z', b"I")].concat(),
    ]);
    let count = all.len();
    let fake = every_second_answer(move |number| all.get(number % all.len()).cloned().unwrap_or_default());
    undisturbed(&beside(stage, &fake), |proxy| {
        for _ in 0..count {
            let mut client = fake_client(proxy);
            client.send_messages(&Messages::new().query("nonsense")).expect("sent");
            let frames = client.until_ready().expect("an answer");
            let error = frames.iter().find(|frame| frame.tag == b'E').expect("an error");
            assert_eq!(error.sqlstate().as_deref(), Some(CONNECTION_FAILURE), "{}", tags(&frames));
            assert_eq!(tags(&frames).chars().last(), Some('Z'), "outside a transaction it goes on");
            assert_eq!(client.sql("sense").expect("on a new server connection"), ["sense"]);
        }
    });
}

/// A server sends nonsense without a query: the proxy closes the connection, and no client gets the nonsense.
fn nonsense_without_a_query(stage: &Stage) {
    let mut all = nonsense();
    all.extend([
        frame(b'D', b"\0\0"),
        frame(b'C', b"SELECT 1\0"),
        frame(b'E', b"SERROR\0C42601\0Mwhat\0\0"),
        frame(b'Z', b"I"),
    ]);
    let count = all.len();
    let fake = RawServer::start(move |peer| {
        peer.handshake()?;
        let extra = all.get(peer.number % all.len()).cloned().unwrap_or_default();
        while let Ok(frame) = peer.frame() {
            if frame.tag == b'Q' {
                // After a correct answer, when no query is open.
                peer.answer_and("sense", &extra)?;
            }
        }
        Ok(())
    })
    .expect("a server");
    undisturbed(&beside(stage, &fake).set("pool.pool_size", 1), |proxy| {
        for number in 0..count {
            let mut client = fake_client(proxy);
            stage.eventually("the connection goes", || {
                if fake.accepted() > number + 1 {
                    return Ok(());
                }
                match client.sql("sense") {
                    Ok(rows) if rows == ["sense"] => Err("it stays".to_owned()),
                    Ok(rows) => panic!("wrong answer {rows:?}"),
                    // The client's query was sent while the nonsense was on its way.
                    Err(error) => match trunkline_probes::sqlstate(&error).as_str() {
                        CONNECTION_FAILURE => Err("it is gone".to_owned()),
                        other => panic!("{other}"),
                    },
                }
            });
        }
    });
}

fn a_server_that_says_nothing(stage: &Stage) {
    let fake = RawServer::start(|peer| {
        peer.startup()?;
        send_and_stay(peer, b"")
    })
    .expect("a server");
    let setup = beside(stage, &fake);
    undisturbed(&setup, |proxy| {
        // The timeout is so short only now, so that it cannot affect the real server before.
        let short = setup.clone().set("timeouts.server_connect_timeout", "1s").text();
        proxy.reload_and_wait(&short).expect("reloaded");
        refused_by_fake(proxy, CONNECTION_FAILURE);
    });
}

fn a_server_that_closes_at_once(stage: &Stage) {
    let fake = RawServer::start(|_| Ok(())).expect("a server");
    undisturbed(&beside(stage, &fake), |proxy| {
        for _ in 0..20 {
            refused_by_fake(proxy, CONNECTION_FAILURE);
        }
    });
}

/// The body of an AuthenticationSASLContinue.
fn challenge(text: &str) -> Vec<u8> {
    frame(b'R', &[&11_u32.to_be_bytes()[..], text.as_bytes()].concat())
}

fn cve_2026_6665_scram_of_absurd_size_or_iterations_from_a_server(stage: &Stage) {
    const CASES: usize = 9;
    let fake = RawServer::start(|peer| {
        peer.startup()?;
        let offer = if peer.number % CASES == 8 { "A".repeat(1900) } else { "SCRAM-SHA-256".to_owned() };
        peer.send_frame(b'R', &[&10_u32.to_be_bytes()[..], offer.as_bytes(), b"\0\0"].concat())?;
        let first = peer.frame()?;
        let text = String::from_utf8_lossy(&first.body).into_owned();
        let (_, nonce) = text.split_once("r=").context("a nonce")?;
        let salt = "c2FsdHNhbHRzYWx0c2FsdA==";
        let bytes = match peer.number % CASES {
            0 => challenge(&format!("r={nonce}x,s={salt},i=2147483647")),
            1 => challenge(&format!("r={nonce}x,s={salt},i=99999999999999999999")),
            2 => challenge(&format!("r={nonce}x,s={salt},i=0")),
            3 => challenge(&format!("r={nonce}x,s={salt},i=-1")),
            4 => challenge(&format!("r={nonce}{},s={salt},i=4096", "x".repeat(1500))),
            5 => challenge(&format!("r={nonce}x,s={},i=4096", "A".repeat(1600))),
            6 => challenge(&format!("r={nonce}x,s={salt},i=4096{}", ",a=b".repeat(300_000))),
            _ => b"R\x40\0\0\0\0\0\0\x0br=".to_vec(),
        };
        send_and_stay(peer, &bytes)
    })
    .expect("a server");
    undisturbed(&beside(stage, &fake), |proxy| {
        let before = proxy.cpu_time().expect("time");
        for _ in 0..CASES {
            refused_by_fake(proxy, CONNECTION_FAILURE);
        }
        let spent = proxy.cpu_time().expect("time") - before;
        // 2^31 iterations take minutes of CPU.
        assert!(spent < Duration::from_secs(20), "{spent:?}");
    });
}

fn cve_2026_6666_an_error_without_sqlstate_in_the_login(stage: &Stage) {
    let bodies = [
        &b"SFATAL\0Mgo away\0\0"[..],
        b"Mgo away\0\0",
        b"\0",
        b"",
        b"SFATAL",
        b"C\0\0",
        b"CX\0Mshort code\0\0",
    ];
    let fake = RawServer::start(move |peer| {
        peer.startup()?;
        let body = bodies.get(peer.number % bodies.len()).context("one of them")?;
        send_and_stay(peer, &frame(b'E', body))
    })
    .expect("a server");
    undisturbed(&beside(stage, &fake), |proxy| {
        for body in bodies {
            let message = refused_by_fake(proxy, CONNECTION_FAILURE);
            assert!(
                !body.windows(7).any(|text| text == b"go away") || message.contains("go away"),
                "{message}"
            );
        }
    });
}

fn cve_2026_6666_an_error_without_sqlstate_in_a_query(stage: &Stage) {
    let bodies = [&b"SERROR\0Mno\0\0"[..], b"Mno\0\0", b"\0", b"CX\0Mno\0\0", b"SERROR\0VERROR\0\0"];
    let fake = every_second_answer(move |number| {
        let body = bodies.get(number % bodies.len()).copied().unwrap_or_default();
        [frame(b'E', body), frame(b'Z', b"I")].concat()
    });
    undisturbed(&beside(stage, &fake), |proxy| {
        let mut client = fake_client(proxy);
        for body in bodies {
            let frames = client.turn(&Messages::new().query("nonsense")).expect("an answer");
            assert_eq!(tags(&frames), "EZ", "{body:?}");
            assert_eq!(client.sql("sense").expect("it goes on"), ["sense"]);
        }
    });
    // If such an error ends the connection, the proxy gives the client a complete error.
    let fake = every_second_answer(|_| frame(b'E', b"SFATAL\0Mgone\0\0"));
    undisturbed(&beside(stage, &fake), |proxy| {
        let mut client = fake_client(proxy);
        client.send_messages(&Messages::new().query("nonsense")).expect("sent");
        expect_error(&mut client, CONNECTION_FAILURE);
        assert_eq!(client.frame().expect("outside a transaction it goes on").tag, b'Z');
        assert_eq!(client.sql("sense").expect("on a new server connection"), ["sense"]);
    });
}
