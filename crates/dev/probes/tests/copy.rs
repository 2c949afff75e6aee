//! COPY in both directions, completed or not. Each turn uses another server connection than the turn before.

use trunkline_probes::testkit::{Messages, Proxy, RawClient};
use trunkline_probes::{Rotation, Stage, errors, login, probes, tags, values};

probes! {
    copy_in_and_out,
    copy_in_by_the_extended_protocol,
    copy_in_sent_in_one_packet,
    copy_fail,
    copy_data_after_the_copy_failed,
    copy_that_never_begins_gives_its_server_back,
    copy_that_never_begins_within_a_transaction,
    copy_cancelled,
    copy_out_cancelled,
    a_client_gone_in_a_copy,
    two_copies_in_one_query,
    large_copies_stream_both_ways,
    a_sync_after_data_that_fails_is_answered,
    early_syncs_of_a_copy_that_fails_are_all_answered,
    a_parse_within_a_simple_copy,
    a_bind_within_a_copy,
}

const SIZE: usize = 3;

fn rotating(stage: &Stage) -> (Proxy, RawClient, Rotation) {
    stage.direct("app").sql("create table t (a int primary key, b text)").expect("a table");
    let proxy = Rotation::setup(stage.setup(), SIZE as i64).start();
    let client = login(&proxy, "app");
    let rotation = Rotation::warm(&proxy, SIZE);
    (proxy, client, rotation)
}

/// A series in the select list, which returns rows one after the other. In FROM, PostgreSQL would first write a file of gigabytes.
const ENDLESS: &str = "copy (select repeat('x', 1000), generate_series(1, 100000000)) to stdout";

fn one(client: &mut RawClient, sql: &str) -> String {
    client.sql(sql).unwrap_or_else(|error| panic!("{sql}: {error:#}")).join("\n")
}

fn copy(table: &str) -> Messages {
    Messages::new().query(&format!("copy {table} from stdin"))
}

/// Sends a COPY and waits until the server wants data.
fn begin(client: &mut RawClient, messages: &Messages) {
    client.send_messages(messages).expect("sent");
    while client.frame().expect("a frame").tag != b'G' {}
}

fn copy_in_and_out(stage: &Stage) {
    let (_proxy, mut client, mut rotation) = rotating(stage);
    rotation.turn();
    begin(&mut client, &copy("t"));
    client.send_messages(&Messages::new().copy_data(b"1\tone\n2\t").copy_data(b"two\n")).expect("sent");
    let frames = client.turn(&Messages::new().copy_done()).expect("done");
    assert_eq!((tags(&frames).as_str(), frames[0].text().as_str()), ("CZ", "COPY 2"));
    rotation.turn();
    let frames = client.turn(&Messages::new().query("copy t to stdout")).expect("rows");
    assert_eq!(tags(&frames), "HddcCZ");
    assert_eq!(frames[2].body, b"2\ttwo\n");
    let here = rotation.turn();
    assert_eq!(one(&mut client, "select pg_backend_pid(), count(*) from t"), format!("{here}|2"));
}

fn copy_in_by_the_extended_protocol(stage: &Stage) {
    let (_proxy, mut client, mut rotation) = rotating(stage);
    rotation.turn();
    client.turn(&Messages::new().parse("in", "copy t from stdin", &[]).sync()).expect("parsed");
    rotation.turn();
    begin(&mut client, &Messages::new().bind("", "in", &[]).execute("", 0).flush());
    let data = Messages::new().copy_data(b"1\tone\n").copy_done().sync();
    assert_eq!(tags(&client.turn(&data).expect("done")), "CZ");
    // libpq's PQexecParams sends a Sync before the data. It must be ignored.
    let here = rotation.turn();
    begin(&mut client, &Messages::new().bind("", "in", &[]).execute("", 0).sync());
    client.send_messages(&Messages::new().copy_data(b"2\ttwo\n")).expect("sent");
    let frames = client.turn(&Messages::new().copy_done().sync()).expect("done");
    assert_eq!((tags(&frames).as_str(), frames[0].text().as_str()), ("CZ", "COPY 1"));
    rotation.turn();
    client
        .turn(&Messages::new().parse("out", "copy (select a, pg_backend_pid() from t) to stdout", &[]).sync())
        .expect("parsed");
    let there = rotation.turn();
    let frames = client.turn(&Messages::new().bind("", "out", &[]).execute("", 0).sync()).expect("rows");
    assert_eq!(tags(&frames), "2HddcCZ");
    assert_eq!(frames[3].body, format!("2\t{there}\n").as_bytes());
    assert_ne!(here, there);
}

