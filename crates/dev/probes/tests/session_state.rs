//! Settings of a client follow it and never reach other clients.

use trunkline_probes::testkit::{Messages, Proxy, RawClient};
use trunkline_probes::{Gate, Rotation, Setup, Stage, login, login_with, probes, try_login_with};

probes! {
    set_follows_the_client_and_leaks_to_nobody,
    set_in_a_transaction_that_is_rolled_back,
    set_local_ends_with_its_transaction,
    a_client_that_left_takes_its_settings_with_it,
    startup_options_follow_the_client,
    a_startup_datestyle_follows_the_client,
    startup_settings_survive_reset_all_and_discard_all,
    startup_settings_survive_a_reset_within_a_transaction_and_a_session,
    a_startup_parameter_that_cannot_be_is_refused_as_the_server_would,
    a_search_path_with_quotes_and_backslashes,
    temporary_tables_and_locks_of_transactions_end_with_them,
    in_session_mode_nothing_is_left_for_the_next_client,
    reset_query_always_leaves_nothing_in_transaction_mode,
    session_mode_gives_the_servers_own_process_id,
    statement_mode_refuses_begin,
    statement_mode_spreads_statements,
}

const SIZE: usize = 3;

fn rotating(setup: Setup) -> Proxy {
    Rotation::setup(setup, SIZE as i64).start()
}

fn one(client: &mut RawClient, sql: &str) -> String {
    client.sql(sql).unwrap_or_else(|error| panic!("{sql}: {error:#}")).join("\n")
}

/// A client's values of the settings that follow it, and the process id of its server connection, from one turn.
fn settings(client: &mut RawClient) -> (String, String) {
    let sql = "select pg_backend_pid(), current_setting('DateStyle'), current_setting('TimeZone'), \
               current_setting('IntervalStyle'), current_setting('application_name'), \
               current_setting('client_encoding'), current_setting('standard_conforming_strings')";
    let row = one(client, sql);
    let (pid, rest) = row.split_once('|').expect("columns");
    (pid.to_owned(), rest.to_owned())
}

fn set_follows_the_client_and_leaks_to_nobody(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let (mut a, mut b) = (login(&proxy, "app"), login(&proxy, "app"));
    let mut rotation = Rotation::warm(&proxy, SIZE);
    rotation.turn();
    let (_, untouched) = settings(&mut b);
    rotation.turn();
    a.sql(
        "set datestyle = 'German'; set timezone = 'Asia/Tokyo'; set intervalstyle = 'iso_8601'; \
         set application_name = 'it''s \\a'; set client_encoding = 'LATIN1'; \
         set standard_conforming_strings = off",
    )
    .expect("set");
    assert_eq!(a.parameter("TimeZone"), Some("Asia/Tokyo"), "the client is told");
    for _ in 0..2 * SIZE {
        let here = rotation.turn();
        let wanted = "German, DMY|Asia/Tokyo|iso_8601|it's \\a|LATIN1|off".to_owned();
        assert_eq!(settings(&mut a), (here, wanted));
        let here = rotation.turn();
        assert_eq!(settings(&mut b), (here, untouched.clone()));
    }
    assert_eq!(b.parameter("TimeZone"), Some("UTC"), "no other client gets it");
    // A turn of the extended protocol gets them too.
    rotation.turn();
    assert_eq!(a.extended("select current_setting($1)", &[Some("TimeZone")]).expect("rows"), ["Asia/Tokyo"]);
    rotation.turn();
    a.sql("reset timezone").expect("reset");
    for _ in 0..SIZE {
        rotation.turn();
        assert_eq!(one(&mut a, "show timezone"), "UTC");
    }
}

fn set_in_a_transaction_that_is_rolled_back(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let mut client = login(&proxy, "app");
    let mut rotation = Rotation::warm(&proxy, SIZE);
    rotation.turn();
    client.sql("begin; set timezone = 'Asia/Tokyo'").expect("set");
    assert_eq!(one(&mut client, "show timezone"), "Asia/Tokyo");
    client.sql("rollback").expect("rollback");
    assert_eq!(client.parameter("TimeZone"), Some("UTC"));
    for _ in 0..SIZE {
        rotation.turn();
        assert_eq!(one(&mut client, "show timezone"), "UTC");
    }
}

fn set_local_ends_with_its_transaction(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let mut client = login(&proxy, "app");
    Rotation::warm(&proxy, SIZE);
    client.sql("begin; set local timezone = 'Asia/Tokyo'").expect("set");
    assert_eq!(one(&mut client, "show timezone"), "Asia/Tokyo");
    client.sql("commit").expect("commit");
    for _ in 0..SIZE {
        assert_eq!(one(&mut client, "show timezone"), "UTC");
    }
}

