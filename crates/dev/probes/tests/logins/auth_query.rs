//! Passwords that the proxy asks a server for.

use trunkline_probes::{Setup, Stage, login, sqlstate, try_login};
use trunkline_testkit::cluster::PASSWORD;
use trunkline_testkit::{Messages, RawClient};

use crate::{right, wrong};

trunkline_probes::probes! {
    users_are_found_by_auth_query, scram_pass_through_by_auth_query, cve_2025_2291_a_password_past_its_valid_until,
    cve_2025_12819_search_path_set_at_start_up, cve_2025_12819_search_path_set_by_a_client, a_role_that_may_not_log_in,
    an_auth_query_that_fails, an_auth_query_with_odd_answers, user_names_are_no_sql, a_changed_password_is_noticed,
}

/// A config that knows only the user that asks.
fn asking(stage: &Stage) -> Setup {
    let mut setup = stage.setup();
    for user in ["app", "md5user", "plainuser", "trusted"] {
        setup = setup.unset(&format!("users.{user}"));
    }
    setup
        .set("users.postgres.password", PASSWORD)
        .set("auth.user", "postgres")
        .set("auth.auth_cache_ttl", "0s")
        .set("timeouts.server_login_retry", "1ms")
        .set("timeouts.server_login_retry_max", "1ms")
}

fn users_are_found_by_auth_query(stage: &Stage) {
    let proxy = asking(stage).start();
    right(&proxy, "app", PASSWORD);
    wrong(&proxy, "app", "guess");
    wrong(&proxy, "nobody_at_all", PASSWORD);
    // Stored as MD5, asked for as SCRAM.
    wrong(&proxy, "md5user", PASSWORD);
    let proxy = asking(stage).set("auth.type", "md5").start();
    right(&proxy, "md5user", PASSWORD);
    right(&proxy, "app", PASSWORD);
    wrong(&proxy, "md5user", "guess");
}

/// The proxy has only the verifier: what opens the server are the keys that the client's own proof gave away.
fn scram_pass_through_by_auth_query(stage: &Stage) {
    let user = stage.role("");
    let setup = asking(stage).set("pool.pool_size", 4);
    let proxy = setup.start();
    let mut clients: Vec<RawClient> = (0..4).map(|_| login(&proxy, &user)).collect();
    for client in &mut clients {
        // Transactions side by side: each needs a server login of its own.
        client.sql("begin").expect("a transaction");
    }
    for client in &mut clients {
        assert_eq!(client.sql("select current_user").expect("rows"), [user.as_str()]);
    }
    let held = format!("select count(*) from pg_stat_activity where usename = '{user}'");
    assert_eq!(stage.sql(&held), ["4"]);
    // The server's connections are gone; the keys are still good.
    stage.sql(&format!("select pg_terminate_backend(pid) from pg_stat_activity where usename = '{user}'"));
    drop(clients);
    stage.wait_for(&held, "0");
    stage.eventually("a new server connection", || {
        try_login(&proxy, &user, PASSWORD)
            .and_then(|mut client| client.sql("select 1"))
            .map(drop)
            .map_err(|error| format!("{error:#}"))
    });
    assert!(!proxy.log().contains(PASSWORD));
}

fn cve_2025_2291_a_password_past_its_valid_until(stage: &Stage) {
    let user = stage.role("valid until '2100-01-01'");
    for method in ["scram-sha-256", "md5"] {
        let proxy = asking(stage).set("auth.type", method).start();
        wrong(&proxy, "expired", PASSWORD);
        right(&proxy, &user, PASSWORD);
        stage.sql(&format!("alter role {user} valid until '2001-01-01'"));
        wrong(&proxy, &user, PASSWORD);
        stage.sql(&format!("alter role {user} valid until 'infinity'"));
        right(&proxy, &user, PASSWORD);
        stage.sql(&format!("alter role {user} valid until '2100-01-01'"));
    }
}

/// A schema in which everything that a query for passwords could name is the attacker's.
fn set_the_trap(stage: &Stage) {
    stage.sql(
        "create schema trap; grant usage on schema trap to public;
         create table trap.pg_shadow (usename name, passwd text, valuntil timestamptz);
         insert into trap.pg_shadow values ('app', 'attacker', null);
         create table trap.pg_authid (rolname name, rolpassword text, rolvaliduntil timestamptz, rolcanlogin bool);
         insert into trap.pg_authid values ('app', 'attacker', null, true);
         grant select on all tables in schema trap to public;
         create function trap.now() returns timestamptz language sql as 'select ''-infinity''::timestamptz';
         create function trap.same(name, text) returns bool language sql as 'select true';
         create operator trap.= (leftarg = name, rightarg = text, function = trap.same);
         create function trap.earlier(timestamptz, timestamptz) returns bool language sql as 'select false';
         create operator trap.< (leftarg = timestamptz, rightarg = timestamptz, function = trap.earlier)",
    );
}

const PATH_OF_THE_TRAP: &str = "trap, pg_catalog";

