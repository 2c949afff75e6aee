//! Pipelines, many statements and bounded memory. Each turn uses another server connection than the turn before.

use std::io::Write;
use std::time::{Duration, Instant};

use trunkline_probes::testkit::{Messages, RawClient, RawServer};
use trunkline_probes::{
    Bystander, Gate, MemoryWatch, Rotation, Stage, errors, expect_refusal, login, probes, tags, values,
};

probes! {
    query_timeout_counts_each_query_of_a_pipeline,
    several_turns_in_one_packet,
    errors_in_the_middle_of_pipelines,
    a_pipeline_of_a_thousand_statements,
    a_pipeline_of_many_turns_of_a_thousand_statements,
    the_least_recently_used_statement_is_closed,
    more_statements_in_one_pipeline_than_the_server_keeps,
    ten_thousand_statements_in_bounded_memory,
    a_client_and_a_server_that_both_only_write,
    a_reader_that_stops_holds_back_its_server_only,
    bounds_on_turns_and_statements_are_counted,
}

const SIZE: usize = 3;

fn bind(name: &str, values: &[Option<&str>]) -> Messages {
    Messages::new().bind("", name, values).execute("", 0).sync()
}

/// The bytes of all messages, one after the other.
fn joined(all: impl IntoIterator<Item = Messages>) -> Vec<u8> {
    all.into_iter().flat_map(|messages| messages.bytes().to_vec()).collect()
}

fn several_turns_in_one_packet(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), SIZE as i64).start();
    let (mut client, mut other) = (login(&proxy, "app"), login(&proxy, "app"));
    Rotation::warm(&proxy, SIZE);
    for round in 0..2 * SIZE {
        let name = format!("s{round}");
        let packet = joined([
            Messages::new().query("select 'a'"),
            Messages::new().parse(&name, "select 'b', $1::int", &[]).sync(),
            bind(&name, &[Some("1")]),
            Messages::new().query("begin; select 'c'"),
            Messages::new().extended("select 'd'", &[]),
            Messages::new().query("select 'e'; commit; select 'f'"),
            bind(&name, &[Some("2")]),
            Messages::new().close(b'S', &name).sync(),
            bind(&name, &[Some("3")]),
            Messages::new().sync(),
        ]);
        client.send(&packet).expect("sent");
        let turns: Vec<_> = (0..10).map(|_| client.until_ready().expect("an answer")).collect();
        let rows: Vec<_> = turns.iter().map(|turn| values(turn).join(",")).collect();
        assert_eq!(
            rows,
            ["a", "", "b|1", "c", "d", "e,f", "b|2", "", "", ""],
            "round {round}: {:?}",
            turns[6][0]
        );
        assert_eq!(errors(&turns[8]), ["26000"]);
        assert_eq!(other.sql("select 1").expect("rows"), ["1"]);
    }
    // The same bytes in pieces that end anywhere.
    let packet = joined([
        Messages::new().query("select 'a'"),
        Messages::new().extended("select $1::text", &[Some("b")]),
        Messages::new()
            .parse("p", "select 'c'", &[])
            .bind("", "p", &[])
            .execute("", 0)
            .close(b'S', "p")
            .sync(),
    ]);
    for size in [1, 2, 3, 5, 7, 11, 50] {
        for piece in packet.chunks(size) {
            client.send(piece).expect("sent");
        }
        let rows: Vec<_> = (0..3).flat_map(|_| values(&client.until_ready().expect("an answer"))).collect();
        assert_eq!(rows, ["a", "b", "c"], "pieces of {size}");
    }
}

/// Turns with an error in the middle. The later answers depend on which statements exist after the error.
fn erring_packets() -> [Vec<u8>; 6] {
    let bad = || Messages::new().parse("", "select 1/0", &[]).bind("", "", &[]).execute("", 0);
    [
        joined([bad().parse("x", "select 1", &[]).sync(), bind("x", &[]), Messages::new().query("select 2")]),
        joined([bad().bind("", "nothing", &[]).close(b'S', "x").describe(b'S', "x").flush().sync()]),
        joined([
            Messages::new().parse("x", "select 'x'", &[]).sync(),
            Messages::new().bind("", "x", &[]).execute("", 0).parse("x", "select 'y'", &[]).sync(),
            bind("x", &[]),
            bad().close(b'S', "x").sync(),
            bind("x", &[]),
            Messages::new()
                .close(b'S', "x")
                .parse("x", "select 'z'", &[])
                .bind("", "x", &[])
                .execute("", 0)
                .sync(),
            Messages::new().close(b'S', "x").sync(),
        ]),
        joined([
            Messages::new().query("begin"),
            bad().sync(),
            Messages::new().parse("x", "select 'x'", &[]).sync(),
            bind("x", &[]),
            Messages::new().query("rollback"),
            bind("x", &[]),
            Messages::new().parse("x", "select 'x'", &[]).sync(),
            bind("x", &[]),
            Messages::new().close(b'S', "x").sync(),
        ]),
        joined([Messages::new()
            .parse("x", "selekt", &[])
            .query("select 1")
            .parse("x", "select 'x'", &[])
            .sync()]),
        joined([
            Messages::new().parse("x", "select 'x'", &[]).query("select 1"),
            bind("x", &[]),
            Messages::new().query("deallocate all"),
            bind("x", &[]),
            Messages::new()
                .parse("x", "select 'x'", &[])
                .bind("", "x", &[])
                .execute("", 0)
                .close(b'S', "x")
                .sync(),
        ]),
    ]
}

