//! Complete messages at a wrong moment, and invalid texts.

use trunkline_probes::{Stage, expect_error, expect_refusal, login, sqlstate, tags};
use trunkline_testkit::cluster::PASSWORD;
use trunkline_testkit::raw::startup;
use trunkline_testkit::{Frame, Messages, RawClient};

use crate::undisturbed;

trunkline_probes::probes! {
    messages_in_the_wrong_order, messages_in_the_wrong_order_during_login, unknown_types, invalid_utf8,
    invalid_utf8_at_start_up, a_describe_in_its_own_turn, start_up_packets_that_make_no_sense,
}

/// The part of an answer that must be equal for the proxy and the server: message types, and SQLSTATEs of errors.
fn outline(frames: &[Frame]) -> Vec<String> {
    frames.iter().map(|frame| frame.sqlstate().unwrap_or_else(|| char::from(frame.tag).to_string())).collect()
}

/// The proxy must answer as the server does.
fn messages_in_the_wrong_order(stage: &Stage) {
    undisturbed(&stage.setup().set("pool.pool_size", 2), |proxy| {
        let m = Messages::new;
        let turns = [
            m().sync(),
            m().execute("", 0).sync(),
            m().execute("nowhere", 0).sync(),
            m().bind("", "never_parsed", &[]).sync(),
            m().bind("", "", &[]).execute("", 0).sync(),
            m().describe(b'P', "").sync(),
            m().describe(b'S', "never_parsed").sync(),
            m().close(b'S', "never_parsed").close(b'P', "nowhere").sync(),
            m().execute("", 0).parse("", "select 1", &[]).bind("", "", &[]).execute("", 0).sync(),
            m().parse("", "select 1", &[]).execute("", 0).sync(),
            m().parse("", "select 1; select 2", &[]).sync(),
            m().parse("", "select", &[]).bind("", "", &[Some("too many")]).execute("", 0).sync(),
            m().copy_data(b"x").copy_done().copy_fail("none").sync(),
            m().copy_data(b"x").query("select 1"),
            m().flush().sync(),
            m().extended("select 1", &[]).execute("", 0).sync(),
            m().message(b'F', b"\xff\xff\xff\xff\0\0\0\0\0\0"),
        ];
        let mut client = login(proxy, "app");
        for turn in &turns {
            let expected = stage.direct("app").turn(turn).expect("frames");
            let got = client.turn(turn).expect("frames");
            assert_eq!(outline(&got), outline(&expected), "to {turn:?}");
            if tags(&got).matches('Z').count() == 1 && turn.bytes().ends_with(b"S\0\0\0\x04") {
                // A Sync in the middle ends a turn of its own, so there are several turns to read.
                let more = turn.bytes().windows(5).filter(|bytes| bytes == b"S\0\0\0\x04").count() - 1;
                for _ in 0..more {
                    client.until_ready().expect("the second turn");
                }
            }
            assert_eq!(client.sql("select 8").expect("it goes on"), ["8"], "after {turn:?}");
        }
    });
}

fn messages_in_the_wrong_order_during_login(stage: &Stage) {
    undisturbed(&stage.setup(), |proxy| {
        let m = Messages::new;
        let early = [
            m().query("select 1"),
            m().sync(),
            m().extended("select 1", &[]),
            m().copy_done(),
            m().message(b'?', b""),
        ];
        for messages in early {
            let mut stranger = RawClient::connect(proxy.address()).expect("accepted");
            stranger.send(&startup(&[("user", "app"), ("database", "app")])).expect("sent");
            assert_eq!(stranger.frame().expect("a challenge").tag, b'R');
            stranger.send_messages(&messages).expect("sent");
            expect_refusal(&mut stranger, "08P01");
        }
        // A query directly after the start-up packet is not from a logged-in client.
        let mut stranger = RawClient::connect(proxy.address()).expect("accepted");
        let both = [startup(&[("user", "app"), ("database", "app")]), m().query("select 1").bytes().to_vec()]
            .concat();
        stranger.send(&both).expect("sent");
        assert_eq!(stranger.frame().expect("a challenge").tag, b'R');
        expect_refusal(&mut stranger, "08P01");
        // A second start-up packet is not a message either.
        let mut client = login(proxy, "app");
        client.send(&startup(&[("user", "app"), ("database", "app")])).expect("sent");
        expect_refusal(&mut client, "08P01");
    });
}

fn unknown_types(stage: &Stage) {
    undisturbed(&stage.setup().set("pool.pool_size", 2), |proxy| {
        for tag in [0, b'0', b'R', b'Z', b'T', b'p', b'z', b'W', 0x7f, 0xff] {
            let mut idle = login(proxy, "app");
            idle.send_messages(&Messages::new().message(tag, b"body")).expect("sent");
            expect_refusal(&mut idle, "08P01");
        }
        for tag in [b'Z', 0xff] {
            let mut busy = login(proxy, "app");
            busy.sql("begin").expect("a transaction");
            busy.send_messages(&Messages::new().message(tag, b"body")).expect("sent");
            expect_refusal(&mut busy, "08P01");

            let mut skipping = login(proxy, "app");
            skipping.send_messages(&Messages::new().parse("", "no sql", &[]).flush()).expect("sent");
            expect_error(&mut skipping, "42601");
            skipping.send_messages(&Messages::new().message(tag, b"body")).expect("sent");
            expect_refusal(&mut skipping, "08P01");
        }
    });
    let open =
        "select count(*) from pg_stat_activity where datname = current_database() and state like 'idle in%'";
    stage.wait_for(open, "0");
}

