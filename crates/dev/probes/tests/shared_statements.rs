//! One statement on a server connection serves many clients. A client must never get a statement that was read under another
//! client's settings, another client's name in an error, or an outdated analysis.

use trunkline_probes::testkit::{Messages, Proxy, RawClient};
use trunkline_probes::{Rotation, Stage, errors, login, login_with, probes, tags, values};

probes! {
    a_literal_is_read_under_the_settings_of_its_own_client,
    a_statement_is_prepared_again_under_the_settings_of_its_parse,
    a_statement_parsed_after_a_set_of_its_turn_is_read_under_that,
    a_plan_has_no_constants_of_another_sessions_settings,
    a_prepared_rollback_ends_a_failed_transaction_whatever_is_known_of_the_connection,
    a_schema_name_that_the_encoding_lacks_fails_no_turn,
    a_name_above_127_is_one_result_in_all_encodings,
    a_backslash_before_a_quote_is_read_in_its_own_encoding,
    a_statement_prepared_after_a_set_in_its_turn_is_read_as_by_its_parse,
    an_unnamed_statement_keeps_the_settings_of_its_parse,
    a_name_above_127_is_read_in_its_own_encoding,
    standard_conforming_strings_decide_what_a_text_is,
    a_literal_after_a_set_in_one_pipeline_is_read_under_it,
    numbers_are_shared_whatever_the_settings,
    a_parse_that_warns_warns_each_client,
    a_parse_that_fails_warns_where_its_name_is_taken,
    a_fresh_parse_after_ddl_sees_the_new_type,
    a_fresh_parse_after_ddl_outside_the_proxy_is_healed_in_its_turn,
    a_type_made_again_is_found,
    a_table_made_by_a_query_is_found,
    a_changed_result_heals_a_turn_with_its_parse_inside,
    names_on_the_server_cannot_be_guessed,
    errors_show_the_clients_own_name,
    a_duplicate_parse_has_all_fields_of_the_servers_error,
    names_are_cut_as_the_server_cuts_them,
    a_comment_before_deallocate_all_hides_nothing,
    describe_in_a_failed_transaction_on_a_connection_that_lacks_the_statement,
}

fn one_connection(stage: &Stage) -> Proxy {
    Rotation::setup(stage.setup(), 1).start()
}

fn prepare(client: &mut RawClient, name: &str, sql: &str) {
    let turn = client.turn(&Messages::new().parse(name, sql, &[]).sync()).expect("parsed");
    assert_eq!(errors(&turn), [] as [String; 0], "{sql}");
}

fn run(client: &mut RawClient, name: &str) -> Vec<String> {
    let turn = client.turn(&Messages::new().bind("", name, &[]).execute("", 0).sync()).expect("an answer");
    assert_eq!(errors(&turn), [] as [String; 0], "{name}");
    values(&turn)
}

fn a_literal_is_read_under_the_settings_of_its_own_client(stage: &Stage) {
    let proxy = one_connection(stage);
    let settings = [
        (
            "timezone",
            ["UTC", "Asia/Tokyo"],
            "select extract(epoch from timestamptz '2020-01-01 00:00')::int8",
        ),
        (
            "timezone",
            ["UTC", "Asia/Tokyo"],
            "select extract(epoch from timestamptz $$2020-01-01 00:00$$)::int8",
        ),
        ("datestyle", ["ISO, MDY", "ISO, DMY"], "select to_char(date '02/03/2020', 'MM')"),
        (
            "intervalstyle",
            ["postgres", "sql_standard"],
            "select extract(epoch from interval '-1 2:03:04')::int8",
        ),
    ];
    for (name, of, sql) in settings {
        let mut clients = of.map(|value| {
            let mut client = login(&proxy, "app");
            client.sql(&format!("set {name} = '{value}'")).expect("set");
            client
        });
        let expected = of.map(|value| {
            let mut direct = stage.direct("app");
            direct.sql(&format!("set {name} = '{value}'")).expect("set");
            direct.sql(sql).expect("rows")
        });
        assert_ne!(expected[0], expected[1], "{sql}");
        for (client, expected) in clients.iter_mut().zip(&expected) {
            prepare(client, "s", sql);
            assert_eq!(&run(client, "s"), expected, "{sql}");
        }
        for (client, expected) in clients.iter_mut().zip(&expected) {
            assert_eq!(&run(client, "s"), expected, "{sql}, again");
        }
    }
}

