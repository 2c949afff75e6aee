//! Settings that could leak to others, start-up values that could get lost, and options that cannot be reset.

use trunkline_probes::testkit::cluster::PASSWORD;
use trunkline_probes::testkit::{Messages, Proxy, RawClient};
use trunkline_probes::{
    Rotation, Setup, Stage, errors, login, login_with, probes, tags, try_login_with, values,
};

probes! {
    a_read_only_default_makes_nobody_elses_writes_fail,
    a_session_authorization_stays_with_its_client,
    a_value_in_another_encoding_follows_its_client_and_no_other,
    a_client_of_another_encoding_harms_no_login,
    a_value_that_its_clients_encoding_lacks_follows_all_the_same,
    a_value_that_the_encoding_lacks_is_refused_at_login_as_by_the_server,
    reset_to_the_servers_own_default_brings_the_start_up_value_back,
    a_reset_within_a_transaction_brings_the_start_up_value_back,
    set_local_to_default_lasts_as_long_as_its_transaction,
    a_reset_after_messages_without_a_sync_is_answered,
    a_reset_after_a_statement_that_is_healed_is_answered,
    session_mode_keeps_start_up_options_through_reset_all_and_discard_all,
    a_reset_is_seen_after_a_comment,
    a_reset_is_seen_after_a_letter_with_a_backslash_in_it,
    a_reset_that_is_bound_and_not_executed_resets_nothing,
    a_committed_reset_counts_although_its_turn_fails,
    local_settings_end_with_their_transaction,
    discard_all_counts_although_its_turn_fails,
    a_set_after_a_reset_stays,
    a_set_by_a_function_after_a_reset_stays,
    a_start_up_option_that_cannot_be_reset_disconnects_nobody,
    a_seed_at_start_up_disconnects_nobody,
    a_setting_that_fails_later_fails_a_turn_and_no_connection,
}

const SIZE: usize = 2;

fn rotating(setup: Setup) -> Proxy {
    Rotation::setup(setup, SIZE as i64).start()
}

fn one(client: &mut RawClient, sql: &str) -> String {
    client.sql(sql).unwrap_or_else(|error| panic!("{sql}: {error:#}")).join("\n")
}

fn a_read_only_default_makes_nobody_elses_writes_fail(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let (mut reader, mut writer) = (login(&proxy, "app"), login(&proxy, "app"));
    stage.direct("app").sql("create table written (a int)").expect("a table");
    Rotation::warm(&proxy, SIZE);
    for _ in 0..SIZE {
        reader.sql("set default_transaction_read_only = on").expect("set");
        for _ in 0..SIZE {
            writer.sql("insert into written values (1)").expect("the other client may write");
        }
        reader.sql("insert into written values (1)").expect_err("only the client that asked is read-only");
    }
    assert_eq!(one(&mut reader, "show default_transaction_read_only"), "on");
}

fn a_session_authorization_stays_with_its_client(stage: &Stage) {
    let mut admin = stage.direct("postgres");
    admin.sql("create role acted_as").expect("a role");
    let setup = stage.setup().set("users.postgres.password", PASSWORD);
    let proxy = rotating(setup);
    let mut actor = login(&proxy, "postgres");
    let mut other = login(&proxy, "postgres");
    let who =
        "select session_user || ',' || current_setting('is_superuser') || ',' || current_setting('TimeZone')";
    let mine = one(&mut other, who);
    actor.sql("set timezone = 'Asia/Tokyo'").expect("set");
    actor.sql("set session authorization acted_as").expect("a superuser may");
    for _ in 0..2 * SIZE {
        assert_eq!(one(&mut actor, who), "acted_as,off,Asia/Tokyo");
        assert_eq!(one(&mut other, who), mine);
    }
    actor.sql("reset session authorization").expect("reset");
    for _ in 0..SIZE {
        assert_eq!(one(&mut actor, who), mine.replace("UTC", "Asia/Tokyo"));
    }
    drop((actor, other, proxy));
    admin.sql("drop role acted_as").expect("dropped");
}

