//! Prepared statements of the extended protocol. Each turn uses another server connection than the turn before.

use trunkline_probes::testkit::{Messages, Proxy, RawClient};
use trunkline_probes::{Rotation, Stage, errors, login, probes, tags, values};

probes! {
    parse_unnamed_and_sync_then_bind_on_another_connection,
    two_clients_one_name_two_texts,
    a_name_reused_after_close,
    a_name_reused_after_a_failed_parse,
    a_name_reused_after_a_parse_skipped_by_a_pipeline_error,
    a_duplicate_parse_is_refused_under_the_clients_own_name,
    a_duplicate_parse_with_another_error_reports_that_error,
    parse_describe_flush_without_sync,
    a_parse_in_a_failed_transaction_fails,
    deallocate_all_then_bind_or_parse,
    discard_all_then_bind_or_parse,
    deallocate_all_and_parse_in_one_pipeline,
    a_close_of_nothing_and_a_bind_of_nothing,
    a_statement_closed_while_it_is_used,
    alter_table_under_a_cached_plan_heals_itself,
    alter_table_under_a_cached_plan_inside_a_transaction,
    a_table_dropped_under_a_statement_is_reported_and_comes_back,
    a_portal_of_the_unnamed_statement_says_nothing_of_a_named_one,
    parameters_of_one_statement_are_not_told_of_another,
    a_parse_too_long_to_be_kept,
    a_terminate_after_an_error_frees_its_connection,
}

const SIZE: usize = 3;

/// A proxy whose turns rotate through its server connections, so many clients of it, and the rotation.
fn rotating(stage: &Stage, clients: usize) -> (Proxy, Vec<RawClient>, Rotation) {
    let proxy = Rotation::setup(stage.setup(), SIZE as i64).start();
    let clients = (0..clients).map(|_| login(&proxy, "app")).collect();
    let rotation = Rotation::warm(&proxy, SIZE);
    (proxy, clients, rotation)
}

fn bind(name: &str, values: &[Option<&str>]) -> Messages {
    Messages::new().bind("", name, values).execute("", 0).sync()
}

fn parse(name: &str, sql: &str) -> Messages {
    Messages::new().parse(name, sql, &[]).sync()
}

fn parse_unnamed_and_sync_then_bind_on_another_connection(stage: &Stage) {
    let (_proxy, mut clients, mut rotation) = rotating(stage, 2);
    let (first, rest) = clients.split_at_mut(1);
    let (a, b) = (&mut first[0], &mut rest[0]);
    let parsed_on = rotation.turn();
    assert_eq!(tags(&a.turn(&parse("", "select pg_backend_pid(), 'a', $1::int")).expect("parsed")), "1Z");
    // Another client's unnamed statement goes to the connection on which the first client's is bound next.
    let others = rotation.turn();
    assert_eq!(tags(&b.turn(&parse("", "select pg_backend_pid(), 'b'")).expect("parsed")), "1Z");
    rotation.turn();
    assert_eq!(b.sql("select 1").expect("rows"), ["1"]);
    assert_eq!(rotation.turn(), parsed_on);
    assert_eq!(a.sql("select 'drops the unnamed statement'").expect("rows").len(), 1);
    let bound_on = rotation.turn();
    assert_eq!(bound_on, others);
    let gone = a.turn(&bind("", &[Some("1")])).expect("an answer");
    assert_eq!(errors(&gone), ["26000"], "a Query drops the unnamed statement");
    let parsed_on = rotation.turn();
    assert_eq!(tags(&a.turn(&parse("", "select pg_backend_pid(), 'a', $1::int")).expect("parsed")), "1Z");
    for round in 0..2 * SIZE {
        let bound_on = rotation.turn();
        let rows = values(&a.turn(&bind("", &[Some("7")])).expect("rows"));
        assert_eq!(rows, [format!("{bound_on}|a|7")], "round {round}");
        assert!(round % SIZE == SIZE - 1 || bound_on != parsed_on);
    }
    // The other client's unnamed statement is gone because it sent a Query. It must not get the first client's.
    rotation.turn();
    assert_eq!(errors(&b.turn(&bind("", &[Some("7")])).expect("an answer")), ["26000"]);
    rotation.turn();
    let described = a.turn(&Messages::new().describe(b'S', "").sync()).expect("described");
    assert_eq!(tags(&described), "tTZ");
}