const EPOCH: &str = "select extract(epoch from timestamptz '2020-01-01 00:00')::int8";

fn a_statement_is_prepared_again_under_the_settings_of_its_parse(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 3).start();
    let mut client = login(&proxy, "app");
    Rotation::warm(&proxy, 3);
    prepare(&mut client, "s", EPOCH);
    let expected = run(&mut client, "s");
    client.sql("set timezone = 'Asia/Tokyo'").expect("set");
    for _ in 0..6 {
        assert_eq!(run(&mut client, "s"), expected, "as it was parsed");
        assert_eq!(client.sql("show timezone").expect("shown"), ["Asia/Tokyo"]);
    }
    // In a transaction, on a connection that lacks the statement.
    for _ in 0..3 {
        client.sql("deallocate all").expect("forgotten");
        prepare(&mut client, "t", EPOCH);
        let tokyo = run(&mut client, "t");
        assert_ne!(tokyo, expected);
        client.sql("begin; set local timezone = 'CET'").expect("begun");
        assert_eq!(run(&mut client, "t"), tokyo);
        assert_eq!(client.sql("show timezone").expect("shown"), ["CET"]);
        client.sql("rollback").expect("over");
    }
}

/// The server connection lacks the statement, and has settings by then that it has not reported yet.
fn a_statement_prepared_after_a_set_in_its_turn_is_read_as_by_its_parse(stage: &Stage) {
    let mut direct = stage.direct("app");
    let proxy = Rotation::setup(stage.setup(), 3).start();
    let mut client = login(&proxy, "app");
    Rotation::warm(&proxy, 3);
    for client in [&mut direct, &mut client] {
        prepare(client, "s", EPOCH);
        prepare(client, "b", "select length('a\\\\b')");
    }
    let run = |message: Messages, name: &str| message.bind("", name, &[]).execute("", 0);
    for set in
        ["set timezone = 'Asia/Tokyo'", "set standard_conforming_strings = off", "set local timezone = 'CET'"]
    {
        let turn = || {
            let set = Messages::new().parse("", set, &[]).bind("", "", &[]).execute("", 0);
            let used =
                run(run(set, "s"), "b").parse("", "show timezone", &[]).bind("", "", &[]).execute("", 0);
            used.parse("", EPOCH, &[]).bind("", "", &[]).execute("", 0).sync()
        };
        let expected = values(&direct.turn(&turn()).expect("direct"));
        for _ in 0..6 {
            let turn = client.turn(&turn()).expect("an answer");
            assert_eq!(values(&turn), expected, "{set}");
            let zone = direct.sql("show timezone").expect("shown");
            assert_eq!(client.sql("show timezone").expect("shown"), zone, "{set}");
        }
    }
}

fn an_unnamed_statement_keeps_the_settings_of_its_parse(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 3).start();
    let (mut client, mut other) = (login(&proxy, "app"), login(&proxy, "app"));
    Rotation::warm(&proxy, 3);
    prepare(&mut client, "", EPOCH);
    let expected = run(&mut client, "");
    let set =
        Messages::new().parse("z", "set timezone = 'Asia/Tokyo'", &[]).bind("", "z", &[]).execute("", 0);
    assert_eq!(errors(&client.turn(&set.sync()).expect("set")), [] as [String; 0]);
    for _ in 0..6 {
        assert_eq!(run(&mut client, ""), expected, "as it was parsed");
        other.extended("select 1", &[]).expect("rows");
    }
}

fn a_name_above_127_is_read_in_its_own_encoding(stage: &Stage) {
    let proxy = one_connection(stage);
    let (mut utf8, mut latin) = (login(&proxy, "app"), login(&proxy, "app"));
    latin.sql("set client_encoding = 'LATIN1'").expect("set");
    // The bytes c3 a9 are one letter in UTF-8 and two in LATIN1.
    for (client, letters) in [(&mut utf8, "1"), (&mut latin, "2")] {
        prepare(
            client,
            "s",
            "select length(attname::text) from (select 1 as \"é\") x, pg_attribute where false",
        );
        prepare(client, "n", "select length('é')");
        assert_eq!(run(client, "n"), [letters]);
    }
}

