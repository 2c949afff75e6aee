//! The effect of an operator's signals on clients that are in the middle of their work.

use std::time::{Duration, Instant};

use trunkline_probes::{Bystander, Gate, Stage, login, sqlstate, try_login};
use trunkline_testkit::cluster::{PASSWORD, TRUSTED_USER};
use trunkline_testkit::{Messages, RawClient, Signal};

trunkline_probes::probes! {
    hup_drops_nobody, hup_changes_what_it_can, hup_with_a_broken_file_changes_nothing, int_waits_for_servers, term_waits_for_clients,
    term_ends_clients_at_its_deadline, a_second_term_ends_at_once, quit_ends_at_once, usr1_pauses_and_usr2_resumes,
}

/// Begins a query that runs until the gate opens, and waits until the server runs it.
fn run_at_gate(stage: &Stage, client: &mut RawClient) -> Gate {
    let gate = Gate::close(stage);
    client.send_messages(&Messages::new().query(&Gate::query("'done'"))).expect("sent");
    Gate::wait_for(stage, 1);
    gate
}

fn hup_drops_nobody(stage: &Stage) {
    let setup = stage.setup().set("pool.pool_size", 6);
    let proxy = setup.start();
    let bystanders: Vec<Bystander> = (0..3).map(|_| Bystander::start(&proxy)).collect();
    let mut in_transaction = login(&proxy, "app");
    in_transaction
        .sql("begin; create temporary table kept (v int); insert into kept values (1)")
        .expect("sql");
    let mut running = login(&proxy, "app");
    let gate = run_at_gate(stage, &mut running);
    let mut idle = login(&proxy, "md5user");
    let waiting = RawClient::connect(proxy.address()).expect("accepted");
    for number in 0..5 {
        let text = setup.clone().set("pool.pool_size", 7 + number).text();
        proxy.reload_and_wait(&text).expect("reloaded");
    }
    for bystander in &bystanders {
        bystander.wait_for(20);
    }
    in_transaction.sql("insert into kept values (2)").expect("the transaction goes on");
    assert_eq!(in_transaction.sql("select sum(v) from kept").expect("rows"), ["3"]);
    in_transaction.sql("commit").expect("commit");
    gate.open();
    let frames = running.until_ready().expect("the query goes on");
    assert_eq!(trunkline_probes::tags(&frames), "TDCZ");
    assert_eq!(idle.sql("select 1").expect("it goes on"), ["1"]);
    drop(waiting);
    login(&proxy, "app");
    for bystander in bystanders {
        bystander.finish();
    }
}

/// One role of this test gets another password, on the server and in the configuration. Another role is removed from the
/// configuration. The server asks the removed role for no password, so its connected client can still get a server connection.
fn hup_changes_what_it_can(stage: &Stage) {
    let role = stage.role("");
    let setup = stage.setup().set(&format!("users.{role}.password"), PASSWORD);
    let proxy = setup.start();
    let bystander = Bystander::start(&proxy);
    let (mut stays, mut stays_too) = (login(&proxy, &role), login(&proxy, TRUSTED_USER));
    assert_eq!(stays.sql("select 1").expect("rows"), ["1"]);
    stage.sql(&format!("alter role {role} password 'another'"));
    let changed = setup.set(&format!("users.{role}.password"), "another");
    let changed = changed.unset(&format!("users.{TRUSTED_USER}"));
    proxy.reload_and_wait(&changed.text()).expect("reloaded");
    let old = try_login(&proxy, &role, PASSWORD).expect_err("the old password is refused");
    assert_eq!(sqlstate(&old), "28P01", "{old:#}");
    let gone = try_login(&proxy, TRUSTED_USER, PASSWORD).expect_err("no such user any more");
    assert_eq!(sqlstate(&gone), "28P01", "{gone:#}");
    assert_eq!(stays.sql("select 1").expect("a connected client stays connected"), ["1"]);
    assert_eq!(stays_too.sql("select 1").expect("a connected client stays connected"), ["1"]);
    // Transactions run at the same time, so some need new server connections, which are opened with the new password.
    let mut new: Vec<_> =
        (0..3).map(|_| try_login(&proxy, &role, "another").expect("the new password opens")).collect();
    for client in new.iter_mut().chain([&mut stays]) {
        client.sql("begin").expect("a server connection");
    }
    bystander.finish();
}

fn hup_with_a_broken_file_changes_nothing(stage: &Stage) {
    let proxy = stage.proxy();
    let bystander = Bystander::start(&proxy);
    for broken in ["", "listen = 7", "[users.app]\npasword = \"x\"", "\u{0}", "[[["] {
        proxy.reload(broken).expect("sent");
    }
    proxy.wait_for_log("the configuration stays as it is").expect("refused");
    bystander.wait_for(20);
    login(&proxy, "app");
    bystander.finish();
}

/// Asserts that a client gets the error of a shutdown, and nothing else.
fn assert_disconnected(client: &mut RawClient) {
    let error = client.frame().expect("a farewell");
    assert_eq!(error.sqlstate().as_deref(), Some("57P01"), "{error:?}");
    client.expect_end().expect("closed");
}

/// Whether a new client is refused, by an error or because the proxy does not listen any more.
fn refuses_new_clients(address: std::net::SocketAddr) -> bool {
    RawClient::login(address, "app", PASSWORD, "app").is_err()
}

