//! Sizes, limits, timeouts, reload, pause: an operator's settings take effect and do not harm clients.

use std::time::{Duration, Instant};

use trunkline_probes::testkit::cluster::{PASSWORD, PLAIN_USER};
use trunkline_probes::testkit::{Messages, Proxy, RawClient, Signal};
use trunkline_probes::{
    Bystander, Gate, Rotation, Stage, errors, expect_error, expect_refusal, login, probes, sqlstate,
    try_login, values,
};

probes! {
    what_connect_query_sets_is_every_clients_default,
    a_connect_query_that_fails_is_reported_and_tried_again_later,
    query_wait_timeout_fails_the_turn_and_keeps_the_client,
    a_client_that_waits_in_vain_is_told_the_bound,
    query_timeout_ends_the_client_and_cancels_its_query,
    idle_transaction_timeout_ends_the_client_and_rolls_back,
    client_idle_timeout_ends_idle_clients_only,
    server_lifetime_renews_connections_between_turns,
    server_idle_timeout_closes_down_to_min_pool_size,
    min_pool_size_is_kept_open,
    the_reserve_pool_serves_clients_that_waited,
    max_db_connections_evicts_the_idle_of_another_user,
    max_db_connections_under_load_starves_nobody,
    max_client_conn_refuses_and_keeps_room_for_cancels,
    a_starving_worker_gets_the_others_idle_connection,
    a_worker_without_a_connection_welcomes_clients_at_once,
    reload_moves_a_pool_to_another_server,
    reload_changes_a_database_parameter,
    reload_switches_prepared_statements_off_and_on,
    reload_of_a_smaller_pool,
    pause_and_resume,
}

fn one(client: &mut RawClient, sql: &str) -> String {
    client.sql(sql).unwrap_or_else(|error| panic!("{sql}: {error:#}")).join("\n")
}

/// Waits until one metric, summed over the label sets that contain `labels`, is `wanted`.
fn wait_for_metric(stage: &Stage, proxy: &Proxy, name: &str, labels: &[&str], wanted: f64) {
    stage.eventually(name, || match proxy.metric(name, labels) {
        Ok(value) if value == wanted => Ok(()),
        other => Err(format!("{other:?}, not {wanted}")),
    });
}

fn wait_until_one_waits(stage: &Stage, proxy: &Proxy) {
    wait_for_metric(stage, proxy, "trunkline_clients", &["state=\"waiting\""], 1.0);
}

/// Waits until the server has this many of the proxy's connections: a backend needs a moment to end.
fn wait_for_backends(stage: &Stage, count: usize) {
    stage.eventually("server connections", || match stage.backends().len() {
        found if found == count => Ok(()),
        found => Err(format!("{found}, not {count}")),
    });
}

fn query_wait_timeout_fails_the_turn_and_keeps_the_client(stage: &Stage) {
    let setup = Rotation::setup(stage.setup(), 1);
    let proxy = setup.start();
    let (mut holder, mut waiter) = (login(&proxy, "app"), login(&proxy, "app"));
    holder.sql("begin").expect("begin");
    // The timeout is set only now, because logins may have to wait longer for a server connection.
    proxy.reload_and_wait(&setup.set("timeouts.query_wait_timeout", "300ms").text()).expect("reloaded");
    for messages in [
        Messages::new().query("select 1"),
        Messages::new().extended("select 1", &[]),
        Messages::new().parse("s", "select 1", &[]).sync(),
    ] {
        let frames = waiter.turn(&messages).expect("an answer");
        assert_eq!(errors(&frames), ["53300"]);
        assert_eq!(frames.len(), 2, "an error and ReadyForQuery");
    }
    holder.sql("commit").expect("commit");
    let frames = waiter.turn(&Messages::new().bind("", "s", &[]).sync()).expect("an answer");
    assert_eq!(errors(&frames), ["26000"], "its Parse was not done");
    assert_eq!(one(&mut waiter, "select 1"), "1");
}

