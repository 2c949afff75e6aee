//! Lost servers and vanished clients.

use trunkline_probes::testkit::cut_proxy::Direction;
use trunkline_probes::testkit::{CutProxy, Frame, Messages, Proxy, RawClient};
use trunkline_probes::{Gate, Rotation, Stage, errors, login, probes, tags, values};

probes! {
    a_backend_killed_idle_is_not_noticed_by_any_client,
    a_backend_killed_in_a_transaction_is_noticed_by_its_client_only,
    a_backend_killed_in_a_simple_query_outside_a_transaction,
    a_backend_killed_in_an_extended_query_outside_a_transaction,
    a_backend_killed_in_a_pipeline_of_several_turns,
    a_server_that_vanishes_without_closing,
    a_server_that_vanishes_within_a_row,
    a_statement_survives_the_loss_of_its_server,
    a_client_gone_in_a_transaction,
    a_client_gone_in_the_middle_of_a_long_query,
    a_client_gone_between_parse_and_sync,
    a_client_gone_before_its_sync_has_committed_nothing,
    a_client_gone_in_a_failed_transaction_or_with_unread_rows,
    an_idle_server_that_no_longer_answers,
    an_idle_server_that_is_gone,
    a_server_that_cannot_be_reached_and_comes_back,
}

fn one(client: &mut RawClient, sql: &str) -> String {
    client.sql(sql).unwrap_or_else(|error| panic!("{sql}: {error:#}")).join("\n")
}

fn terminate(stage: &Stage, pid: &str) {
    assert_eq!(stage.sql(&format!("select pg_terminate_backend({pid})")), ["t"]);
}

/// Kills the backends of all queries that wait at the gate.
fn terminate_held(stage: &Stage) {
    stage.sql(&Gate::held()).iter().for_each(|pid| terminate(stage, pid));
}

/// Waits until the proxy has seen that all its idle server connections are gone.
fn wait_until_none_is_idle(stage: &Stage, proxy: &Proxy) {
    stage.eventually("the proxy sees it", || {
        let idle =
            proxy.metric("trunkline_servers", &["state=\"idle\""]).map_err(|error| error.to_string())?;
        if idle == 0.0 { Ok(()) } else { Err(format!("{idle} idle")) }
    });
}

fn a_backend_killed_idle_is_not_noticed_by_any_client(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 3).start();
    let mut clients: Vec<_> = (0..3).map(|_| login(&proxy, "app")).collect();
    Rotation::warm(&proxy, 3);
    for _ in 0..3 {
        let opened = proxy.metric("trunkline_server_opened_total", &[]).expect("a metric");
        stage.backends().iter().for_each(|pid| terminate(stage, &pid.to_string()));
        wait_until_none_is_idle(stage, &proxy);
        for client in &mut clients {
            assert_eq!(one(client, "select 1"), "1");
            assert_eq!(client.extended("select 2", &[]).expect("rows"), ["2"]);
        }
        assert!(proxy.metric("trunkline_server_opened_total", &[]).expect("a metric") > opened);
    }
}

fn a_backend_killed_in_a_transaction_is_noticed_by_its_client_only(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 3).start();
    let mut others: Vec<_> = (0..2).map(|_| login(&proxy, "app")).collect();
    for running in [false, true] {
        let mut victim = login(&proxy, "app");
        others.iter_mut().for_each(|other| drop(other.sql("begin").expect("begin")));
        victim.sql("begin").expect("begin");
        let pid = one(&mut victim, "select pg_backend_pid()");
        let gate = running.then(|| Gate::close(stage));
        if running {
            victim.send_messages(&Messages::new().query(&Gate::query("1"))).expect("sent");
            Gate::wait_for(stage, 1);
        }
        terminate(stage, &pid);
        let mut told = std::iter::repeat_with(|| victim.frame().expect("told"));
        let frame = told.find(|frame| frame.tag != b'T').expect("an error");
        assert_eq!(
            (frame.sqlstate().as_deref(), frame.field(b'V').as_deref()),
            (Some("57P01"), Some("FATAL"))
        );
        victim.expect_end().expect("closed");
        drop(gate);
        for other in &mut others {
            assert_eq!(one(other, "select 1"), "1");
            other.sql("commit").expect("commit");
        }
    }
}

