//! What a probe plays on: a server shared by the test binary, and a database of its own in it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use trunkline_testkit::cluster::{APP_USER, PASSWORD};
use trunkline_testkit::{Binaries, Cluster, Proxy, RawClient, Version};

use crate::setup::Setup;

/// How long [`Stage::wait_for`] waits on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it looks: a server's view has no event to wait for.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// One test's server and database. Clients of the proxy know the database as `app`.
#[derive(Debug)]
pub struct Stage {
    cluster: &'static Cluster,
    database: String,
}

impl Stage {
    /// Creates a database for one test, on the server of `version` that all tests of this binary share.
    ///
    /// # Panics
    /// When there is no such server to be had.
    pub fn new(version: Version) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let cluster = shared(version);
        let database = format!("probe_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let mut client = cluster.superuser("postgres").expect("the server answers");
        client.sql(&format!("create database {database} owner {APP_USER}")).expect("a database");
        let stage = Self { cluster, database };
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
        self.superuser().sql(sql).unwrap_or_else(|error| panic!("{sql:?}: {error:#}"))
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

    /// Process ids of the client backends in the test's database: the proxy's server connections, as long as no
    /// [`Stage::superuser`] is open.
    ///
    /// # Panics
    /// When the server does not answer.
    pub fn backends(&self) -> Vec<u32> {
        let sql = "select pid from pg_stat_activity where datname = current_database() \
                   and backend_type = 'client backend' and pid <> pg_backend_pid() order by pid";
        self.sql(sql).iter().map(|line| line.parse().expect("a process id")).collect()
    }

    /// Waits until `sql` (one row, one column) gives `expected`.
    ///
    /// # Panics
    /// When it does not within half a minute.
    pub fn wait_for(&self, sql: &str, expected: &str) {
        let mut client = self.superuser();
        self.eventually(sql, || {
            let got = client.sql(sql).expect("sql").join("\n");
            if got == expected { Ok(()) } else { Err(format!("{got:?}, not {expected:?}")) }
        });
    }

    /// Asks `look` until it says `Ok`.
    ///
    /// # Panics
    /// With what it said last when it does not within half a minute.
    pub fn eventually(&self, what: &str, mut look: impl FnMut() -> Result<(), String>) {
        let deadline = Instant::now() + PATIENCE;
        while let Err(still) = look() {
            assert!(Instant::now() < deadline, "after {PATIENCE:?}, {what}: {still}");
            std::thread::sleep(LOOK_INTERVAL);
        }
    }
}

/// The binary's one server of a version. It is never dropped: its guard ends it with the process.
fn shared(version: Version) -> &'static Cluster {
    static POSTGRES_15: OnceLock<Cluster> = OnceLock::new();
    static POSTGRES_18: OnceLock<Cluster> = OnceLock::new();
    let cell = if version == Version::PG15 { &POSTGRES_15 } else { &POSTGRES_18 };
    let cluster = cell.get_or_init(|| {
        let binaries = Binaries::find(version).unwrap_or_else(|error| panic!("{error:#}"));
        Cluster::start_with(&binaries, &[]).unwrap_or_else(|error| panic!("{error:#}"))
    });
    assert_eq!(cluster.version(), version, "only these two versions are shared");
    cluster
}
