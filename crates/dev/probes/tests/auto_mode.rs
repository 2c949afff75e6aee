//! `pool_mode = "auto"`: what a client leaves in its session stays with it and reaches nobody else, and a client that leaves
//! nothing shares.

use trunkline_probes::testkit::{Messages, Proxy, RawClient};
use trunkline_probes::{Setup, Stage, expect_refusal, login, probes, sqlstate};

probes! {
    each_piece_of_session_state_stays_with_its_client,
    nothing_of_a_pinned_client_is_left_when_it_has_gone,
    clients_that_leave_nothing_share_a_connection,
    discard_all_ends_a_pin,
    a_discard_in_a_pipeline_does_not_end_a_later_pin,
    state_made_by_prepared_statements_pins,
    a_pinned_client_hears_of_its_servers_end,
    pin_idle_timeout_ends_idle_pinned_clients,
}

fn auto(stage: &Stage, size: i64) -> Setup {
    stage
        .setup()
        .set("pool_mode", "auto")
        .set("pool.pool_size", size)
        .set("pool.server_round_robin", true)
        // Who waits for a connection that a pinned client keeps fails, and does not hang.
        .set("timeouts.query_wait_timeout", "5s")
}

fn one(client: &mut RawClient, sql: &str) -> String {
    client.sql(sql).unwrap_or_else(|error| panic!("{sql}: {error:#}")).join("\n")
}

/// What to do, how the client sees it, what it sees, what anybody else sees (an SQLSTATE for an error).
const STATES: [(&str, &str, &str, &str); 10] = [
    ("set work_mem = '3MB'", "show work_mem", "3MB", "4MB"),
    ("select set_config('work_mem', '3MB', false)", "show work_mem", "3MB", "4MB"),
    ("set app.tenant = '5'", "select current_setting('app.tenant', true) is null", "f", "t"),
    ("create temp table tt (a int); insert into tt values (1)", "select count(*) from tt", "1", "42P01"),
    ("prepare p as select 42", "execute p", "42", "26000"),
    (
        "select pg_advisory_lock(77)",
        "select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()",
        "1",
        "0",
    ),
    ("declare c cursor with hold for select 7 from generate_series(1, 99)", "fetch c", "7", "34000"),
    ("listen ch", "select pg_listening_channels()", "ch", ""),
    ("do $$ begin perform set_config('work_mem', '3MB', false); end $$", "show work_mem", "3MB", "4MB"),
    ("create sequence pg_temp.s; select nextval('pg_temp.s')", "select lastval()", "1", "55000"),
];

fn answer(client: &mut RawClient, sql: &str) -> String {
    match client.sql(sql) {
        Ok(rows) => rows.join("\n"),
        Err(error) => sqlstate(&error),
    }
}

fn each_piece_of_session_state_stays_with_its_client(stage: &Stage) {
    let proxy = auto(stage, 3).start();
    let mut others = [login(&proxy, "app"), login(&proxy, "app")];
    for (make, ask, own, _) in STATES {
        let mut client = login(&proxy, "app");
        client.sql("select 1").expect("a turn before");
        client.sql(make).unwrap_or_else(|error| panic!("{make}: {error:#}"));
        for _ in 0..3 {
            for other in &mut others {
                one(other, "select 1");
            }
            assert_eq!(answer(&mut client, ask), own, "{make}: {ask}");
        }
    }
}

fn nothing_of_a_pinned_client_is_left_when_it_has_gone(stage: &Stage) {
    let proxy = auto(stage, 1).start();
    for (make, ask, _, others) in STATES {
        let mut client = login(&proxy, "app");
        client.sql(make).unwrap_or_else(|error| panic!("{make}: {error:#}"));
        drop(client);
        assert_eq!(answer(&mut login(&proxy, "app"), ask), others, "{make}: {ask}");
    }
}

