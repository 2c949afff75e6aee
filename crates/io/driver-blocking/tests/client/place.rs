//! The ways to a server.

use trunkline_driver_blocking::{Client, Config};
use trunkline_probes::Stage;
use trunkline_testkit::cluster::{APP_USER, DATABASE, PASSWORD, SUPERUSER};

/// A configuration for the stage's database, by TCP.
pub(crate) fn config(stage: &Stage) -> Config {
    let port = stage.cluster().port();
    let database = stage.database();
    Config::parse(&format!(
        "host=127.0.0.1 port={port} user={APP_USER} password={PASSWORD} dbname={database}"
    ))
    .expect("usable")
}

/// A client by TCP.
pub(crate) fn direct(stage: &Stage) -> Client {
    Client::connect_to(&config(stage)).expect("a login")
}

/// A client by the unix socket.
pub(crate) fn unix(stage: &Stage) -> Client {
    let (folder, port) = (stage.cluster().socket_folder().display(), stage.cluster().port());
    let text = format!("host={folder} port={port} user={SUPERUSER} dbname={}", stage.database());
    Client::connect_to(&Config::parse(&text).expect("usable")).expect("a login")
}

/// Runs a probe with a client of each kind.
pub(crate) fn everywhere(stage: &Stage, probe: impl Fn(&mut Client)) {
    probe(&mut direct(stage));
    probe(&mut unix(stage));
    let proxy = stage.proxy();
    let config = Config::parse(&proxy.url(APP_USER)).expect("usable");
    assert_eq!(config.database, DATABASE);
    probe(&mut Client::connect_to(&config).expect("a login"));
}