fn two_clients_one_name_two_texts(stage: &Stage) {
    let (_proxy, mut clients, mut rotation) = rotating(stage, 2);
    for (number, client) in clients.iter_mut().enumerate() {
        rotation.turn();
        let sql = format!("select pg_backend_pid(), 'text {number}'");
        assert_eq!(tags(&client.turn(&parse("s", &sql)).expect("parsed")), "1Z");
    }
    for _ in 0..2 * SIZE {
        for (number, client) in clients.iter_mut().enumerate() {
            let here = rotation.turn();
            let rows = values(&client.turn(&bind("s", &[])).expect("rows"));
            assert_eq!(rows, [format!("{here}|text {number}")]);
        }
    }
}

fn a_name_reused_after_close(stage: &Stage) {
    let (_proxy, mut clients, mut rotation) = rotating(stage, 1);
    let client = &mut clients[0];
    rotation.turn();
    assert_eq!(tags(&client.turn(&parse("s", "select 'old', pg_backend_pid()")).expect("parsed")), "1Z");
    let here = rotation.turn();
    assert_eq!(values(&client.turn(&bind("s", &[])).expect("rows")), [format!("old|{here}")]);
    rotation.turn();
    assert_eq!(tags(&client.turn(&Messages::new().close(b'S', "s").sync()).expect("closed")), "3Z");
    rotation.turn();
    assert_eq!(errors(&client.turn(&bind("s", &[])).expect("an answer")), ["26000"]);
    rotation.turn();
    assert_eq!(tags(&client.turn(&parse("s", "select 'new', pg_backend_pid()")).expect("parsed")), "1Z");
    for _ in 0..SIZE {
        let here = rotation.turn();
        assert_eq!(values(&client.turn(&bind("s", &[])).expect("rows")), [format!("new|{here}")]);
    }
    // Everything in one turn, twice.
    for text in ["third", "fourth"] {
        let here = rotation.turn();
        let sql = format!("select '{text}', pg_backend_pid()");
        let turn = Messages::new().close(b'S', "s").parse("s", &sql, &[]).bind("", "s", &[]).execute("", 0);
        let frames = client.turn(&turn.sync()).expect("rows");
        assert_eq!(tags(&frames), "312DCZ");
        assert_eq!(values(&frames), [format!("{text}|{here}")]);
    }
}

fn a_name_reused_after_a_failed_parse(stage: &Stage) {
    let (_proxy, mut clients, mut rotation) = rotating(stage, 1);
    let client = &mut clients[0];
    rotation.turn();
    assert_eq!(errors(&client.turn(&parse("s", "selekt 1")).expect("an answer")), ["42601"]);
    rotation.turn();
    assert_eq!(errors(&client.turn(&bind("s", &[])).expect("an answer")), ["26000"]);
    rotation.turn();
    assert_eq!(tags(&client.turn(&parse("s", "select pg_backend_pid()")).expect("parsed")), "1Z");
    let here = rotation.turn();
    assert_eq!(values(&client.turn(&bind("s", &[])).expect("rows")), [here]);
}