fn copy_in_sent_in_one_packet(stage: &Stage) {
    let (_proxy, mut client, mut rotation) = rotating(stage);
    rotation.turn();
    let all = copy("t").copy_data(b"1\tone\n").copy_done();
    assert_eq!(tags(&client.turn(&all).expect("done")), "GCZ");
    rotation.turn();
    let all = Messages::new().parse("", "copy t from stdin", &[]).bind("", "", &[]).execute("", 0);
    let all = all.copy_data(b"2\ttwo\n").copy_done().sync();
    assert_eq!(tags(&client.turn(&all).expect("done")), "12GCZ");
    // A second turn follows in the same packet.
    rotation.turn();
    let all = copy("t").copy_data(b"3\tthree\n").copy_done().query("select count(*) from t");
    assert_eq!(tags(&client.turn(&all).expect("done")), "GCZ");
    assert_eq!(values(&client.until_ready().expect("rows")), ["3"]);
}

fn copy_fail(stage: &Stage) {
    let (_proxy, mut client, mut rotation) = rotating(stage);
    let extended = Messages::new().parse("", "copy t from stdin", &[]).bind("", "", &[]).execute("", 0);
    for (start, end) in [(copy("t"), Messages::new()), (extended.flush(), Messages::new().sync())] {
        rotation.turn();
        begin(&mut client, &start);
        client.send_messages(&Messages::new().copy_data(b"1\tone\n")).expect("sent");
        let fail = Messages::new().copy_fail("not today");
        client.send_messages(&fail).expect("sent");
        let frames = client.turn(&end).expect("failed");
        assert_eq!((errors(&frames), tags(&frames).as_str()), (vec!["57014".to_owned()], "EZ"));
        let here = rotation.turn();
        assert_eq!(one(&mut client, "select pg_backend_pid(), count(*) from t"), format!("{here}|0"));
    }
}

fn copy_data_after_the_copy_failed(stage: &Stage) {
    let (_proxy, mut client, mut rotation) = rotating(stage);
    let rest = Messages::new().copy_data(b"3\tthree\n").copy_data(b"4\tfour\n").copy_done();
    // The client continues to send, because it has not read the error yet.
    rotation.turn();
    begin(&mut client, &copy("t"));
    client.send_messages(&Messages::new().copy_data(b"wrong\tone\n")).expect("sent");
    let frames = client.until_ready().expect("failed");
    assert_eq!(errors(&frames), ["22P02"]);
    client.send_messages(&rest).expect("sent");
    let here = rotation.turn();
    assert_eq!(one(&mut client, "select pg_backend_pid(), count(*) from t"), format!("{here}|0"));
    // By the extended protocol, everything is skipped until the Sync.
    rotation.turn();
    let start = Messages::new().parse("", "copy t from stdin", &[]).bind("", "", &[]).execute("", 0);
    begin(&mut client, &start.flush());
    client.send_messages(&Messages::new().copy_data(b"wrong\tone\n")).expect("sent");
    assert_eq!(client.frame().expect("an error").sqlstate().as_deref(), Some("22P02"));
    client.send_messages(&rest).expect("sent");
    client.send_messages(&Messages::new().copy_fail("by the way")).expect("sent");
    assert_eq!(tags(&client.turn(&Messages::new().sync()).expect("ready")), "Z");
    let here = rotation.turn();
    assert_eq!(one(&mut client, "select pg_backend_pid(), count(*) from t"), format!("{here}|0"));
    // Within a transaction, the client keeps its server connection.
    let here = rotation.turn();
    client.sql("begin").expect("begin");
    begin(&mut client, &copy("t"));
    client.send_messages(&Messages::new().copy_data(b"wrong\tone\n")).expect("sent");
    assert_eq!(errors(&client.until_ready().expect("failed")), ["22P02"]);
    client.send_messages(&rest).expect("sent");
    client.sql("rollback").expect("rollback");
    let there = rotation.turn();
    assert_eq!(one(&mut client, "select pg_backend_pid()"), there);
    assert_ne!(here, there);
}

