//! Prepared statements and the cache of them.

use trunkline_driver_blocking::types::Type;
use trunkline_driver_blocking::{Client, Config};
use trunkline_probes::Stage;
use trunkline_wire::SqlState;

use crate::place::{config, direct, everywhere};

trunkline_probes::probes! {
    a_text_is_prepared_once, the_cache_is_bounded, a_dropped_statement_is_closed,
    an_outdated_statement_is_prepared_again, a_lost_statement_is_prepared_again, nothing_is_healed_in_a_transaction,
    without_a_cache_nothing_stays_prepared, a_strangers_statement_is_refused,
}

fn prepared(client: &mut Client) -> i64 {
    let counted = client.query_typed("select count(*) from pg_prepared_statements", &[]).expect("a count");
    counted.get(0).expect("one").get(0).expect("an int")
}

fn a_text_is_prepared_once(stage: &Stage) {
    let mut client = direct(stage);
    for n in 0..10 {
        assert_eq!(client.query_one("select $1::int", &[&n]).expect("one").get::<i32>(0).expect("it"), n);
    }
    assert_eq!((prepared(&mut client), client.statements_cached()), (1, 1));
    let statement = client.prepare_typed("select $1", &[Type::INT8]).expect("prepared");
    assert_eq!(statement.parameters(), [Type::INT8]);
    assert_eq!(client.query_one(&statement, &[&5_i64]).expect("one").get::<i64>(0).expect("it"), 5);
}

fn the_cache_is_bounded(stage: &Stage) {
    let mut client = Client::connect_to(&Config { statement_cache: 3, ..config(stage) }).expect("a login");
    client.query("select 'kept'", &[]).expect("a row");
    for n in 0..10 {
        client.query(&format!("select {n}"), &[]).expect("a row");
        client.query("select 'kept'", &[]).expect("a row");
    }
    assert_eq!(client.statements_cached(), 3);
    assert_eq!(prepared(&mut client), 3);
    let kept = "select count(*) from pg_prepared_statements where statement = 'select ''kept'''";
    assert_eq!(
        client.query_typed(kept, &[]).expect("a row").get(0).expect("it").get::<i64>(0).expect("it"),
        1
    );
}

fn a_dropped_statement_is_closed(stage: &Stage) {
    let mut client = direct(stage);
    let statement = client.prepare("select 1").expect("prepared");
    let clone = statement.clone();
    drop(statement);
    assert_eq!(prepared(&mut client), 1);
    client.query(&clone, &[]).expect("a row");
    drop(clone);
    // Also where the next turn is a simple query.
    client.batch_execute("select 1").expect("done");
    assert_eq!(prepared(&mut client), 0);
}

fn an_outdated_statement_is_prepared_again(stage: &Stage) {
    everywhere(stage, |client| {
        client
            .batch_execute("drop table if exists d; create table d (a int); insert into d values (1)")
            .expect("done");
        assert_eq!(client.query_one("select * from d", &[]).expect("one").columns().len(), 1);
        client.batch_execute("alter table d add b int default 2").expect("done");
        let row = client.query_one("select * from d", &[]).expect("healed");
        assert_eq!((row.columns().len(), row.get::<i32>("b").expect("it")), (2, 2));
        client.batch_execute("drop table d").expect("done");
    });
}

fn a_lost_statement_is_prepared_again(stage: &Stage) {
    for lose in ["deallocate all", "discard all"] {
        let mut client = direct(stage);
        for text in ["select 1", "select 2"] {
            client.query(text, &[]).expect("a row");
        }
        client.batch_execute(lose).expect("done");
        for text in ["select 1", "select 2"] {
            client.query(text, &[]).unwrap_or_else(|error| panic!("after {lose}: {error}"));
        }
        // Those forgotten are closed under names that are gone, which is no error.
        assert_eq!(prepared(&mut client), 2);
    }
}

fn nothing_is_healed_in_a_transaction(stage: &Stage) {
    let mut client = direct(stage);
    client.query("select 1", &[]).expect("a row");
    let mut transaction = client.transaction().expect("begun");
    transaction.batch_execute("deallocate all").expect("done");
    let error = transaction.query("select 1", &[]).expect_err("it has failed");
    assert_eq!(error.code(), Some(SqlState::INVALID_SQL_STATEMENT_NAME));
    transaction.rollback().expect("rolled back");
    client.query("select 1", &[]).expect("healed");
}

fn without_a_cache_nothing_stays_prepared(stage: &Stage) {
    let mut client = Client::connect_to(&Config { statement_cache: 0, ..config(stage) }).expect("a login");
    for n in 0..3 {
        assert_eq!(client.query_one("select $1::int", &[&n]).expect("one").get::<i32>(0).expect("it"), n);
    }
    assert_eq!(prepared(&mut client), 0);
}

fn a_strangers_statement_is_refused(stage: &Stage) {
    let (mut one, mut other) = (direct(stage), direct(stage));
    let statement = one.prepare("select 1").expect("prepared");
    other.query(&statement, &[]).expect_err("of another connection");
    let mut batch = other.batch(&statement);
    batch.push(&[]).expect_err("of another connection");
    drop(batch);
    one.query(&statement, &[]).expect("its own");
}