fn standard_conforming_strings_decide_what_a_text_is(stage: &Stage) {
    let proxy = one_connection(stage);
    let (mut on, mut off) = (login(&proxy, "app"), login(&proxy, "app"));
    off.sql("set standard_conforming_strings = off; set escape_string_warning = off").expect("set");
    for (client, length) in [(&mut on, "2"), (&mut off, "1")] {
        prepare(client, "s", "select length('\\\\')");
        assert_eq!(run(client, "s"), [length]);
    }
}

fn a_parse_that_fails_warns_where_its_name_is_taken(stage: &Stage) {
    let proxy = one_connection(stage);
    for mut client in [stage.direct("app"), login(&proxy, "app")] {
        client.sql("set standard_conforming_strings = off").expect("set");
        prepare(&mut client, "s", "select 1");
        // The text is wrong, so it does not matter here that the name exists.
        let turn =
            client.turn(&Messages::new().parse("s", "select length('\\')", &[]).sync()).expect("an answer");
        assert_eq!(tags(&turn), "NEZ");
        // The text is right and gives a warning, and the name already exists.
        let turn = client.turn(&Messages::new().parse("s", "select 'a\\b'", &[]).sync()).expect("an answer");
        assert_eq!((tags(&turn).as_str(), errors(&turn)), ("NEZ", vec!["42P05".to_owned()]));
    }
}

fn a_literal_after_a_set_in_one_pipeline_is_read_under_it(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 2).start();
    let mut other = login(&proxy, "app");
    let mut direct = stage.direct("app");
    let mut client = login(&proxy, "app");
    Rotation::warm(&proxy, 2);
    for _ in 0..2 {
        prepare(&mut other, "", "select 1");
        other.sql("deallocate all").expect("forgotten");
        prepare(&mut other, "s", EPOCH);
        run(&mut other, "s");
    }
    let turn = |zone: &str| {
        let set = format!("set timezone = '{zone}'");
        Messages::new()
            .parse("", &set, &[])
            .bind("", "", &[])
            .execute("", 0)
            .parse("t", EPOCH, &[])
            .bind("", "t", &[])
            .execute("", 0)
            .close(b'S', "t")
            .sync()
    };
    for zone in ["Asia/Tokyo", "CET", "UTC"] {
        let expected = values(&direct.turn(&turn(zone)).expect("direct"));
        assert_eq!(values(&client.turn(&turn(zone)).expect("rows")), expected, "{zone}");
        // The same in turns that are sent before the first one is answered.
        let query = format!("set timezone = '{zone}'");
        let parse = Messages::new().query(&query).parse("u", EPOCH, &[]).bind("", "u", &[]).execute("", 0);
        client.send_messages(&parse.close(b'S', "u").sync()).expect("sent");
        client.until_ready().expect("set");
        assert_eq!(values(&client.until_ready().expect("rows")), expected, "{zone}");
    }
    assert_eq!(run(&mut other, "s"), ["1577836800"], "the others' is as it was");
}

fn numbers_are_shared_whatever_the_settings(stage: &Stage) {
    let proxy = one_connection(stage);
    let (mut a, mut b) = (login(&proxy, "app"), login(&proxy, "app"));
    b.sql("set timezone = 'Asia/Tokyo'; set datestyle = 'German'").expect("set");
    prepare(&mut a, "a", "select 41 + $1::int4 where true or null");
    prepare(&mut b, "b", "select 41 + $1::int4 where true or null");
    let count = "select count(*) from pg_prepared_statements where statement like 'select 41%'";
    assert_eq!(a.sql(count).expect("counted"), ["1"]);
}