fn a_name_reused_after_a_parse_skipped_by_a_pipeline_error(stage: &Stage) {
    let (_proxy, mut clients, mut rotation) = rotating(stage, 2);
    let (first, rest) = clients.split_at_mut(1);
    let (client, other) = (&mut first[0], &mut rest[0]);
    // Once with a text that is new to all servers, once with a text that all have, whose Parse the proxy answers itself.
    for known in [false, true] {
        let text = format!("select pg_backend_pid(), {known}");
        if known {
            for _ in 0..SIZE {
                rotation.turn();
                let turn = Messages::new().parse("k", &text, &[]).close(b'S', "k").sync();
                assert_eq!(tags(&other.turn(&turn).expect("parsed")), "13Z");
            }
        }
        rotation.turn();
        let turn = Messages::new().parse("", "select 1/0", &[]).bind("", "", &[]).execute("", 0);
        let frames = client.turn(&turn.parse("s", &text, &[]).sync()).expect("an answer");
        assert_eq!(errors(&frames), ["22012"]);
        assert!(tags(&frames).ends_with("EZ"), "{}", tags(&frames));
        rotation.turn();
        assert_eq!(errors(&client.turn(&bind("s", &[])).expect("an answer")), ["26000"], "{known}");
        rotation.turn();
        assert_eq!(tags(&client.turn(&parse("s", &text)).expect("parsed")), "1Z");
        // A Close that is skipped closes nothing.
        rotation.turn();
        let turn = Messages::new().bind("", "nothing", &[]).close(b'S', "s").sync();
        assert_eq!(errors(&client.turn(&turn).expect("an answer")), ["26000"]);
        let here = rotation.turn();
        let rows = values(&client.turn(&bind("s", &[])).expect("rows"));
        assert_eq!(rows, [format!("{here}|{}", if known { 't' } else { 'f' })]);
        rotation.turn();
        assert_eq!(tags(&client.turn(&Messages::new().close(b'S', "s").sync()).expect("closed")), "3Z");
    }
}

fn a_duplicate_parse_is_refused_under_the_clients_own_name(stage: &Stage) {
    let (_proxy, mut clients, mut rotation) = rotating(stage, 1);
    let client = &mut clients[0];
    rotation.turn();
    assert_eq!(tags(&client.turn(&parse("my \"name\"", "select 'first'")).expect("parsed")), "1Z");
    let expected = {
        let mut direct = stage.direct("app");
        direct.turn(&parse("my \"name\"", "select 'first'")).expect("parsed");
        direct.turn(&parse("my \"name\"", "select 'second'")).expect("an answer").remove(0)
    };
    for text in ["select 'first'", "select 'second'", "select 'second'"] {
        rotation.turn();
        let frames = client.turn(&parse("my \"name\"", text)).expect("an answer");
        assert_eq!(errors(&frames), ["42P05"]);
        assert_eq!(frames[0].field(b'M'), expected.field(b'M'));
        rotation.turn();
        let rows = values(&client.turn(&bind("my \"name\"", &[])).expect("rows"));
        assert_eq!(rows, ["first"], "the old one stays");
    }
}

fn a_duplicate_parse_with_another_error_reports_that_error(stage: &Stage) {
    let (_proxy, mut clients, mut rotation) = rotating(stage, 1);
    let client = &mut clients[0];
    rotation.turn();
    assert_eq!(tags(&client.turn(&parse("s", "select 'first'")).expect("parsed")), "1Z");
    rotation.turn();
    assert_eq!(errors(&client.turn(&parse("s", "select * from nowhere")).expect("an answer")), ["42P01"]);
    rotation.turn();
    assert_eq!(values(&client.turn(&bind("s", &[])).expect("rows")), ["first"]);
}