/// The answers to a packet, turn by turn: tags, SQLSTATEs, rows.
fn answers(client: &mut RawClient, packet: &[u8]) -> Vec<(String, Vec<String>, Vec<String>)> {
    client.send(packet).expect("sent");
    // An extra turn after the packet marks the end of the answers.
    client.send_messages(&Messages::new().query("select 'the end'")).expect("sent");
    let mut answers: Vec<(String, Vec<String>, Vec<String>)> = Vec::new();
    while answers.last().is_none_or(|(_, _, rows)| rows != &["the end"]) {
        let frames = client.until_ready().expect("an answer");
        answers.push((tags(&frames), errors(&frames), values(&frames)));
    }
    answers
}

/// Each message must be answered as the server itself would, whether the proxy knows the statements or not.
fn errors_in_the_middle_of_pipelines(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), SIZE as i64).start();
    let (mut client, mut direct) = (login(&proxy, "app"), stage.direct("app"));
    Rotation::warm(&proxy, SIZE);
    for round in 0..2 * SIZE {
        for (number, packet) in erring_packets().iter().enumerate() {
            let (through, expected) = (answers(&mut client, packet), answers(&mut direct, packet));
            assert_eq!(through, expected, "packet {number}, round {round}");
        }
    }
}

fn a_pipeline_of_a_thousand_statements(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup().set("limits.max_prepared_statements", 100), 1).start();
    let mut client = login(&proxy, "app");
    let mut messages = Messages::new();
    for number in 0..1000 {
        let name = format!("s{number}");
        messages = messages.parse(&name, &format!("select {number}, $1::int"), &[]);
        messages = messages.bind("", &name, &[Some("7")]).execute("", 0);
    }
    let frames = client.turn(&messages.sync()).expect("rows");
    assert_eq!(values(&frames), (0..1000).map(|number| format!("{number}|7")).collect::<Vec<_>>());
    assert_eq!(tags(&frames), format!("{}Z", "12DC".repeat(1000)));
    // Executes all of them again in reverse order.
    let mut messages = Messages::new();
    for number in (0..1000).rev() {
        messages = messages.bind("", &format!("s{number}"), &[Some("8")]).execute("", 0);
    }
    let frames = client.turn(&messages.sync()).expect("rows");
    assert_eq!(values(&frames), (0..1000).rev().map(|number| format!("{number}|8")).collect::<Vec<_>>());
}

fn a_pipeline_of_many_turns_of_a_thousand_statements(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), SIZE as i64).start();
    let mut client = login(&proxy, "app");
    let packet = joined(
        (0..1000).map(|number| Messages::new().extended("select $1::int", &[Some(&number.to_string())])),
    );
    // More bytes than all buffers hold, so one thread writes while another reads.
    let bystander = Bystander::start(&proxy);
    let writer = std::thread::spawn(move || {
        client.send(&packet).expect("sent");
        client
    });
    let mut client = writer.join().expect("the writer");
    for number in 0..1000 {
        assert_eq!(values(&client.until_ready().expect("rows")), [number.to_string()]);
    }
    bystander.finish();
}

fn the_least_recently_used_statement_is_closed(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup().set("limits.max_prepared_statements", 2), 1).start();
    let mut client = login(&proxy, "app");
    for name in ["a", "b", "c", "a", "d"] {
        let turn = Messages::new().close(b'S', name).parse(name, &format!("select '{name}'"), &[]);
        assert!(errors(&client.turn(&turn.sync()).expect("parsed")).is_empty());
        assert_eq!(values(&client.turn(&bind(name, &[])).expect("rows")), [name]);
    }
    let sql = "select string_agg(statement, ',' order by statement) from pg_prepared_statements";
    assert_eq!(client.sql(sql).expect("rows"), ["select 'a',select 'd'"]);
    for name in ["b", "a", "c", "d", "b"] {
        assert_eq!(values(&client.turn(&bind(name, &[])).expect("rows")), [name]);
    }
    assert_eq!(client.sql(sql).expect("rows"), ["select 'b',select 'd'"]);
    let evicted = proxy.metric("trunkline_prepare_evictions_total", &[]).expect("a metric");
    assert!(evicted >= 6.0, "{evicted}");
}