fn a_client_that_waits_in_vain_is_told_the_bound(stage: &Stage) {
    for (bound, setting) in [
        ("pool_size", "pool.pool_size"),
        ("max_db_connections", "pool.max_db_connections"),
        ("max_user_connections", "pool.max_user_connections"),
    ] {
        let setup = Rotation::setup(stage.setup(), 2).set(setting, 1);
        let proxy = setup.start();
        let (mut holder, mut waiter) = (login(&proxy, "app"), login(&proxy, "app"));
        holder.sql("begin").expect("begin");
        proxy.reload_and_wait(&setup.set("timeouts.query_wait_timeout", "300ms").text()).expect("reloaded");
        let frames = waiter.turn(&Messages::new().query("select 1")).expect("an answer");
        assert_eq!(errors(&frames), ["53300"]);
        let text = String::from_utf8_lossy(&frames[0].body).into_owned();
        assert!(text.contains("all 1") && text.contains(&format!("raise {bound}")), "{text}");
        if bound != "pool_size" {
            let label = format!("limit=\"{bound}\"");
            wait_for_metric(stage, &proxy, "trunkline_limit_hits_total", &[&label], 1.0);
        }
    }
}

fn query_timeout_ends_the_client_and_cancels_its_query(stage: &Stage) {
    let setup = Rotation::setup(stage.setup(), 1);
    let proxy = setup.start();
    let mut next = login(&proxy, "app");
    let pid = one(&mut next, "select pg_backend_pid()");
    let mut slow = login(&proxy, "app");
    let gate = Gate::close(stage);
    slow.send_messages(&Messages::new().query(&Gate::query("'slow'"))).expect("sent");
    Gate::wait_for(stage, 1);
    let timed = |limit: &str| setup.clone().set("timeouts.query_timeout", limit).text();
    proxy.reload_and_wait(&timed("1s")).expect("reloaded");
    expect_refusal(&mut slow, "57014");
    gate.open();
    assert_eq!(one(&mut next, "select pg_backend_pid()"), pid, "cancelled, and the connection kept");
    // Many short queries in one transaction are no long query: each takes a twentieth of the limit, and together they take longer.
    proxy.reload_and_wait(&timed("2s")).expect("reloaded");
    next.sql("begin").expect("begin");
    for _ in 0..25 {
        assert_eq!(one(&mut next, "select 1 from pg_sleep(0.1)"), "1");
    }
    next.sql("commit").expect("commit");
}

fn idle_transaction_timeout_ends_the_client_and_rolls_back(stage: &Stage) {
    stage.direct("app").sql("create table t (a int)").expect("a table");
    let proxy = Rotation::setup(stage.setup().set("timeouts.idle_transaction_timeout", "1s"), 1).start();
    let mut next = login(&proxy, "app");
    let pid = one(&mut next, "select pg_backend_pid()");
    let mut idle = login(&proxy, "app");
    idle.sql("begin; insert into t values (1)").expect("inserted");
    expect_refusal(&mut idle, "25P03");
    assert_eq!(one(&mut next, "select count(*) from t"), "0");
    assert_eq!(one(&mut next, "select pg_backend_pid()"), pid, "the connection is kept");
    // A running query is not idle. All are sent at once, so that the transaction never waits for the client.
    let busy = Messages::new().query("begin").query("select 1 from pg_sleep(2)").query("commit");
    next.send_messages(&busy).expect("sent");
    for turn in 0..3 {
        assert_eq!(errors(&next.until_ready().expect("an answer")), Vec::<String>::new(), "turn {turn}");
    }
}

fn client_idle_timeout_ends_idle_clients_only(stage: &Stage) {
    let setup = stage.setup();
    let proxy = setup.start();
    let (mut idle, mut busy) = (login(&proxy, "app"), login(&proxy, "app"));
    let gate = Gate::close(stage);
    busy.send_messages(&Messages::new().query(&Gate::query("'busy'"))).expect("sent");
    Gate::wait_for(stage, 1);
    proxy.reload_and_wait(&setup.set("timeouts.client_idle_timeout", "1s").text()).expect("reloaded");
    expect_refusal(&mut idle, "57P05");
    // This client is as old as the idle one, but works. Meanwhile another client is disconnected after a second of idleness.
    expect_refusal(&mut login(&proxy, "app"), "57P05");
    gate.open();
    assert_eq!(values(&busy.until_ready().expect("rows")), ["busy"]);
    expect_refusal(&mut busy, "57P05");
}