/// PostgreSQL 18 reports `search_path`. In older versions, the proxy only knows it from the start-up.
fn a_value_in_another_encoding_follows_its_client_and_no_other(stage: &Stage) {
    let reported = reports_search_path(stage);
    stage.direct("app").sql("create schema \"é\"; create table \"é\".t as select 7 as a").expect("a schema");
    let proxy = rotating(stage.setup());
    let mut latin = match reported {
        true => login(&proxy, "app"),
        false => login_with(&proxy, &[("search_path", "\"é\", public")]),
    };
    let mut other = login(&proxy, "app");
    Rotation::warm(&proxy, SIZE);
    latin.sql("set client_encoding = 'LATIN1'").expect("set");
    if reported {
        let body = b"set search_path = \"\xe9\", public\0";
        let turn = latin.turn(&Messages::new().message(b'Q', body)).expect("set");
        assert_eq!(errors(&turn), [] as [String; 0]);
    }
    for _ in 0..2 * SIZE {
        assert_eq!(one(&mut latin, "select a from t"), "7");
        assert_eq!(one(&mut other, "show search_path"), "\"$user\", public");
        other.sql("select a from t").expect_err("no such table there");
    }
}

fn a_client_of_another_encoding_harms_no_login(stage: &Stage) {
    stage.direct("app").sql("create schema \"é\"; create table \"é\".t as select 7 as a").expect("a schema");
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let mut japanese = login(&proxy, "app");
    for encoding in ["SJIS", "LATIN1", "UHC", "EUC_JP"] {
        japanese.sql(&format!("set client_encoding = '{encoding}'")).expect("set");
        let path = format!("\"é\", public, {encoding}");
        let mut next = login_with(&proxy, &[("search_path", path.as_str())]);
        assert_eq!(one(&mut next, "select a from t"), "7", "{encoding}");
    }
}

/// The server would report the value in an encoding that has no such letter, fail, and never send ReadyForQuery.
fn a_value_that_its_clients_encoding_lacks_follows_all_the_same(stage: &Stage) {
    stage
        .direct("app")
        .sql("create schema \"日\"; create table \"日\".t as select 7 as a")
        .expect("a schema");
    let proxy = rotating(stage.setup());
    let mut client = login(&proxy, "app");
    let mut other = login(&proxy, "app");
    Rotation::warm(&proxy, SIZE);
    if !reports_search_path(stage) {
        return;
    }
    client.sql("set search_path = \"日\"").expect("set");
    client.sql("set client_encoding = 'LATIN1'").expect("set");
    for _ in 0..2 * SIZE {
        assert_eq!(one(&mut client, "select a from t"), "7");
        assert_eq!(one(&mut other, "show search_path"), "\"$user\", public");
    }
}

fn a_value_that_the_encoding_lacks_is_refused_at_login_as_by_the_server(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let mut innocent = login(&proxy, "app");
    Rotation::warm(&proxy, SIZE);
    let [path, encoding] = [("search_path", "\"é\", public"), ("client_encoding", "SJIS")];
    for set in [path, encoding] {
        login_with(&proxy, &[set]);
    }
    let refused = stage.try_direct_with(&[path, encoding]).is_err();
    assert_eq!(refused, reports_search_path(stage));
    for _ in 0..SIZE {
        assert_eq!(try_login_with(&proxy, &[path, encoding]).is_err(), refused);
        assert_eq!(one(&mut innocent, "show client_encoding"), "UTF8");
    }
}

/// True from PostgreSQL 18 on.
fn reports_search_path(stage: &Stage) -> bool {
    one(&mut stage.direct("app"), "show server_version_num").as_str() >= "180000"
}

const COMMANDS: [&str; 7] = [
    "reset timezone",
    "set timezone to default",
    "set time zone default",
    "set session timezone = default",
    "select set_config('timezone', null, false)",
    "reset all",
    "discard all",
];