fn more_statements_in_one_pipeline_than_the_server_keeps(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup().set("limits.max_prepared_statements", 1), SIZE as i64).start();
    let mut client = login(&proxy, "app");
    Rotation::warm(&proxy, SIZE);
    for name in ["a", "b", "c"] {
        client.turn(&Messages::new().parse(name, &format!("select '{name}'"), &[]).sync()).expect("parsed");
    }
    for _ in 0..SIZE {
        let order = ["a", "b", "a", "c", "b", "b", "a"];
        let messages =
            order.iter().fold(Messages::new(), |messages, name| messages.bind("", name, &[]).execute("", 0));
        assert_eq!(values(&client.turn(&messages.sync()).expect("rows")), order);
        // An error in the middle: a statement that was evicted for a skipped one must still work.
        let messages = Messages::new().bind("", "a", &[]).execute("", 0).bind("", "nothing", &[]);
        let messages = messages.bind("", "b", &[]).execute("", 0).bind("", "c", &[]).execute("", 0);
        assert_eq!(errors(&client.turn(&messages.sync()).expect("an answer")), ["26000"]);
        for name in ["a", "b", "c"] {
            assert_eq!(values(&client.turn(&bind(name, &[])).expect("rows")), [name]);
        }
    }
}

fn ten_thousand_statements_in_bounded_memory(stage: &Stage) {
    const STATEMENTS: usize = 10_000;
    /// Each statement's text has about 300 bytes. The client's names, the registry and the servers' lists share one copy.
    const RISE_KIB_MAX: u64 = 24 * 1024;
    let setup = stage.setup().set("limits.max_prepared_statements", 100);
    let proxy = Rotation::setup(setup.set("limits.prepared_registry_bytes_max", "1MiB"), 2).start();
    let mut client = login(&proxy, "app");
    Rotation::warm(&proxy, 2);
    let padding = "x".repeat(250);
    let watch = MemoryWatch::start(&proxy);
    for batch in 0..STATEMENTS / 100 {
        let mut messages = Messages::new();
        for number in batch * 100..(batch + 1) * 100 {
            messages =
                messages.parse(&format!("s{number}"), &format!("select {number} /* {padding} */"), &[]);
        }
        assert!(errors(&client.turn(&messages.sync()).expect("parsed")).is_empty());
    }
    for number in (0..STATEMENTS).step_by(97) {
        let rows = values(&client.turn(&bind(&format!("s{number}"), &[])).expect("rows"));
        assert_eq!(rows, [number.to_string()]);
    }
    let kept = client.sql("select count(*) from pg_prepared_statements").expect("rows");
    assert!(kept[0].parse::<usize>().expect("a number") <= 100, "{kept:?}");
    // Closed statements must use no memory: three times as many are prepared, and all are closed again.
    drop(client);
    let mut client = login(&proxy, "app");
    for batch in 0..3 * STATEMENTS / 100 {
        let mut messages = Messages::new();
        for number in batch * 100..(batch + 1) * 100 {
            messages =
                messages.parse("s", &format!("select -{number} /* {padding} */"), &[]).close(b'S', "s");
        }
        assert!(errors(&client.turn(&messages.sync()).expect("parsed")).is_empty());
    }
    let bytes = proxy.metric("trunkline_prepared_statement_bytes", &[]).expect("a metric");
    assert!(bytes <= f64::from(2 << 20), "the registry holds {bytes} bytes");
    let rise = watch.rise_kib();
    assert!(rise < RISE_KIB_MAX, "{rise} KiB more than before");
}