fn parse_describe_flush_without_sync(stage: &Stage) {
    let (_proxy, mut clients, mut rotation) = rotating(stage, 2);
    let (first, rest) = clients.split_at_mut(1);
    let (client, other) = (&mut first[0], &mut rest[0]);
    for name in ["", "s"] {
        let here = rotation.turn();
        let messages = Messages::new().parse(name, "select pg_backend_pid(), $1::int4", &[]);
        client.send_messages(&messages.describe(b'S', name).flush()).expect("sent");
        let described: Vec<_> = (0..3).map(|_| client.frame().expect("a frame")).collect();
        assert_eq!(tags(&described), "1tT");
        // The client keeps the connection until the Sync, so another client gets another one.
        let there = rotation.turn();
        assert_eq!(other.sql("select pg_backend_pid()").expect("rows"), [there.as_str()]);
        let frames = client.turn(&bind(name, &[Some("5")])).expect("rows");
        assert_eq!((tags(&frames), values(&frames)), ("2DCZ".to_owned(), vec![format!("{here}|5")]));
        // The other client's connection became free first. With one more turn, the next name begins on a third connection.
        assert_ne!(here, there);
        rotation.swap_last();
        assert_ne!(rotation.turn(), here);
        assert_eq!(other.sql("select 1").expect("rows"), ["1"]);
    }
    // Describe and Flush of an unknown statement give an error at once, and everything is skipped until the Sync.
    rotation.turn();
    client.send_messages(&Messages::new().describe(b'S', "unknown").flush()).expect("sent");
    assert_eq!(client.frame().expect("an error").sqlstate().as_deref(), Some("26000"));
    client.send_messages(&Messages::new().parse("skipped", "select 1", &[]).flush()).expect("sent");
    assert_eq!(tags(&client.turn(&Messages::new().sync()).expect("ready")), "Z");
    rotation.turn();
    assert_eq!(errors(&client.turn(&bind("skipped", &[])).expect("an answer")), ["26000"]);
}

fn a_parse_in_a_failed_transaction_fails(stage: &Stage) {
    let (_proxy, mut clients, mut rotation) = rotating(stage, 2);
    let (first, rest) = clients.split_at_mut(1);
    let (client, other) = (&mut first[0], &mut rest[0]);
    for _ in 0..SIZE {
        rotation.turn();
        let turn = Messages::new().parse("known", "select 'known'", &[]).close(b'S', "known").sync();
        assert_eq!(tags(&other.turn(&turn).expect("parsed")), "13Z");
    }
    rotation.turn();
    client.sql("begin").expect("begin");
    client.sql("select 1/0").expect_err("division by zero");
    assert_eq!(errors(&client.turn(&parse("s", "select 'known'")).expect("an answer")), ["25P02"]);
    assert_eq!(tags(&client.turn(&parse("end", "rollback")).expect("parsed")), "1Z");
    assert_eq!(tags(&client.turn(&bind("end", &[])).expect("ended")), "2CZ");
    rotation.turn();
    assert_eq!(errors(&client.turn(&bind("s", &[])).expect("an answer")), ["26000"]);
    rotation.turn();
    assert_eq!(tags(&client.turn(&parse("s", "select 'known'")).expect("parsed")), "1Z");
    rotation.turn();
    assert_eq!(values(&client.turn(&bind("s", &[])).expect("rows")), ["known"]);
}

/// A client's command removes its own statements, and not those of other clients on the same server connections.
fn forgets(stage: &Stage, command: &str) {
    let (_proxy, mut clients, mut rotation) = rotating(stage, 2);
    let (first, rest) = clients.split_at_mut(1);
    let (client, other) = (&mut first[0], &mut rest[0]);
    let mine = "select 'mine', pg_backend_pid()";
    let others = "select 'others', pg_backend_pid()";
    for (who, text) in [(&mut *client, mine), (&mut *other, others)] {
        rotation.turn();
        assert_eq!(tags(&who.turn(&parse("s", text)).expect("parsed")), "1Z");
        for _ in 0..SIZE {
            rotation.turn();
            assert_eq!(values(&who.turn(&bind("s", &[])).expect("rows")).len(), 1);
        }
    }
    rotation.turn();
    client.sql(command).expect("forgotten");
    for _ in 0..SIZE {
        let here = rotation.turn();
        assert_eq!(values(&other.turn(&bind("s", &[])).expect("rows")), [format!("others|{here}")]);
        rotation.turn();
        let frames = client.turn(&bind("s", &[])).expect("an answer");
        assert_eq!((errors(&frames), tags(&frames).as_str()), (vec!["26000".to_owned()], "EZ"));
        assert!(frames[0].field(b'M').is_some_and(|text| text.contains("\"s\"")), "{frames:?}");
    }
    rotation.turn();
    assert_eq!(tags(&client.turn(&parse("s", mine)).expect("parsed")), "1Z");
    for _ in 0..SIZE {
        let here = rotation.turn();
        assert_eq!(values(&client.turn(&bind("s", &[])).expect("rows")), [format!("mine|{here}")]);
    }
}