fn reset_to_the_servers_own_default_brings_the_start_up_value_back(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let mut client = login_with(&proxy, &[("options", "-c timezone=Asia/Tokyo -c work_mem=7MB")]);
    let mut other = login(&proxy, "app");
    Rotation::warm(&proxy, SIZE);
    let sql = "select current_setting('timezone') || ',' || current_setting('work_mem')";
    for command in COMMANDS {
        for extended in [false, true] {
            client.sql("set timezone = 'UTC'").expect("the server's own");
            assert_eq!(one(&mut client, "show timezone"), "UTC");
            if extended {
                client.extended(command, &[]).expect(command);
            } else {
                client.sql(command).expect(command);
            }
            assert_eq!(client.parameter("TimeZone"), Some("Asia/Tokyo"), "{command} {extended}");
            for _ in 0..SIZE {
                assert_eq!(one(&mut client, sql), "Asia/Tokyo,7MB", "{command} {extended}");
                assert_eq!(one(&mut other, sql), "UTC,4MB", "{command} {extended}");
            }
            // In the same pipeline, before the reset's answer is read.
            client.sql("set timezone = 'UTC'").expect("the server's own");
            client
                .send_messages(&Messages::new().query(command).query("show timezone"))
                .expect("sent at once");
            client.until_ready().expect(command);
            assert_eq!(values(&client.until_ready().expect("shown")), ["Asia/Tokyo"], "{command} {extended}");
        }
    }
}

fn a_reset_within_a_transaction_brings_the_start_up_value_back(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let mut client = login_with(&proxy, &[("options", "-c timezone=Asia/Tokyo -c statement_timeout=59s")]);
    Rotation::warm(&proxy, SIZE);
    let sql = "select current_setting('timezone') || ',' || current_setting('statement_timeout')";
    for (command, zone) in
        [("reset timezone", "Asia/Tokyo"), ("reset all", "Asia/Tokyo"), ("select 1", "UTC")]
    {
        for end in ["commit", "rollback"] {
            client.sql("set timezone = 'CET'").expect("set");
            client.sql("begin; set timezone = 'UTC'").expect("begun");
            client.sql(command).expect(command);
            assert_eq!(client.parameter("TimeZone"), Some(zone), "{command}");
            assert_eq!(one(&mut client, sql), format!("{zone},59s"), "{command} in the transaction");
            client.sql(end).expect(end);
            let zone = if end == "commit" { zone } else { "CET" };
            assert_eq!(client.parameter("TimeZone"), Some(zone), "{command} {end}");
            for _ in 0..SIZE {
                assert_eq!(one(&mut client, sql), format!("{zone},59s"), "{command} {end}");
            }
        }
    }
}

/// The same steps must have the same answers on a direct connection.
fn set_local_to_default_lasts_as_long_as_its_transaction(stage: &Stage) {
    let options = [("options", "-c timezone=Asia/Tokyo -c work_mem=7MB")];
    let mut direct = stage.direct_with(&options);
    let proxy = rotating(stage.setup());
    let mut client = login_with(&proxy, &options);
    Rotation::warm(&proxy, SIZE);
    let sql = "select current_setting('timezone') || ',' || current_setting('work_mem')";
    let defaults = [
        "set local timezone to default; set local work_mem to default",
        "set local time zone default",
        "select set_config('timezone', null, true)",
        "set local timezone to default; set local timezone = 'CET'",
        "set local timezone = 'CET'; set local timezone to default",
        "set local timezone to default; set timezone = 'CET'",
        "reset timezone; set local timezone to default",
    ];
    for command in defaults {
        for steps in [
            [command, "select 1", "select 1"].as_slice(),
            &["begin", command, "commit"],
            &["begin", command, "rollback"],
            &["begin", "savepoint s", command, "rollback to s", "commit"],
        ] {
            for step in ["set timezone = 'UTC'"].iter().chain(steps) {
                for client in [&mut direct, &mut client] {
                    client.sql(step).expect(step);
                }
                let zone = direct.parameter("TimeZone").map(str::to_owned);
                assert_eq!(client.parameter("TimeZone"), zone.as_deref(), "{step} of {steps:?}");
                for _ in 0..SIZE {
                    assert_eq!(one(&mut client, sql), one(&mut direct, sql), "{step} of {steps:?}");
                }
            }
        }
    }
}