fn a_parse_that_warns_warns_each_client(stage: &Stage) {
    let proxy = one_connection(stage);
    let sql = "select 'a\\\\b' as x, 40 + 2";
    let turn = || Messages::new().parse("s", sql, &[]).sync();
    for _ in 0..3 {
        let mut client = login(&proxy, "app");
        client.sql("set standard_conforming_strings = off").expect("set");
        assert_eq!(tags(&client.turn(&turn()).expect("parsed")), "N1Z");
        // When the statement is prepared again for a client that has got the warning, the warning does not come again.
        assert_eq!(tags(&client.turn(&Messages::new().bind("", "s", &[]).sync()).expect("bound")), "2Z");
    }
    // The proxy does not answer a second Parse itself before the server has answered the first.
    let mut client = login(&proxy, "app");
    client.sql("set standard_conforming_strings = off").expect("set");
    let sql = "select 'a\\\\b' as y";
    let twice = Messages::new().parse("s", sql, &[]).parse("t", sql, &[]).sync();
    assert_eq!(tags(&client.turn(&twice).expect("parsed")), "N1N1Z");
}

fn described_type(client: &mut RawClient, name: &str, sql: &str) -> u32 {
    let turn =
        client.turn(&Messages::new().parse(name, sql, &[]).describe(b'S', name).sync()).expect("described");
    assert_eq!(errors(&turn), [] as [String; 0]);
    let parameters = turn.iter().find(|frame| frame.tag == b't').expect("a ParameterDescription");
    u32::from_be_bytes(parameters.body[2..6].try_into().expect("one parameter"))
}

fn a_fresh_parse_after_ddl_sees_the_new_type(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 2).start();
    let mut ddl = login(&proxy, "app");
    ddl.sql("create table t (a int)").expect("a table");
    let sql = "insert into t values ($1)";
    let mut clients: Vec<RawClient> = (0..2).map(|_| login(&proxy, "app")).collect();
    Rotation::warm(&proxy, 2);
    for client in &mut clients {
        for name in ["a", "b"] {
            assert_eq!(described_type(client, name, sql), 23);
        }
    }
    for in_transaction in [false, true] {
        let to = if in_transaction { ("int8", 20) } else { ("text", 25) };
        let change = format!("alter table t alter a type {} using a::text::{0}", to.0);
        if in_transaction {
            ddl.sql("begin").expect("begun");
        }
        ddl.sql(&change).expect("altered");
        if in_transaction {
            ddl.sql("commit").expect("done");
        }
        for n in 0..3 {
            let mut fresh = login(&proxy, "app");
            assert_eq!(described_type(&mut fresh, &format!("f{n}"), sql), to.1);
            let value =
                Messages::new().bind("", &format!("f{n}"), &[Some("3000000000")]).execute("", 0).sync();
            assert_eq!(errors(&fresh.turn(&value).expect("inserted")), [] as [String; 0]);
        }
    }
}

fn a_fresh_parse_after_ddl_outside_the_proxy_is_healed_in_its_turn(stage: &Stage) {
    let proxy = one_connection(stage);
    let mut direct = stage.direct("app");
    direct.sql("create table t (a int)").expect("a table");
    let sql = "insert into t values ($1)";
    let mut first = login(&proxy, "app");
    assert_eq!(described_type(&mut first, "a", sql), 23);
    direct.sql("alter table t alter a type int8").expect("altered");
    let mut fresh = login(&proxy, "app");
    let turn =
        Messages::new().parse("f", sql, &[]).bind("", "f", &[Some("3000000000")]).execute("", 0).sync();
    assert_eq!(tags(&fresh.turn(&turn).expect("inserted")), "12CZ");
    assert_eq!(direct.sql("select a from t").expect("rows"), ["3000000000"]);
}

