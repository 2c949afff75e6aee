//! The environment of a probe: a server that the test binary shares, and a database of the probe's own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use trunkline_testkit::cluster::{APP_USER, PASSWORD, backends_of_others};
use trunkline_testkit::{Cluster, PATIENCE, Proxy, RawClient, Version};

use crate::setup::Setup;

/// The interval of queries that wait for a state of the server, because its views cause no events.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// One test's server and database. Clients of the proxy know the database as `app`.
#[derive(Debug)]
pub struct Stage {
    cluster: &'static Cluster,
    database: String,
    /// A superuser's connection. It is kept, because a new connection costs the server more than most queries.
    superuser: Mutex<Option<RawClient>>,
}

impl Stage {
    /// Creates a database for one test, on the server of `version` that all tests of this binary share.
    ///
    /// # Panics
    /// When there is no such server to be had.
    pub fn new(version: Version) -> Self {
        Self::on(shared(version, false))
    }

    /// As [`Stage::new`], on a second server, so that other tests cannot affect its caches: if its queue of invalidations
    /// overflows, PostgreSQL reads each prepared statement again.
    ///
    /// # Panics
    /// When there is no such server to be had.
    pub fn apart(version: Version) -> Self {
        Self::on(shared(version, true))
    }

    fn on(cluster: &'static Cluster) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let database = format!("probe_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let mut client = cluster.superuser("postgres").expect("the server answers");
        client.sql(&format!("create database {database} owner {APP_USER}")).expect("a database");
        let stage = Self { cluster, database, superuser: Mutex::default() };
        stage.sql("grant all on schema public to public");
        stage
    }

    /// The server.
    pub fn cluster(&self) -> &'static Cluster {
        self.cluster
    }

    /// The server's major version.
    pub fn version(&self) -> Version {
        self.cluster.version()
    }

    /// The name of the test's database on the server.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// A configuration for a proxy.
    pub fn setup(&self) -> Setup {
        Setup::new(self.cluster.address(), &self.database)
    }

    /// A proxy with the configuration of [`Stage::setup`], unchanged.
    ///
    /// # Panics
    /// When it does not start.
    pub fn proxy(&self) -> Proxy {
        self.setup().start()
    }

    /// Runs SQL as the superuser in the test's database, not through the proxy. Rows come as `psql -At` prints them.
    ///
    /// # Panics
    /// When the server answers with an error.
    pub fn sql(&self, sql: &str) -> Vec<String> {
        let mut kept = self.superuser.lock().unwrap_or_else(PoisonError::into_inner);
        // A probe may have ended this connection, or the server.
        let living = kept.take().and_then(|mut client| client.sql("").is_ok().then_some(client));
        let client = kept.insert(living.unwrap_or_else(|| self.superuser()));
        client.sql(sql).unwrap_or_else(|error| panic!("{sql:?}: {error:#}"))
    }

    /// Creates a role for this test only, with the password that all users share. Roles belong to the whole server, so a test
    /// must not change a role that another test uses.
    ///
    /// # Panics
    /// When the server answers with an error.
    pub fn role(&self, options: &str) -> String {
        let name = format!("role_of_{}", self.database);
        self.sql(&format!("create role {name} login password '{PASSWORD}' {options}"));
        name
    }

    /// A superuser's connection to the test's database, not through the proxy.
    ///
    /// # Panics
    /// When the server does not answer.
    pub fn superuser(&self) -> RawClient {
        self.cluster.superuser(&self.database).expect("the server answers")
    }

    /// A direct connection to the test's database, with which the proxy is compared.
    ///
    /// # Panics
    /// When the server refuses.
    pub fn direct(&self, user: &str) -> RawClient {
        RawClient::login(self.cluster.address(), user, PASSWORD, &self.database).expect("a login")
    }

    /// As [`Stage::direct`], of the user `app` with start-up parameters.
    ///
    /// # Panics
    /// When the server refuses.
    pub fn direct_with(&self, parameters: &[(&str, &str)]) -> RawClient {
        self.try_direct_with(parameters).unwrap_or_else(|error| panic!("{parameters:?}: {error:#}"))
    }

    /// As [`Stage::direct_with`].
    ///
    /// # Errors
    /// A `ServerError` when the server refuses.
    pub fn try_direct_with(&self, parameters: &[(&str, &str)]) -> anyhow::Result<RawClient> {
        crate::login_to(self.cluster.address(), &self.database, parameters)
    }

    /// Process ids of the proxy's server connections: the client backends in the test's database without the stage's own.
    ///
    /// # Panics
    /// When the server does not answer.
    pub fn backends(&self) -> Vec<u32> {
        self.sql(&backends_of_others()).iter().map(|line| line.parse().expect("a process id")).collect()
    }

    /// Waits until `sql` (one row, one column) gives `expected`.
    ///
    /// # Panics
    /// When it does not in time.
    pub fn wait_for(&self, sql: &str, expected: &str) {
        self.eventually(sql, || {
            let got = self.sql(sql).join("\n");
            if got == expected { Ok(()) } else { Err(format!("{got:?}, not {expected:?}")) }
        });
    }

    /// Calls `look` until it returns `Ok`.
    ///
    /// # Panics
    /// With the last error, when it does not in time.
    pub fn eventually(&self, what: &str, mut look: impl FnMut() -> Result<(), String>) {
        let deadline = Instant::now() + PATIENCE;
        while let Err(still) = look() {
            assert!(Instant::now() < deadline, "after {PATIENCE:?}, {what}: {still}");
            std::thread::sleep(LOOK_INTERVAL);
        }
    }
}

/// The test binary's server of a version, or its second one (`apart`). It is never dropped: its guard ends it when the process
/// ends.
fn shared(version: Version, apart: bool) -> &'static Cluster {
    static POSTGRES_15: [OnceLock<Cluster>; 2] = [const { OnceLock::new() }; 2];
    static POSTGRES_18: [OnceLock<Cluster>; 2] = [const { OnceLock::new() }; 2];
    let cells = if version == Version::PG15 { &POSTGRES_15 } else { &POSTGRES_18 };
    let cell = &cells[usize::from(apart)];
    let cluster = cell.get_or_init(|| Cluster::start(version).unwrap_or_else(|error| panic!("{error:#}")));
    assert_eq!(cluster.version(), version, "only these two versions are shared");
    cluster
}