fn server_lifetime_renews_connections_between_turns(stage: &Stage) {
    const LIFETIME: Duration = Duration::from_millis(500);
    let proxy = Rotation::setup(stage.setup().set("timeouts.server_lifetime", "500ms"), 1).start();
    let mut client = login(&proxy, "app");
    client.turn(&Messages::new().parse("s", "select pg_backend_pid()", &[]).sync()).expect("parsed");
    let bind = Messages::new().bind("", "s", &[]).execute("", 0).sync();
    let (mut pids, begun) = (Vec::new(), Instant::now());
    stage.eventually("connections are renewed", || {
        pids.extend(values(&client.turn(&bind).expect("rows")));
        pids.dedup();
        if pids.len() > 4 { Ok(()) } else { Err(format!("{pids:?}")) }
    });
    // The first of these connections may be old, but the last one is new.
    assert!(begun.elapsed() >= LIFETIME * 3, "renewed before their time: {:?}", begun.elapsed());
    // Within a transaction, the connection stays the same.
    client.sql("begin").expect("begin");
    let before = one(&mut client, "select pg_backend_pid()");
    assert_eq!(one(&mut client, "select pg_backend_pid() from pg_sleep(1)"), before);
    client.sql("commit").expect("commit");
    assert_ne!(one(&mut client, "select pg_backend_pid()"), before);
}

fn server_idle_timeout_closes_down_to_min_pool_size(stage: &Stage) {
    let setup = stage.setup().set("timeouts.server_idle_timeout", "500ms").set("pool.min_pool_size", 1);
    let proxy = Rotation::setup(setup, 4).start();
    Rotation::warm(&proxy, 4);
    wait_for_backends(stage, 1);
    let opened = proxy.metric("trunkline_server_opened_total", &[]).expect("a metric");
    // All four were idle for the same time.
    let kept = stage.backends();
    assert_eq!(one(&mut login(&proxy, "app"), "select pg_backend_pid()"), kept[0].to_string());
    assert_eq!(proxy.metric("trunkline_server_opened_total", &[]).expect("a metric"), opened);
}

fn min_pool_size_is_kept_open(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup().set("pool.min_pool_size", 3), 5).start();
    let mut client = login(&proxy, "app");
    for _ in 0..2 {
        assert_eq!(one(&mut client, "select 1"), "1");
        stage.eventually("they are opened", || match stage.backends().len() {
            3 => Ok(()),
            other => Err(format!("{other} open")),
        });
        // When they are killed, the proxy opens new ones.
        let pids = stage.backends();
        pids.iter().for_each(|pid| drop(stage.sql(&format!("select pg_terminate_backend({pid})"))));
        stage.eventually("they come back", || {
            let now = stage.backends();
            let new = now.len() == 3 && now.iter().all(|pid| !pids.contains(pid));
            if new { Ok(()) } else { Err(format!("{now:?}")) }
        });
    }
}

fn the_reserve_pool_serves_clients_that_waited(stage: &Stage) {
    let setup = stage.setup().set("pool.reserve_pool_size", 1).set("pool.reserve_pool_timeout", "500ms");
    let proxy = Rotation::setup(setup, 1).start();
    let mut clients: Vec<_> = (0..3).map(|_| login(&proxy, "app")).collect();
    clients[0].sql("begin").expect("begin");
    let begun = Instant::now();
    assert_eq!(clients[1].sql("begin; select 1").expect("served by the reserve"), ["1"]);
    assert!(begun.elapsed() >= Duration::from_millis(500), "{:?}", begun.elapsed());
    wait_for_backends(stage, 2);
    // The reserve has no more than these connections.
    clients[2].send_messages(&Messages::new().query("select 3")).expect("sent");
    wait_until_one_waits(stage, &proxy);
    clients[0].sql("commit").expect("commit");
    assert_eq!(values(&clients[2].until_ready().expect("rows")), ["3"]);
    clients[1].sql("commit").expect("commit");
    // The reserve is closed when nobody waits.
    wait_for_backends(stage, 1);
}