fn deallocate_all_then_bind_or_parse(stage: &Stage) {
    forgets(stage, "deallocate all");
    forgets(stage, "select 1; deallocate all; select 2");
}

fn discard_all_then_bind_or_parse(stage: &Stage) {
    forgets(stage, "discard all");
}

fn deallocate_all_and_parse_in_one_pipeline(stage: &Stage) {
    let (_proxy, mut clients, mut rotation) = rotating(stage, 1);
    let client = &mut clients[0];
    rotation.turn();
    assert_eq!(tags(&client.turn(&parse("before", "select 'before'")).expect("parsed")), "1Z");
    let here = rotation.turn();
    let turn = Messages::new()
        .parse("", "deallocate all", &[])
        .bind("", "", &[])
        .execute("", 0)
        .parse("after", "select 'after', pg_backend_pid()", &[])
        .bind("", "after", &[])
        .execute("", 0)
        .sync();
    let frames = client.turn(&turn).expect("rows");
    assert_eq!((tags(&frames), values(&frames)), ("12C12DCZ".to_owned(), vec![format!("after|{here}")]));
    for _ in 0..SIZE {
        let here = rotation.turn();
        assert_eq!(values(&client.turn(&bind("after", &[])).expect("rows")), [format!("after|{here}")]);
        rotation.turn();
        assert_eq!(errors(&client.turn(&bind("before", &[])).expect("an answer")), ["26000"]);
    }
}

fn a_close_of_nothing_and_a_bind_of_nothing(stage: &Stage) {
    let (_proxy, mut clients, mut rotation) = rotating(stage, 1);
    let client = &mut clients[0];
    rotation.turn();
    let turn = Messages::new().close(b'S', "nothing").close(b'S', "").close(b'P', "nothing").sync();
    assert_eq!(tags(&client.turn(&turn).expect("closed")), "333Z");
    rotation.turn();
    let frames = client.turn(&bind("nothing", &[])).expect("an answer");
    assert_eq!(errors(&frames), ["26000"]);
    assert_eq!(frames[0].field(b'M').as_deref(), Some("prepared statement \"nothing\" does not exist"));
    rotation.turn();
    let frames = client.turn(&Messages::new().describe(b'P', "nothing").sync()).expect("an answer");
    assert_eq!(errors(&frames), ["34000"]);
    rotation.turn();
    assert_eq!(client.sql("select 1").expect("rows"), ["1"]);
}

fn a_statement_closed_while_it_is_used(stage: &Stage) {
    let (_proxy, mut clients, mut rotation) = rotating(stage, 1);
    let client = &mut clients[0];
    let here = rotation.turn();
    let turn = Messages::new()
        .parse("s", "select generate_series(1, 3), pg_backend_pid()", &[])
        .bind("portal", "s", &[])
        .execute("portal", 2)
        .close(b'S', "s")
        .execute("portal", 0)
        .close(b'P', "portal")
        .sync();
    let frames = client.turn(&turn).expect("rows");
    assert_eq!(tags(&frames), "12DDs3DC3Z");
    assert_eq!(values(&frames), [1, 2, 3].map(|row| format!("{row}|{here}")));
}

fn alter_table_under_a_cached_plan_heals_itself(stage: &Stage) {
    let (proxy, mut clients, mut rotation) = rotating(stage, 1);
    let client = &mut clients[0];
    stage.direct("app").sql("create table t (a int); insert into t values (1)").expect("a table");
    rotation.turn();
    assert_eq!(tags(&client.turn(&parse("s", "select * from t")).expect("parsed")), "1Z");
    for _ in 0..SIZE {
        rotation.turn();
        assert_eq!(values(&client.turn(&bind("s", &[])).expect("rows")), ["1"]);
    }
    stage.direct("app").sql("alter table t add b int default 2").expect("altered");
    for round in 0..2 * SIZE {
        rotation.turn();
        let turn = Messages::new().bind("", "s", &[]).describe(b'P', "").execute("", 0).sync();
        let frames = client.turn(&turn).expect("rows");
        assert_eq!((tags(&frames), values(&frames)), ("2TDCZ".to_owned(), vec!["1|2".to_owned()]), "{round}");
    }
    let replays = proxy.metric("trunkline_replays_total", &["user=\"app\""]).expect("a metric");
    assert_eq!(replays, SIZE as f64, "once on each server connection");
}