fn copy_that_never_begins_gives_its_server_back(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let (mut client, mut next) = (login(&proxy, "app"), login(&proxy, "app"));
    let data = |messages: Messages| messages.copy_data(b"1\tone\n").copy_done();
    let extended = Messages::new().parse("", "copy nowhere from stdin", &[]).bind("", "", &[]).execute("", 0);
    let plain = Messages::new().query("select 1");
    for messages in [data(copy("nowhere")), data(extended).sync(), data(plain)] {
        let frames = client.turn(&messages).expect("an answer");
        assert!(tags(&frames).ends_with('Z'), "{}", tags(&frames));
        assert_eq!(one(&mut next, "select 1"), "1", "the server connection came back");
    }
    assert_eq!(one(&mut client, "select 1"), "1");
}

fn copy_that_never_begins_within_a_transaction(stage: &Stage) {
    let (_proxy, mut client, mut rotation) = rotating(stage);
    rotation.turn();
    client.sql("begin").expect("begin");
    let messages = copy("nowhere").copy_data(b"1\tone\n").copy_done();
    assert_eq!(errors(&client.turn(&messages).expect("an answer")), ["42P01"]);
    client.sql("rollback").expect("rollback");
    let here = rotation.turn();
    assert_eq!(one(&mut client, "select pg_backend_pid()"), here);
}

fn copy_cancelled(stage: &Stage) {
    let (proxy, mut client, mut rotation) = rotating(stage);
    let extended = Messages::new().parse("", "copy t from stdin", &[]).bind("", "", &[]).execute("", 0);
    for (start, end) in [(copy("t"), Messages::new()), (extended.flush(), Messages::new().sync())] {
        rotation.turn();
        begin(&mut client, &start);
        client.send_messages(&Messages::new().copy_data(b"1\tone\n")).expect("sent");
        client.cancel(proxy.address()).expect("heard");
        // A backend that waits for COPY data notices a cancel only when data comes.
        client.send_messages(&Messages::new().copy_data(b"3\tthree\n")).expect("sent");
        assert_eq!(client.frame().expect("an error").sqlstate().as_deref(), Some("57014"));
        client.send_messages(&Messages::new().copy_data(b"2\ttwo\n").copy_done()).expect("sent");
        client.send_messages(&end).expect("sent");
        assert_eq!(tags(&client.until_ready().expect("ready")), "Z");
        let here = rotation.turn();
        assert_eq!(one(&mut client, "select pg_backend_pid(), count(*) from t"), format!("{here}|0"));
    }
}

fn copy_out_cancelled(stage: &Stage) {
    let (proxy, mut client, mut rotation) = rotating(stage);
    rotation.turn();
    client.send_messages(&Messages::new().query(ENDLESS)).expect("sent");
    for _ in 0..100 {
        client.frame().expect("a frame");
    }
    client.cancel(proxy.address()).expect("heard");
    let frames = client.until_ready().expect("cancelled");
    assert_eq!(errors(&frames), ["57014"]);
    let here = rotation.turn();
    assert_eq!(one(&mut client, "select pg_backend_pid()"), here);
}

