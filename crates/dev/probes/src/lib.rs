//! Probes test the real proxy in front of real PostgreSQL servers, with everything that has caused faults in poolers before.
//!
//! A probe is a function that takes a [`Stage`]; [`probes!`] makes it one named test for each version of
//! PostgreSQL. A test binary shares one server of each version, and every test has a database and a proxy of its own:
//!
//! ```no_run
//! use trunkline_probes::{Stage, login};
//!
//! trunkline_probes::probes! { one_is_one }
//!
//! fn one_is_one(stage: &Stage) {
//!     let proxy = stage.setup().set("pool.pool_size", 1).start();
//!     assert_eq!(login(&proxy, "app").sql("select 1").expect("rows"), ["1"]);
//! }
//! ```
//!
//! Functions of this crate panic with a reason if something fails that every test needs.

mod bystander;
mod gate;
mod memory;
mod rotation;
mod setup;
mod stage;

pub use bystander::Bystander;
pub use gate::Gate;
pub use memory::MemoryWatch;
pub use rotation::{Rotation, errors, values};
pub use setup::{Setup, Value};
pub use stage::Stage;
pub use trunkline_testkit as testkit;

use std::net::SocketAddr;

use trunkline_testkit::cluster::{DATABASE, PASSWORD};
use trunkline_testkit::raw::ServerError;
use trunkline_testkit::{Frame, Proxy, RawClient};

/// Makes two tests of each named function (`fn probe(stage: &Stage)`), one in `postgres_15` and one in `postgres_18`. If a
/// probe is missing in the list, the compiler warns of an unused function.
#[macro_export]
macro_rules! probes {
    ($($probe:ident),* $(,)?) => {
        mod postgres_15 {
            $(#[test] fn $probe() { super::$probe(&$crate::Stage::new($crate::testkit::Version::PG15)); })*
        }
        mod postgres_18 {
            $(#[test] fn $probe() { super::$probe(&$crate::Stage::new($crate::testkit::Version::PG18)); })*
        }
    };
}

/// A client of `proxy`, logged in to the test's database with the password that all users share.
///
/// # Panics
/// When the proxy refuses.
pub fn login(proxy: &Proxy, user: &str) -> RawClient {
    try_login(proxy, user, PASSWORD).unwrap_or_else(|error| panic!("{user} cannot log in: {error:#}"))
}

/// A client `app` of `proxy`, logged in with start-up parameters.
///
/// # Panics
/// When the proxy refuses.
pub fn login_with(proxy: &Proxy, parameters: &[(&str, &str)]) -> RawClient {
    try_login_with(proxy, parameters).unwrap_or_else(|error| panic!("{parameters:?}: {error:#}"))
}

/// As [`login_with`].
///
/// # Errors
/// A [`ServerError`] when the proxy refuses; see [`sqlstate`].
pub fn try_login_with(proxy: &Proxy, parameters: &[(&str, &str)]) -> anyhow::Result<RawClient> {
    login_to(proxy.address(), DATABASE, parameters)
}

fn login_to(address: SocketAddr, database: &str, parameters: &[(&str, &str)]) -> anyhow::Result<RawClient> {
    let mut client = RawClient::connect(address)?;
    client.authenticate(PASSWORD, &[&[("user", "app"), ("database", database)], parameters].concat())?;
    Ok(client)
}

/// As [`login`], with any password.
///
/// # Errors
/// A [`ServerError`] when the proxy refuses; see [`sqlstate`].
pub fn try_login(proxy: &Proxy, user: &str, password: &str) -> anyhow::Result<RawClient> {
    RawClient::login(proxy.address(), user, password, DATABASE)
}

/// The SQLSTATE of an error that the peer sent; for any other error, its text.
pub fn sqlstate(error: &anyhow::Error) -> String {
    let sent = error.downcast_ref::<ServerError>();
    sent.map_or_else(|| format!("{error:#}"), |error| error.sqlstate.clone())
}

/// The tags of messages as one text, such as `"TDCZ"`.
pub fn tags(frames: &[Frame]) -> String {
    frames.iter().map(|frame| char::from(frame.tag)).collect()
}

/// Prints a measured figure to the test's output; `cargo test -- --nocapture` shows it.
#[allow(clippy::print_stdout)]
pub fn note(figure: &str) {
    println!("{figure}");
}

/// Reads the ErrorResponse that must come next.
///
/// # Panics
/// When something else comes, or it lacks a severity, a SQLSTATE or a message.
pub fn expect_error(client: &mut RawClient, sqlstate: &str) -> Frame {
    let frame = client.frame().unwrap_or_else(|error| panic!("no ErrorResponse {sqlstate}: {error:#}"));
    assert_eq!(frame.sqlstate().as_deref(), Some(sqlstate), "{}", String::from_utf8_lossy(&frame.body));
    for field in [b'S', b'V', b'M'] {
        assert!(frame.field(field).is_some_and(|text| !text.is_empty()), "no field {}", char::from(field));
    }
    frame
}

/// Reads the ErrorResponse that must come next, and the end of the connection after it.
///
/// # Panics
/// As [`expect_error`], and when the connection stays open.
pub fn expect_refusal(client: &mut RawClient, sqlstate: &str) -> Frame {
    let frame = expect_error(client, sqlstate);
    client.expect_end().unwrap_or_else(|error| panic!("after {sqlstate}: {error:#}"));
    frame
}