fn max_db_connections_evicts_the_idle_of_another_user(stage: &Stage) {
    for workers in [1, 2] {
        let setup = stage.setup().set("pool.max_db_connections", 2).set("workers", workers);
        let proxy = setup.set("auth.cleartext_without_tls", true).start();
        let (mut a, mut a2) = (login(&proxy, "app"), login(&proxy, "app"));
        a.sql("begin").expect("begin");
        a2.sql("begin").expect("begin");
        a.sql("commit").expect("commit");
        // One connection of app is idle and one is not. The idle one is closed to make room, and the other stays.
        let mut b = login(&proxy, PLAIN_USER);
        assert_eq!(one(&mut b, "select current_user"), PLAIN_USER);
        assert_eq!(one(&mut a2, "select 1"), "1");
        a2.sql("commit").expect("commit");
        wait_for_backends(stage, 2);
        for _ in 0..3 {
            b.sql("begin").expect("begin");
            assert_eq!(one(&mut a, "select current_user"), "app");
            b.sql("commit").expect("commit");
            a2.sql("begin").expect("begin");
            assert_eq!(one(&mut b, "select current_user"), PLAIN_USER);
            a2.sql("commit").expect("commit");
            // A backend needs a moment to end.
            stage.eventually("the limit holds", || match stage.backends().len() {
                ..=2 => Ok(()),
                other => Err(format!("{other} open")),
            });
        }
    }
}

/// The many clients never pause. The test checks that the other client is served at all.
fn max_db_connections_under_load_starves_nobody(stage: &Stage) {
    let setup = stage.setup().set("pool.max_db_connections", 1).set("workers", 1);
    let proxy = setup.set("auth.cleartext_without_tls", true).start();
    let crowd: Vec<_> = (0..4).map(|_| Bystander::start(&proxy)).collect();
    let mut other = login(&proxy, PLAIN_USER);
    for _ in 0..3 {
        assert_eq!(one(&mut other, "select current_user"), PLAIN_USER);
        crowd.iter().for_each(|bystander| bystander.wait_for(1));
    }
    for bystander in crowd {
        bystander.finish();
    }
}

fn max_client_conn_refuses_and_keeps_room_for_cancels(stage: &Stage) {
    let proxy = stage.setup().set("limits.max_client_conn", 4).start();
    let mut clients: Vec<_> = (0..4).map(|_| login(&proxy, "app")).collect();
    let refused = try_login(&proxy, "app", PASSWORD).expect_err("one too many");
    assert_eq!(sqlstate(&refused), "53300");
    let _gate = Gate::close(stage);
    clients[0].send_messages(&Messages::new().query(&Gate::query("1"))).expect("sent");
    Gate::wait_for(stage, 1);
    clients[0].cancel(proxy.address()).expect("heard");
    assert_eq!(errors(&clients[0].until_ready().expect("cancelled")), ["57014"]);
    drop(clients.pop());
    stage.eventually("a place comes free", || {
        try_login(&proxy, "app", PASSWORD).map(drop).map_err(|error| error.to_string())
    });
    assert_eq!(one(&mut clients[1], "select 1"), "1");
}

