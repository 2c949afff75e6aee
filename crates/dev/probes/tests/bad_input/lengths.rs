//! Bytes that are no messages, incomplete messages, and impossible lengths.

use std::io::Read;

use trunkline_probes::{Stage, expect_refusal, login};
use trunkline_testkit::raw::startup;
use trunkline_testkit::{Messages, Proxy, RawClient};

use crate::undisturbed;

trunkline_probes::probes! {
    garbage, half_messages, half_a_query_holds_no_server_connection, wrong_length_0, wrong_length_3, wrong_length_2_31_minus_1,
    wrong_length_2_32_minus_1, a_gigabyte_before_authentication, cve_2026_6664_length_overflow_before_authentication,
    lengths_inside_a_message_that_do_not_fit,
}

/// How many connections send garbage before and after the login.
const GARBAGE_CONNECTIONS: u64 = 150;

/// Pseudo-random bytes, the same in every run.
fn noise(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// Sends bytes, closes the sending direction, and reads everything up to the close.
fn answer_to(mut client: RawClient, bytes: &[u8]) -> Vec<u8> {
    // The proxy may close the connection before it has received all bytes.
    let _ = client.send(bytes);
    let _ = client.close_write();
    let mut answer = Vec::new();
    if let Err(error) = client.read_to_end(&mut answer) {
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "no close: {error}");
    }
    answer
}

/// A login and a query must still work after bad input of another client.
fn still_serves(proxy: &Proxy) {
    assert_eq!(login(proxy, "app").sql("select 'still here'").expect("rows"), ["still here"]);
}

