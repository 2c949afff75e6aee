//! Queries, rows, and what the server says on the way.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use trunkline_driver_blocking::types::Type;
use trunkline_driver_blocking::{Client, Error};
use trunkline_probes::Stage;
use trunkline_wire::SqlState;

use crate::place::{direct, everywhere, unix};

trunkline_probes::probes! {
    rows_come_typed, a_wrong_use_is_an_error_and_no_more, a_result_of_a_million_rows_is_read, one_row_or_none,
    a_typed_query_needs_no_preparation, simple_queries_have_several_results, errors_say_what_the_server_said,
    notices_and_notifications_arrive, a_query_is_cancelled_from_another_thread, a_query_that_takes_too_long_is_cancelled,
    an_error_of_the_caller_leaves_the_connection_usable, wide_rows_are_read_in_any_order, a_row_of_100_mib_is_read,
}

fn rows_come_typed(stage: &Stage) {
    everywhere(stage, |client| {
        let sql = "select n, n::text, null::int8, $1::text || n from generate_series(1, $2::int) n";
        let rows = client.query(sql, &[&"x", &1_000]).expect("rows");
        assert_eq!((rows.len(), rows.affected()), (1_000, Some(1_000)));
        for (index, row) in rows.iter().enumerate() {
            let expected = i32::try_from(index + 1).expect("few");
            assert_eq!(row.get::<i32>(0).expect("an int"), expected);
            // It borrows the result.
            assert_eq!(row.get::<&str>(1).expect("a text"), expected.to_string());
            assert_eq!(row.get::<Option<i64>>(2).expect("a null"), None);
            assert_eq!(row.get::<String>("?column?").expect("by name"), format!("x{expected}"));
        }
        assert_eq!(rows.get(999).expect("the last").get::<i32>("n").expect("an int"), 1_000);
        assert!(rows.get(1_000).is_none());
        assert_eq!(rows.columns()[0].ty(), &Type::INT4);
        assert_eq!(rows.columns()[1].name(), "n");
        // It outlives the next query.
        assert_eq!(client.query_one("select 2::int2", &[]).expect("one").get::<i16>(0).expect("it"), 2);
        assert_eq!(rows.iter().next().expect("the first").get::<i32>(0).expect("an int"), 1);
    });
}

fn a_wrong_use_is_an_error_and_no_more(stage: &Stage) {
    everywhere(stage, |client| {
        let row = client.query_one("select 1, null::text", &[]).expect("one");
        let not_text = row.get::<String>(0).expect_err("not a text");
        assert!(not_text.to_string().contains("column ?column?"), "{not_text}");
        row.get::<i32>(2).expect_err("no such column");
        row.get::<i32>("a").expect_err("no such name");
        row.get::<String>(1).expect_err("null");
        let few = client.query("select $1::int + $2::int", &[&1]).expect_err("one is missing");
        assert_eq!(few.to_string(), "1 parameters were given, the statement has 2");
        let unfit = client.query("select $1::int", &[&"x"]).expect_err("no int");
        assert!(unfit.to_string().contains("parameter 1 cannot be sent as int4"), "{unfit}");
        client.query("select 1\0", &[]).expect_err("a zero byte");
        assert_eq!(client.query_one("select 5", &[]).expect("usable").get::<i32>(0).expect("it"), 5);
    });
}

fn a_result_of_a_million_rows_is_read(stage: &Stage) {
    let mut client = direct(stage);
    let sql = "select n, n::int8 * 2, n::text from generate_series(1, 1000000) n";
    let (mut rows, mut sum) = (0_u64, 0_i64);
    client
        .for_each(sql, &[], |row| {
            rows += 1;
            sum += row.get::<i64>(1)?;
            Ok(())
        })
        .expect("rows");
    assert_eq!((rows, sum), (1_000_000, 1_000_001_000_000));
    let gathered = client.query(sql, &[]).expect("rows");
    let total: i64 = gathered.iter().map(|row| row.get::<i64>(1).expect("an int")).sum();
    assert_eq!((gathered.len(), total), (1_000_000, sum));
}

fn one_row_or_none(stage: &Stage) {
    let mut client = direct(stage);
    let many = "select generate_series(1, $1::int)";
    assert!(client.query_opt(many, &[&0]).expect("none").is_none());
    assert!(client.query_opt(many, &[&1]).expect("one").is_some());
    let error = client.query_one(many, &[&2]).expect_err("two");
    assert_eq!(error.to_string(), "2 rows where one was expected");
    client.query_one(many, &[&0]).expect_err("none");
    client.query_opt(many, &[&2]).expect_err("two");
}

fn a_typed_query_needs_no_preparation(stage: &Stage) {
    everywhere(stage, |client| {
        let rows = client.query_typed("select $1 || 'b' c", &[(&"a", Type::TEXT)]).expect("rows");
        assert_eq!(rows.get(0).expect("one").get::<&str>("c").expect("a text"), "ab");
        client.query_typed("select $1", &[(&1_i64, Type::TEXT)]).expect_err("no text");
        client.query_typed("select nothing", &[]).expect_err("no such column");
        assert_eq!(client.statements_cached(), 0);
        assert_eq!(client.query_typed("select 1", &[]).expect("usable").len(), 1);
    });
}

