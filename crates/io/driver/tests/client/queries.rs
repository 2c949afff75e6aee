//! Queries, rows, and what the server says on the way.

use trunkline_driver::types::Type;
use trunkline_probes::Stage;
use trunkline_wire::SqlState;

use crate::place::{config, direct, everywhere, log_in, works};

trunkline_probes::probes! {
    rows_come_typed, a_wrong_use_is_an_error_and_no_more, one_row_or_none, a_typed_query_needs_no_preparation,
    simple_queries_have_several_results, errors_say_what_the_server_said, notices_and_notifications_arrive,
    a_query_is_cancelled, large_values_go_both_ways, types_of_the_catalog_are_found, parameters_are_the_sessions,
}

fn rows_come_typed(stage: &Stage) {
    everywhere(stage, async |client| {
        let sql = "select n, n::text, null::int8, $1::text || n from generate_series(1, $2::int) n";
        let rows = client.query(sql, &[&"x", &1_000]).await.expect("rows");
        assert_eq!((rows.len(), rows.affected()), (1_000, Some(1_000)));
        for (index, row) in rows.iter().enumerate() {
            let expected = i32::try_from(index + 1).expect("few");
            assert_eq!(row.get::<i32>(0).expect("an int"), expected);
            assert_eq!(row.get::<&str>(1).expect("a text"), expected.to_string());
            assert_eq!(row.get::<Option<i64>>(2).expect("a null"), None);
            assert_eq!(row.get::<String>("?column?").expect("by name"), format!("x{expected}"));
        }
        assert_eq!(rows.get(999).expect("the last").get::<i32>("n").expect("an int"), 1_000);
        assert_eq!(rows.columns()[0].ty(), &Type::INT4);
        assert_eq!(client.execute("select generate_series(1, 3)", &[]).await.expect("rows"), 3);
    });
}

fn a_wrong_use_is_an_error_and_no_more(stage: &Stage) {
    everywhere(stage, async |client| {
        let row = client.query_one("select 1, null::text", &[]).await.expect("one");
        row.get::<String>(0).expect_err("not a text");
        row.get::<i32>(2).expect_err("no such column");
        row.get::<String>(1).expect_err("null");
        let few = client.query("select $1::int + $2::int", &[&1]).await.expect_err("one is missing");
        assert_eq!(few.to_string(), "1 parameters were given, the statement has 2");
        client.query("select $1::int", &[&"x"]).await.expect_err("no int");
        client.query("select 1\0", &[]).await.expect_err("a zero byte");
        client.query("select nothing", &[]).await.expect_err("no such column");
        works(&client).await;
    });
}

fn one_row_or_none(stage: &Stage) {
    direct(stage, async |client| {
        let many = "select generate_series(1, $1::int)";
        assert!(client.query_opt(many, &[&0]).await.expect("none").is_none());
        let one = client.query_opt(many, &[&1]).await.expect("one").expect("a row");
        assert_eq!(one.get::<i32>(0).expect("an int"), 1);
        let error = client.query_one(many, &[&2]).await.expect_err("two");
        assert_eq!(error.to_string(), "2 rows where one was expected");
        client.query_one(many, &[&0]).await.expect_err("none");
    });
}

fn a_typed_query_needs_no_preparation(stage: &Stage) {
    everywhere(stage, async |client| {
        let rows = client.query_typed("select $1 || 'b' c", &[(&"a", Type::TEXT)]).await.expect("rows");
        assert_eq!(rows.get(0).expect("one").get::<&str>("c").expect("a text"), "ab");
        client.query_typed("select $1", &[(&1_i64, Type::TEXT)]).await.expect_err("no text");
        client.query_typed("select nothing", &[]).await.expect_err("no such column");
        assert_eq!(client.statements_cached(), 0);
        works(&client).await;
    });
}

