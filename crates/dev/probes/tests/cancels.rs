//! Cancel requests reach exactly the query of the client that asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use trunkline_probes::testkit::raw::cancel_request;
use trunkline_probes::testkit::{Messages, Proxy, RawClient, Version};
use trunkline_probes::{Gate, Rotation, Stage, errors, login, probes, sqlstate, values};

probes! {
    a_stale_cancel_hits_nobody,
    a_cancel_of_a_finished_client_hits_nobody,
    a_cancel_with_a_wrong_secret_hits_nobody,
    a_cancel_hits_one_of_many_on_the_same_pool,
    a_cancel_storm_hits_only_clients_that_asked,
    a_cancel_of_a_waiting_client,
    a_cancel_in_a_transaction_leaves_it_failed,
    a_cancel_of_a_pipeline_hits_one_turn,
    hundreds_of_cancels,
}

fn one(client: &mut RawClient, sql: &str) -> String {
    client.sql(sql).unwrap_or_else(|error| panic!("{sql}: {error:#}")).join("\n")
}

/// Sends a cancel request and waits until the proxy has handled it.
fn cancel(proxy: &Proxy, pid: u32, secret: &[u8]) {
    let mut second = RawClient::connect(proxy.address()).expect("connected");
    second.send(&cancel_request(pid, secret)).expect("sent");
    second.expect_end().expect("heard");
}

fn key(client: &RawClient) -> (u32, Vec<u8>) {
    client.backend_key().map(|(pid, secret)| (pid, secret.to_vec())).expect("a key")
}

fn a_stale_cancel_hits_nobody(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let (mut a, mut b) = (login(&proxy, "app"), login(&proxy, "app"));
    let pid = one(&mut a, "select pg_backend_pid()");
    let (process, secret) = key(&a);
    // The server connection that ran its query now serves another client.
    let gate = Gate::close(stage);
    b.send_messages(&Messages::new().query(&Gate::query("pg_backend_pid()"))).expect("sent");
    Gate::wait_for(stage, 1);
    for _ in 0..5 {
        cancel(&proxy, process, &secret);
    }
    gate.open();
    assert_eq!(values(&b.until_ready().expect("rows")), [pid.as_str()]);
    assert_eq!(proxy.metric("trunkline_cancels_total", &[]).expect("a metric"), 0.0);
    assert_eq!(one(&mut a, "select pg_backend_pid()"), pid);
}

fn a_cancel_of_a_finished_client_hits_nobody(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let mut gone = login(&proxy, "app");
    assert_eq!(one(&mut gone, "select 1"), "1");
    let (process, secret) = key(&gone);
    gone.terminate().expect("said good-bye");
    let mut client = login(&proxy, "app");
    let gate = Gate::close(stage);
    client.send_messages(&Messages::new().query(&Gate::query("'done'"))).expect("sent");
    Gate::wait_for(stage, 1);
    cancel(&proxy, process, &secret);
    gate.open();
    assert_eq!(values(&client.until_ready().expect("rows")), ["done"]);
}

fn a_cancel_with_a_wrong_secret_hits_nobody(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let mut client = login(&proxy, "app");
    let (process, secret) = key(&client);
    let gate = Gate::close(stage);
    client.send_messages(&Messages::new().query(&Gate::query("'done'"))).expect("sent");
    Gate::wait_for(stage, 1);
    let mut wrong = secret.clone();
    wrong[0] ^= 1;
    cancel(&proxy, process, &wrong);
    cancel(&proxy, process ^ 1, &secret);
    // The server's own key differs from the client's key, and no client gets it.
    let pid = stage.sql(&Gate::held()).remove(0);
    cancel(&proxy, pid.parse().expect("a process id"), &secret);
    gate.open();
    assert_eq!(values(&client.until_ready().expect("rows")), ["done"]);
}

fn a_cancel_hits_one_of_many_on_the_same_pool(stage: &Stage) {
    const CLIENTS: usize = 12;
    let proxy = stage.setup().set("pool.pool_size", CLIENTS as i64).start();
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| login(&proxy, "app")).collect();
    let _gate = Gate::close(stage);
    for (number, client) in clients.iter_mut().enumerate() {
        client.send_messages(&Messages::new().query(&Gate::query(&number.to_string()))).expect("sent");
    }
    Gate::wait_for(stage, CLIENTS);
    for (done, victim) in [5, 0, 11, 7, 3].into_iter().enumerate() {
        clients[victim].cancel(proxy.address()).expect("heard");
        assert_eq!(errors(&clients[victim].until_ready().expect("cancelled")), ["57014"]);
        Gate::wait_for(stage, CLIENTS - done - 1);
        let sql = format!(
            "select count(*) from pg_stat_activity where datname = current_database() and \
             query like 'select {victim} from%' and state = 'active'"
        );
        assert_eq!(stage.sql(&sql), ["0"], "it was the one that asked");
        assert_eq!(one(&mut clients[victim], "select 1"), "1");
    }
}