/// Waits until nothing listens at the address. A proxy that is started there next then gets every new client.
fn wait_until_nothing_listens(stage: &Stage, address: std::net::SocketAddr) {
    stage.eventually("nobody listens", || match std::net::TcpStream::connect(address) {
        Ok(_) => Err("somebody does".to_owned()),
        Err(_) => Ok(()),
    });
}

fn int_waits_for_servers(stage: &Stage) {
    let mut proxy = stage.proxy();
    let mut idle = login(&proxy, "app");
    let mut running = login(&proxy, "app");
    let mut in_transaction = login(&proxy, "app");
    in_transaction.sql("begin").expect("a transaction");
    let gate = run_at_gate(stage, &mut running);
    proxy.signal(Signal::INT).expect("sent");
    assert_disconnected(&mut idle);
    assert!(refuses_new_clients(proxy.address()));
    gate.open();
    let frames = running.until_ready().expect("the query ends first");
    assert!(trunkline_probes::tags(&frames).starts_with("TDC"), "{frames:?}");
    wait_until_nothing_listens(stage, proxy.address());
    assert!(proxy.is_running().expect("status"), "a transaction is open");
    assert_eq!(in_transaction.sql("select 1").expect("it goes on"), ["1"]);
    in_transaction.sql("commit").expect("commit");
    assert!(proxy.wait_for_exit().expect("it ends").success());
}

fn term_waits_for_clients(stage: &Stage) {
    let mut proxy = stage.proxy();
    let bystander = Bystander::start(&proxy);
    let mut idle = login(&proxy, "app");
    proxy.signal(Signal::TERM).expect("sent");
    proxy.wait_for_log("last client").expect("said");
    stage.eventually("nobody new is taken", || {
        if refuses_new_clients(proxy.address()) { Ok(()) } else { Err("a login".to_owned()) }
    });
    wait_until_nothing_listens(stage, proxy.address());
    bystander.wait_for(50);
    assert_eq!(idle.sql("select 1").expect("served as before"), ["1"]);
    bystander.finish();
    assert!(proxy.is_running().expect("status"), "one client is left");
    idle.terminate().expect("good-bye");
    assert!(proxy.wait_for_exit().expect("it ends").success());
}

fn term_ends_clients_at_its_deadline(stage: &Stage) {
    let mut proxy = stage.setup().set("timeouts.shutdown_timeout", "1s").start();
    let mut idle = login(&proxy, "app");
    let mut in_transaction = login(&proxy, "app");
    in_transaction.sql("begin").expect("a transaction");
    let begun = Instant::now();
    proxy.signal(Signal::TERM).expect("sent");
    assert_disconnected(&mut idle);
    assert!(begun.elapsed() > Duration::from_millis(900), "not before its time: {:?}", begun.elapsed());
    assert_disconnected(&mut in_transaction);
    assert!(proxy.wait_for_exit().expect("it ends").success());
    stage.wait_for(
        "select count(*) from pg_stat_activity where datname = current_database() and state like 'idle in%'",
        "0",
    );
}

fn a_second_term_ends_at_once(stage: &Stage) {
    let mut proxy = stage.proxy();
    let mut idle = login(&proxy, "app");
    proxy.signal(Signal::TERM).expect("sent");
    proxy.wait_for_log("last client").expect("said");
    assert_eq!(idle.sql("select 1").expect("still served"), ["1"]);
    proxy.signal(Signal::TERM).expect("sent");
    assert_disconnected(&mut idle);
    assert!(proxy.wait_for_exit().expect("it ends").success());
}

fn quit_ends_at_once(stage: &Stage) {
    let mut proxy = stage.proxy();
    let mut idle = login(&proxy, "app");
    let mut running = login(&proxy, "app");
    let _gate = run_at_gate(stage, &mut running);
    proxy.signal(Signal::QUIT).expect("sent");
    assert_disconnected(&mut idle);
    assert!(proxy.wait_for_exit().expect("it ends").success());
    let end = running.frame().map(|frame| frame.sqlstate());
    assert!(end.is_err() || end.is_ok_and(|code| code.as_deref() == Some("57P01")));
}

fn usr1_pauses_and_usr2_resumes(stage: &Stage) {
    let proxy = stage.proxy();
    let mut in_transaction = login(&proxy, "app");
    in_transaction.sql("begin").expect("a transaction");
    let mut idle = login(&proxy, "app");
    idle.sql("select 1").expect("a server connection");
    proxy.signal(Signal::USR1).expect("sent");
    proxy.wait_for_log("paused").expect("said");
    in_transaction.sql("commit").expect("a transaction that has begun continues");
    stage.eventually("server connections are closed", || match stage.backends().len() {
        0 => Ok(()),
        left => Err(format!("{left} left")),
    });
    idle.send_messages(&Messages::new().query("select 'after the pause'")).expect("sent");
    stage.eventually("it waits", || match proxy.metric("trunkline_clients", &["state=\"waiting\""]) {
        Ok(1.0) => Ok(()),
        other => Err(format!("{other:?}")),
    });
    proxy.signal(Signal::USR2).expect("sent");
    let frames = idle.until_ready().expect("an answer");
    assert_eq!(trunkline_probes::tags(&frames), "TDCZ");
    assert_eq!(in_transaction.sql("select 1").expect("it goes on"), ["1"]);
}