fn alter_table_under_a_cached_plan_inside_a_transaction(stage: &Stage) {
    let (_proxy, mut clients, mut rotation) = rotating(stage, 1);
    let client = &mut clients[0];
    stage.direct("app").sql("create table t (a int); insert into t values (1)").expect("a table");
    rotation.turn();
    assert_eq!(tags(&client.turn(&parse("s", "select * from t")).expect("parsed")), "1Z");
    for _ in 0..SIZE {
        rotation.turn();
        assert_eq!(values(&client.turn(&bind("s", &[])).expect("rows")), ["1"]);
    }
    stage.direct("app").sql("alter table t add b int default 2").expect("altered");
    for _ in 0..SIZE {
        rotation.turn();
        client.sql("begin").expect("begin");
        assert_eq!(errors(&client.turn(&bind("s", &[])).expect("an answer")), ["0A000"]);
        client.sql("rollback").expect("rollback");
    }
    for _ in 0..SIZE {
        rotation.turn();
        client.sql("begin").expect("begin");
        assert_eq!(values(&client.turn(&bind("s", &[])).expect("rows")), ["1|2"]);
        client.sql("commit").expect("commit");
    }
}

fn a_table_dropped_under_a_statement_is_reported_and_comes_back(stage: &Stage) {
    let (_proxy, mut clients, mut rotation) = rotating(stage, 1);
    let client = &mut clients[0];
    let mut direct = stage.direct("app");
    direct.sql("create table t (a int); insert into t values (1)").expect("a table");
    rotation.turn();
    assert_eq!(tags(&client.turn(&parse("s", "select a from t")).expect("parsed")), "1Z");
    direct.sql("drop table t").expect("dropped");
    for _ in 0..SIZE + 1 {
        rotation.turn();
        assert_eq!(errors(&client.turn(&bind("s", &[])).expect("an answer")), ["42P01"]);
    }
    direct.sql("create table t (a int); insert into t values (2)").expect("a table");
    for _ in 0..SIZE + 1 {
        rotation.turn();
        assert_eq!(values(&client.turn(&bind("s", &[])).expect("rows")), ["2"]);
    }
}

fn a_portal_of_the_unnamed_statement_says_nothing_of_a_named_one(stage: &Stage) {
    let (_proxy, mut clients, mut rotation) = rotating(stage, 1);
    let client = &mut clients[0];
    rotation.turn();
    // The portal of the unnamed statement is described. It has one column, and the named statement has two.
    let turns = Messages::new().parse("s", "select 1, 2", &[]).bind("", "s", &[]).execute("", 0).sync();
    let turns = turns.parse("", "select 'unnamed'", &[]).bind("", "", &[]).describe(b'P', "").execute("", 0);
    assert_eq!(values(&client.turn(&turns.sync()).expect("rows")), ["1|2"]);
    assert_eq!(values(&client.until_ready().expect("rows")), ["unnamed"]);
    for _ in 0..SIZE {
        rotation.turn();
        let frames = client.turn(&bind("s", &[])).expect("rows");
        assert_eq!((errors(&frames), values(&frames)), (vec![], vec!["1|2".to_owned()]));
    }
}