fn a_client_and_a_server_that_both_only_write(stage: &Stage) {
    /// More bytes than all buffers hold, in each direction.
    const BYTES: usize = 64 << 20;
    let server = RawServer::start(|peer| {
        peer.handshake()?;
        peer.frame()?;
        // Sends endless rows and reads nothing.
        let row = [b"D\0\0\x40\x0a\0\x01\0\0\x40\0".as_slice(), &[b'x'; 0x4000]].concat();
        peer.send(b"T\0\0\0\x1a\0\x01v\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0")?;
        loop {
            peer.send(&row)?;
        }
    })
    .expect("a server");
    let setup = stage.setup().set("databases.fake.host", "127.0.0.1");
    let setup = setup.set("timeouts.abandoned_turn_timeout", "1s");
    let proxy = setup.set("databases.fake.port", i64::from(server.address().port())).start();
    let watch = MemoryWatch::start(&proxy);
    let mut client =
        RawClient::login(proxy.address(), "app", trunkline_probes::testkit::cluster::PASSWORD, "fake")
            .expect("a login");
    client.send_messages(&Messages::new().query("select")).expect("sent");
    // The client only writes, until no more bytes are accepted.
    client.set_write_limit(Duration::from_secs(1)).expect("a limit");
    let query = Messages::new().query(&"x".repeat(60_000));
    let mut written = 0;
    while written < BYTES
        && client.write(query.bytes()).is_ok_and(|count| {
            written += count;
            count > 0
        })
    {}
    assert!(written < BYTES, "{written} bytes were taken of a client whose server reads none");
    let bystander = Bystander::start(&proxy);
    bystander.wait_for(20);
    bystander.finish();
    let rise = watch.rise_kib();
    assert!(rise < 10 * 1024, "{rise} KiB");
    drop(client);
    let gone = Instant::now();
    stage.eventually("its server connection is closed", || {
        let servers =
            proxy.metric("trunkline_servers", &["database=\"fake\""]).map_err(|error| error.to_string())?;
        if servers == 0.0 { Ok(()) } else { Err(format!("{servers} after {:?}", gone.elapsed())) }
    });
}

fn a_reader_that_stops_holds_back_its_server_only(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 2).start();
    let mut slow = login(&proxy, "app");
    let bystander = Bystander::start(&proxy);
    let watch = MemoryWatch::start(&proxy);
    let sql = "select g, repeat('x', 10000) from generate_series(1, 5000) g";
    slow.send_messages(&Messages::new().query(sql).query("select 'next'")).expect("sent");
    stage.wait_for(
        "select wait_event from pg_stat_activity where query like 'select g, repeat%' and pid <> pg_backend_pid()",
        "ClientWrite",
    );
    bystander.wait_for(20);
    let rows = values(&slow.until_ready().expect("rows"));
    assert_eq!(rows.len(), 5000);
    assert!(rows.iter().enumerate().all(|(at, row)| row.starts_with(&format!("{}|x", at + 1))));
    assert_eq!(values(&slow.until_ready().expect("rows")), ["next"]);
    bystander.finish();
    let rise = watch.rise_kib();
    assert!(rise < 10 * 1024, "{rise} KiB");
}

fn query_timeout_counts_each_query_of_a_pipeline(stage: &Stage) {
    let proxy = stage.setup().set("timeouts.query_timeout", "3s").set("pool.pool_size", 1).start();
    let mut client = login(&proxy, "app");
    let sleep = "select 1 from pg_sleep(0.2)";
    let messages = (0..25).fold(Messages::new().query("begin"), |messages, _| messages.query(sleep));
    client.send_messages(&messages.query("commit")).expect("sent");
    for _ in 0..27 {
        let turn = client.until_ready().expect("an answer");
        assert!(turn.iter().all(|frame| frame.tag != b'E'), "no query takes three seconds");
    }
}

fn bounds_on_turns_and_statements_are_counted(stage: &Stage) {
    let setup = stage.setup().set("limits.outstanding_turns_max", 4);
    let setup = setup.set("limits.client_prepared_statements_max", 2);
    let proxy = setup.set("limits.client_prepared_statement_bytes_max", 3_000).start();
    let hits = |bound: &str| {
        let label = format!("limit=\"{bound}\"");
        proxy.metric("trunkline_limit_hits_total", &[&label]).expect("a metric")
    };
    let mut client = login(&proxy, "app");
    let gate = Gate::close(stage);
    client.send_messages(&Messages::new().query(&Gate::query("0"))).expect("sent");
    Gate::wait_for(stage, 1);
    client.send(&joined((1..10).map(|n| Messages::new().query(&format!("select {n}"))))).expect("sent");
    stage.eventually("the client is not read any more", || match hits("outstanding_turns_max") {
        1.0.. => Ok(()),
        none => Err(none.to_string()),
    });
    gate.open();
    for n in 0..10 {
        assert_eq!(values(&client.until_ready().expect("rows")), [n.to_string()]);
    }
    let parse = |name: &str, sql: &str| Messages::new().parse(name, sql, &[]).sync();
    for (name, sql, bound) in [
        ("third", "select 3", "client_prepared_statements_max"),
        ("second", &*format!("select 2 /* {} */", "x".repeat(3_000)), "client_prepared_statement_bytes_max"),
    ] {
        let mut client = login(&proxy, "app");
        assert_eq!(tags(&client.turn(&parse("first", "select 1")).expect("parsed")), "1Z");
        if name == "third" {
            assert_eq!(tags(&client.turn(&parse("second", "select 2")).expect("parsed")), "1Z");
        }
        assert_eq!(hits(bound), 0.0, "{bound}");
        client.send_messages(&parse(name, sql)).expect("sent");
        expect_refusal(&mut client, "54000");
        assert_eq!(hits(bound), 1.0, "{bound}");
    }
}
