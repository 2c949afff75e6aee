//! The ways to a server.

use trunkline_driver::config::SslMode;
use trunkline_driver::{Client, Config};
use trunkline_probes::Stage;
use trunkline_testkit::cluster::{APP_USER, PASSWORD, SUPERUSER};

/// A configuration for the stage's database, by TCP, without TLS.
pub(crate) fn config(stage: &Stage) -> Config {
    let (port, database) = (stage.cluster().port(), stage.database());
    Config::parse(&format!(
        "host=127.0.0.1 port={port} user={APP_USER} password={PASSWORD} dbname={database} sslmode=disable"
    ))
    .expect("usable")
}

pub(crate) async fn log_in(config: &Config) -> Client {
    Client::connect_to(config).await.unwrap_or_else(|error| panic!("{config:?}: {error}"))
}

/// Runs something in a runtime of one thread, with a client by TCP.
pub(crate) fn direct(stage: &Stage, probe: impl AsyncFnOnce(Client)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { probe(log_in(&config(stage)).await).await });
}

/// Runs a probe with a client of each kind, in a runtime of several threads.
pub(crate) fn everywhere(stage: &Stage, probe: impl AsyncFn(Client)) {
    let (folder, port) = (stage.cluster().socket_folder().display(), stage.cluster().port());
    let unix = format!("host={folder} port={port} user={SUPERUSER} dbname={}", stage.database());
    let mut tls = config(stage);
    tls.tls.mode = SslMode::Require;
    let proxy = stage.proxy();
    let pooled = Config::parse(&proxy.url(APP_USER)).expect("usable");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    for config in [config(stage), tls, Config::parse(&unix).expect("usable"), pooled] {
        runtime.block_on(async { probe(log_in(&config).await).await });
    }
}

/// A client that works.
pub(crate) async fn works(client: &Client) {
    let row = client.query_one("select 42", &[]).await.expect("usable");
    assert_eq!(row.get::<i32>(0).expect("an int"), 42);
}