fn a_type_made_again_is_found(stage: &Stage) {
    let proxy = one_connection(stage);
    let mut direct = stage.direct("app");
    direct.sql("create type mood as enum ('good', 'bad')").expect("a type");
    let sql = "select $1::mood::text";
    let mut first = login(&proxy, "app");
    prepare(&mut first, "a", sql);
    let bind = |name: &str| Messages::new().bind("", name, &[Some("good")]).execute("", 0).sync();
    assert_eq!(values(&first.turn(&bind("a")).expect("rows")), ["good"]);
    direct.sql("drop type mood; create type mood as enum ('good', 'worse')").expect("made again");
    for n in 0..2 {
        let mut fresh = login(&proxy, "app");
        let parse = Messages::new().parse("f", sql, &[]).bind("", "f", &[Some("good")]).execute("", 0).sync();
        let turn = fresh.turn(&parse).expect("an answer");
        assert_eq!((errors(&turn), values(&turn)), (vec![], vec!["good".to_owned()]), "{n}");
        assert_eq!(values(&fresh.turn(&bind("f")).expect("rows")), ["good"], "{n}");
    }
    direct.sql("drop type mood; create type mood as enum ('good')").expect("made again");
    let turn = first.turn(&bind("a")).expect("an answer");
    assert_eq!((errors(&turn), values(&turn)), (vec![], vec!["good".to_owned()]), "a turn without a Parse");
}

fn a_changed_result_heals_a_turn_with_its_parse_inside(stage: &Stage) {
    let proxy = one_connection(stage);
    let mut direct = stage.direct("app");
    direct.sql("create table t as select 1 as a").expect("a table");
    let mut first = login(&proxy, "app");
    prepare(&mut first, "a", "select * from t");
    run(&mut first, "a");
    direct.sql("alter table t add b int default 2").expect("altered");
    let mut fresh = login(&proxy, "app");
    let messages = Messages::new().parse("f", "select * from t", &[]).bind("", "f", &[]);
    let turn = fresh.turn(&messages.describe(b'P', "").execute("", 0).sync()).expect("an answer");
    assert_eq!((tags(&turn), values(&turn)), ("12TDCZ".to_owned(), vec!["1|2".to_owned()]));
}

fn names_on_the_server_cannot_be_guessed(stage: &Stage) {
    let proxy = one_connection(stage);
    let mut client = login(&proxy, "app");
    prepare(&mut client, "s", "select 100");
    let mut other = login(&proxy, "app");
    for n in 0..64 {
        for name in [format!("_tl_{n}"), format!("_tl_{n:x}")] {
            let _ = other.sql(&format!("deallocate \"{name}\""));
            let _ = other.sql(&format!("prepare \"{name}\" as select 0"));
        }
    }
    assert_eq!(run(&mut client, "s"), ["100"]);
    let names = client.sql("select name from pg_prepared_statements where statement = 'select 100'");
    let names = names.expect("names");
    assert!(names[0].len() >= "_tl_".len() + 12, "{names:?}");
}

fn errors_show_the_clients_own_name(stage: &Stage) {
    let proxy = one_connection(stage);
    let (mut client, mut direct) = (login(&proxy, "app"), stage.direct("app"));
    let turns = [
        Messages::new().parse("my own \"name\"", "select $1::int, $2::int", &[]).sync(),
        Messages::new().bind("", "my own \"name\"", &[Some("1")]).sync(),
        Messages::new().bind("", "not there", &[]).sync(),
        Messages::new().describe(b'S', "not there").sync(),
        Messages::new().bind("", "_tl_1", &[]).sync(),
        Messages::new().parse("my own \"name\"", "select 1", &[]).sync(),
        Messages::new().execute("no portal", 0).sync(),
    ];
    for turn in turns {
        let fields = |frames: &[trunkline_probes::testkit::Frame]| {
            let error = frames.iter().find(|frame| frame.tag == b'E').map(|frame| frame.body.clone());
            error.map(|body| String::from_utf8_lossy(&body).replace('\0', "|"))
        };
        let expected = fields(&direct.turn(&turn).expect("direct"));
        assert_eq!(fields(&client.turn(&turn).expect("an answer")), expected);
    }
}

fn a_duplicate_parse_has_all_fields_of_the_servers_error(stage: &Stage) {
    let proxy = one_connection(stage);
    let (mut client, mut direct) = (login(&proxy, "app"), stage.direct("app"));
    let turn = || Messages::new().parse("s", "select 1", &[]).sync();
    for client in [&mut client, &mut direct] {
        client.turn(&turn()).expect("parsed");
    }
    let error = |client: &mut RawClient| {
        let frames = client.turn(&turn()).expect("an answer");
        String::from_utf8_lossy(&frames[0].body).replace('\0', "|")
    };
    assert_eq!(error(&mut client), error(&mut direct));
}