fn simple_queries_have_several_results(stage: &Stage) {
    everywhere(stage, |client| {
        let text = "create temp table t (a int); insert into t values (1), (2); select a, null n from t; ; drop table t";
        let results = client.simple_query(text).expect("five commands");
        let tags: Vec<_> = results.iter().map(|result| result.tag()).collect();
        assert_eq!(tags, ["CREATE TABLE", "INSERT 0 2", "SELECT 2", "DROP TABLE"]);
        let rows = results[2].rows();
        assert_eq!((rows[1].get(0), rows[1].get(1), rows[1].by_name("a")), (Some("2"), None, Some("2")));
        assert_eq!(client.simple_query("").expect("nothing").len(), 1);
        let error = client.simple_query("select 1; select nothing").expect_err("no such column");
        assert_eq!(error.code(), Some(SqlState::new(b"42703").expect("a code")));
        client.batch_execute("select 1").expect("usable");
    });
}

fn errors_say_what_the_server_said(stage: &Stage) {
    everywhere(stage, |client| {
        client.batch_execute("create temp table u (a int constraint only_one unique)").expect("a table");
        client.execute("insert into u values ($1)", &[&1]).expect("a row");
        let error = client.execute("insert into u values ($1)", &[&1]).expect_err("twice");
        let said = error.server().expect("the server's");
        assert_eq!(said.code(), Some(SqlState::new(b"23505").expect("a code")));
        assert_eq!(said.constraint().as_deref(), Some("only_one"));
        assert!(said.detail().expect("a detail").contains("already exists"));
        assert!(!error.is_closed() && error.fate().is_none());
        client.batch_execute("drop table u").expect("usable");
    });
}

fn notices_and_notifications_arrive(stage: &Stage) {
    let mut client = direct(stage);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = Arc::clone(&heard);
    client.on_notice(move |notice| ear.lock().expect("unpoisoned").push(notice.message));
    client.batch_execute("do $$ begin raise notice 'careful'; end $$; listen c").expect("done");
    assert_eq!(*heard.lock().expect("unpoisoned"), ["careful"]);
    assert_eq!(client.notification(Some(Duration::from_millis(1))).expect("usable"), None);
    direct(stage).batch_execute("notify c, 'one'; notify c, 'two'").expect("sent");
    for payload in ["one", "two"] {
        let found = client.notification(None).expect("usable").expect("it comes");
        assert_eq!((found.channel.as_str(), found.payload.as_str()), ("c", payload));
    }
    client.batch_execute("select 1").expect("usable");
}

fn a_query_is_cancelled_from_another_thread(stage: &Stage) {
    everywhere(stage, |client| {
        let token = client.cancel_token();
        let pid = client.query_one("select pg_backend_pid()", &[]).expect("one").get::<i32>(0).expect("it");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let asleep = format!(
                    "select count(*) from pg_stat_activity where pid = {pid} and wait_event = 'PgSleep'"
                );
                stage.wait_for(&asleep, "1");
                token.cancel().expect("heard");
            });
            let error = client.query("select pg_sleep(600)", &[]).expect_err("cancelled");
            assert_eq!(error.code(), Some(SqlState::QUERY_CANCELED));
        });
        client.query("select 1", &[]).expect("usable");
    });
}

fn a_query_that_takes_too_long_is_cancelled(stage: &Stage) {
    let mut client = direct(stage);
    client.query("select pg_sleep(0)", &[]).expect("prepared");
    client.set_query_timeout(Some(Duration::from_millis(200)));
    let error = client.batch_execute("select pg_sleep(600)").expect_err("too long");
    // Either the server was in time to say so, or the connection was given up.
    assert!(error.code() == Some(SqlState::QUERY_CANCELED) || error.is_timeout(), "{error}");
    client.set_query_timeout(None);
    assert_eq!(client.query("select 1", &[]).is_ok(), !client.is_closed());
}

fn an_error_of_the_caller_leaves_the_connection_usable(stage: &Stage) {
    everywhere(stage, |client| {
        let mut seen = 0;
        let outcome = client.for_each("select generate_series(1, 100000)", &[], |_| {
            seen += 1;
            if seen == 10 { Err(Error::callers("enough")) } else { Ok(()) }
        });
        assert_eq!((outcome.expect_err("enough").to_string().as_str(), seen), ("enough", 10));
        one(client);
    });
}

fn one(client: &mut Client) {
    assert_eq!(client.query_one("select 1", &[]).expect("usable").get::<i32>(0).expect("it"), 1);
}

fn wide_rows_are_read_in_any_order(stage: &Stage) {
    let mut client = direct(stage);
    let columns: Vec<_> = (0..1_600).map(|n| format!("{n} c{n}")).collect();
    let rows = client.query(&format!("select {}", columns.join(", ")), &[]).expect("a wide row");
    let row = rows.get(0).expect("one");
    for n in (0..1_600).rev().chain([7, 1_599, 3]) {
        assert_eq!(row.get::<i32>(n).expect("an int"), i32::try_from(n).expect("small"));
    }
    assert_eq!(row.get::<i32>("c1234").expect("by name"), 1_234);
}

fn a_row_of_100_mib_is_read(stage: &Stage) {
    let mut client = unix(stage);
    let row = client.query_one("select repeat('x', 100 * 1024 * 1024), 7", &[]).expect("a row");
    assert_eq!(row.get::<&str>(0).expect("a text").len(), 100 << 20);
    assert_eq!(row.get::<i32>(1).expect("an int"), 7);
    let big = "y".repeat(20 << 20);
    let back = client.query_one("select $1::text", &[&big]).expect("a row");
    assert!(back.get::<&str>(0).expect("a text") == big);
}
