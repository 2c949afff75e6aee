//! People who have not logged in: what they can make grow, repeat, learn and forge.

mod good_byes;
mod log_lines;
mod made_up_names;
mod what_is_told;

use trunkline_probes::{Setup, Stage};
use trunkline_testkit::RawClient;
use trunkline_testkit::cluster::PASSWORD;

/// A config that serves every database of the server and knows only the user that looks users up.
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

/// Somebody who begins to log in.
pub(crate) fn start(proxy: &trunkline_testkit::Proxy, user: &str, database: &str) -> RawClient {
    let mut client = RawClient::connect(proxy.address()).expect("accepted");
    let packet = trunkline_testkit::raw::startup(&[("user", user), ("database", database)]);
    client.send(&packet).expect("sent");
    client
}