/// PostgreSQL uses the first 63 bytes of a statement's name.
fn names_are_cut_as_the_server_cuts_them(stage: &Stage) {
    let proxy = one_connection(stage);
    let (mut client, mut direct) = (login(&proxy, "app"), stage.direct("app"));
    let long = "n".repeat(63);
    for client in [&mut direct, &mut client] {
        prepare(client, &format!("{long}one"), "select 7");
        assert_eq!(run(client, &format!("{long}two")), ["7"]);
        let duplicate = Messages::new().parse(&long, "select 8", &[]).sync();
        assert_eq!(errors(&client.turn(&duplicate).expect("an answer")), ["42P05"]);
    }
}

fn a_comment_before_deallocate_all_hides_nothing(stage: &Stage) {
    let proxy = one_connection(stage);
    for command in ["/* c */ DEALLOCATE ALL", "-- c\nDISCARD ALL", "/* a /* b */ */ deallocate all ; "] {
        let mut client = login(&proxy, "app");
        prepare(&mut client, "s", "select 1");
        let messages = Messages::new().parse("", command, &[]).bind("", "", &[]).execute("", 0);
        let turn = client.turn(&messages.parse("s", "select 2", &[]).sync()).expect("an answer");
        assert_eq!(errors(&turn), [] as [String; 0], "{command}");
        assert_eq!(run(&mut client, "s"), ["2"], "{command}");
    }
}

fn describe_in_a_failed_transaction_on_a_connection_that_lacks_the_statement(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 2).start();
    stage.direct("app").sql("create table t (a int)").expect("a table");
    let mut client = login(&proxy, "app");
    Rotation::warm(&proxy, 2);
    let sql = "insert into t values ($1)";
    let describe = || Messages::new().describe(b'S', "s").sync();
    let turn = client.turn(&Messages::new().parse("s", sql, &[]).describe(b'S', "s").sync()).expect("parsed");
    assert_eq!(tags(&turn), "1tnZ");
    client.sql("begin; select 1/0").expect_err("failed");
    assert_eq!(tags(&client.turn(&describe()).expect("described")), "tnZ");
    client.sql("rollback").expect("over");
}

/// At the end of the turn, the settings differ from those at the Parse.
fn a_statement_parsed_after_a_set_of_its_turn_is_read_under_that(stage: &Stage) {
    const DAY: &str = "select to_char(date '01/02/2003', 'YYYY-MM-DD')";
    let mut direct = stage.direct("app");
    let proxy = Rotation::setup(stage.setup(), 2).start();
    let mut client = login(&proxy, "app");
    Rotation::warm(&proxy, 2);
    let set = |sql: &str| Messages::new().parse("", sql, &[]).bind("", "", &[]).execute("", 0);
    let taken_back = |turn: Messages| turn.bind("", "nothing", &[]).sync();
    let kept = Messages::sync;
    for (name, sql, is_kept) in [
        ("local", "set local datestyle = 'ISO, DMY'", true),
        ("config", "select set_config('datestyle', 'ISO, DMY', true)", true),
        ("taken back", "set datestyle = 'ISO, DMY'", false),
        ("encoding", "set client_encoding = 'LATIN1'", false),
    ] {
        let turn = set(sql).parse(name, DAY, &[]);
        let turn = turn.parse(&format!("{name} 2"), "select length('\u{e9}')", &[]);
        let turn = if is_kept { kept(turn) } else { taken_back(turn) };
        for client in [&mut direct, &mut client] {
            client.turn(&turn).expect("an answer");
        }
        for statement in [name.to_owned(), format!("{name} 2")] {
            let expected = run(&mut direct, &statement);
            for _ in 0..4 {
                assert_eq!(run(&mut client, &statement), expected, "{statement}");
            }
        }
    }
}

