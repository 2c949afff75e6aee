//! Invented names of databases and users.

use trunkline_probes::{MemoryWatch, Stage, note, sqlstate};
use trunkline_testkit::cluster::PASSWORD;
use trunkline_testkit::{Proxy, RawClient};

use crate::{begin_login, every_database};

trunkline_probes::probes! {
    hundreds_of_made_up_databases, made_up_users_leave_nothing, pools_of_databases_that_are_gone,
}

fn lines(proxy: &Proxy) -> usize {
    proxy.metrics().expect("the page").lines().count()
}

/// Once, 4,000 such names caused 96,133 lines of metrics, 31.8 MB, and endless connection attempts for each.
fn hundreds_of_made_up_databases(stage: &Stage) {
    const NAMES: usize = 600;
    let setup = every_database(stage)
        .set("limits.unproven_lookups_per_second", 100)
        .set("limits.client_login_timeout", "0s")
        .set("auth.auth_cache_ttl", "1s");
    let proxy = setup.start();
    RawClient::login(proxy.address(), "app", PASSWORD, stage.database()).expect("one that is there");
    let (before, memory) = (lines(&proxy), MemoryWatch::start(&proxy));
    // The names are as long as a packet allows. The memory for them must be bounded.
    let long = "x".repeat(4_000);
    let mut waiting: Vec<RawClient> =
        (0..NAMES).map(|number| begin_login(&proxy, "app", &format!("made_up_{number}_{long}"))).collect();
    assert!(proxy.metric("trunkline_unproven_lookups", &[]).expect("a metric") <= 8.0);
    // Between them, logins to a database that exists and of users that the proxy knows.
    RawClient::login(proxy.address(), "app", PASSWORD, stage.database()).expect("one that is there");
    RawClient::login(proxy.address(), "postgres", PASSWORD, "postgres").expect("a known user");
    for client in &mut waiting {
        assert_eq!(client.frame().expect("asked for a password like anybody").tag, b'R');
    }
    drop(waiting);
    let rise = memory.rise_kib();
    stage.eventually("no pool of theirs is left", || {
        let pools = proxy.metric("trunkline_pools", &[]).expect("a metric");
        let bytes = proxy.metric("trunkline_auth_cache_bytes", &[]).expect("a metric");
        if pools <= 4.0 && bytes < 1_000.0 { Ok(()) } else { Err(format!("{pools} pools, {bytes} bytes")) }
    });
    let page = proxy.metrics().expect("the page");
    note(&format!(
        "{} lines of metrics before, {} after; memory rose by {rise} KiB",
        before,
        page.lines().count()
    ));
    assert!(!page.contains("made_up"), "a made-up name in metrics");
    assert!(page.lines().count() < before + 60, "{} lines", page.lines().count());
    assert!(rise < 32 << 10, "{rise} KiB");
    let failed =
        proxy.metric("trunkline_server_open_failed_total", &["database=\"*\""]).expect("they are counted");
    assert!(failed <= NAMES as f64, "{failed} connection attempts");
}

fn made_up_users_leave_nothing(stage: &Stage) {
    let proxy =
        every_database(stage).set("auth.dbname", stage.database()).set("auth.auth_cache_ttl", "1s").start();
    let long = "y".repeat(4_000);
    for number in 0..300 {
        let mut client =
            begin_login(&proxy, &format!("made_up_{number}_{long}"), &format!("made_up_{number}"));
        assert_eq!(client.frame().expect("a challenge").tag, b'R');
    }
    let page = proxy.metrics().expect("the page");
    assert!(!page.contains("made_up"), "a made-up name in metrics");
    // No server gets the names of the databases, because users are looked up in another database.
    assert_eq!(proxy.metric("trunkline_server_open_failed_total", &[]).expect("a metric"), 0.0);
    stage.eventually("what was said of them is forgotten", || {
        let bytes = proxy.metric("trunkline_auth_cache_bytes", &[]).expect("a metric");
        if bytes == 0.0 { Ok(()) } else { Err(format!("{bytes} bytes")) }
    });
    RawClient::login(proxy.address(), "app", PASSWORD, stage.database()).expect("an honest user");
}

/// A user who can log in invents database names. A pool without any successful connection is forgotten soon, and a used one after its
/// timeout. There are never more than `pools_max`.
fn pools_of_databases_that_are_gone(stage: &Stage) {
    let setup = every_database(stage).set("timeouts.pool_idle_timeout", "1s").set("limits.pools_max", 5);
    let proxy =
        setup.set("timeouts.server_login_retry", "100ms").set("timeouts.server_idle_timeout", "1s").start();
    for number in 0..100 {
        let name = format!("made_up_{number}");
        let error =
            RawClient::login(proxy.address(), "postgres", PASSWORD, &name).expect_err("there is none");
        let code = sqlstate(&error);
        assert!(matches!(code.as_str(), "3D000" | "53300"), "{error:#}");
        assert!(proxy.metric("trunkline_pools", &[]).expect("a metric") <= 5.0);
    }
    let mut client = None;
    stage.eventually("there is room for one that is there", || {
        let login = RawClient::login(proxy.address(), "app", PASSWORD, stage.database());
        client = Some(login.map_err(|error| format!("{error:#}"))?);
        Ok(())
    });
    drop(client);
    stage.eventually("all are forgotten", || {
        let pools = proxy.metric("trunkline_pools", &[]).expect("a metric");
        if pools == 0.0 { Ok(()) } else { Err(format!("{pools}")) }
    });
    RawClient::login(proxy.address(), "app", PASSWORD, stage.database()).expect("and known again");
}
