//! Logins: which users may log in, by which proofs, and which proofs are refused.

mod auth_query;
mod certificates;
mod passwords;
mod scram;
mod tls_from_clients;
mod tls_to_servers;

use trunkline_probes::testkit::Proxy;
use trunkline_probes::{sqlstate, try_login};

/// Asserts that a password is refused with PostgreSQL's SQLSTATE.
pub(crate) fn wrong(proxy: &Proxy, user: &str, password: &str) {
    let error = try_login(proxy, user, password).expect_err("a wrong password");
    assert_eq!(sqlstate(&error), "28P01", "{user}: {error:#}");
    assert!(error.to_string().contains(user), "{error:#}");
}

/// Asserts that a password works for the proxy and for the server behind it.
pub(crate) fn right(proxy: &Proxy, user: &str, password: &str) {
    let mut client = try_login(proxy, user, password).unwrap_or_else(|error| panic!("{user}: {error:#}"));
    assert_eq!(client.sql("select current_user").expect("rows"), [user]);
}
