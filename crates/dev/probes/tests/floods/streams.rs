//! Messages and packets of hundreds of megabytes. They are passed on in pieces, or refused at once.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use trunkline_probes::{Bystander, MemoryWatch, Stage, expect_refusal, login, note, tags};
use trunkline_testkit::raw::{read_frame, startup};
use trunkline_testkit::{Messages, PATIENCE, Proxy, RawClient};

use crate::alone;

trunkline_probes::probes! {
    a_400_mb_start_up_packet_without_login, a_2_gb_length_header, a_300_mb_query, a_300_mb_bind, a_300_mb_row_to_a_slow_reader,
    a_client_and_server_that_both_only_write, a_300_mb_copy,
}

const MB: usize = 1_000_000;
/// How much the proxy's memory may grow.
const RISE_KIB_MAX: u64 = 10 << 10;
/// How many bytes are written at a time.
const CHUNK_BYTES: usize = 100_000;

/// A proxy that has already run queries, a bystander, and a measurement of the proxy's memory.
struct Scene {
    proxy: Proxy,
    bystander: Bystander,
    memory: MemoryWatch,
}

impl Scene {
    fn set(stage: &Stage) -> Self {
        let proxy = stage.proxy();
        let bystander = Bystander::start(&proxy);
        bystander.wait_for(50);
        login(&proxy, "app").sql("select repeat('warm', 100000)").expect("rows");
        let memory = MemoryWatch::start(&proxy);
        Self { proxy, bystander, memory }
    }

    fn end(self, what: &str) {
        self.bystander.finish();
        let rise = self.memory.rise_kib();
        note(&format!("{what}: resident memory rose by {rise} KiB"));
        assert!(rise < RISE_KIB_MAX, "resident memory rose by {rise} KiB");
    }
}

/// Writes `count` bytes, or as many as the peer accepts before it closes.
fn pour(to: &mut impl Write, count: usize) -> usize {
    let chunk = vec![b'x'; CHUNK_BYTES];
    let mut sent = 0;
    while sent < count {
        let part = chunk.get(..CHUNK_BYTES.min(count - sent)).expect("within");
        match to.write(part) {
            Ok(bytes) => sent += bytes,
            Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => break,
            Err(error) => panic!("after {sent} bytes: {error}"),
        }
    }
    sent
}

fn length(bytes: usize) -> [u8; 4] {
    u32::try_from(bytes).expect("below 4 GB").to_be_bytes()
}

fn a_400_mb_start_up_packet_without_login(stage: &Stage) {
    let _alone = alone();
    let scene = Scene::set(stage);
    let mut strangers = Vec::new();
    for _ in 0..3 {
        let mut stranger = RawClient::connect(scene.proxy.address()).expect("accepted");
        stranger.send(&[&length(400 * MB)[..], &[0, 3, 0, 0], b"user\0"].concat()).expect("sent");
        // The proxy sees the length in the first four bytes.
        let mut told = stranger.frame().expect("a refusal");
        assert_eq!(told.sqlstate().as_deref(), Some("08P01"));
        let sent = pour(&mut stranger, 400 * MB);
        assert!(sent < 100 * MB, "{sent} bytes were taken from somebody who was sent away");
        told.body.clear();
        strangers.push(stranger);
    }
    scene.end("a start-up packet of 400 MB");
}

fn a_2_gb_length_header(stage: &Stage) {
    let _alone = alone();
    let scene = Scene::set(stage);
    for tag in *b"QPBd" {
        let mut client = login(&scene.proxy, "app");
        client.send(&[&[tag][..], &i32::MAX.to_be_bytes()].concat()).expect("sent");
        expect_refusal(&mut client, "54000");
        let sent = pour(&mut client, 200 * MB);
        assert!(sent < 100 * MB, "{sent} bytes were taken from somebody who was sent away");
    }
    scene.end("a header that says 2 GB");
}

fn a_300_mb_query(stage: &Stage) {
    let _alone = alone();
    let scene = Scene::set(stage);
    let mut client = login(&scene.proxy, "app");
    let (head, tail) = (b"select 7 /*", b"*/\0");
    client.send(&[&b"Q"[..], &length(4 + head.len() + 300 * MB + tail.len()), head].concat()).expect("sent");
    assert_eq!(pour(&mut client, 300 * MB), 300 * MB);
    client.send(tail).expect("sent");
    assert_eq!(tags(&client.until_ready().expect("an answer")), "TDCZ");
    assert_eq!(client.sql("select 'and on'").expect("it goes on"), ["and on"]);
    scene.end("a Query of 300 MB");
}

fn a_300_mb_bind(stage: &Stage) {
    let _alone = alone();
    let scene = Scene::set(stage);
    let mut client = login(&scene.proxy, "app");
    // The statement has a name, so the proxy must put its own name into this Bind.
    client.turn(&Messages::new().parse("long", "select length($1::text)", &[]).sync()).expect("parsed");
    let head = [&b"\0long\0\0\0\0\x01"[..], &length(300 * MB)].concat();
    client.send(&[&b"B"[..], &length(4 + head.len() + 300 * MB + 2), &head].concat()).expect("sent");
    assert_eq!(pour(&mut client, 300 * MB), 300 * MB);
    client.send(b"\0\0").expect("sent");
    let frames = client.turn(&Messages::new().execute("", 0).sync()).expect("an answer");
    assert_eq!(tags(&frames), "2DCZ");
    assert!(frames.iter().any(|frame| frame.body.ends_with(b"300000000")));
    scene.end("a Bind of 300 MB");
}