/// Kills the only backend that waits at the gate, and reads the answer of its client.
fn killed(stage: &Stage, client: &mut RawClient, messages: &Messages) -> Vec<Frame> {
    let _gate = Gate::close(stage);
    client.send_messages(messages).expect("sent");
    Gate::wait_for(stage, 1);
    terminate_held(stage);
    client.until_ready().expect("an answer")
}

fn a_backend_killed_in_a_simple_query_outside_a_transaction(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let mut client = login(&proxy, "app");
    client.turn(&Messages::new().parse("", "select 'unnamed'", &[]).sync()).expect("parsed");
    client.turn(&Messages::new().parse("s", "select 'named'", &[]).sync()).expect("parsed");
    for _ in 0..2 {
        let frames =
            killed(stage, &mut client, &Messages::new().query(&format!("select 1; {}", Gate::query("2"))));
        assert_eq!(errors(&frames), ["57P01"]);
        assert!(tags(&frames).ends_with("EZ"), "{}", tags(&frames));
        assert_eq!(frames.last().map(|ready| ready.body.clone()), Some(b"I".to_vec()));
        let error = frames.iter().find(|frame| frame.tag == b'E').and_then(|frame| frame.field(b'V'));
        assert_eq!(error.as_deref(), Some("ERROR"), "the connection goes on");
        assert_eq!(one(&mut client, "select 1"), "1");
        let bind = Messages::new().bind("", "s", &[]).execute("", 0).sync();
        assert_eq!(values(&client.turn(&bind).expect("rows")), ["named"]);
    }
}

fn a_backend_killed_in_an_extended_query_outside_a_transaction(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let mut client = login(&proxy, "app");
    for name in ["", "s"] {
        let held = Messages::new().parse(name, &Gate::query("1"), &[]).bind("", name, &[]).execute("", 0);
        let frames = killed(stage, &mut client, &held.clone().sync());
        assert_eq!((errors(&frames), tags(&frames).as_str()), (vec!["57P01".to_owned()], "12EZ"));
        // The Sync is missing, so everything is skipped until it comes.
        client.turn(&Messages::new().close(b'S', name).sync()).expect("closed");
        let gate = Gate::close(stage);
        client.send_messages(&held.flush()).expect("sent");
        Gate::wait_for(stage, 1);
        terminate_held(stage);
        let got: Vec<_> = (0..3).map(|_| client.frame().expect("a frame")).collect();
        assert_eq!((tags(&got).as_str(), errors(&got)), ("12E", vec!["57P01".to_owned()]));
        drop(gate);
        client.send_messages(&Messages::new().execute("", 0).flush()).expect("sent");
        assert_eq!(tags(&client.turn(&Messages::new().sync()).expect("ready")), "Z");
        assert_eq!(client.extended("select 1", &[]).expect("rows"), ["1"]);
        client.turn(&Messages::new().close(b'S', name).sync()).expect("closed");
    }
}

fn a_backend_killed_in_a_pipeline_of_several_turns(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let mut client = login(&proxy, "app");
    let messages = Messages::new()
        .extended("select 1", &[])
        .query(&Gate::query("1"))
        .extended("select 2", &[])
        .query("select 3")
        .parse("never", "select 4", &[])
        .sync();
    let frames = killed(stage, &mut client, &messages);
    assert_eq!((tags(&frames), values(&frames)), ("12TDCZ".to_owned(), vec!["1".to_owned()]));
    for turn in 0..3 {
        let frames = client.until_ready().expect("an answer for every turn");
        let states = errors(&frames);
        assert!(states.len() == 1 && tags(&frames).ends_with("EZ"), "turn {turn}: {}", tags(&frames));
    }
    // The last turn may not have been sent yet, and may then run on another connection. Answered turns keep their effect.
    let parsed = errors(&client.until_ready().expect("an answer for the last turn"));
    let frames = client.turn(&Messages::new().bind("", "never", &[]).sync()).expect("an answer");
    match parsed.is_empty() {
        true => assert_eq!(tags(&frames), "2Z"),
        false => assert_eq!(errors(&frames), ["26000"], "its Parse was not done"),
    }
    assert_eq!(one(&mut client, "select 5"), "5");
}