fn a_client_gone_in_a_copy(stage: &Stage) {
    stage.direct("app").sql("create table t (a int primary key, b text)").expect("a table");
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let mut next = login(&proxy, "app");
    let mut pid = one(&mut next, "select pg_backend_pid()");
    let extended = Messages::new().parse("", "copy t from stdin", &[]).bind("", "", &[]).execute("", 0);
    for (start, kept) in [
        (copy("t"), true),
        (extended.clone().flush(), true),
        (Messages::new().query("begin").query("copy t from stdin"), true),
        // The server reads that Sync as a part of the COPY, or after the COPY's failure. The proxy knows which when the server has
        // answered an empty query that the proxy sends after both.
        (extended.sync(), true),
    ] {
        let mut client = login(&proxy, "app");
        begin(&mut client, &start);
        client.send_messages(&Messages::new().copy_data(b"1\tone\n")).expect("sent");
        drop(client);
        assert_eq!(one(&mut next, "select count(*) from t"), "0");
        let now = one(&mut next, "select pg_backend_pid()");
        assert_eq!(now == pid, kept, "the connection is kept where it is known to be clean");
        pid = now;
    }
    // Half a message: no other message can follow it on that connection, and it must have no effect.
    let mut client = login(&proxy, "app");
    begin(&mut client, &copy("t"));
    client.send(b"d\0\0\x01\0").expect("sent");
    client.send(b"1\tone\n").expect("sent");
    drop(client);
    assert_eq!(one(&mut next, "select count(*) from t"), "0");
    // Rows that nobody reads.
    let pid = one(&mut next, "select pg_backend_pid()");
    let mut client = login(&proxy, "app");
    client.send_messages(&Messages::new().query(ENDLESS)).expect("sent");
    client.frame().expect("a frame");
    drop(client);
    assert_eq!(one(&mut next, "select pg_backend_pid()"), pid);
}

fn two_copies_in_one_query(stage: &Stage) {
    let (_proxy, mut client, mut rotation) = rotating(stage);
    rotation.turn();
    begin(
        &mut client,
        &Messages::new().query("copy t from stdin; copy t from stdin; select count(*) from t"),
    );
    client.send_messages(&Messages::new().copy_data(b"1\tone\n").copy_done()).expect("sent");
    assert_eq!(client.frame().expect("done").tag, b'C');
    assert_eq!(client.frame().expect("the second").tag, b'G');
    let frames = client.turn(&Messages::new().copy_data(b"2\ttwo\n").copy_done()).expect("done");
    assert_eq!((tags(&frames), values(&frames)), ("CTDCZ".to_owned(), vec!["2".to_owned()]));
    let here = rotation.turn();
    assert_eq!(one(&mut client, "select pg_backend_pid()"), here);
}

fn large_copies_stream_both_ways(stage: &Stage) {
    /// The number of rows of about 1 KiB: some 20 MiB in total, far more than all buffers hold.
    const ROWS: usize = 20_000;
    let (proxy, mut client, mut rotation) = rotating(stage);
    let memory = trunkline_probes::MemoryWatch::start(&proxy);
    rotation.turn();
    begin(&mut client, &copy("t"));
    for first in (0..ROWS).step_by(100) {
        let rows: String = (first..first + 100).map(|row| format!("{row}\t{}\n", "x".repeat(1000))).collect();
        // Rows are split between messages.
        let (a, b) = rows.split_at(777);
        client.send_messages(&Messages::new().copy_data(a.as_bytes()).copy_data(b.as_bytes())).expect("sent");
    }
    let frames = client.turn(&Messages::new().copy_done()).expect("done");
    assert_eq!(frames[0].text(), format!("COPY {ROWS}"));
    rotation.turn();
    let frames = client.turn(&Messages::new().query("copy t to stdout")).expect("rows");
    assert_eq!(frames.iter().filter(|frame| frame.tag == b'd').count(), ROWS);
    let rise = memory.rise_kib();
    assert!(rise < 10 * 1024, "{rise} KiB");
}

/// By the extended protocol, without CopyDone: the COPY has failed before the server reads the Sync.
fn a_sync_after_data_that_fails_is_answered(stage: &Stage) {
    let (_proxy, mut client, _rotation) = rotating(stage);
    let start = Messages::new().parse("", "copy t from stdin", &[]).bind("", "", &[]).execute("", 0).flush();
    for block in [false, true] {
        if block {
            client.sql("begin").expect("begun");
        }
        begin(&mut client, &start);
        let frames = client.turn(&Messages::new().copy_data(b"wrong\tone\n").sync()).expect("ready");
        assert_eq!((errors(&frames), tags(&frames).as_str()), (vec!["22P02".to_owned()], "EZ"));
        assert_eq!(frames[1].body, if block { b"E" } else { b"I" });
        if block {
            client.sql("rollback").expect("rolled back");
        }
        assert_eq!(one(&mut client, "select count(*) from t"), "0");
    }
}