fn simple_queries_have_several_results(stage: &Stage) {
    everywhere(stage, async |client| {
        let text = "create temp table t (a int); insert into t values (1), (2); select a, null n from t; ; drop table t";
        let results = client.simple_query(text).await.expect("commands");
        let tags: Vec<_> = results.iter().map(|result| result.tag()).collect();
        assert_eq!(tags, ["CREATE TABLE", "INSERT 0 2", "SELECT 2", "DROP TABLE"]);
        assert_eq!(results[2].rows()[1].by_name("a"), Some("2"));
        let error = client.simple_query("select 1; select nothing").await.expect_err("no such column");
        assert_eq!(error.code(), SqlState::new(b"42703"));
        works(&client).await;
    });
}

fn errors_say_what_the_server_said(stage: &Stage) {
    direct(stage, async |client| {
        client
            .batch_execute("create temp table u (a int constraint only_one unique)")
            .await
            .expect("a table");
        client.execute("insert into u values ($1)", &[&1]).await.expect("a row");
        let error = client.execute("insert into u values ($1)", &[&1]).await.expect_err("twice");
        let said = error.server().expect("the server's");
        assert_eq!(said.code(), SqlState::new(b"23505"));
        assert_eq!(said.constraint().as_deref(), Some("only_one"));
        assert!(!error.is_closed() && error.fate().is_none());
    });
}

fn notices_and_notifications_arrive(stage: &Stage) {
    direct(stage, async |client| {
        let (mut notices, mut notifications) = (client.notices(), client.notifications());
        client.batch_execute("do $$ begin raise notice 'careful'; end $$; listen c").await.expect("done");
        assert_eq!(notices.next().await.expect("one").message, "careful");
        let other = log_in(&config(stage)).await;
        other.batch_execute("notify c, 'one'; notify c, 'two'").await.expect("sent");
        for payload in ["one", "two"] {
            // Nobody asks anything of this connection meanwhile.
            let found = notifications.next().await.expect("it comes");
            assert_eq!((found.channel.as_str(), found.payload.as_str()), ("c", payload));
        }
        drop(client);
        assert_eq!((notifications.next().await, notifications.dropped()), (None, 0));
    });
}

fn a_query_is_cancelled(stage: &Stage) {
    everywhere(stage, async |client| {
        let token = client.cancel_token();
        let asleep = client.query("select pg_sleep(600)", &[]);
        let cancel = async {
            // It is cancelled as soon as it runs; a request that comes before hits nothing.
            loop {
                token.cancel().await.expect("heard");
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            outcome = asleep => {
                assert_eq!(outcome.expect_err("cancelled").code(), Some(SqlState::QUERY_CANCELED));
            }
            () = cancel => unreachable!("it has no end"),
        }
        // A request that was under way may hit this one.
        let _ = client.query("select 1", &[]).await;
        assert!(!client.is_closed());
    });
}

fn large_values_go_both_ways(stage: &Stage) {
    everywhere(stage, async |client| {
        let big = "x".repeat(3 << 20);
        let ask = async || client.query_one("select $1::text || $1", &[&big]).await;
        // More than sockets hold, both ways at once.
        let (one, two, three) = tokio::join!(ask(), ask(), ask());
        for row in [one, two, three] {
            assert_eq!(row.expect("a row").get::<&str>(0).expect("a text").len(), 6 << 20);
        }
    });
}

fn types_of_the_catalog_are_found(stage: &Stage) {
    direct(stage, async |client| {
        client.batch_execute("create type mood as enum ('sad', 'ok')").await.expect("a type");
        let row = client.query_one("select 'ok'::mood, array['sad'::mood]", &[]).await.expect("a row");
        assert_eq!(row.columns()[0].ty().name(), "mood");
        assert!(
            matches!(row.columns()[1].ty().kind(), trunkline_driver::types::Kind::Array(of) if of.name() == "mood")
        );
    });
}

fn parameters_are_the_sessions(stage: &Stage) {
    direct(stage, async |client| {
        client.batch_execute("set timezone to 'Asia/Tokyo'").await.expect("set");
        assert_eq!(client.parameter("TimeZone").as_deref(), Some("Asia/Tokyo"));
        let row = client.query_one("select pg_backend_pid()", &[]).await.expect("one");
        assert_eq!(row.get::<i32>(0).expect("an int"), client.process_id());
    });
}