fn a_starving_worker_gets_the_others_idle_connection(stage: &Stage) {
    /// More clients than one worker gets before the other gets any.
    const CLIENTS: usize = 40;
    let proxy = stage.setup().set("workers", 2).set("pool.pool_size", 1).start();
    let clients: Vec<_> = (0..CLIENTS).map(|_| login(&proxy, "app")).collect();
    let threads: Vec<_> = clients
        .into_iter()
        .enumerate()
        .map(|(number, mut client)| {
            std::thread::spawn(move || {
                for turn in 0..50 {
                    let rows = client.sql(&format!("select {number}, {turn}")).expect("rows");
                    assert_eq!(rows, [format!("{number}|{turn}")]);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("a client"));
    assert_eq!(stage.backends().len(), 1, "one connection served both workers");
    let handed = proxy.metric("trunkline_server_handed_on_total", &[]).expect("a metric");
    assert!(handed >= 1.0, "{CLIENTS} clients of two workers shared one connection without handing it on");
}

fn reload_moves_a_pool_to_another_server(stage: &Stage) {
    let relay = trunkline_probes::testkit::CutProxy::start(stage.cluster().address()).expect("a relay");
    let setup = Rotation::setup(stage.setup(), 2);
    let proxy = setup.start();
    let (mut client, mut inside) = (login(&proxy, "app"), login(&proxy, "app"));
    client.turn(&Messages::new().parse("s", "select 'still there'", &[]).sync()).expect("parsed");
    client.sql("set timezone = 'Asia/Tokyo'").expect("set");
    inside.sql("begin").expect("begin");
    let pid = one(&mut inside, "select pg_backend_pid()");
    proxy.reload(&setup.server(relay.address()).text()).expect("reloaded");
    stage.eventually("new turns go there", || {
        let rows = client.sql("select 1").map_err(|error| error.to_string())?;
        assert_eq!(rows, ["1"]);
        if relay.accepted() > 0 { Ok(()) } else { Err("not yet".to_owned()) }
    });
    let bind = Messages::new().bind("", "s", &[]).execute("", 0).sync();
    for _ in 0..3 {
        assert_eq!(values(&client.turn(&bind).expect("rows")), ["still there"]);
        assert_eq!(one(&mut client, "show timezone"), "Asia/Tokyo");
    }
    assert_eq!(one(&mut inside, "select pg_backend_pid()"), pid, "a transaction stays where it is");
    inside.sql("commit").expect("commit");
    stage.wait_for(&format!("select count(*) from pg_stat_activity where pid = {pid}"), "0");
    assert_ne!(one(&mut inside, "select pg_backend_pid()"), pid);
}

fn reload_changes_a_database_parameter(stage: &Stage) {
    let setup = Rotation::setup(stage.setup(), 1);
    let proxy = setup.clone().set("databases.app.timezone", "Asia/Tokyo").start();
    let mut old = login(&proxy, "app");
    assert_eq!(one(&mut old, "show timezone"), "Asia/Tokyo");
    let pid = one(&mut old, "select pg_backend_pid()");
    proxy.reload(&setup.set("databases.app.timezone", "Europe/Paris").text()).expect("reloaded");
    stage.eventually("the connection is opened again", || {
        let now = one(&mut old, "select pg_backend_pid()");
        if now == pid { Err("not yet".to_owned()) } else { Ok(()) }
    });
    assert_eq!(one(&mut login(&proxy, "app"), "show timezone"), "Europe/Paris");
    assert_eq!(one(&mut old, "show timezone"), "Asia/Tokyo", "it was told so at login");
}

/// Waits until the server knows this many of a client's new statements by the client's own names.
fn wait_until_names_are(stage: &Stage, proxy: &Proxy, count: &str) {
    let mut client = login(proxy, "app");
    let mut attempt = 0;
    stage.eventually("the reload", || {
        attempt += 1;
        let name = format!("wait_{count}_{attempt}");
        client
            .turn(&Messages::new().parse(&name, "select 1", &[]).sync())
            .map_err(|error| error.to_string())?;
        let sql = format!("select count(*) from pg_prepared_statements where name = '{name}'");
        match client.sql(&sql) {
            Ok(rows) if rows == [count] => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
}

fn reload_switches_prepared_statements_off_and_on(stage: &Stage) {
    let setup = Rotation::setup(stage.setup(), 1);
    let proxy = setup.start();
    let (mut a, mut b) = (login(&proxy, "app"), login(&proxy, "app"));
    let parse = |text: &str| Messages::new().parse("s", &format!("select '{text}'"), &[]).sync();
    let bind = Messages::new().bind("", "s", &[]).execute("", 0).sync();
    a.turn(&parse("before")).expect("parsed");
    proxy.reload(&setup.clone().set("limits.max_prepared_statements", 0).text()).expect("reloaded");
    // With prepared statements off, the server has the client's names.
    wait_until_names_are(stage, &proxy, "1");
    assert_eq!(values(&a.turn(&bind).expect("rows")), ["before"], "what was prepared stays");
    assert_eq!(a.extended("select $1::int + 1", &[Some("1")]).expect("rows"), ["2"]);
    proxy.reload(&setup.text()).expect("reloaded");
    wait_until_names_are(stage, &proxy, "0");
    assert_eq!(errors(&b.turn(&parse("after")).expect("parsed")), Vec::<String>::new());
    assert_eq!(values(&b.turn(&bind).expect("rows")), ["after"]);
    assert_eq!(values(&a.turn(&bind).expect("rows")), ["before"]);
}

fn reload_of_a_smaller_pool(stage: &Stage) {
    let setup = Rotation::setup(stage.setup(), 4);
    let proxy = setup.start();
    Rotation::warm(&proxy, 4);
    let bystander = Bystander::start(&proxy);
    proxy.reload(&setup.set("pool.pool_size", 2).text()).expect("reloaded");
    stage.eventually("the others are closed", || match stage.backends().len() {
        ..=2 => Ok(()),
        other => Err(format!("{other} open")),
    });
    bystander.finish();
}

fn pause_and_resume(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 2).start();
    let (mut inside, mut waiting) = (login(&proxy, "app"), login(&proxy, "app"));
    inside.sql("begin").expect("begin");
    proxy.signal(Signal::USR1).expect("paused");
    wait_for_metric(stage, &proxy, "trunkline_paused", &[], 1.0);
    assert_eq!(one(&mut inside, "select 1"), "1", "what runs may end");
    waiting.send_messages(&Messages::new().query("select 2")).expect("sent");
    wait_until_one_waits(stage, &proxy);
    inside.sql("commit").expect("commit");
    wait_for_backends(stage, 0);
    // A query is cancelled while it waits, and then sent again.
    waiting.cancel(proxy.address()).expect("heard");
    assert_eq!(expect_error(&mut waiting, "57014").tag, b'E');
    assert_eq!(waiting.frame().expect("ready").tag, b'Z');
    waiting.send_messages(&Messages::new().query("select 3")).expect("sent");
    proxy.signal(Signal::USR2).expect("resumed");
    assert_eq!(values(&waiting.until_ready().expect("rows")), ["3"]);
    assert_eq!(one(&mut inside, "select 1"), "1");
}

/// Another worker already knows the parameters that the server reports, so clients need not wait for a server connection.
fn a_worker_without_a_connection_welcomes_clients_at_once(stage: &Stage) {
    let proxy = stage.setup().set("workers", 2).set("pool.pool_size", 1).start();
    let mut busy = login(&proxy, "app");
    busy.sql("begin").expect("begun");
    // More clients than one worker gets.
    let others: Vec<RawClient> = (0..40).map(|_| login(&proxy, "app")).collect();
    busy.sql("commit").expect("the one connection is free");
    for mut client in others {
        assert_eq!(one(&mut client, "select 1"), "1");
    }
}

fn what_connect_query_sets_is_every_clients_default(stage: &Stage) {
    stage.direct("app").sql("create table t (a int)").expect("a table");
    for mode in ["transaction", "session"] {
        let setup = stage.setup().set("pool.pool_size", 1).set("databases.app.pool_mode", mode);
        let query = "set default_transaction_read_only = on; set timezone = 'Asia/Tokyo'";
        let proxy = setup.set("databases.app.connect_query", query).start();
        for _ in 0..3 {
            let mut client = login(&proxy, "app");
            assert_eq!(client.parameter("TimeZone"), Some("Asia/Tokyo"), "{mode}");
            let error = client.sql("insert into t values (1)").expect_err("read only");
            assert_eq!(sqlstate(&error), "25006", "{mode}");
            client.sql("set timezone = 'UTC'; set default_transaction_read_only = off").expect("set");
            assert_eq!(one(&mut client, "insert into t values (1) returning a"), "1");
            client.sql("reset all").expect("reset");
            assert_eq!(one(&mut client, "show timezone"), "Asia/Tokyo", "{mode}");
            client.terminate().expect("said good-bye");
        }
    }
}

fn a_connect_query_that_fails_is_reported_and_tried_again_later(stage: &Stage) {
    let setup = stage.setup().set("databases.app.connect_query", "selec 1");
    let proxy =
        setup.set("timeouts.server_login_retry", "1h").set("timeouts.server_login_retry_max", "1h").start();
    let error = try_login(&proxy, "app", PASSWORD).expect_err("no connection is good");
    let text = format!("{error:#}");
    assert!(text.contains("connect_query failed: syntax error at or near \"selec\""), "{text}");
    assert_eq!(proxy.metric("trunkline_server_open_failed_total", &[]).expect("a metric"), 1.0);
    try_login(&proxy, "app", PASSWORD).expect_err("not yet");
    assert_eq!(proxy.metric("trunkline_server_open_failed_total", &[]).expect("a metric"), 1.0);
}
