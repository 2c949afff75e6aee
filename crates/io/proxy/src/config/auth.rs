//! `[auth]`: how clients prove who they are, and where their passwords are found.

use std::path::PathBuf;
use std::time::Duration;

use super::modes::AuthType;
use super::section::section;

/// What is asked when `[auth] query` is not set. A role that may not log in is not found, and one whose password
/// is past its VALID UNTIL is found without a password (CVE-2025-2291). Every name is qualified, so that no
/// search_path can put another table, function or operator in its place (CVE-2025-12819).
pub const DEFAULT_AUTH_QUERY: &str = "\
SELECT role.rolname, CASE WHEN role.rolvaliduntil OPERATOR(pg_catalog.<) pg_catalog.now() \
THEN NULL ELSE role.rolpassword END \
FROM pg_catalog.pg_authid AS role \
WHERE role.rolname OPERATOR(pg_catalog.=) $1 AND role.rolcanlogin";

section! {
    /// `[auth]`.
    pub struct Auth {
        /// How clients prove who they are.
        r#type as "type": AuthType = AuthType::ScramSha256,
        /// A PgBouncer `userlist.txt`.
        file: Option<PathBuf> = None,
        /// Asked of the server for users found nowhere else: `$1` is the user, the answer is (user, password).
        query: String = DEFAULT_AUTH_QUERY.to_owned(),
        /// The user that asks `query`; `None`: it is not asked.
        user: Option<String> = None,
        /// The entry of `[databases]` that `query` is asked of; `None`: the one the client wants.
        dbname: Option<String> = None,
        /// Whether a password may be asked for in the clear on a connection without TLS.
        cleartext_without_tls: bool = false,
        /// How long an answer to `query` is believed; `None`: it is asked for each login.
        auth_cache_ttl: Option<Duration> = Some(Duration::from_secs(10)),
    }
}