fn cve_2025_12819_search_path_set_at_start_up(stage: &Stage) {
    set_the_trap(stage);
    let unqualified = "select usename, passwd from pg_shadow where usename = $1";
    for (query, pool_size) in [(None, 1), (None, 5), (Some(unqualified), 1), (Some(unqualified), 5)] {
        let mut setup = asking(stage).set("pool.pool_size", pool_size);
        if let Some(query) = query {
            setup = setup.set("auth.query", query);
        }
        let proxy = setup.start();
        // The attacker's own packet, and one of somebody who shares the pool that the question is asked in.
        for (user, password) in [("app", "attacker"), ("postgres", PASSWORD)] {
            let mut client = RawClient::connect(proxy.address()).expect("accepted");
            let parameters = [("user", user), ("database", "app"), ("search_path", PATH_OF_THE_TRAP)];
            let outcome = client.authenticate(password, &parameters);
            if user == "postgres" {
                outcome.expect("an honest login");
                assert_eq!(client.sql("show search_path").expect("rows"), [PATH_OF_THE_TRAP]);
            } else {
                assert_eq!(sqlstate(&outcome.expect_err("the trap's password")), "28P01");
            }
            let mut client = RawClient::connect(proxy.address()).expect("accepted");
            let options = format!("-c search_path={}", PATH_OF_THE_TRAP.replace(' ', ""));
            let parameters = [("user", user), ("database", "app"), ("options", options.as_str())];
            let outcome = client.authenticate(password, &parameters);
            assert_eq!(outcome.is_ok(), user == "postgres", "{outcome:?}");
            for _ in 0..3 {
                wrong(&proxy, "app", "attacker");
                right(&proxy, "app", PASSWORD);
            }
        }
    }
    wrong(&asking(stage).start(), "expired", PASSWORD);
}

/// A SET inside a transaction-mode pool may stay on the server connection, where the server does not report it:
/// the default query means the same in any path.
fn cve_2025_12819_search_path_set_by_a_client(stage: &Stage) {
    set_the_trap(stage);
    let proxy = asking(stage).set("pool.pool_size", 1).start();
    let mut other = login(&proxy, "postgres");
    for sql in ["set search_path = trap, pg_catalog", "begin; set search_path = trap, pg_catalog; commit"] {
        other.sql(sql).expect("set");
        wrong(&proxy, "app", "attacker");
        right(&proxy, "app", PASSWORD);
        wrong(&proxy, "expired", PASSWORD);
        wrong(&proxy, "nobody_at_all", "attacker");
    }
}

fn a_role_that_may_not_log_in(stage: &Stage) {
    let user = stage.role("");
    stage.sql(&format!("alter role {user} nologin"));
    wrong(&asking(stage).start(), &user, PASSWORD);
}

fn an_auth_query_that_fails(stage: &Stage) {
    for query in [
        "select 1 from no_such_table where $1 = ''",
        "not even sql $1",
        "select pg_terminate_backend(pg_backend_pid()), $1",
    ] {
        let proxy = asking(stage).set("auth.query", query).start();
        let error = try_login(&proxy, "app", PASSWORD).expect_err("nobody can be looked up");
        assert_eq!(sqlstate(&error), "57P03", "{query}: {error:#}");
        assert!(
            !error.to_string().contains("no_such_table"),
            "the query is the operator's business: {error:#}"
        );
        right(&proxy, "postgres", PASSWORD);
    }
}

fn an_auth_query_with_odd_answers(stage: &Stage) {
    let odd = [
        "select $1::text",
        "select $1::text, null::text",
        "select 'somebody else', 'attacker' where $1 <> ''",
        "select $1::text, ''",
        "select null::text, 'attacker' where $1 <> ''",
        "select $1::text, 'SCRAM-SHA-256$what'",
        "select $1::text, 'SCRAM-SHA-256$4096:!!$AAAA:BBBB'",
        "select $1::text, repeat('x', 1000000)",
        "select $1::text, 'attacker' from generate_series(1, 0)",
    ];
    for query in odd {
        let proxy = asking(stage).set("auth.query", query).start();
        wrong(&proxy, "app", "attacker");
        wrong(&proxy, "app", "");
        right(&proxy, "postgres", PASSWORD);
    }
    // The first of many rows counts, the others are read and dropped.
    let many =
        "select $1::text, case when n = 1 then 'first' else 'later' end from generate_series(1, 5000) n";
    let proxy = asking(stage).set("auth.query", many).start();
    wrong(&proxy, "app", "later");
    let error = try_login(&proxy, "app", "first").expect_err("right here, wrong for the server");
    assert_eq!(sqlstate(&error), "28P01", "{error:#}");
    // A plain answer is as good as one in the config.
    let plain = format!("select $1::text, '{PASSWORD}'");
    right(&asking(stage).set("auth.query", plain.as_str()).start(), "app", PASSWORD);
}

fn user_names_are_no_sql(stage: &Stage) {
    let proxy = asking(stage).start();
    for user in ["app' or '1'='1", "app\"", "$1", "'; drop table x; --", "app\\", "ä", "%"] {
        wrong(&proxy, user, PASSWORD);
    }
    right(&proxy, "app", PASSWORD);
}

fn a_changed_password_is_noticed(stage: &Stage) {
    let user = stage.role("");
    let proxy = asking(stage).start();
    right(&proxy, &user, PASSWORD);
    stage.sql(&format!("alter role {user} password 'battery-staple'"));
    wrong(&proxy, &user, PASSWORD);
    // Its server connections were opened with the old one and live on; new ones need the new keys.
    stage.sql(&format!("select pg_terminate_backend(pid) from pg_stat_activity where usename = '{user}'"));
    stage.eventually("the new password opens", || {
        let mut client = try_login(&proxy, &user, "battery-staple").map_err(|error| format!("{error:#}"))?;
        client.turn(&Messages::new().query("select 1")).map(drop).map_err(|error| format!("{error:#}"))
    });
}
