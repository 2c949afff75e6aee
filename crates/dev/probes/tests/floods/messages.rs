//! Tens of thousands of messages from one client, and thousands of clients that wait for one server connection.

use trunkline_probes::{Stage, errors, login, values};
use trunkline_testkit::{Frame, Messages, RawClient};

use crate::alone;

trunkline_probes::probes! {
    a_hundred_thousand_messages_before_one_sync, a_hundred_thousand_messages_of_one_statement,
    ten_thousand_turns_at_once, a_client_that_leaves_after_a_hundred_thousand_messages,
    hundreds_of_malformed_turns_that_wait,
}

/// Sends `halves` and calls `between` between them. Meanwhile, the answers are read up to the last ReadyForQuery.
fn pour(client: &mut RawClient, halves: [&[u8]; 2], turns: usize, mut between: impl FnMut()) -> Vec<Frame> {
    let mut reader = client.second_handle().expect("a handle");
    let (first, last) = halves[1].split_at(halves[1].len() - Messages::new().sync().bytes().len());
    std::thread::scope(|scope| {
        let answers = scope.spawn(move || {
            let ready = |_| reader.until_ready().expect("answers");
            (0..turns).flat_map(ready).collect::<Vec<_>>()
        });
        client.send(halves[0]).expect("sent");
        between();
        client.send(first).expect("sent");
        between();
        client.send(last).expect("sent");
        answers.join().expect("the reader's thread")
    })
}

/// Asserts that a direct connection gives the same answers, and that another client is served between the messages.
fn assert_answered_as_direct(stage: &Stage, halves: [&[u8]; 2], turns: usize) {
    let _alone = alone();
    let direct = pour(&mut stage.direct("app"), halves, turns, || {});
    let proxy = stage.setup().set("workers", 1).set("pool.pool_size", 2).start();
    let (mut client, mut other) = (login(&proxy, "app"), login(&proxy, "app"));
    let answers = pour(&mut client, halves, turns, || {
        for _ in 0..10 {
            assert_eq!(other.sql("select 1").expect("served"), ["1"]);
        }
    });
    assert_eq!(answers.len(), direct.len());
    let differs = answers
        .iter()
        .zip(&direct)
        .find(|(ours, theirs)| (ours.tag, &ours.body) != (theirs.tag, &theirs.body));
    assert!(differs.is_none(), "{differs:?}");
    assert_eq!(client.sql("select 2").expect("rows"), ["2"]);
}

fn all(messages: impl IntoIterator<Item = Messages>) -> Vec<u8> {
    messages.into_iter().flat_map(|messages| messages.bytes().to_vec()).collect()
}

fn a_hundred_thousand_messages_before_one_sync(stage: &Stage) {
    let one = |n: usize| {
        let parse = Messages::new().parse("", "select $1::int", &[]).bind("", "", &[Some(&n.to_string())]);
        parse.describe(b'P', "").execute("", 0)
    };
    let half = all((0..12_500).map(one));
    let end = [&half[..], Messages::new().sync().bytes()].concat();
    assert_answered_as_direct(stage, [&half, &end], 1);
}

fn a_hundred_thousand_messages_of_one_statement(stage: &Stage) {
    let one = |n: usize| Messages::new().bind("", "s", &[Some(&n.to_string())]).execute("", 0);
    let begin = Messages::new().parse("s", "select $1::int", &[]);
    let half = all((0..25_000).map(one));
    let (begin, end) =
        ([begin.bytes(), &half].concat(), [&half[..], Messages::new().sync().bytes()].concat());
    assert_answered_as_direct(stage, [&begin, &end], 1);
}

/// Every third turn fails, together with its earlier messages.
fn ten_thousand_turns_at_once(stage: &Stage) {
    let one = |n: usize| {
        let name = format!("s{}", n % 50);
        let value = if n.is_multiple_of(3) { "x" } else { "1" };
        let turn =
            Messages::new().close(b'S', &name).parse(&name, &format!("select $1::int + {}", n % 7), &[]);
        turn.bind("", &name, &[Some(value)]).execute("", 0).sync()
    };
    let half = all((0..5_000).map(one));
    assert_answered_as_direct(stage, [&half, &half], 10_000);
}

fn a_client_that_leaves_after_a_hundred_thousand_messages(stage: &Stage) {
    let _alone = alone();
    let proxy = stage.setup().set("workers", 1).set("pool.pool_size", 1).start();
    let mut other = login(&proxy, "app");
    let one = Messages::new().parse("", "select 1", &[]).bind("", "", &[]).describe(b'P', "").execute("", 0);
    let many = one.bytes().repeat(25_000);
    for _ in 0..3 {
        let mut client = login(&proxy, "app");
        let mut reader = client.second_handle().expect("a handle");
        // Writes until the proxy stops reading, because nobody reads the answers.
        std::thread::scope(|scope| {
            scope.spawn(|| drop(client.send(&many)));
            reader.frame().expect("an answer");
            reader.hang_up().expect("closed");
        });
        drop((client, reader));
        assert_eq!(other.sql("select 1").expect("the server connection came free"), ["1"]);
    }
}

fn hundreds_of_malformed_turns_that_wait(stage: &Stage) {
    const CROWD: usize = 800;
    let _alone = alone();
    let proxy = stage.setup().set("workers", 1).set("pool.pool_size", 1).start();
    let mut holder = login(&proxy, "md5user");
    holder.sql("begin").expect("begun");
    let malformed = Messages::new().message(b'P', b"no end").sync();
    let mut crowd: Vec<_> = (0..CROWD).map(|_| login(&proxy, "md5user")).collect();
    crowd.iter_mut().for_each(|client| client.send_messages(&malformed).expect("sent"));
    holder.sql("commit").expect("committed");
    for client in &mut crowd {
        assert_eq!(errors(&client.until_ready().expect("a refusal")), ["08P01"]);
    }
    assert_eq!(values(&holder.turn(&Messages::new().query("select 1")).expect("rows")), ["1"]);
}