/// PostgreSQL ends such a connection. It must not wait for data, and its client must not wait for an answer.
fn a_parse_within_a_simple_copy(stage: &Stage) {
    let (_proxy, mut client, _rotation) = rotating(stage);
    for at_once in [false, true] {
        let parse = Messages::new().parse(&format!("s{at_once}"), "select 1", &[]).sync();
        if at_once {
            let all = [copy("t").bytes(), parse.bytes()].concat();
            client.send(&all).expect("sent");
        } else {
            begin(&mut client, &copy("t"));
            client.send_messages(&parse).expect("sent");
        }
        let frames = client.until_ready().expect("ready");
        assert_eq!(errors(&frames)[0], "08P01", "{}", tags(&frames));
        // The Sync is answered too.
        client.until_ready().expect("ready");
        assert_eq!(one(&mut client, "select count(*) from t"), "0");
    }
}

/// Everything is sent in one write. Only the server knows which of the Syncs it ignores as part of the COPY.
fn early_syncs_of_a_copy_that_fails_are_all_answered(stage: &Stage) {
    let (_proxy, mut client, _rotation) = rotating(stage);
    let mut direct = stage.direct("app");
    let begun = || Messages::new().parse("", "copy t from stdin", &[]).bind("", "", &[]).execute("", 0);
    let simple = || Messages::new().query("copy t from stdin");
    let (bad, good) = (b"wrong\tone\n", b"1\tone\n");
    let turns = [
        begun().copy_data(bad).sync().copy_done().sync(),
        begun().copy_data(bad).sync().copy_data(bad).copy_done().sync(),
        begun().copy_data(bad).sync().sync().copy_done().sync(),
        begun().copy_data(bad).sync().copy_fail("no more").sync(),
        begun().copy_data(good).sync().copy_data(bad).sync().copy_done().sync(),
        begun().copy_data(good).sync().copy_done().sync(),
        simple().copy_data(bad).sync().copy_done(),
        simple().copy_data(bad).sync().copy_done().sync(),
    ];
    let select = || Messages::new().parse("", "select 7", &[]).bind("", "", &[]).execute("", 0).sync();
    for turn in turns {
        for (after, at_once) in [(Messages::new(), true), (select(), true), (Messages::new(), false)] {
            let mark = [after.bytes(), Messages::new().query("select 'mark'").bytes()].concat();
            let told = [&mut direct, &mut client].map(|client| {
                stage.direct("app").sql("truncate t").expect("truncated");
                client.send(turn.bytes()).expect("sent");
                let mut told = String::new();
                let (mut sent, mut marked) = (false, false);
                while !(marked && told.ends_with('Z')) {
                    if !sent && (at_once || told.ends_with('Z')) {
                        client.send(&mark).expect("sent");
                        sent = true;
                    }
                    let frame = client.frame().unwrap_or_else(|error| panic!("{told}: {error:#}"));
                    marked |= frame.tag == b'D' && frame.body.ends_with(b"mark");
                    told.push(char::from(frame.tag));
                }
                told
            });
            assert_eq!(told[1], told[0]);
        }
    }
}

/// PostgreSQL ends such a connection; its client must not wait for an answer.
fn a_bind_within_a_copy(stage: &Stage) {
    let (_proxy, client, _rotation) = rotating(stage);
    let run = |turn: Messages| turn.bind("", "c", &[]).execute("", 0);
    let answers = [stage.direct("app"), client].map(|mut client| {
        client.turn(&Messages::new().parse("c", "copy t from stdin", &[]).sync()).expect("parsed");
        client.send_messages(&run(run(run(Messages::new()))).sync()).expect("sent");
        let mut told = String::new();
        while let Ok(frame) = client.frame() {
            told.push(char::from(frame.tag));
            if told.ends_with('Z') {
                break;
            }
        }
        told
    });
    // Through the proxy, the client stays connected and gets another server connection.
    assert_eq!(answers[1], format!("{}Z", answers[0]));
}
