//! Transactions and savepoints.

use trunkline_driver_blocking::{Begin, Client, IsolationLevel};
use trunkline_probes::Stage;
use trunkline_wire::backend::TransactionStatus;

use crate::place::{direct, everywhere};

trunkline_probes::probes! {
    what_is_committed_stays, savepoints_nest, a_failed_transaction_cannot_be_committed, transactions_begin_as_asked,
}

fn table(client: &mut Client) {
    client.batch_execute("drop table if exists t; create table t (a int)").expect("a table");
}

fn rows(client: &mut Client) -> Vec<i32> {
    let rows = client.query("select a from t order by a", &[]).expect("rows");
    rows.iter().map(|row| row.get(0).expect("an int")).collect()
}

fn insert(client: &mut Client, a: i32) {
    client.execute("insert into t values ($1)", &[&a]).expect("a row");
}

fn what_is_committed_stays(stage: &Stage) {
    everywhere(stage, |client| {
        table(client);
        for a in 0..3 {
            let mut transaction = client.transaction().expect("begun");
            insert(&mut transaction, a);
            match a {
                0 => transaction.commit().expect("committed"),
                1 => transaction.rollback().expect("rolled back"),
                _ => drop(transaction),
            }
            assert_eq!(client.transaction_status(), TransactionStatus::Idle);
        }
        assert_eq!(rows(client), [0]);
    });
}

fn savepoints_nest(stage: &Stage) {
    everywhere(stage, |client| {
        table(client);
        let mut outer = client.transaction().expect("begun");
        insert(&mut outer, 0);
        for a in 1..4 {
            let mut middle = outer.transaction().expect("a savepoint");
            insert(&mut middle, a);
            let mut inner = middle.transaction().expect("a savepoint");
            insert(&mut inner, a * 10);
            inner.execute("select nothing", &[]).expect_err("no such column");
            drop(inner);
            if a == 2 { middle.rollback().expect("undone") } else { middle.commit().expect("kept") }
        }
        outer.commit().expect("committed");
        assert_eq!(rows(client), [0, 1, 3]);
    });
}

fn a_failed_transaction_cannot_be_committed(stage: &Stage) {
    everywhere(stage, |client| {
        table(client);
        let mut transaction = client.transaction().expect("begun");
        insert(&mut transaction, 1);
        transaction.execute("select nothing", &[]).expect_err("no such column");
        assert_eq!(transaction.transaction_status(), TransactionStatus::Failed);
        transaction.commit().expect_err("it was rolled back");
        assert_eq!(rows(client), []);
    });
}

fn transactions_begin_as_asked(stage: &Stage) {
    let mut client = direct(stage);
    let begin = Begin {
        isolation: Some(IsolationLevel::Serializable),
        read_only: Some(true),
        deferrable: Some(true),
    };
    let mut transaction = client.transaction_with(&begin).expect("begun");
    for (name, value) in [
        ("transaction_isolation", "serializable"),
        ("transaction_read_only", "on"),
        ("transaction_deferrable", "on"),
    ] {
        let row = transaction.query_one("select current_setting($1)", &[&name]).expect("one");
        assert_eq!(row.get::<&str>(0).expect("a text"), value);
    }
    transaction.commit().expect("done");
}