fn clients_that_leave_nothing_share_a_connection(stage: &Stage) {
    let proxy = auto(stage, 1).start();
    stage.sql("create table shared_rows (a int); grant all on shared_rows to public");
    let (mut a, mut b) = (login(&proxy, "app"), login(&proxy, "app"));
    for sql in [
        "select 1",
        "select count(*), now(), upper('x') from pg_class",
        "begin; set local work_mem = '3MB'; commit",
        "select set_config('work_mem', '3MB', true)",
        "set timezone = 'Asia/Tokyo'",
        "begin; declare c cursor for select 1; fetch c; commit",
        "insert into shared_rows values (1)",
        "begin; select pg_advisory_xact_lock(1); commit",
        "notify ch",
    ] {
        a.sql(sql).unwrap_or_else(|error| panic!("{sql}: {error:#}"));
        assert_eq!(one(&mut b, "select 2"), "2", "after {sql}");
        assert_eq!(a.extended("select $1::int + 1", &[Some("1")]).expect("a row"), ["2"]);
    }
    assert_eq!(
        (one(&mut a, "show timezone"), one(&mut b, "show timezone")),
        ("Asia/Tokyo".into(), "UTC".into())
    );
}

fn pinned(proxy: &Proxy, reason: &str) -> f64 {
    proxy.metric("trunkline_clients_pinned", &[&format!("reason=\"{reason}\"")]).expect("a metric")
}

fn discard_all_ends_a_pin(stage: &Stage) {
    let proxy = auto(stage, 1).start();
    let (mut a, mut b) = (login(&proxy, "app"), login(&proxy, "app"));
    a.sql("set work_mem = '3MB'; listen ch").expect("set");
    assert_eq!((pinned(&proxy, "parameter"), pinned(&proxy, "listen")), (1.0, 1.0));
    a.sql("discard all").expect("discard");
    assert_eq!(one(&mut b, "show work_mem"), "4MB");
    assert_eq!((pinned(&proxy, "parameter"), pinned(&proxy, "listen")), (0.0, 0.0));
}

fn a_discard_in_a_pipeline_does_not_end_a_later_pin(stage: &Stage) {
    let proxy = auto(stage, 2).start();
    let (mut a, mut b) = (login(&proxy, "app"), login(&proxy, "app"));
    let pipeline =
        Messages::new().query("set work_mem = '3MB'").query("discard all").query("set work_mem = '5MB'");
    a.send_messages(&pipeline).expect("sent");
    (0..3).for_each(|_| drop(a.until_ready().expect("answers")));
    for _ in 0..3 {
        assert_eq!(one(&mut b, "show work_mem"), "4MB");
        assert_eq!(one(&mut a, "show work_mem"), "5MB");
    }
}

fn state_made_by_prepared_statements_pins(stage: &Stage) {
    let proxy = auto(stage, 2).start();
    let (mut a, mut b) = (login(&proxy, "app"), login(&proxy, "app"));
    let prepare = Messages::new().parse("s", "select set_config('work_mem', $1, false)", &[]).sync();
    a.turn(&prepare).expect("prepared");
    one(&mut b, "select 1");
    a.turn(&Messages::new().bind("", "s", &[Some("3MB")]).execute("", 0).sync()).expect("run");
    for _ in 0..3 {
        assert_eq!(one(&mut b, "show work_mem"), "4MB");
        assert_eq!(a.extended("show work_mem", &[]).expect("a row"), ["3MB"]);
    }
}

fn a_pinned_client_hears_of_its_servers_end(stage: &Stage) {
    let proxy = auto(stage, 2).start();
    let (mut a, mut b) = (login(&proxy, "app"), login(&proxy, "app"));
    a.sql("create temp table tt (a int)").expect("made");
    let pid = one(&mut a, "select pg_backend_pid()");
    one(&mut b, "select 1");
    assert_eq!(stage.sql(&format!("select pg_terminate_backend({pid})")), ["t"]);
    let end = expect_refusal(&mut a, "57P01");
    assert_eq!(end.field(b'S').as_deref(), Some("FATAL"));
    assert_eq!(one(&mut b, "select 1"), "1");
}

fn pin_idle_timeout_ends_idle_pinned_clients(stage: &Stage) {
    let proxy = auto(stage, 2).set("timeouts.pin_idle_timeout", "500ms").start();
    let (mut a, mut b) = (login(&proxy, "app"), login(&proxy, "app"));
    one(&mut b, "select 1");
    a.sql("listen ch").expect("listens");
    expect_refusal(&mut a, "57P05");
    assert_eq!(one(&mut b, "select 1"), "1");
    assert_eq!(
        proxy.metric("trunkline_limit_hits_total", &["limit=\"pin_idle_timeout\""]).expect("a metric"),
        1.0
    );
}