/// The proxy waits for answers that the server does not send before a Flush or Sync.
fn a_reset_after_messages_without_a_sync_is_answered(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let parse = || Messages::new().parse("s", "select 1", &[]);
    for turn in [
        parse().query("reset timezone"),
        parse().bind("", "s", &[]).query("reset timezone"),
        Messages::new().bind("", "nothing", &[]).query("reset timezone").sync(),
    ] {
        let answers = [stage.direct("app"), login(&proxy, "app")]
            .map(|mut client| tags(&client.turn(&turn).expect("an answer")));
        assert_eq!(answers[0], answers[1]);
    }
}

/// After an error of the statement's values, the proxy closes the statement on the server before the next turn.
fn a_reset_after_a_statement_that_is_healed_is_answered(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 1).start();
    let mut other = login(&proxy, "app");
    other.turn(&Messages::new().parse("s", "commit", &[]).sync()).expect("parsed");
    let mut client = login(&proxy, "app");
    client.sql("begin").expect("begun");
    let bind = |text: &str| Messages::new().parse("", text, &[]).bind("P", "", &[]).sync();
    client.turn(&bind("select 1")).expect("bound");
    let taken = Messages::new().parse("s", "commit", &[]).bind("P", "s", &[]).sync();
    assert_eq!(errors(&client.turn(&taken).expect("an answer")), ["42P03"]);
    let turn = client.turn(&Messages::new().query("set timezone to default")).expect("an answer");
    assert_eq!(errors(&turn), ["25P02"]);
}

fn session_mode_keeps_start_up_options_through_reset_all_and_discard_all(stage: &Stage) {
    let proxy = stage.setup().set("pool_mode", "session").set("pool.pool_size", 1).start();
    let options = "-c statement_timeout=59s -c timezone=Asia/Tokyo -c work_mem=7MB";
    let mut client = login_with(&proxy, &[("options", options)]);
    let sql = "select current_setting('statement_timeout') || ',' || current_setting('timezone') || ',' || \
               current_setting('work_mem')";
    for command in ["reset all", "discard all", "reset statement_timeout", "set statement_timeout to default"]
    {
        client.sql("set statement_timeout = '31s'; set timezone = 'UTC'").expect("set");
        client.sql(command).expect(command);
        let zone = if command.contains("timeout") { "UTC" } else { "Asia/Tokyo" };
        assert_eq!(one(&mut client, sql), format!("59s,{zone},7MB"), "{command}");
    }
    drop(client);
    assert_eq!(one(&mut login(&proxy, "app"), sql), "0,UTC,4MB", "the next client");
}

fn a_reset_is_seen_after_a_comment(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let mut client = login_with(&proxy, &[("options", "-c timezone=Asia/Tokyo")]);
    Rotation::warm(&proxy, SIZE);
    for command in [
        "/* c */ reset timezone",
        "-- c\n reset timezone",
        " ; reset\ntimezone",
        "select 1; RESET \"timezone\"",
    ] {
        client.sql("set timezone = 'UTC'").expect("the server's own");
        client.sql(command).expect(command);
        assert_eq!(one(&mut client, "show timezone"), "Asia/Tokyo", "{command}");
    }
}

/// In SJIS, the second byte of that letter is a backslash.
fn a_reset_is_seen_after_a_letter_with_a_backslash_in_it(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let mut client = login_with(&proxy, &[("timezone", "Asia/Tokyo")]);
    Rotation::warm(&proxy, SIZE);
    client.sql("set standard_conforming_strings = off; set client_encoding = 'SJIS'").expect("set");
    let reset = Messages::new().message(b'Q', b"select '\x95\\'; reset timezone\0");
    for _ in 0..SIZE {
        client.sql("set timezone = 'UTC'").expect("the server's own");
        assert_eq!(errors(&client.turn(&reset).expect("an answer")), [] as [String; 0]);
        assert_eq!(one(&mut client, "show timezone"), "Asia/Tokyo");
    }
}