fn a_client_that_left_takes_its_settings_with_it(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let mut next = login(&proxy, "app");
    let mut clients = [login(&proxy, "app"), login(&proxy, "app")];
    Rotation::warm(&proxy, SIZE);
    let (_, untouched) = settings(&mut next);
    let [a, b] = &mut clients;
    a.sql("set timezone = 'Asia/Tokyo'").expect("set");
    b.sql("begin; set timezone = 'Asia/Tokyo'; set application_name = 'gone'").expect("set");
    drop(clients);
    for _ in 0..3 * SIZE {
        assert_eq!(settings(&mut next).1, untouched);
    }
}

fn startup_options_follow_the_client(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let options = "-c work_mem=7MB --statement-timeout=59s -c search_path=pg_catalog,\\ public";
    let mut a = login_with(&proxy, &[("options", options)]);
    let mut b = login_with(&proxy, &[("options", "-c work_mem=9MB")]);
    let mut plain = login(&proxy, "app");
    let mut rotation = Rotation::warm(&proxy, SIZE);
    let sql = "select pg_backend_pid(), current_setting('work_mem'), current_setting('statement_timeout'), \
               current_setting('search_path')";
    for _ in 0..2 * SIZE {
        let here = rotation.turn();
        assert_eq!(one(&mut a, sql), format!("{here}|7MB|59s|pg_catalog, public"));
        let here = rotation.turn();
        assert_eq!(one(&mut plain, sql), format!("{here}|4MB|0|\"$user\", public"));
        let here = rotation.turn();
        assert_eq!(one(&mut b, sql), format!("{here}|9MB|0|\"$user\", public"));
        rotation.turn();
        plain.sql("select 1").expect("rows");
    }
}

fn a_startup_datestyle_follows_the_client(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let startup = [("datestyle", "postgres, dmy"), ("TimeZone", "Asia/Tokyo"), ("application_name", "mine")];
    let mut a = login_with(&proxy, &startup);
    assert_eq!(a.parameter("DateStyle"), Some("Postgres, DMY"));
    assert_eq!(a.parameter("application_name"), Some("mine"));
    let mut b = login(&proxy, "app");
    assert_eq!(b.parameter("DateStyle"), Some("ISO, MDY"));
    let mut rotation = Rotation::warm(&proxy, SIZE);
    for _ in 0..2 * SIZE {
        let here = rotation.turn();
        let (pid, values) = settings(&mut a);
        assert_eq!(pid, here);
        assert!(values.starts_with("Postgres, DMY|Asia/Tokyo|postgres|mine|"), "{values}");
        let here = rotation.turn();
        let (pid, values) = settings(&mut b);
        assert_eq!(pid, here);
        assert!(values.starts_with("ISO, MDY|UTC|postgres||"), "{values}");
    }
}

fn startup_settings_survive_reset_all_and_discard_all(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let startup = [("application_name", "mine"), ("options", "-c work_mem=7MB -c DateStyle=German")];
    let mut client = login_with(&proxy, &startup);
    let mut other = login(&proxy, "app");
    let mut rotation = Rotation::warm(&proxy, SIZE);
    let sql = "select pg_backend_pid(), current_setting('work_mem'), current_setting('DateStyle'), \
               current_setting('application_name'), current_setting('TimeZone')";
    for command in ["reset all", "discard all", "reset datestyle", "reset application_name"] {
        rotation.turn();
        client.sql("set timezone = 'Asia/Tokyo'; set application_name = 'another'").expect("set");
        rotation.turn();
        client.sql(command).expect(command);
        let (name, zone) = match command {
            "reset datestyle" => ("another", "Asia/Tokyo"),
            "reset application_name" => ("mine", "Asia/Tokyo"),
            _ => ("mine", "UTC"),
        };
        assert_eq!(client.parameter("DateStyle"), Some("German, DMY"), "{command}");
        assert_eq!(client.parameter("application_name"), Some(name), "{command}");
        for _ in 0..SIZE {
            let here = rotation.turn();
            assert_eq!(one(&mut client, sql), format!("{here}|7MB|German, DMY|{name}|{zone}"), "{command}");
            let here = rotation.turn();
            assert_eq!(one(&mut other, sql), format!("{here}|4MB|ISO, MDY||UTC"), "{command}");
        }
    }
}