fn a_300_mb_copy(stage: &Stage) {
    let _alone = alone();
    stage.sql("create unlogged table rows (v text); grant all on rows to public");
    let scene = Scene::set(stage);
    let mut client = login(&scene.proxy, "app");
    client.send_messages(&Messages::new().query("copy rows from stdin")).expect("sent");
    assert_eq!(client.frame().expect("COPY begins").tag, b'G');
    let row = [vec![b'y'; 999_999], b"\n".to_vec()].concat();
    let message = Messages::new().copy_data(&row);
    for _ in 0..300 {
        client.send_messages(&message).expect("sent");
    }
    client.send_messages(&Messages::new().copy_done()).expect("sent");
    let frames = client.until_ready().expect("an answer");
    assert_eq!(frames.first().map(trunkline_testkit::Frame::text).as_deref(), Some("COPY 300"));
    scene.end("a COPY of 300 MB");
}

/// A client that reads a little, sleeps, and reads the rest. The server must wait, and the proxy's memory must not grow.
fn a_300_mb_row_to_a_slow_reader(stage: &Stage) {
    let _alone = alone();
    let scene = Scene::set(stage);
    let mut client = login(&scene.proxy, "app");
    client.send_messages(&Messages::new().query("select repeat('x', 300000000)")).expect("sent");
    assert_eq!(client.frame().expect("columns").tag, b'T');
    let mut left = 5 + 2 + 4 + 300 * MB;
    let mut buffer = vec![0; CHUNK_BYTES];
    while left > 0 {
        if left > 280 * MB && left < 290 * MB {
            // This sleep is the slow reader; it synchronizes nothing.
            std::thread::sleep(Duration::from_millis(20));
        }
        let part = buffer.get_mut(..CHUNK_BYTES.min(left)).expect("within");
        client.read_exact(part).expect("more of the row");
        left -= part.len();
    }
    assert_eq!(tags(&client.until_ready().expect("the end")), "CZ");
    scene.end("a row of 300 MB");
}

/// A client sends a pipeline and does not read, while the server sends endless answers. Each of them waits when the other's buffer is
/// full, and continues when it is read. Nothing may be lost, and other clients must not be affected.
fn a_client_and_server_that_both_only_write(stage: &Stage) {
    const TURNS: usize = 400;
    let _alone = alone();
    let proxy = stage.setup().set("auth.type", "trust").start();
    let bystander = Bystander::start(&proxy);
    bystander.wait_for(50);
    let memory = MemoryWatch::start(&proxy);
    let mut reader = TcpStream::connect(proxy.address()).expect("accepted");
    reader.set_read_timeout(Some(PATIENCE)).expect("set");
    reader.write_all(&startup(&[("user", "app"), ("database", "app")])).expect("sent");
    while read_frame(&mut reader).expect("a welcome").tag != b'Z' {}
    let mut writer = reader.try_clone().expect("the same socket");
    let value = "v".repeat(200_000);
    let turn = Messages::new().extended("select $1 || repeat('x', 300000)", &[Some(&value)]);
    let (sender, progress) = std::sync::mpsc::channel();
    let writing = std::thread::spawn(move || {
        for number in 0..TURNS {
            writer.write_all(turn.bytes()).expect("taken in the end");
            let _ = sender.send(number);
        }
        writer
    });
    // Waits until the writer is blocked: no more bytes were accepted for a while.
    let mut written = 0;
    while let Ok(number) = progress.recv_timeout(Duration::from_millis(500)) {
        written = number + 1;
    }
    assert!(written < TURNS, "200 MB of results that nobody reads must hold the writer back");
    bystander.wait_for(50);
    let (mut ready, mut rows) = (0, 0);
    while ready < TURNS {
        let frame = read_frame(&mut reader).expect("an answer");
        assert_ne!(frame.tag, b'E', "{frame:?}");
        rows += usize::from(frame.tag == b'D' && frame.body.len() == 2 + 4 + 500_000);
        ready += usize::from(frame.tag == b'Z');
    }
    assert_eq!(rows, TURNS);
    for bound in ["client_buffer_bytes", "server_buffer_bytes"] {
        let label = format!("limit=\"{bound}\"");
        let hits = proxy.metric("trunkline_limit_hits_total", &[&label]).expect("a metric");
        assert!(hits >= 1.0, "{bound}");
    }
    let writer = writing.join().expect("the writer ends");
    writer.shutdown(Shutdown::Both).expect("closed");
    bystander.finish();
    let rise = memory.rise_kib();
    assert!(rise < RISE_KIB_MAX, "stuck after {written} turns, memory rose by {rise} KiB");
}
