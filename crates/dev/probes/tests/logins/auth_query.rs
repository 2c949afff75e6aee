//! Passwords that the proxy gets from a server by `auth_query`.

use trunkline_probes::{Setup, Stage, login, sqlstate, try_login};
use trunkline_testkit::cluster::PASSWORD;
use trunkline_testkit::{Messages, RawClient};

use crate::{right, wrong};

trunkline_probes::probes! {
    users_are_found_by_auth_query, scram_pass_through_by_auth_query, cve_2025_2291_a_password_past_its_valid_until,
    cve_2025_12819_search_path_set_at_start_up, cve_2025_12819_search_path_set_by_a_client, a_role_that_may_not_log_in,
    an_auth_query_that_fails, an_auth_query_with_odd_answers, user_names_are_no_sql, a_changed_password_is_noticed,
}

/// A configuration that knows only the user that runs `auth_query`.
fn with_auth_query(stage: &Stage) -> Setup {
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
    let proxy = with_auth_query(stage).start();
    right(&proxy, "app", PASSWORD);
    wrong(&proxy, "app", "guess");
    wrong(&proxy, "nobody_at_all", PASSWORD);
    // The password is stored as MD5, and SCRAM is asked for.
    wrong(&proxy, "md5user", PASSWORD);
    let proxy = with_auth_query(stage).set("auth.type", "md5").start();
    right(&proxy, "md5user", PASSWORD);
    right(&proxy, "app", PASSWORD);
    wrong(&proxy, "md5user", "guess");
}

/// The proxy has only the verifier. It logs in to the server with the keys that it learned from the client's proof.
fn scram_pass_through_by_auth_query(stage: &Stage) {
    let user = stage.role("");
    let setup = with_auth_query(stage).set("pool.pool_size", 4);
    let proxy = setup.start();
    let mut clients: Vec<RawClient> = (0..4).map(|_| login(&proxy, &user)).collect();
    for client in &mut clients {
        // Transactions run at the same time, so each needs a server connection with a login of its own.
        client.sql("begin").expect("a transaction");
    }
    for client in &mut clients {
        assert_eq!(client.sql("select current_user").expect("rows"), [user.as_str()]);
    }
    let held = format!("select count(*) from pg_stat_activity where usename = '{user}'");
    assert_eq!(stage.sql(&held), ["4"]);
    // The server connections are gone, but the keys still work.
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
        let proxy = with_auth_query(stage).set("auth.type", method).start();
        wrong(&proxy, "expired", PASSWORD);
        right(&proxy, &user, PASSWORD);
        stage.sql(&format!("alter role {user} valid until '2001-01-01'"));
        wrong(&proxy, &user, PASSWORD);
        stage.sql(&format!("alter role {user} valid until 'infinity'"));
        right(&proxy, &user, PASSWORD);
        stage.sql(&format!("alter role {user} valid until '2100-01-01'"));
    }
}

/// Makes a schema in which every name that a password query could use belongs to the attacker.
fn create_attackers_schema(stage: &Stage) {
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
    create_attackers_schema(stage);
    let unqualified = "select usename, passwd from pg_shadow where usename = $1";
    for (query, pool_size) in [(None, 1), (None, 5), (Some(unqualified), 1), (Some(unqualified), 5)] {
        let mut setup = with_auth_query(stage).set("pool.pool_size", pool_size);
        if let Some(query) = query {
            setup = setup.set("auth.query", query);
        }
        let proxy = setup.start();
        // A start-up packet of the attacker, and one of a client that shares the pool in which `auth_query` runs.
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
    wrong(&with_auth_query(stage).start(), "expired", PASSWORD);
}

/// In transaction mode, a SET that the server does not report stays on the server connection. The default query must mean the same
/// with any search_path.
fn cve_2025_12819_search_path_set_by_a_client(stage: &Stage) {
    create_attackers_schema(stage);
    let proxy = with_auth_query(stage).set("pool.pool_size", 1).start();
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
    wrong(&with_auth_query(stage).start(), &user, PASSWORD);
}

fn an_auth_query_that_fails(stage: &Stage) {
    for query in [
        "select 1 from no_such_table where $1 = ''",
        "not even sql $1",
        "select pg_terminate_backend(pg_backend_pid()), $1",
    ] {
        let proxy = with_auth_query(stage).set("auth.query", query).start();
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
        let proxy = with_auth_query(stage).set("auth.query", query).start();
        wrong(&proxy, "app", "attacker");
        wrong(&proxy, "app", "");
        right(&proxy, "postgres", PASSWORD);
    }
    // Of many rows the first one counts. The others are read and dropped.
    let many =
        "select $1::text, case when n = 1 then 'first' else 'later' end from generate_series(1, 5000) n";
    let proxy = with_auth_query(stage).set("auth.query", many).start();
    wrong(&proxy, "app", "later");
    let error = try_login(&proxy, "app", "first").expect_err("right here, wrong for the server");
    assert_eq!(sqlstate(&error), "28P01", "{error:#}");
    // A plain password works like one in the configuration.
    let plain = format!("select $1::text, '{PASSWORD}'");
    right(&with_auth_query(stage).set("auth.query", plain.as_str()).start(), "app", PASSWORD);
}

fn user_names_are_no_sql(stage: &Stage) {
    let proxy = with_auth_query(stage).start();
    for user in ["app' or '1'='1", "app\"", "$1", "'; drop table x; --", "app\\", "ä", "%"] {
        wrong(&proxy, user, PASSWORD);
    }
    right(&proxy, "app", PASSWORD);
}

fn a_changed_password_is_noticed(stage: &Stage) {
    let user = stage.role("");
    let proxy = with_auth_query(stage).start();
    right(&proxy, &user, PASSWORD);
    stage.sql(&format!("alter role {user} password 'battery-staple'"));
    wrong(&proxy, &user, PASSWORD);
    // Server connections that were opened with the old password stay open. New ones need the new keys.
    stage.sql(&format!("select pg_terminate_backend(pid) from pg_stat_activity where usename = '{user}'"));
    stage.eventually("the new password opens", || {
        let mut client = try_login(&proxy, &user, "battery-staple").map_err(|error| format!("{error:#}"))?;
        client.turn(&Messages::new().query("select 1")).map(drop).map_err(|error| format!("{error:#}"))
    });
}
