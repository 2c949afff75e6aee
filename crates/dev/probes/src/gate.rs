//! Queries that run until the test lets them end. So a test need not hurry while a query runs.

use trunkline_testkit::RawClient;

use crate::Stage;

/// The key of the advisory lock. Probes must not use it for anything else.
const KEY: i64 = 6432;

/// Between [`Gate::close`] and [`Gate::open`], the queries of [`Gate::query`] in the test's database do not end.
#[derive(Debug)]
pub struct Gate {
    keeper: RawClient,
}

impl Gate {
    /// Closes the gate: from now on, its queries wait.
    ///
    /// # Panics
    /// When the server does not answer.
    pub fn close(stage: &Stage) -> Self {
        let mut keeper = stage.superuser();
        keeper.sql(&format!("select pg_advisory_lock({KEY})")).expect("the gate is closed");
        Self { keeper }
    }

    /// A query that waits while the gate is closed and then returns `value`. It can be cancelled.
    pub fn query(value: &str) -> String {
        format!("select {value} from pg_advisory_xact_lock_shared({KEY})")
    }

    /// Waits until exactly `count` queries wait at the gate.
    ///
    /// # Panics
    /// When the number is not reached in time.
    pub fn wait_for(stage: &Stage, count: usize) {
        let sql = format!("select count(*) from ({}) held", Self::held());
        stage.wait_for(&sql, &count.to_string());
    }

    /// SQL for the process ids of the queries that wait at the gate.
    pub fn held() -> String {
        format!(
            "select pid from pg_locks where locktype = 'advisory' and objid = {KEY} and not granted and \
             database = (select oid from pg_database where datname = current_database())"
        )
    }

    /// Opens the gate: all its queries end.
    ///
    /// # Panics
    /// When the server does not answer.
    pub fn open(mut self) {
        let opened =
            self.keeper.sql(&format!("select pg_advisory_unlock({KEY})")).expect("the gate is opened");
        assert_eq!(opened, ["t"]);
    }
}
