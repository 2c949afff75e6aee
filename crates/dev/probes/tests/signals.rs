//! What an operator's signals do to clients that are in the middle of something.

use std::time::{Duration, Instant};

use trunkline_probes::{Bystander, Stage, login, sqlstate, try_login};
use trunkline_testkit::cluster::PASSWORD;
use trunkline_testkit::{Messages, RawClient, Signal};

trunkline_probes::probes! {
    hup_drops_nobody, hup_changes_what_it_can, hup_with_a_broken_file_changes_nothing, int_waits_for_servers, term_waits_for_clients,
    term_ends_clients_at_its_deadline, a_second_term_ends_at_once, quit_ends_at_once, usr1_pauses_and_usr2_resumes,
}

/// How long an end may take on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(20);
const RELOADED: &str = "read again";

fn hup_drops_nobody(stage: &Stage) {
    let setup = stage.setup().set("pool.pool_size", 6);
    let proxy = setup.start();
    let bystanders: Vec<Bystander> = (0..3).map(|_| Bystander::start(&proxy)).collect();
    let mut in_transaction = login(&proxy, "app");
    in_transaction
        .sql("begin; create temporary table kept (v int); insert into kept values (1)")
        .expect("sql");
    let mut running = login(&proxy, "app");
    running.send_messages(&Messages::new().query("select pg_sleep(2), 'slept'")).expect("sent");
    let mut idle = login(&proxy, "md5user");
    let waiting = RawClient::connect(proxy.address()).expect("accepted");
    for number in 0..5 {
        let text = setup.clone().set("pool.pool_size", 7 + number).text();
        proxy.reload(&text).expect("reloaded");
    }
    proxy.wait_for_log(RELOADED, PATIENCE).expect("read");
    for bystander in &bystanders {
        bystander.wait_for(20);
    }
    in_transaction.sql("insert into kept values (2)").expect("the transaction goes on");
    assert_eq!(in_transaction.sql("select sum(v) from kept").expect("rows"), ["3"]);
    in_transaction.sql("commit").expect("commit");
    let frames = running.until_ready().expect("the query goes on");
    assert_eq!(trunkline_probes::tags(&frames), "TDCZ");
    assert_eq!(idle.sql("select 1").expect("it goes on"), ["1"]);
    drop(waiting);
    login(&proxy, "app");
    for bystander in bystanders {
        bystander.finish();
    }
}

fn hup_changes_what_it_can(stage: &Stage) {
    let setup = stage.setup();
    let proxy = setup.start();
    let bystander = Bystander::start(&proxy);
    let changed = setup.set("users.app.password", "another").unset("users.md5user");
    let mut stays = login(&proxy, "md5user");
    proxy.reload(&changed.text()).expect("reloaded");
    stage.eventually("the old password is refused", || match try_login(&proxy, "app", PASSWORD) {
        Err(error) if sqlstate(&error) == "28P01" => Ok(()),
        other => Err(format!("{other:?}")),
    });
    let gone = try_login(&proxy, "md5user", PASSWORD).expect_err("no such user any more");
    assert_eq!(sqlstate(&gone), "28P01", "{gone:#}");
    assert_eq!(stays.sql("select 1").expect("who is in stays in"), ["1"]);
    bystander.finish();
}

fn hup_with_a_broken_file_changes_nothing(stage: &Stage) {
    let proxy = stage.proxy();
    let bystander = Bystander::start(&proxy);
    for broken in ["", "listen = 7", "[users.app]\npasword = \"x\"", "\u{0}", "[[["] {
        proxy.reload(broken).expect("sent");
    }
    proxy.wait_for_log("the configuration stays as it is", PATIENCE).expect("refused");
    bystander.wait_for(20);
    login(&proxy, "app");
    bystander.finish();
}

/// Asserts that a client is told that the proxy ends, and nothing else.
fn sent_away(client: &mut RawClient) {
    let error = client.frame().expect("a farewell");
    assert_eq!(error.sqlstate().as_deref(), Some("57P01"), "{error:?}");
    client.expect_end().expect("closed");
}

/// Whether somebody new is turned away: by a refusal, or because nobody listens any more.
fn nobody_new(address: std::net::SocketAddr) -> bool {
    RawClient::login(address, "app", PASSWORD, "app").is_err()
}