/// PostgreSQL 16 and later refuse to reset these options. At start-up they have no effect, because each transaction has its own
/// values.
fn a_start_up_option_that_cannot_be_reset_disconnects_nobody(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let mut innocent = login(&proxy, "app");
    stage.direct("app").sql("create table t (a int)").expect("a table");
    Rotation::warm(&proxy, SIZE);
    for option in [
        "transaction_read_only=on",
        "transaction_isolation=serializable",
        "transaction_deferrable=on",
        "transaction_read_only=on -c work_mem=7MB",
    ] {
        let mut client = login_with(&proxy, &[("options", &format!("-c {option}"))]);
        for _ in 0..SIZE {
            client.sql("insert into t values (1)").expect(option);
            innocent.sql("insert into t values (1)").expect(option);
        }
    }
}

fn a_seed_at_start_up_disconnects_nobody(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let mut innocent = login(&proxy, "app");
    Rotation::warm(&proxy, SIZE);
    let mut client = login_with(&proxy, &[("options", "-c seed=0.5 -c work_mem=7MB")]);
    for _ in 0..SIZE {
        assert_eq!(one(&mut client, "show work_mem"), "7MB");
        assert_eq!(one(&mut innocent, "show work_mem"), "4MB");
    }
}

/// A client's setting was valid and is not valid any more: the turn fails, and all clients stay connected.
fn a_setting_that_fails_later_fails_a_turn_and_no_connection(stage: &Stage) {
    let mut admin = stage.direct("postgres");
    admin.sql("create role short_lived; grant short_lived to app").expect("a role");
    let proxy = rotating(stage.setup());
    let mut innocent = login(&proxy, "app");
    let mut client = login_with(&proxy, &[("options", "-c role=short_lived")]);
    assert_eq!(one(&mut client, "select current_user"), "short_lived");
    assert_eq!(one(&mut innocent, "select current_user"), "app");
    admin.sql("revoke short_lived from app; drop role short_lived").expect("dropped");
    for _ in 0..2 * SIZE {
        let turn = client.turn(&Messages::new().query("select current_user")).expect("an answer");
        assert_eq!(tags(&turn), "EZ", "the turn fails, the connection stays");
        assert_eq!(one(&mut innocent, "select current_user"), "app");
    }
}

fn a_reset_that_is_bound_and_not_executed_resets_nothing(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let mut client = login_with(&proxy, &[("options", "-c timezone=Asia/Tokyo")]);
    Rotation::warm(&proxy, SIZE);
    client.sql("set timezone = 'CET'").expect("set");
    let bound = Messages::new().parse("s", "reset all", &[]).bind("", "s", &[]).sync();
    assert_eq!(tags(&client.turn(&bound).expect("bound")), "12Z");
    for _ in 0..SIZE {
        assert_eq!(one(&mut client, "show timezone"), "CET");
    }
}

fn a_committed_reset_counts_although_its_turn_fails(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let startup = [("TimeZone", "Asia/Tokyo")];
    let mut client = login_with(&proxy, &startup);
    let mut direct = stage.direct_with(&startup);
    Rotation::warm(&proxy, SIZE);
    let mut pipeline = Messages::new();
    for text in ["reset timezone", "commit", "select 1/0"] {
        pipeline = pipeline.parse("", text, &[]).bind("", "", &[]).execute("", 0);
    }
    let texts = [
        ("reset timezone; commit; select 1/0", "Asia/Tokyo"),
        ("begin; reset timezone; commit; select 1; select 1/0", "Asia/Tokyo"),
        ("reset timezone; commit; set timezone = 'CET'; select 1/0", "Asia/Tokyo"),
        ("reset timezone; rollback; select 1/0", "UTC"),
        ("begin; reset timezone; rollback; begin; commit; select 1/0", "UTC"),
        ("commit; reset timezone; select 1/0", "UTC"),
        ("reset timezone; select 1/0; commit", "UTC"),
    ];
    let turns = texts.map(|(text, expected)| (text, Messages::new().query(text), expected));
    for (text, turn, expected) in turns.into_iter().chain([("a pipeline", pipeline.sync(), "Asia/Tokyo")]) {
        for client in [&mut client, &mut direct] {
            // The server's own default, which a reset sets on the server.
            client.sql("set timezone = 'UTC'").expect("set");
            assert_eq!(errors(&client.turn(&turn).expect("an answer")), ["22012"], "{text}");
            for _ in 0..SIZE {
                assert_eq!(one(client, "show timezone"), expected, "{text}");
            }
        }
    }
}

