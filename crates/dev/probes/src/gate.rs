//! Queries that run until the test lets them go: whatever is to happen meanwhile has all the time it needs.

use trunkline_testkit::RawClient;

use crate::Stage;

/// The advisory lock's key: any that the probes do not use otherwise.
const KEY: i64 = 6432;

/// Holds back the queries that [`Gate::query`] makes, in the test's database, from [`Gate::close`] to [`Gate::open`].
#[derive(Debug)]
pub struct Gate {
    keeper: RawClient,
}

impl Gate {
    /// From here on queries are held back.
    ///
    /// # Panics
    /// When the server does not answer.
    pub fn close(stage: &Stage) -> Self {
        let mut keeper = stage.superuser();
        keeper.sql(&format!("select pg_advisory_lock({KEY})")).expect("the gate is closed");
        Self { keeper }
    }

    /// A query that gives `value` when the gate is open. It can be cancelled.
    pub fn query(value: &str) -> String {
        format!("select {value} from pg_advisory_xact_lock_shared({KEY})")
    }

    /// Waits until `count` queries are held back.
    ///
    /// # Panics
    /// When it is another number in the end.
    pub fn wait_for(stage: &Stage, count: usize) {
        let sql = format!("select count(*) from ({}) held", Self::held());
        stage.wait_for(&sql, &count.to_string());
    }

    /// SQL for the process ids of the queries that are held back.
    pub fn held() -> String {
        format!(
            "select pid from pg_locks where locktype = 'advisory' and objid = {KEY} and not granted and \
             database = (select oid from pg_database where datname = current_database())"
        )
    }

    /// Lets all of them go.
    ///
    /// # Panics
    /// When the server does not answer.
    pub fn open(mut self) {
        let opened =
            self.keeper.sql(&format!("select pg_advisory_unlock({KEY})")).expect("the gate is opened");
        assert_eq!(opened, ["t"]);
    }
}