fn garbage(stage: &Stage) {
    undisturbed(&stage.setup().set("pool.pool_size", 3), |proxy| {
        for seed in 1..=GARBAGE_CONNECTIONS {
            let bytes = noise(seed, usize::try_from(seed).expect("small") * 7);
            let before = RawClient::connect(proxy.address()).expect("accepted");
            let answer = answer_to(before, &bytes);
            // A client that has not logged in gets only a refusal: an ErrorResponse, or N for a TLS or GSS request.
            assert!(matches!(answer.first(), None | Some(b'E' | b'N')), "seed {seed}: {answer:?}");
        }
        for seed in 1..=10 {
            answer_to(login(proxy, "app"), &noise(seed, 3000));
        }
        let http = RawClient::connect(proxy.address()).expect("accepted");
        let answer = answer_to(http, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_eq!(answer.first(), Some(&b'E'), "a lost browser is told");
        still_serves(proxy);
    });
}

fn half_messages(stage: &Stage) {
    undisturbed(&stage.setup().set("pool.pool_size", 3), |proxy| {
        let packet = startup(&[("user", "app"), ("database", "app")]);
        for end in 0..packet.len() {
            let stranger = RawClient::connect(proxy.address()).expect("accepted");
            let answer = answer_to(stranger, packet.get(..end).expect("within"));
            assert!(answer.is_empty() || answer.first() == Some(&b'E'), "cut at {end}: {answer:?}");
        }
        let turn = Messages::new().extended("select $1::text", &[Some("halfway")]);
        for end in (0..turn.bytes().len()).step_by(5) {
            answer_to(login(proxy, "app"), turn.bytes().get(..end).expect("within"));
        }
        for end in 1..12 {
            let mut client = login(proxy, "app");
            client.sql("begin").expect("a transaction");
            answer_to(client, Messages::new().query("select 1").bytes().get(..end).expect("within"));
        }
        still_serves(proxy);
    });
    let open =
        "select count(*) from pg_stat_activity where datname = current_database() and state like 'idle in%'";
    stage.wait_for(open, "0");
}

fn half_a_query_holds_no_server_connection(stage: &Stage) {
    let proxy = stage.setup().set("pool.pool_size", 1).start();
    let whole = Messages::new().query("select 'whole at last'");
    let (head, tail) = whole.bytes().split_at(9);
    let mut dawdlers: Vec<RawClient> = (0..5).map(|_| login(&proxy, "app")).collect();
    for dawdler in &mut dawdlers {
        dawdler.send(head).expect("sent");
    }
    for _ in 0..20 {
        still_serves(&proxy);
    }
    for dawdler in &mut dawdlers {
        dawdler.send(tail).expect("sent");
        let frames = dawdler.until_ready().expect("an answer");
        assert_eq!(trunkline_probes::tags(&frames), "TDCZ");
    }
}

/// A header with an impossible length before the login, after it, and in a transaction.
fn wrong_length(stage: &Stage, length: u32) {
    undisturbed(&stage.setup().set("pool.pool_size", 3), |proxy| {
        let mut stranger = unauthenticated_client(proxy, false);
        stranger.send(&[length.to_be_bytes(), [0, 3, 0, 0]].concat()).expect("sent");
        expect_refusal(&mut stranger, "08P01");

        let mut stranger = unauthenticated_client(proxy, true);
        stranger.send(&[&b"p"[..], &length.to_be_bytes(), b"SCRAM"].concat()).expect("sent");
        expect_refusal(&mut stranger, "08P01");

        for (tag, state) in
            [(b'Q', "idle"), (b'P', "idle"), (b'B', "idle"), (b'S', "idle"), (b'Q', "begin"), (b'd', "copy")]
        {
            let mut client = login(proxy, "app");
            match state {
                "begin" => drop(client.sql("begin").expect("a transaction")),
                "copy" => {
                    client.sql("create temporary table t (v text)").expect("a table");
                    client
                        .send_messages(
                            &Messages::new()
                                .query("begin; create temporary table u (v text); copy u from stdin"),
                        )
                        .expect("sent");
                    while client.frame().expect("on the way to COPY").tag != b'G' {}
                }
                _ => {}
            }
            client.send(&[&[tag][..], &length.to_be_bytes(), b"body"].concat()).expect("sent");
            // A valid length is refused as too large, any other as invalid.
            let possible = i32::try_from(length).is_ok_and(|length| length >= 4);
            expect_refusal(&mut client, if possible { "54000" } else { "08P01" });
        }
        still_serves(proxy);
    });
    let open = "select count(*) from pg_stat_activity where datname = current_database() \
                and (state like 'idle in%' or query like 'copy%')";
    stage.wait_for(open, "0");
}

fn wrong_length_0(stage: &Stage) {
    wrong_length(stage, 0);
}

fn wrong_length_3(stage: &Stage) {
    wrong_length(stage, 3);
}

fn wrong_length_2_31_minus_1(stage: &Stage) {
    wrong_length(stage, i32::MAX as u32);
}

fn wrong_length_2_32_minus_1(stage: &Stage) {
    wrong_length(stage, u32::MAX);
}

fn a_gigabyte_before_authentication(stage: &Stage) {
    undisturbed(&stage.setup(), |proxy| {
        for packet in [&[0x40, 0, 0, 0, 0, 3, 0, 0][..], b"p\x40\0\0\0"] {
            let mut strangers: Vec<RawClient> =
                (0..50).map(|_| unauthenticated_client(proxy, packet[0] == b'p')).collect();
            for stranger in &mut strangers {
                stranger.send(packet).expect("sent");
            }
            for mut stranger in strangers {
                expect_refusal(&mut stranger, "08P01");
            }
        }
        still_serves(proxy);
    });
}

/// A client that has not logged in and has sent nothing, or a start-up packet.
fn unauthenticated_client(proxy: &Proxy, start_up_sent: bool) -> RawClient {
    let mut stranger = RawClient::connect(proxy.address()).expect("accepted");
    if start_up_sent {
        stranger.send(&startup(&[("user", "app"), ("database", "app")])).expect("sent");
        assert_eq!(stranger.frame().expect("a challenge").tag, b'R');
    }
    stranger
}

/// PgBouncer added a length to a position in 32 bits before it had checked either.
fn cve_2026_6664_length_overflow_before_authentication(stage: &Stage) {
    undisturbed(&stage.setup(), |proxy| {
        for length in [0x7fff_ffff_u32, 0x8000_0000, 0xffff_fff0, 0xffff_fffb, 0xffff_fffc, 0xffff_ffff] {
            let mut stranger = unauthenticated_client(proxy, false);
            stranger
                .send(&[&length.to_be_bytes()[..], &[0, 3, 0, 0], b"user\0app\0\0"].concat())
                .expect("sent");
            expect_refusal(&mut stranger, "08P01");

            let mut stranger = unauthenticated_client(proxy, true);
            stranger.send(&[&b"p"[..], &length.to_be_bytes(), b"SCRAM-SHA-256\0"].concat()).expect("sent");
            expect_refusal(&mut stranger, "08P01");

            // The length of the SASL data inside the message is one more length that could overflow.
            let mut stranger = unauthenticated_client(proxy, true);
            let body = [&b"SCRAM-SHA-256\0"[..], &length.to_be_bytes(), b"n,,n=,r=abc"].concat();
            stranger.send_messages(&Messages::new().message(b'p', &body)).expect("sent");
            expect_refusal(&mut stranger, "08P01");
        }
        still_serves(proxy);
    });
}

/// The server answers with an ERROR and continues. If the proxy itself must read the message, it closes the connection, because
/// it cannot know what the client's next bytes mean.
fn lengths_inside_a_message_that_do_not_fit(stage: &Stage) {
    undisturbed(&stage.setup().set("pool.pool_size", 2), |proxy| {
        let parsed = || Messages::new().parse("", "select $1::text", &[]);
        let bind = |body: &[u8]| parsed().message(b'B', body).execute("", 0).sync();
        let bad = [
            bind(b"\0\0\0\0\0\x01\x7f\xff\xff\xffx\0\0"),
            bind(b"\0\0\0\0\0\x01\x80\0\0\0x\0\0"),
            bind(b"\0\0\xff\xff\0\0"),
            bind(b"\0"),
            bind(b""),
            Messages::new().message(b'D', b"").sync(),
            Messages::new().message(b'D', b"Xwhat\0").sync(),
            Messages::new().message(b'C', b"Xwhat\0").sync(),
            Messages::new().message(b'E', b"\0\0").sync(),
            Messages::new().message(b'P', b"name only").sync(),
            Messages::new().message(b'P', b"name\0select 1\0\xff\xff").sync(),
            Messages::new().message(b'Q', b"select 1"),
        ];
        for turn in &bad {
            let mut client = login(proxy, "app");
            client.send_messages(turn).expect("sent");
            let frames = client.until_ready().expect("an answer");
            let refused = frames.iter().find_map(trunkline_testkit::Frame::sqlstate);
            assert_eq!(refused.as_deref(), Some("08P01"), "{turn:?}");
            match frames.last().map(|last| last.tag) {
                Some(b'Z') => assert_eq!(client.sql("select 5").expect("it goes on"), ["5"]),
                _ => client.expect_end().expect("closed"),
            }
        }
        still_serves(proxy);
    });
}
