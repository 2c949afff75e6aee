//! Clients that have not logged in: they must not fill memory or logs, learn about users, databases and servers, or forge log
//! lines.

mod good_byes;
mod log_lines;
mod made_up_names;
mod what_is_told;

use trunkline_probes::{Setup, Stage};
use trunkline_testkit::RawClient;
use trunkline_testkit::cluster::PASSWORD;

/// A configuration that serves every database of the server, and knows only the user that runs `auth_query`.
pub(crate) fn every_database(stage: &Stage) -> Setup {
    let address = stage.cluster().address();
    let mut setup = stage.setup().unset("databases.app");
    for user in ["app", "md5user", "plainuser", "trusted"] {
        setup = setup.unset(&format!("users.{user}"));
    }
    setup
        .set("databases.\"*\".host", address.ip().to_string().as_str())
        .set("databases.\"*\".port", i64::from(address.port()))
        .set("users.postgres.password", PASSWORD)
        .set("auth.user", "postgres")
}

/// A client that has sent its start-up packet.
pub(crate) fn begin_login(proxy: &trunkline_testkit::Proxy, user: &str, database: &str) -> RawClient {
    let mut client = RawClient::connect(proxy.address()).expect("accepted");
    let packet = trunkline_testkit::raw::startup(&[("user", user), ("database", database)]);
    client.send(&packet).expect("sent");
    client
}