fn invalid_utf8(stage: &Stage) {
    undisturbed(&stage.setup(), |proxy| {
        let mut client = login(proxy, "app");
        for bad in [&b"\xff"[..], b"\xc0\x80", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xe2\x82"] {
            let text = [b"select '", bad, b"'\0"].concat();
            let frames = client.turn(&Messages::new().message(b'Q', &text)).expect("frames");
            assert_eq!(outline(&frames), ["22021", "Z"], "{bad:?}");
            for name in [&b""[..], b"s", bad] {
                let body = [name, b"\0", &text, b"\0\0"].concat();
                let turn = Messages::new().message(b'P', &body).sync();
                assert_eq!(
                    outline(&client.turn(&turn).expect("frames")),
                    ["22021", "Z"],
                    "{bad:?} as {name:?}"
                );
            }
            let value =
                [&b"\0\0\0\0\0\x01\0\0\0"[..], &[u8::try_from(bad.len()).expect("short")], bad, b"\0\0"]
                    .concat();
            let turn =
                Messages::new().parse("", "select $1::text", &[]).message(b'B', &value).execute("", 0).sync();
            assert_eq!(outline(&client.turn(&turn).expect("frames")), ["1", "22021", "Z"], "{bad:?}");
            assert_eq!(client.sql("select 3").expect("it goes on"), ["3"]);
        }
    });
}

fn invalid_utf8_at_start_up(stage: &Stage) {
    undisturbed(&stage.setup(), |proxy| {
        for (name, value) in [
            (&b"user"[..], &b"\xff\xfe"[..]),
            (b"database", b"\xff"),
            (b"\xff\xff", b"x"),
            (b"application_name", b"a\xffb"),
        ] {
            let mut pairs: Vec<(&[u8], &[u8])> = vec![(b"user", b"trusted"), (b"database", b"app")];
            pairs.retain(|(known, _)| *known != name);
            pairs.push((name, value));
            let mut body = vec![0, 3, 0, 0];
            for (name, value) in pairs {
                body.extend([name, b"\0", value, b"\0"].concat());
            }
            body.push(0);
            let length = u32::try_from(body.len() + 4).expect("short");
            let mut stranger = RawClient::connect(proxy.address()).expect("accepted");
            stranger.send(&[&length.to_be_bytes()[..], &body].concat()).expect("sent");
            // The login is refused at once, or the client is asked for a password. There must be no panic and no hang.
            let frame = stranger.frame().expect("an answer");
            assert!(matches!(frame.tag, b'E' | b'R'), "{frame:?}");
        }
    });
}

/// For a Describe without a Parse in its turn, Odyssey and PgCat describe another connection's statement, or never answer.
fn a_describe_in_its_own_turn(stage: &Stage) {
    undisturbed(&stage.setup().set("pool.pool_size", 2), |proxy| {
        let mut client = login(proxy, "app");
        let parsed =
            client.turn(&Messages::new().parse("mine", "select $1::int as n", &[]).sync()).expect("frames");
        assert_eq!(tags(&parsed), "1Z");
        // The next turn uses another server connection.
        let mut other = login(proxy, "app");
        other.sql("begin").expect("a transaction");
        let described = client.turn(&Messages::new().describe(b'S', "mine").sync()).expect("frames");
        assert_eq!(tags(&described), "tTZ");
        let flushed = Messages::new().describe(b'S', "mine").flush();
        client.send_messages(&flushed).expect("sent");
        assert_eq!(client.frame().expect("parameters").tag, b't');
        assert_eq!(client.frame().expect("columns").tag, b'T');
        assert_eq!(tags(&client.turn(&Messages::new().sync()).expect("frames")), "Z");
        let unknown = client.turn(&Messages::new().describe(b'S', "not_mine").sync()).expect("frames");
        assert_eq!(outline(&unknown), ["26000", "Z"]);
        let portal = client.turn(&Messages::new().describe(b'P', "not_mine").sync()).expect("frames");
        assert_eq!(outline(&portal), ["34000", "Z"]);
        other.sql("commit").expect("done");
    });
}

fn start_up_packets_that_make_no_sense(stage: &Stage) {
    undisturbed(&stage.setup(), |proxy| {
        let packet = |rest: &[u8]| {
            let length = u32::try_from(rest.len() + 8).expect("short");
            [&length.to_be_bytes()[..], &[0, 3, 0, 0], rest].concat()
        };
        // No terminator; a name without a value; no user; an empty user; bytes after the end; an empty packet.
        let cases =
            [&b"user\0app"[..], b"user\0", b"database\0app\0\0", b"user\0\0\0", b"user\0app\0\0more", b""];
        for rest in cases {
            let mut stranger = RawClient::connect(proxy.address()).expect("accepted");
            stranger.send(&packet(rest)).expect("sent");
            let frame = stranger.frame().expect("a refusal");
            let code = frame.sqlstate().unwrap_or_default();
            assert!(matches!(code.as_str(), "08P01" | "28000"), "{rest:?}: {code}");
            stranger.expect_end().expect("closed");
        }
        let mut stranger = RawClient::connect(proxy.address()).expect("accepted");
        stranger.send(&startup(&[("user", "app"), ("database", "no such database")])).expect("sent");
        // Only a client that has logged in learns that its database does not exist: strangers/what_is_told.rs.
        assert_eq!(stranger.frame().expect("a challenge").tag, b'R');
        let error = RawClient::login(proxy.address(), "app", PASSWORD, "no such database").expect_err("none");
        assert_eq!(sqlstate(&error), "3D000");
    });
}