/// A Parse above `prepared_statement_bytes_max` is passed on. Its statement exists only on the server connection that parsed it.
fn a_parse_too_long_to_be_kept(stage: &Stage) {
    let (_proxy, mut clients, mut rotation) = rotating(stage, 2);
    let sql = format!("select pg_backend_pid() /* {} */", "x".repeat(3 << 20));
    let parse = |name: &str| Messages::new().parse(name, &sql, &[]);
    for name in ["", "big"] {
        let here = rotation.turn();
        let turn = parse(name).bind("", name, &[]).describe(b'P', "").execute("", 0).sync();
        let frames = clients[0].turn(&turn).expect("an answer");
        assert_eq!((tags(&frames).as_str(), values(&frames)), ("12TDCZ", vec![here]));
        rotation.turn();
        let frames = clients[0].turn(&bind(name, &[])).expect("an answer");
        assert_eq!(errors(&frames), ["26000"], "{name:?}");
        // Within a transaction the statement can be used.
        let here = rotation.turn();
        clients[1].sql("begin").expect("begun");
        assert_eq!(tags(&clients[1].turn(&parse(name).sync()).expect("an answer")), "1Z");
        for _ in 0..2 {
            assert_eq!(
                values(&clients[1].turn(&bind(name, &[])).expect("rows")),
                std::slice::from_ref(&here)
            );
        }
        clients[1].sql("commit").expect("committed");
        rotation.turn();
        assert_eq!(clients[0].sql("select 1").expect("rows"), ["1"]);
    }
    // A name that already exists, and a wrong text.
    rotation.turn();
    clients[1].sql("begin").expect("begun");
    clients[1].turn(&Messages::new().parse("taken", "select 1", &[]).sync()).expect("an answer");
    let frames = clients[1].turn(&parse("taken").sync()).expect("an answer");
    assert_eq!(errors(&frames), ["42P05"]);
    assert_eq!(frames[0].field(b'M').as_deref(), Some("prepared statement \"taken\" already exists"));
    clients[1].sql("rollback").expect("rolled back");
    rotation.turn();
    let wrong = Messages::new().parse("wrong", &sql.replace("select", "selekt"), &[]).sync();
    assert_eq!(errors(&clients[1].turn(&wrong).expect("an answer")), ["42601"]);
    rotation.turn();
    assert_eq!(values(&clients[1].turn(&Messages::new().extended("select 3", &[])).expect("rows")), ["3"]);
}

/// After an error, the proxy closes a statement before the next turn. Here no next turn comes.
fn a_terminate_after_an_error_frees_its_connection(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let mut other = login(&proxy, "app");
    other.turn(&parse("s", "commit")).expect("parsed");
    let mut client = login(&proxy, "app");
    client.sql("begin").expect("begun");
    client.turn(&Messages::new().parse("", "select 1", &[]).bind("P", "", &[]).sync()).expect("bound");
    let taken = Messages::new().parse("s", "commit", &[]).bind("P", "s", &[]).sync();
    assert_eq!(errors(&client.turn(&taken).expect("an answer")), ["42P03"]);
    client.send_messages(&Messages::new().terminate()).expect("sent");
    assert_eq!(other.sql("select 1").expect("the connection is free"), ["1"]);
}

/// The answer to Describe of a portal has no ParameterDescription.
fn parameters_of_one_statement_are_not_told_of_another(stage: &Stage) {
    stage.direct("app").sql("create table u (a int)").expect("a table");
    let (_proxy, mut clients, _rotation) = rotating(stage, 1);
    let client = &mut clients[0];
    let one = Messages::new().parse("", "delete from u where a = $1", &[]).describe(b'S', "");
    let other = one.parse("n", "delete from u", &[]).bind("", "n", &[]).describe(b'P', "").sync();
    assert_eq!(tags(&client.turn(&other).expect("described")), "1tn12nZ");
    // A connection that lacks the statement and cannot prepare it any more.
    client.sql("begin").expect("begun");
    client.sql("select 1/0").expect_err("the transaction fails");
    let described = client.turn(&Messages::new().describe(b'S', "n").sync()).expect("an answer");
    // If the statement's parameters are not known, the answer is that the transaction has failed.
    let parameters = described.iter().find(|frame| frame.tag == b't');
    assert!(parameters.is_none_or(|frame| frame.body == [0, 0]), "{described:?}");
}
