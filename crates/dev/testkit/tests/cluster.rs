//! The test kit's servers have the roles and the behaviour on which tests rely.

use trunkline_testkit::cluster::{
    APP_USER, DATABASE, EXPIRED_USER, MD5_USER, PASSWORD, PLAIN_USER, TRUSTED_USER,
};
use trunkline_testkit::cut_proxy::Direction;
use trunkline_testkit::raw::ServerError;
use trunkline_testkit::{Cluster, CutProxy, Messages, RawClient, Signal, Version};

fn sqlstate(error: &anyhow::Error) -> &str {
    error.downcast_ref::<ServerError>().map_or("none", |error| error.sqlstate.as_str())
}

#[test]
fn servers_of_both_versions_have_the_promised_roles() {
    for version in Version::ALL {
        let cluster = Cluster::start(version).expect("a server");
        let number: u32 = cluster.psql("show server_version_num").expect("sql").parse().expect("number");
        assert_eq!(number / 10_000, u32::from(version.0));
        assert_eq!(cluster.psql("show ssl").expect("sql"), "on");
        for user in [APP_USER, MD5_USER, PLAIN_USER, TRUSTED_USER] {
            let mut client = RawClient::login(cluster.address(), user, PASSWORD, DATABASE).expect(user);
            assert_eq!(client.sql("select current_user, 7").expect("sql"), [format!("{user}|7")]);
            assert_eq!(client.extended("select $1::int + 1", &[Some("4")]).expect("sql"), ["5"]);
        }
        for (user, password) in [(EXPIRED_USER, PASSWORD), (APP_USER, "wrong"), (MD5_USER, "wrong")] {
            let refused = RawClient::login(cluster.address(), user, password, DATABASE).expect_err(user);
            assert_eq!(sqlstate(&refused), "28P01", "{refused:#}");
        }
    }
}

#[test]
fn a_server_survives_a_restart_and_leaves_nothing_behind() {
    let mut cluster = Cluster::start(Version::PG15).expect("a server");
    let mut client = RawClient::login(cluster.address(), APP_USER, PASSWORD, DATABASE).expect("a login");
    client.sql("create table kept (v int); insert into kept values (42)").expect("sql");
    assert_eq!(cluster.backends().expect("backends").len(), 1);
    cluster.restart().expect("a restart");
    assert!(client.sql("select 1").is_err(), "the restart ends its clients");
    assert_eq!(cluster.psql("select v from kept").expect("sql"), "42");
    let (folder, pid) = (cluster.socket_folder().to_path_buf(), cluster.pid().expect("running"));
    drop(cluster);
    assert!(!folder.exists());
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
}

#[test]
fn a_killed_backend_and_a_cut_connection_are_seen_as_such() {
    let cluster = Cluster::start(Version::PG15).expect("a server");
    let mut client = RawClient::login(cluster.address(), APP_USER, PASSWORD, DATABASE).expect("a login");
    let pid = client.backend_key().expect("a key").0;
    cluster.kill_backend(pid, Signal::TERM).expect("a signal");
    let last = client.frame().expect("a farewell");
    assert_eq!(last.sqlstate().as_deref(), Some("57P01"));
    cluster
        .wait_for("select count(*) from pg_stat_activity where usename = 'app'", "0")
        .expect("the backend goes");

    let relay = CutProxy::start(cluster.address()).expect("a relay");
    let mut client = RawClient::login(relay.address(), APP_USER, PASSWORD, DATABASE).expect("a login");
    relay.cut_after(Direction::ToClient, 1000);
    assert!(client.sql("select repeat('x', 100000)").is_err());
}

#[test]
fn a_cancel_reaches_the_running_query() {
    let cluster = Cluster::start(Version::PG15).expect("a server");
    let mut client = RawClient::login(cluster.address(), APP_USER, PASSWORD, DATABASE).expect("a login");
    client.send_messages(&Messages::new().query("select pg_sleep(600)")).expect("sent");
    let sleeping = "select count(*) from pg_stat_activity where wait_event = 'PgSleep'";
    cluster.wait_for(sleeping, "1").expect("it sleeps");
    client.cancel(cluster.address()).expect("a cancel");
    let frames = client.until_ready().expect("frames");
    assert!(frames.iter().any(|frame| frame.sqlstate().as_deref() == Some("57014")), "{frames:?}");
    assert_eq!(client.sql("select 1").expect("it goes on"), ["1"]);
}