fn local_settings_end_with_their_transaction(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let startup = [("TimeZone", "Asia/Tokyo")];
    let mut client = login_with(&proxy, &startup);
    let mut direct = stage.direct_with(&startup);
    Rotation::warm(&proxy, SIZE);
    for text in [
        "begin; set local timezone to default; commit; begin",
        "begin; set local timezone to default; rollback; begin",
        "begin; savepoint a; set local timezone to default; rollback to a",
        "begin; set local timezone to default; commit and chain",
        "begin; savepoint a; reset timezone; rollback to a; commit; begin",
    ] {
        let both = [&mut client, &mut direct].map(|client| {
            client.sql("set timezone = 'CET'").expect("set");
            client.sql(text).expect(text);
            let inside = one(client, "show timezone");
            client.sql("commit").expect("commit");
            [inside, one(client, "show timezone"), one(client, "show timezone")]
        });
        assert_eq!(both[0], both[1], "{text}");
    }
}

fn discard_all_counts_although_its_turn_fails(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let startup = [("options", "-c timezone=Asia/Tokyo")];
    let mut client = login_with(&proxy, &startup);
    let mut direct = stage.direct_with(&startup);
    Rotation::warm(&proxy, SIZE);
    let turn =
        Messages::new().parse("", "discard all", &[]).bind("", "", &[]).execute("", 0).execute("p", 0).sync();
    for client in [&mut client, &mut direct] {
        client.sql("set timezone = 'CET'").expect("set");
        assert_eq!(errors(&client.turn(&turn).expect("an answer")), ["34000"]);
        for _ in 0..SIZE {
            assert_eq!(one(client, "show timezone"), "Asia/Tokyo");
        }
    }
}

fn a_set_after_a_reset_stays(stage: &Stage) {
    let proxy = rotating(stage.setup());
    let mut client = login_with(&proxy, &[("options", "-c timezone=Asia/Tokyo")]);
    Rotation::warm(&proxy, SIZE);
    client.sql("reset all; set timezone = 'CET'").expect("set");
    for _ in 0..SIZE {
        assert_eq!(one(&mut client, "show timezone"), "CET");
    }
    client.sql("reset all; set session characteristics as transaction read only").expect("set");
    assert_eq!(client.parameter("default_transaction_read_only"), Some("on"));
    for _ in 0..SIZE {
        assert_eq!(one(&mut client, "show default_transaction_read_only"), "on");
    }
}

/// The proxy cannot see the SET in the texts.
fn a_set_by_a_function_after_a_reset_stays(stage: &Stage) {
    let startup = [("options", "-c datestyle=German -c timezone=Asia/Tokyo")];
    let proxy = rotating(stage.setup());
    let mut client = login_with(&proxy, &startup);
    let mut direct = stage.direct_with(&startup);
    Rotation::warm(&proxy, SIZE);
    for turn in [
        "reset all; select set_config('DateStyle', 'SQL, YMD', false)",
        "reset datestyle; do $$ begin perform set_config('datestyle', 'SQL, YMD', false); end $$",
        "reset datestyle; create temp table x as select set_config('datestyle', 'SQL, YMD', false); drop table x",
        "reset datestyle; with a as (select set_config('datestyle', 'SQL, YMD', false)) select * from a",
        "begin; set datestyle = 'SQL, YMD'; savepoint s; reset datestyle; rollback to s; commit",
    ] {
        let shown = [&mut direct, &mut client].map(|client| {
            client.sql(turn).expect(turn);
            let told = client.parameter("DateStyle").map(str::to_owned);
            let shown: Vec<_> = (0..SIZE).map(|_| one(client, "show datestyle")).collect();
            (told, shown)
        });
        assert_eq!(shown[1], shown[0], "{turn}");
    }
}
