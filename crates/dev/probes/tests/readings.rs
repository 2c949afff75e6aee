//! The settings under which a statement is read, while commands that change settings are not answered yet.

use trunkline_probes::testkit::{Messages, RawClient};
use trunkline_probes::{MemoryWatch, Rotation, Stage, errors, login, login_with, probes, tags, values};

probes! {
    a_parse_between_two_sets_of_a_pipeline_is_read_under_the_first,
    hundreds_of_statements_after_a_set_without_a_sync_are_not_kept,
    a_warning_that_one_session_does_not_get_reaches_the_next,
    a_portal_is_known_by_the_part_of_its_name_that_the_server_keeps,
}

fn run(client: &mut RawClient, name: &str) -> Vec<String> {
    let turn = client.turn(&Messages::new().bind("", name, &[]).execute("", 0).sync()).expect("an answer");
    assert_eq!(errors(&turn), [] as [String; 0], "{name}");
    values(&turn)
}

fn set(messages: Messages, sql: &str) -> Messages {
    messages.parse("", sql, &[]).bind("", "", &[]).execute("", 0)
}

fn a_parse_between_two_sets_of_a_pipeline_is_read_under_the_first(stage: &Stage) {
    const DAY: &str = "select to_char(date '01/02/2003', 'YYYY-MM-DD')";
    let mut direct = stage.direct("app");
    let proxy = Rotation::setup(stage.setup(), 2).start();
    let mut client = login(&proxy, "app");
    Rotation::warm(&proxy, 2);
    let before = || set(Messages::new(), "select 1").sync();
    let one = set(before(), "set datestyle = 'ISO, DMY'").parse("one", DAY, &[]);
    let one = set(one, "set datestyle = 'ISO, MDY'").sync();
    let other = set(before(), "set datestyle = 'ISO, DMY'").parse("other", DAY, &[]).sync();
    let other = set(other, "set datestyle = 'ISO, MDY'").sync();
    for (name, turns, count) in [("one", one, 2), ("other", other, 3)] {
        for client in [&mut direct, &mut client] {
            client.send_messages(&turns).expect("sent");
            for _ in 0..count {
                assert_eq!(errors(&client.until_ready().expect("an answer")), [] as [String; 0], "{name}");
            }
        }
        let expected = run(&mut direct, name);
        for _ in 0..4 {
            assert_eq!(run(&mut client, name), expected, "{name}");
        }
    }
}

fn hundreds_of_statements_after_a_set_without_a_sync_are_not_kept(stage: &Stage) {
    const ROUNDS: usize = 400;
    let setup = stage.setup().set("workers", 1);
    let proxy = setup.set("limits.max_prepared_statements", 4).start();
    let mut client = login(&proxy, "app");
    let text = format!("select 'x' /* {} */", "y".repeat(500_000));
    let memory = MemoryWatch::start(&proxy);
    client.send_messages(&set(Messages::new(), "set datestyle = 'ISO, DMY'").flush()).expect("sent");
    for tag in *b"12C" {
        assert_eq!(client.frame().expect("an answer").tag, tag);
    }
    for n in 0..ROUNDS {
        let name = if n % 2 == 0 { "" } else { "s" };
        client
            .send_messages(&Messages::new().parse(name, &text, &[]).close(b'S', name).flush())
            .expect("sent");
        assert_eq!(client.frame().expect("an answer").tag, b'1');
        assert_eq!(client.frame().expect("an answer").tag, b'3');
    }
    client.send_messages(&Messages::new().sync()).expect("sent");
    // PostgreSQL 15 reports the value only before ReadyForQuery.
    assert!(matches!(tags(&client.until_ready().expect("ready")).as_str(), "Z" | "SZ"));
    let rise = memory.rise_kib();
    assert!(rise < 64 << 10, "{ROUNDS} statements of 500 kB, none of them held: {rise} KiB");
}

fn a_warning_that_one_session_does_not_get_reaches_the_next(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let sql = "select 'a\\\\b' as z";
    for (level, answer) in [("error", "1Z"), ("notice", "N1Z"), ("error", "1Z"), ("notice", "N1Z")] {
        let startup = [("client_min_messages", level), ("standard_conforming_strings", "off")];
        let mut client = login_with(&proxy, &startup);
        assert_eq!(tags(&client.turn(&Messages::new().parse("s", sql, &[]).sync()).expect("parsed")), answer);
    }
}

fn a_portal_is_known_by_the_part_of_its_name_that_the_server_keeps(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 2).start();
    let mut client = login_with(&proxy, &[("timezone", "Asia/Tokyo")]);
    let portal = |end: &str| "p".repeat(70) + end;
    client.sql("set timezone = 'UTC'").expect("set");
    let turn = Messages::new().parse("", "reset timezone", &[]).bind(&portal("x"), "", &[]);
    let turn = client.turn(&turn.execute(&portal("y"), 0).sync()).expect("an answer");
    assert_eq!(errors(&turn), [] as [String; 0]);
    assert_eq!(client.sql("show timezone").expect("shown"), ["Asia/Tokyo"]);
}