/// Whoever is started on the same address next gets every new client.
fn nobody_listens(stage: &Stage, address: std::net::SocketAddr) {
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
    running.send_messages(&Messages::new().query("select pg_sleep(1)")).expect("sent");
    stage.wait_for(
        "select count(*) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'",
        "1",
    );
    proxy.signal(Signal::INT).expect("sent");
    sent_away(&mut idle);
    assert!(nobody_new(proxy.address()));
    let frames = running.until_ready().expect("the query ends first");
    assert!(trunkline_probes::tags(&frames).starts_with("TDC"), "{frames:?}");
    nobody_listens(stage, proxy.address());
    assert!(proxy.is_running().expect("status"), "a transaction is open");
    assert_eq!(in_transaction.sql("select 1").expect("it goes on"), ["1"]);
    in_transaction.sql("commit").expect("commit");
    assert!(proxy.wait_for_exit(PATIENCE).expect("it ends").success());
}

fn term_waits_for_clients(stage: &Stage) {
    let mut proxy = stage.proxy();
    let bystander = Bystander::start(&proxy);
    let mut idle = login(&proxy, "app");
    proxy.signal(Signal::TERM).expect("sent");
    proxy.wait_for_log("last client", PATIENCE).expect("said");
    stage.eventually("nobody new is taken", || {
        if nobody_new(proxy.address()) { Ok(()) } else { Err("a login".to_owned()) }
    });
    nobody_listens(stage, proxy.address());
    bystander.wait_for(50);
    assert_eq!(idle.sql("select 1").expect("served as before"), ["1"]);
    bystander.finish();
    assert!(proxy.is_running().expect("status"), "one client is left");
    idle.terminate().expect("good-bye");
    assert!(proxy.wait_for_exit(PATIENCE).expect("it ends").success());
}

fn term_ends_clients_at_its_deadline(stage: &Stage) {
    let mut proxy = stage.setup().set("timeouts.shutdown_timeout", "1s").start();
    let mut idle = login(&proxy, "app");
    let mut in_transaction = login(&proxy, "app");
    in_transaction.sql("begin").expect("a transaction");
    let begun = Instant::now();
    proxy.signal(Signal::TERM).expect("sent");
    sent_away(&mut idle);
    assert!(begun.elapsed() > Duration::from_millis(900), "not before its time: {:?}", begun.elapsed());
    sent_away(&mut in_transaction);
    assert!(proxy.wait_for_exit(PATIENCE).expect("it ends").success());
    stage.wait_for(
        "select count(*) from pg_stat_activity where datname = current_database() and state like 'idle in%'",
        "0",
    );
}

fn a_second_term_ends_at_once(stage: &Stage) {
    let mut proxy = stage.proxy();
    let mut idle = login(&proxy, "app");
    proxy.signal(Signal::TERM).expect("sent");
    proxy.wait_for_log("last client", PATIENCE).expect("said");
    assert_eq!(idle.sql("select 1").expect("still served"), ["1"]);
    proxy.signal(Signal::TERM).expect("sent");
    sent_away(&mut idle);
    assert!(proxy.wait_for_exit(PATIENCE).expect("it ends").success());
}

fn quit_ends_at_once(stage: &Stage) {
    let mut proxy = stage.proxy();
    let mut idle = login(&proxy, "app");
    let mut running = login(&proxy, "app");
    running.send_messages(&Messages::new().query("select pg_sleep(600)")).expect("sent");
    stage.wait_for(
        "select count(*) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'",
        "1",
    );
    proxy.signal(Signal::QUIT).expect("sent");
    sent_away(&mut idle);
    assert!(proxy.wait_for_exit(PATIENCE).expect("it ends").success());
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
    proxy.wait_for_log("paused", PATIENCE).expect("said");
    in_transaction.sql("commit").expect("what has begun goes on");
    stage.wait_for("select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()", "0");
    idle.send_messages(&Messages::new().query("select 'after the pause'")).expect("sent");
    idle.set_read_limit(Duration::from_millis(300)).expect("set");
    assert!(idle.frame().is_err(), "it waits");
    idle.set_read_limit(PATIENCE).expect("set");
    proxy.signal(Signal::USR2).expect("sent");
    let frames = idle.until_ready().expect("an answer");
    assert_eq!(trunkline_probes::tags(&frames), "TDCZ");
    assert_eq!(in_transaction.sql("select 1").expect("it goes on"), ["1"]);
}