fn startup_settings_survive_a_reset_within_a_transaction_and_a_session(stage: &Stage) {
    for mode in ["transaction", "session"] {
        let proxy = stage.setup().set("pool_mode", mode).set("pool.pool_size", 1).start();
        let startup = [("application_name", "mine"), ("DateStyle", "German")];
        let mut client = login_with(&proxy, &startup);
        let sql = "select current_setting('DateStyle'), current_setting('application_name')";
        client.sql("begin").expect("begin");
        client.sql("set datestyle = 'Postgres'; set application_name = 'another'").expect("set");
        client.sql("reset datestyle").expect("reset");
        assert_eq!(client.parameter("DateStyle"), Some("German, DMY"));
        assert_eq!(one(&mut client, sql), "German, DMY|another");
        client.sql("reset all").expect("reset");
        assert_eq!(one(&mut client, sql), "German, DMY|mine", "{mode}");
        client.sql("rollback").expect("rollback");
        assert_eq!(one(&mut client, sql), "German, DMY|mine", "{mode}");
        client.sql("discard all").expect("discarded");
        assert_eq!(one(&mut client, sql), "German, DMY|mine", "{mode}");
        drop(client);
        assert_eq!(one(&mut login(&proxy, "app"), sql), "ISO, MDY|", "{mode}");
    }
}

fn a_startup_parameter_that_cannot_be_is_refused_as_the_server_would(stage: &Stage) {
    let proxy = rotating(stage.setup());
    for (name, value) in [("DateStyle", "nonsense"), ("no_such_setting", "1"), ("options", "-c work_mem=x")] {
        let startup = [(name, value)];
        let expected = trunkline_probes::sqlstate(&stage.try_direct_with(&startup).expect_err(name));
        let refused = try_login_with(&proxy, &startup).expect_err(name);
        assert_eq!(trunkline_probes::sqlstate(&refused), expected, "{name}: {refused:#}");
    }
    let mut client = login(&proxy, "app");
    assert_eq!(settings(&mut client).1, "ISO, MDY|UTC|postgres||UTF8|on");
}

fn a_search_path_with_quotes_and_backslashes(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let mut direct = stage.direct("app");
    direct.sql("create schema \"it's \\\"\"odd\"").expect("a schema");
    direct.sql("create table \"it's \\\"\"odd\".t as select 7 as a").expect("a table");
    let path = "\"it's \\\"\"odd\", public";
    let mut client = login_with(&proxy, &[("search_path", path)]);
    let mut other = login(&proxy, "app");
    let mut rotation = Rotation::warm(&proxy, SIZE);
    for _ in 0..SIZE {
        rotation.turn();
        assert_eq!(one(&mut client, "select a from t"), "7");
        rotation.turn();
        other.sql("select a from t").expect_err("no such table there");
    }
}

fn temporary_tables_and_locks_of_transactions_end_with_them(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let (mut client, mut next) = (login(&proxy, "app"), login(&proxy, "app"));
    Rotation::warm(&proxy, SIZE);
    let made = "begin; create temp table t (a int) on commit drop; select pg_advisory_xact_lock(42)";
    client.sql(made).expect("made");
    client.sql("commit").expect("commit");
    client.sql(made).expect("made");
    // A client that leaves in the middle of a transaction: it is rolled back.
    drop(client);
    for _ in 0..2 * SIZE {
        next.sql("select * from t").expect_err("no such table");
    }
    stage.wait_for(ADVISORY_LOCKS, "0");
    stage.wait_for("select count(*) from pg_class where relname = 't'", "0");
}

/// The locks in this database; other tests have their own.
const ADVISORY_LOCKS: &str = "select count(*) from pg_locks where locktype = 'advisory' and \
                              database = (select oid from pg_database where datname = current_database())";

/// The things that a session can leave behind, each with a query that says whether it exists.
const TRACES: [(&str, &str); 5] = [
    ("create temp table left_over (a int)", "select count(*) from pg_class where relname = 'left_over'"),
    ("select pg_advisory_lock(42)", ADVISORY_LOCKS),
    ("listen left_over", "select count(*) from pg_listening_channels()"),
    ("set work_mem = '7MB'", "select count(*) from pg_settings where name = 'work_mem' and setting = '7168'"),
    ("prepare left_over as select 1", "select count(*) from pg_prepared_statements where name = 'left_over'"),
];

