//! What a probe plays on: a server shared by the test binary, and a database of its own in it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use trunkline_testkit::cluster::{APP_USER, PASSWORD, backends_of_others};
use trunkline_testkit::{Cluster, PATIENCE, Proxy, RawClient, Version};

use crate::setup::Setup;

/// How often it looks: a server's view has no event to wait for.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// One test's server and database. Clients of the proxy know the database as `app`.
#[derive(Debug)]
pub struct Stage {
    cluster: &'static Cluster,
    database: String,
    /// A superuser's connection, kept: a new one costs the server more than most of what it is asked.
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

    /// As [`Stage::new`], on another server: what goes on in the first has no effect on its caches. An overflow of the
    /// queue of invalidations makes PostgreSQL read each prepared statement again.
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

    /// What the test's database is called on the server.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// A config to start a proxy with.
    pub fn setup(&self) -> Setup {
        Setup::new(self.cluster.address(), &self.database)
    }

    /// A proxy with nothing special about it.
    ///
    /// # Panics
    /// When it does not start.
    pub fn proxy(&self) -> Proxy {
        self.setup().start()
    }

    /// Runs SQL as the superuser in the test's database, past the proxy; rows as `psql -At` prints them.
    ///
    /// # Panics
    /// When the server answers with an error.
    pub fn sql(&self, sql: &str) -> Vec<String> {
        let mut kept = self.superuser.lock().unwrap_or_else(PoisonError::into_inner);
        // A probe may have ended it, or the server.
        let living = kept.take().and_then(|mut client| client.sql("").is_ok().then_some(client));
        let client = kept.insert(living.unwrap_or_else(|| self.superuser()));
        client.sql(sql).unwrap_or_else(|error| panic!("{sql:?}: {error:#}"))
    }

    /// Creates a role of the test's own, with everybody's password: roles belong to the whole server, and one that is
    /// changed must not be one that another test logs in as.
    ///
    /// # Panics
    /// When the server answers with an error.
    pub fn role(&self, options: &str) -> String {
        let name = format!("role_of_{}", self.database);
        self.sql(&format!("create role {name} login password '{PASSWORD}' {options}"));
        name
    }

    /// A superuser's connection to the test's database, past the proxy.
    ///
    /// # Panics
    /// When the server does not answer.
    pub fn superuser(&self) -> RawClient {
        self.cluster.superuser(&self.database).expect("the server answers")
    }

    /// A connection to the test's database past the proxy: what the proxy is compared with.
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

    /// Process ids of the client backends in the test's database that are not the stage's own: the proxy's server
    /// connections.
    ///
    /// # Panics
    /// When the server does not answer.
    pub fn backends(&self) -> Vec<u32> {
        self.sql(&backends_of_others()).iter().map(|line| line.parse().expect("a process id")).collect()
    }

    /// Waits until `sql` (one row, one column) gives `expected`.
    ///
    /// # Panics
    /// When it does not in the end.
    pub fn wait_for(&self, sql: &str, expected: &str) {
        self.eventually(sql, || {
            let got = self.sql(sql).join("\n");
            if got == expected { Ok(()) } else { Err(format!("{got:?}, not {expected:?}")) }
        });
    }

    /// Asks `look` until it says `Ok`.
    ///
    /// # Panics
    /// With what it said last when it does not in the end.
    pub fn eventually(&self, what: &str, mut look: impl FnMut() -> Result<(), String>) {
        let deadline = Instant::now() + PATIENCE;
        while let Err(still) = look() {
            assert!(Instant::now() < deadline, "after {PATIENCE:?}, {what}: {still}");
            std::thread::sleep(LOOK_INTERVAL);
        }
    }
}

/// The binary's server of a version, or its second one. It is never dropped: its guard ends it with the process.
fn shared(version: Version, apart: bool) -> &'static Cluster {
    static POSTGRES_15: [OnceLock<Cluster>; 2] = [const { OnceLock::new() }; 2];
    static POSTGRES_18: [OnceLock<Cluster>; 2] = [const { OnceLock::new() }; 2];
    let cells = if version == Version::PG15 { &POSTGRES_15 } else { &POSTGRES_18 };
    let cell = &cells[usize::from(apart)];
    let cluster = cell.get_or_init(|| Cluster::start(version).unwrap_or_else(|error| panic!("{error:#}")));
    assert_eq!(cluster.version(), version, "only these two versions are shared");
    cluster
}