/// PostgreSQL computes a plan's constants under the settings of the session that makes the plan.
fn a_plan_has_no_constants_of_another_sessions_settings(stage: &Stage) {
    let proxy = one_connection(stage);
    let mut clients = ["0", "3"].map(|digits| login_with(&proxy, &[("extra_float_digits", digits)]));
    for _ in 0..8 {
        for (client, third) in clients.iter_mut().zip(["0.333333333333333", "0.3333333333333333"]) {
            let turn = Messages::new().parse("", "select (1::float8/3)::text", &[]).sync();
            client.turn(&turn).expect("parsed");
            if client
                .turn(&Messages::new().describe(b'S', "s").sync())
                .is_ok_and(|turn| !errors(&turn).is_empty())
            {
                prepare(client, "s", "select (1::float8/3)::text");
            }
            assert_eq!(run(client, "s"), [third]);
        }
    }
}

fn a_name_above_127_is_one_result_in_all_encodings(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 2).start();
    let mut client = login(&proxy, "app");
    Rotation::warm(&proxy, 2);
    let described = Messages::new().parse("s", "select 1 as \"\u{e9}\"", &[]).describe(b'S', "s").sync();
    client.turn(&described).expect("described");
    client.sql("set client_encoding = 'LATIN1'").expect("set");
    for _ in 0..4 {
        assert_eq!(run(&mut client, "s"), ["1"]);
    }
}

/// `backslash_quote = safe_encoding` forbids `\'` in encodings whose letters may contain the byte of a backslash.
fn a_backslash_before_a_quote_is_read_in_its_own_encoding(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 2).start();
    let mut client = login(&proxy, "app");
    Rotation::warm(&proxy, 2);
    prepare(&mut client, "s", r"select E'it\'s'");
    client.sql("set client_encoding = 'SJIS'").expect("set");
    for _ in 0..4 {
        assert_eq!(run(&mut client, "s"), ["it's"]);
    }
}

/// Its CommandComplete says SELECT, not CREATE.
fn a_table_made_by_a_query_is_found(stage: &Stage) {
    for (made_by, simple) in [
        ("create table s1.t as select 'new' as a", true),
        ("create table s1.t as select 'new' as a", false),
        ("select 'new' as a into s1.t", true),
        ("create materialized view s1.t as select 'new' as a", false),
    ] {
        let setup = "drop schema if exists s1 cascade; create schema s1; drop table if exists t; \
                     create table t as select 'old' as a";
        stage.direct("app").sql(setup).expect("set up");
        let proxy = one_connection(stage);
        let mut client = login_with(&proxy, &[("search_path", "s1, public")]);
        prepare(&mut client, "before", "select a from t");
        assert_eq!(run(&mut client, "before"), ["old"]);
        match simple {
            true => client.sql(made_by).map(drop).expect(made_by),
            false => client.extended(made_by, &[]).map(drop).expect(made_by),
        }
        prepare(&mut client, "after", "select a from t");
        assert_eq!(run(&mut client, "after"), ["new"], "{made_by}");
    }
}

fn a_prepared_rollback_ends_a_failed_transaction_whatever_is_known_of_the_connection(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 2).start();
    let mut client = login_with(&proxy, &[("options", "-c extra_float_digits=0 -c my.own=1")]);
    Rotation::warm(&proxy, 2);
    prepare(&mut client, "r", "rollback");
    for _ in 0..4 {
        client.sql("begin; reset bytea_output").expect("begun");
        client.sql("select 1/0").expect_err("the transaction fails");
        let turn = Messages::new().bind("", "r", &[]).execute("", 0).sync();
        assert_eq!(tags(&client.turn(&turn).expect("an answer")), "2CZ");
    }
}

/// After a Parse, the proxy may ask the server for the search_path. It must get the answer in ASCII.
fn a_schema_name_that_the_encoding_lacks_fails_no_turn(stage: &Stage) {
    let proxy = Rotation::setup(stage.setup(), 2).start();
    let mut client = login_with(&proxy, &[("search_path", "\"\u{65e5}\", public")]);
    Rotation::warm(&proxy, 2);
    let set =
        Messages::new().parse("", "set client_encoding = 'LATIN1'", &[]).bind("", "", &[]).execute("", 0);
    let turn = client.turn(&set.parse("s", "select 'a'", &[]).sync()).expect("an answer");
    assert_eq!(errors(&turn), [] as [String; 0]);
    for _ in 0..4 {
        assert_eq!(run(&mut client, "s"), ["a"]);
    }
}