fn in_session_mode_nothing_is_left_for_the_next_client(stage: &Stage) {
    let proxy = stage.setup().set("pool_mode", "session").set("pool.pool_size", 1).start();
    let mut first = login(&proxy, "app");
    let pid = one(&mut first, "select pg_backend_pid()");
    for (make, look) in TRACES {
        first.sql(make).expect(make);
        assert_eq!(one(&mut first, look), "1", "{make}");
    }
    first.sql("set timezone = 'Asia/Tokyo'; begin").expect("in a transaction");
    let parse = Messages::new().parse("left_over_2", "select 1", &[]).sync();
    assert_eq!(first.turn(&parse).expect("parsed").len(), 2);
    drop(first);
    let mut second = login(&proxy, "app");
    assert_eq!(one(&mut second, "select pg_backend_pid()"), pid, "the connection is kept");
    for (make, look) in TRACES {
        assert_eq!(one(&mut second, look), "0", "{make}");
    }
    assert_eq!(one(&mut second, "show timezone"), "UTC");
    assert_eq!(second.turn(&parse).expect("parsed").len(), 2);
    assert_eq!(
        second.turn(&Messages::new().bind("", "left_over_2", &[]).sync()).expect("bound")[0].tag,
        b'2'
    );
}

fn reset_query_always_leaves_nothing_in_transaction_mode(stage: &Stage) {
    let setup = stage.setup().set("pool.server_reset_query_always", true);
    let proxy = Rotation::setup(setup, 1).start();
    let (mut first, mut second) = (login(&proxy, "app"), login(&proxy, "app"));
    let parse = Messages::new().parse("s", "select 'still there'", &[]).sync();
    assert_eq!(first.turn(&parse).expect("parsed").len(), 2);
    first.sql("set timezone = 'Asia/Tokyo'").expect("set");
    let pid = one(&mut first, "select pg_backend_pid()");
    for (make, look) in TRACES {
        first.sql(make).expect(make);
        assert_eq!(one(&mut second, look), "0", "{make}");
    }
    assert_eq!(one(&mut second, "select pg_backend_pid()"), pid, "the connection is kept");
    // Settings that can follow the client do.
    assert_eq!(one(&mut first, "show timezone"), "Asia/Tokyo");
    assert_eq!(one(&mut second, "show timezone"), "UTC");
    let bind = Messages::new().bind("", "s", &[]).execute("", 0).sync();
    for _ in 0..2 {
        let rows = trunkline_probes::values(&first.turn(&bind).expect("rows"));
        assert_eq!(rows, ["still there"]);
    }
}

fn session_mode_gives_the_servers_own_process_id(stage: &Stage) {
    let proxy = stage.setup().set("pool_mode", "session").set("pool.pool_size", 2).start();
    let mut clients = [login(&proxy, "app"), login(&proxy, "app")];
    for client in &mut clients {
        let pid = one(client, "select pg_backend_pid()");
        assert_eq!(client.backend_key().map(|(pid, _)| pid.to_string()), Some(pid));
    }
    let [a, _b] = &mut clients;
    let _gate = Gate::close(stage);
    a.send_messages(&Messages::new().query(&Gate::query("1"))).expect("sent");
    Gate::wait_for(stage, 1);
    a.cancel(proxy.address()).expect("heard");
    let frames = a.until_ready().expect("an answer");
    assert_eq!(trunkline_probes::errors(&frames), ["57014"]);
    assert_eq!(one(a, "select 1"), "1");
}

fn statement_mode_refuses_begin(stage: &Stage) {
    let proxy = stage.setup().set("pool_mode", "statement").set("pool.pool_size", 1).start();
    let mut other = login(&proxy, "app");
    for begin in ["begin", "start transaction"] {
        let mut client = login(&proxy, "app");
        assert_eq!(one(&mut client, "select 1"), "1");
        // Messages that were sent after it in the pipeline get no answer either.
        client.send_messages(&Messages::new().query(begin).query("select 1")).expect("heard");
        assert_eq!(client.frame().expect("an answer").tag, b'C');
        trunkline_probes::expect_refusal(&mut client, "0A000");
        assert_eq!(one(&mut other, "select 1"), "1", "the server connection came back");
    }
    // A transaction within one message counts as one statement.
    assert_eq!(one(&mut other, "begin; select 1; commit"), "1");
}

fn statement_mode_spreads_statements(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup().set("pool_mode", "statement"), 1).start();
    let (mut a, mut b) = (login(&proxy, "app"), login(&proxy, "app"));
    let pid = one(&mut a, "select pg_backend_pid()");
    assert_eq!(one(&mut b, "select pg_backend_pid()"), pid);
    let parse = Messages::new().parse("s", "select $1::int + 1", &[]).sync();
    for client in [&mut a, &mut b] {
        assert_eq!(client.turn(&parse).expect("parsed").len(), 2);
    }
    for client in [&mut a, &mut b] {
        let turn = Messages::new().bind("", "s", &[Some("1")]).execute("", 0).sync();
        assert_eq!(trunkline_probes::values(&client.turn(&turn).expect("rows")), ["2"]);
    }
}