fn a_server_that_vanishes_without_closing(stage: &Stage) {
    let cut = CutProxy::start(stage.cluster().address()).expect("a relay");
    let proxy = Rotation::setup(stage.setup().server(cut.address()), 2).start();
    let (mut client, mut other) = (login(&proxy, "app"), login(&proxy, "app"));
    for sql in [Gate::query("1"), format!("select 1; {}", Gate::query("2"))] {
        let gate = Gate::close(stage);
        client.send_messages(&Messages::new().query(&sql)).expect("sent");
        Gate::wait_for(stage, 1);
        cut.cut();
        let frames = client.until_ready().expect("an answer");
        assert_eq!(errors(&frames), ["08006"]);
        assert_eq!(one(&mut client, "select 1"), "1");
        assert_eq!(one(&mut other, "select 1"), "1");
        // A backend does not check its socket while it waits.
        gate.open();
    }
    client.sql("begin").expect("begin");
    cut.cut();
    assert_eq!(client.frame().expect("told").sqlstate().as_deref(), Some("08006"));
    client.expect_end().expect("closed");
    assert_eq!(one(&mut other, "select 1"), "1");
}

fn a_server_that_vanishes_within_a_row(stage: &Stage) {
    let cut = CutProxy::start(stage.cluster().address()).expect("a relay");
    let proxy = Rotation::setup(stage.setup().server(cut.address()), 1).start();
    let mut other = login(&proxy, "app");
    // The RowDescription has 32 bytes. The proxy passes the beginning of a message on as soon as it knows its length.
    for bytes in [1, 4, 5, 31, 32, 36, 37, 200, 50_000] {
        let mut client = login(&proxy, "app");
        assert_eq!(one(&mut client, "select 1"), "1");
        cut.cut_after(Direction::ToClient, bytes);
        client.send_messages(&Messages::new().query("select repeat('x', 100000)")).expect("sent");
        let mut frames = Vec::new();
        // The client gets complete messages, then an error and the next turn, or the end of the connection; never wrong bytes.
        let ended = loop {
            match client.frame() {
                Ok(frame) if frame.tag == b'Z' => break false,
                Ok(frame) => frames.push(frame),
                Err(_) => break true,
            }
        };
        if ended {
            client.expect_end().expect("closed");
        } else {
            assert_eq!(errors(&frames), ["08006"], "{bytes}: {}", tags(&frames));
            assert_eq!(one(&mut client, "select 1"), "1");
        }
        assert_eq!(ended, !matches!(bytes, 0..5 | 32..37), "{bytes}: {}", tags(&frames));
        assert_eq!(one(&mut other, "select 1"), "1");
    }
}

fn a_statement_survives_the_loss_of_its_server(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let mut client = login(&proxy, "app");
    client.turn(&Messages::new().parse("s", "select 'named'", &[]).sync()).expect("parsed");
    let bind = Messages::new().bind("", "s", &[]).execute("", 0).sync();
    for _ in 0..2 {
        let pid = one(&mut client, "select pg_backend_pid()");
        terminate(stage, &pid);
        stage.wait_for(&format!("select count(*) from pg_stat_activity where pid = {pid}"), "0");
        wait_until_none_is_idle(stage, &proxy);
        assert_eq!(values(&client.turn(&bind).expect("rows")), ["named"]);
    }
}

