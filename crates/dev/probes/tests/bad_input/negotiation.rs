//! Requests for encryption, and protocol versions.

use trunkline_probes::{Stage, expect_refusal, login};
use trunkline_testkit::raw::{ssl_request, startup};
use trunkline_testkit::{Frame, Messages, RawClient};

use crate::undisturbed;

trunkline_probes::probes! {
    cve_2021_3935_bytes_after_an_ssl_request, repeated_ssl_and_gss_negotiation, ssl_and_gss_are_refused_and_the_login_continues,
    protocol_3_0_and_3_2_are_spoken, protocol_3_1_is_spoken_as_3_0, protocol_3_9999_is_negotiated,
    unknown_protocol_options_are_declined, protocol_2_0_is_refused, protocol_4_0_is_refused, direct_tls_without_tls_on_the_proxy,
}

const GSSENC_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 48];

/// A start-up packet of user `app` that asks for this version. Its parameters may contain protocol options.
fn startup_of_version(major: u16, minor: u16, parameters: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = startup(&[&[("user", "app"), ("database", "app")], parameters].concat());
    let version = [major.to_be_bytes(), minor.to_be_bytes()].concat();
    bytes.splice(4..8, version);
    bytes
}

fn cve_2021_3935_bytes_after_an_ssl_request(stage: &Stage) {
    undisturbed(&stage.setup(), |proxy| {
        let extra = [
            startup(&[("user", "app"), ("database", "app")]),
            Messages::new().query("select 1").bytes().to_vec(),
            vec![0],
        ];
        for request in [ssl_request(), GSSENC_REQUEST.to_vec()] {
            for stuffed in &extra {
                let mut stranger = RawClient::connect(proxy.address()).expect("accepted");
                stranger.send(&[&request[..], stuffed].concat()).expect("sent");
                expect_refusal(&mut stranger, "08P01");
            }
        }
    });
}

fn repeated_ssl_and_gss_negotiation(stage: &Stage) {
    undisturbed(&stage.setup(), |proxy| {
        for order in [[ssl_request(), ssl_request()], [GSSENC_REQUEST.to_vec(), GSSENC_REQUEST.to_vec()]] {
            let mut stranger = RawClient::connect(proxy.address()).expect("accepted");
            stranger.send(&order[0]).expect("sent");
            assert_eq!(byte(&mut stranger), b'N');
            stranger.send(&order[1]).expect("sent");
            expect_refusal(&mut stranger, "08P01");
        }
        let mut stranger = RawClient::connect(proxy.address()).expect("accepted");
        for request in [ssl_request(), GSSENC_REQUEST.to_vec()] {
            stranger.send(&request).expect("sent");
            assert_eq!(byte(&mut stranger), b'N');
        }
        stranger.send(&GSSENC_REQUEST).expect("sent");
        expect_refusal(&mut stranger, "08P01");
    });
}

fn byte(client: &mut RawClient) -> u8 {
    let mut byte = [0];
    std::io::Read::read_exact(client, &mut byte).expect("an answer");
    byte[0]
}

fn ssl_and_gss_are_refused_and_the_login_continues(stage: &Stage) {
    let proxy = stage.proxy();
    for order in [
        vec![GSSENC_REQUEST.to_vec(), ssl_request()],
        vec![ssl_request()],
        vec![ssl_request(), GSSENC_REQUEST.to_vec()],
    ] {
        let mut client = RawClient::connect(proxy.address()).expect("accepted");
        for request in order {
            client.send(&request).expect("sent");
            assert_eq!(byte(&mut client), b'N');
        }
        client
            .authenticate("correct-horse", &[("user", "app"), ("database", "app")])
            .expect("a login in the clear");
        assert_eq!(client.sql("select 1").expect("rows"), ["1"]);
    }
}

/// Logs in without a password, with this protocol version, and returns the messages up to ReadyForQuery.
fn login_frames(stage: &Stage, minor: u16, options: &[(&str, &str)]) -> Vec<Frame> {
    let proxy = stage.setup().set("auth.type", "trust").start();
    let mut client = RawClient::connect(proxy.address()).expect("accepted");
    client.send(&startup_of_version(3, minor, options)).expect("sent");
    let frames = client.until_ready().expect("a welcome");
    assert_eq!(frames.last().map(|frame| frame.tag), Some(b'Z'), "{frames:?}");
    assert_eq!(client.sql("select 6 * 7").expect("rows"), ["42"]);
    frames
}

fn cancel_key_bytes(frames: &[Frame]) -> usize {
    frames.iter().find(|frame| frame.tag == b'K').expect("BackendKeyData").body.len() - 4
}

fn protocol_3_0_and_3_2_are_spoken(stage: &Stage) {
    let oldest = login_frames(stage, 0, &[]);
    assert!(oldest.iter().all(|frame| frame.tag != b'v'), "{oldest:?}");
    assert_eq!(cancel_key_bytes(&oldest), 4, "3.0 knows no other length");
    let newest = login_frames(stage, 2, &[]);
    assert!(newest.iter().all(|frame| frame.tag != b'v'), "{newest:?}");
    assert_eq!(cancel_key_bytes(&newest), 32);
}

fn protocol_3_1_is_spoken_as_3_0(stage: &Stage) {
    let frames = login_frames(stage, 1, &[]);
    assert_eq!(cancel_key_bytes(&frames), 4);
    let negotiated = frames.iter().find(|frame| frame.tag == b'v');
    assert!(negotiated.is_none_or(|frame| frame.body.starts_with(&[0, 3, 0, 0])), "{negotiated:?}");
}

fn protocol_3_9999_is_negotiated(stage: &Stage) {
    let frames = login_frames(stage, 9999, &[]);
    assert_eq!(frames.first().map(|frame| frame.tag), Some(b'v'), "it comes first: {frames:?}");
    assert_eq!(frames[0].body, [0, 3, 0, 2, 0, 0, 0, 0], "3.2, and no option declined");
    assert_eq!(cancel_key_bytes(&frames), 32);
}

fn unknown_protocol_options_are_declined(stage: &Stage) {
    let frames = login_frames(stage, 0, &[("_pq_.teleport", "on"), ("_pq_.tea", "milk")]);
    assert_eq!(frames.first().map(|frame| frame.tag), Some(b'v'), "{frames:?}");
    assert_eq!(frames[0].body, [&[0, 3, 0, 0, 0, 0, 0, 2][..], b"_pq_.teleport\0_pq_.tea\0"].concat());
}

fn refused_version(stage: &Stage, major: u16) {
    undisturbed(&stage.setup(), |proxy| {
        let mut stranger = RawClient::connect(proxy.address()).expect("accepted");
        stranger.send(&startup_of_version(major, 0, &[])).expect("sent");
        let refusal = expect_refusal(&mut stranger, "0A000");
        assert!(refusal.field(b'M').is_some_and(|text| text.contains(&format!("{major}.0"))), "{refusal:?}");
    });
}

fn protocol_2_0_is_refused(stage: &Stage) {
    refused_version(stage, 2);
}

fn protocol_4_0_is_refused(stage: &Stage) {
    refused_version(stage, 4);
}

/// Direct TLS on a listener without TLS is closed, because the client would only understand TLS records.
fn direct_tls_without_tls_on_the_proxy(stage: &Stage) {
    undisturbed(&stage.setup(), |proxy| {
        let mut stranger = RawClient::connect(proxy.address()).expect("accepted");
        stranger.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03").expect("sent");
        stranger.expect_end().expect("closed");
        login(proxy, "app");
    });
}