/// Half of the clients send cancel requests again and again, at any moment of their queries. The other half send none, and none of
/// their queries may be cancelled.
fn a_cancel_storm_hits_only_clients_that_asked(stage: &Stage) {
    const PAIRS: usize = 6;
    /// The storm ends after this many cancelled queries, and this many answers to each client that sends no cancel request.
    const HITS: usize = 50;
    const ANSWERS: usize = 50;
    let proxy = stage.setup().set("pool.pool_size", 3).set("pool.server_round_robin", true).start();
    let address = proxy.address();
    let stop = Arc::new(AtomicBool::new(false));
    let hits = Arc::new(AtomicUsize::new(0));
    let (mut keys, mut answers, mut threads) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..2 * PAIRS {
        let mut client = login(&proxy, "app");
        let victim = number % 2 == 0;
        let answered = Arc::new(AtomicUsize::new(0));
        if victim {
            keys.push(key(&client));
        } else {
            answers.push(Arc::clone(&answered));
        }
        let (stopped, hit) = (Arc::clone(&stop), Arc::clone(&hits));
        threads.push(std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                match client.sql(&format!("select {number} from pg_sleep(0.001)")) {
                    Ok(rows) if rows == [number.to_string()] => answered.fetch_add(1, Ordering::Relaxed),
                    Err(error) if victim && sqlstate(&error) == "57014" => {
                        hit.fetch_add(1, Ordering::Relaxed)
                    }
                    other => return Err(format!("client {number}: {other:?}")),
                };
            }
            Ok(())
        }));
    }
    let mut asked = keys.iter().cycle();
    stage.eventually("enough were hit, and enough not", || {
        for _ in 0..20 {
            let (process, secret) = asked.next().expect("endless");
            let mut second = RawClient::connect(address).expect("connected");
            second.send(&cancel_request(*process, secret)).expect("sent");
            second.expect_end().expect("heard");
        }
        let (hit, least) = (
            hits.load(Ordering::Relaxed),
            answers.iter().map(|answered| answered.load(Ordering::Relaxed)).min().unwrap_or_default(),
        );
        let over = hit >= HITS && least >= ANSWERS || threads.iter().any(JoinHandle::is_finished);
        if over { Ok(()) } else { Err(format!("{hit} hits, {least} answers at least")) }
    });
    stop.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().expect("a client's thread").unwrap_or_else(|error| panic!("{error}"));
    }
}

fn a_cancel_of_a_waiting_client(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let (mut holder, mut waiter) = (login(&proxy, "app"), login(&proxy, "app"));
    holder.sql("begin").expect("begin");
    for messages in [Messages::new().query("select 1"), Messages::new().extended("select 1", &[])] {
        waiter.send_messages(&messages).expect("sent");
        stage.eventually("it waits", || match proxy.metric("trunkline_clients", &["state=\"waiting\""]) {
            Ok(1.0) => Ok(()),
            other => Err(format!("{other:?}")),
        });
        waiter.cancel(proxy.address()).expect("heard");
        assert_eq!(errors(&waiter.until_ready().expect("cancelled")), ["57014"]);
        assert_eq!(one(&mut holder, "select 'undisturbed'"), "undisturbed");
    }
    holder.sql("commit").expect("commit");
    assert_eq!(one(&mut waiter, "select 1"), "1");
}

fn a_cancel_in_a_transaction_leaves_it_failed(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let mut client = login(&proxy, "app");
    client.sql("begin").expect("begin");
    let pid = one(&mut client, "select pg_backend_pid()");
    let _gate = Gate::close(stage);
    client.send_messages(&Messages::new().query(&Gate::query("1"))).expect("sent");
    Gate::wait_for(stage, 1);
    client.cancel(proxy.address()).expect("heard");
    let frames = client.until_ready().expect("cancelled");
    assert_eq!(errors(&frames), ["57014"]);
    assert_eq!(frames.last().map(|ready| ready.body.clone()), Some(b"E".to_vec()));
    // The client is idle in its transaction: nothing is to cancel, and no later query may be cancelled.
    client.cancel(proxy.address()).expect("heard");
    client.sql("rollback").expect("rollback");
    assert_eq!(one(&mut client, "select pg_backend_pid()"), pid);
}

fn a_cancel_of_a_pipeline_hits_one_turn(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let mut client = login(&proxy, "app");
    let gate = Gate::close(stage);
    let messages =
        Messages::new().query("select 1").query(&Gate::query("2")).query(&Gate::query("3")).query("select 4");
    client.send_messages(&messages).expect("sent");
    assert_eq!(values(&client.until_ready().expect("rows")), ["1"]);
    Gate::wait_for(stage, 1);
    client.cancel(proxy.address()).expect("heard");
    assert_eq!(errors(&client.until_ready().expect("cancelled")), ["57014"]);
    gate.open();
    let next = client.until_ready().expect("an answer");
    // PostgreSQL 15 signals a backend twice (signal_child: the process, then its group). The second signal
    // may reach the next query of a pipeline, also without a proxy. When the request has been handled, both signals have arrived.
    if stage.version() == Version::PG15 && !errors(&next).is_empty() {
        assert_eq!(errors(&next), ["57014"]);
    } else {
        assert_eq!(values(&next), ["3"]);
    }
    assert_eq!(values(&client.until_ready().expect("rows")), ["4"]);
}

fn hundreds_of_cancels(stage: &Stage) {
    let setup = stage.setup().set("limits.cancel_requests_max", 2);
    let proxy = Rotation::setup(setup, 4).start();
    let mut clients: Vec<_> = (0..4).map(|_| login(&proxy, "app")).collect();
    let _gate = Gate::close(stage);
    for _ in 0..5 {
        for client in &mut clients {
            client.send_messages(&Messages::new().query(&Gate::query("1"))).expect("sent");
        }
        Gate::wait_for(stage, clients.len());
        let requests: Vec<_> = (0..100)
            .map(|number| {
                let (process, secret) = key(&clients[number % clients.len()]);
                let mut second = RawClient::connect(proxy.address()).expect("connected");
                second.send(&cancel_request(process, &secret)).expect("sent");
                second
            })
            .collect();
        for client in &mut clients {
            assert_eq!(errors(&client.until_ready().expect("cancelled")), ["57014"]);
        }
        requests.into_iter().for_each(|mut request| request.expect_end().expect("heard"));
        for client in &mut clients {
            assert_eq!(one(client, "select 1"), "1");
        }
    }
}