fn a_client_gone_in_a_transaction(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 1).start();
    stage.direct("app").sql("create table t (a int)").expect("a table");
    let mut next = login(&proxy, "app");
    let pid = one(&mut next, "select pg_backend_pid()");
    for polite in [false, true] {
        let mut client = login(&proxy, "app");
        client.sql("begin; insert into t values (1); set timezone = 'Asia/Tokyo'").expect("inserted");
        if polite {
            client.terminate().expect("said good-bye");
        } else {
            drop(client);
        }
        assert_eq!(one(&mut next, "select count(*) from t"), "0");
        assert_eq!(one(&mut next, "select pg_backend_pid()"), pid, "the connection is kept");
        assert_eq!(one(&mut next, "show timezone"), "UTC");
    }
}

fn a_client_gone_in_the_middle_of_a_long_query(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let mut next = login(&proxy, "app");
    let pid = one(&mut next, "select pg_backend_pid()");
    let held = Messages::new().parse("", &Gate::query("1"), &[]).bind("", "", &[]).execute("", 0);
    // The gate is never opened, so a query that is not cancelled runs for ever.
    let _gate = Gate::close(stage);
    for messages in [
        Messages::new().query(&Gate::query("1")),
        Messages::new().query(&format!("begin; {}", Gate::query("1"))),
        held.clone().sync(),
        held.flush(),
        Messages::new().query(&Gate::query("1")).query(&Gate::query("2")),
    ] {
        let mut client = login(&proxy, "app");
        client.send_messages(&messages).expect("sent");
        Gate::wait_for(stage, 1);
        drop(client);
        assert_eq!(one(&mut next, "select pg_backend_pid()"), pid, "the connection is kept");
    }
}

fn a_client_gone_between_parse_and_sync(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let mut next = login(&proxy, "app");
    let pid = one(&mut next, "select pg_backend_pid()");
    for name in ["", "s"] {
        let mut client = login(&proxy, "app");
        client.send_messages(&Messages::new().parse(name, "select 1", &[]).flush()).expect("sent");
        assert_eq!(client.frame().expect("a frame").tag, b'1');
        drop(client);
        assert_eq!(one(&mut next, "select pg_backend_pid()"), pid);
    }
}

/// As on a direct connection, messages without a Sync after them are rolled back.
fn a_client_gone_before_its_sync_has_committed_nothing(stage: &Stage) {
    stage.sql("create table never_ended (n int); grant all on never_ended to public");
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let mut next = login(&proxy, "app");
    let pid = one(&mut next, "select pg_backend_pid()");
    let insert = || {
        Messages::new().parse("", "insert into never_ended values (1)", &[]).bind("", "", &[]).execute("", 0)
    };
    let copy =
        || Messages::new().parse("", "copy never_ended from stdin", &[]).bind("", "", &[]).execute("", 0);
    let data = |messages: Messages| messages.copy_data(b"2\n").copy_done().flush();
    let begun = [
        // The messages that are sent, and the answers that the client reads before it leaves.
        (insert().flush(), "12C"),
        (insert(), ""),
        (insert().flush().terminate(), ""),
        (data(insert().parse("", "copy never_ended from stdin", &[]).bind("", "", &[]).execute("", 0)), ""),
        (copy().flush(), "12G"),
        (copy().sync(), "12G"),
        (data(copy().sync()), "12GC"),
        (data(copy()), "12GC"),
    ];
    for (number, (messages, answers)) in begun.iter().enumerate() {
        let mut client = login(&proxy, "app");
        client.send_messages(messages).expect("sent");
        let told: String =
            (0..answers.len()).map(|_| char::from(client.frame().expect("a frame").tag)).collect();
        assert_eq!(told, *answers, "{number}");
        drop(client);
        assert_eq!(one(&mut next, "select pg_backend_pid()"), pid, "{number}");
        assert_eq!(one(&mut next, "select count(*) from never_ended"), "0", "{number}");
    }
    stage.sql("drop table never_ended");
}

fn a_client_gone_in_a_failed_transaction_or_with_unread_rows(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let mut next = login(&proxy, "app");
    let pid = one(&mut next, "select pg_backend_pid()");
    let mut client = login(&proxy, "app");
    client.sql("begin").expect("begin");
    client.sql("select 1/0").expect_err("division by zero");
    drop(client);
    assert_eq!(one(&mut next, "select pg_backend_pid()"), pid);
    let mut client = login(&proxy, "app");
    let rows = "select repeat('x', 1000), generate_series(1, 1000000)";
    client.send_messages(&Messages::new().query(rows)).expect("sent");
    client.frame().expect("the first frame");
    drop(client);
    assert_eq!(one(&mut next, "select pg_backend_pid()"), pid);
}

fn an_idle_server_that_no_longer_answers(stage: &Stage) {
    let cut = CutProxy::start(stage.cluster().address()).expect("a relay");
    let setup = stage.setup().server(cut.address()).set("timeouts.server_check_delay", 0);
    let setup = Rotation::setup(setup.set("timeouts.server_login_retry", "100ms"), 1);
    let proxy = setup.start();
    let mut client = login(&proxy, "app");
    let pid = one(&mut client, "select pg_backend_pid()");
    assert_eq!(one(&mut client, "select pg_backend_pid()"), pid, "a check does no harm");
    // The timeout is so short only now, so that it cannot affect what is still answered.
    let short = setup.clone().set("timeouts.server_connect_timeout", "1s").text();
    proxy.reload_and_wait(&short).expect("reloaded");
    cut.stall(Direction::ToClient);
    client.send_messages(&Messages::new().query("select pg_backend_pid()")).expect("sent");
    stage.eventually("the proxy gives the connection up and opens another", || match cut.accepted() {
        ..2 => Err("not yet".to_owned()),
        _ => Ok(()),
    });
    proxy.reload_and_wait(&setup.text()).expect("reloaded");
    cut.resume();
    let frames = client.until_ready().expect("an answer");
    assert_eq!(errors(&frames), Vec::<String>::new(), "the client does not notice");
    assert_ne!(values(&frames), [pid]);
}

/// The relay passes the server's close on only after the proxy has sent its check.
fn an_idle_server_that_is_gone(stage: &Stage) {
    let cut = CutProxy::start(stage.cluster().address()).expect("a relay");
    let setup = stage.setup().server(cut.address()).set("timeouts.server_check_delay", 0);
    let proxy = Rotation::setup(setup, 1).start();
    let mut client = login(&proxy, "app");
    for _ in 0..5 {
        let pid = one(&mut client, "select pg_backend_pid()");
        let before = cut.passed(Direction::ToServer);
        cut.stall(Direction::ToClient);
        terminate(stage, &pid);
        stage.wait_for(&format!("select count(*) from pg_stat_activity where pid = {pid}"), "0");
        client.send_messages(&Messages::new().query("select pg_backend_pid()")).expect("sent");
        stage.eventually("the proxy asks", || match cut.passed(Direction::ToServer) - before {
            0 => Err("not yet".to_owned()),
            _ => Ok(()),
        });
        cut.resume();
        let frames = client.until_ready().expect("an answer");
        assert_eq!(errors(&frames), Vec::<String>::new(), "the client does not notice");
        assert_ne!(values(&frames), [pid]);
    }
}

fn a_server_that_cannot_be_reached_and_comes_back(stage: &Stage) {
    let cut = CutProxy::start(stage.cluster().address()).expect("a relay");
    let setup = stage.setup().server(cut.address()).set("timeouts.server_login_retry", "100ms");
    let proxy = setup.set("timeouts.server_login_retry_max", "100ms").start();
    let mut client = login(&proxy, "app");
    assert_eq!(one(&mut client, "select 1"), "1");
    cut.refuse();
    cut.cut();
    stage.eventually("the client is told", || match client.sql("select 1") {
        Err(error) if trunkline_probes::sqlstate(&error).starts_with("08") => Ok(()),
        other => Err(format!("{other:?}")),
    });
    cut.resume();
    stage.eventually("the client can go on", || match client.sql("select 1") {
        Ok(rows) if rows == ["1"] => Ok(()),
        other => Err(format!("{other:?}")),
    });
    assert!(proxy.metric("trunkline_server_open_failed_total", &[]).expect("a metric") >= 1.0);
}
