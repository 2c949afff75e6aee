//! `[auth]`: how clients authenticate, and where Trunkline finds their passwords.

use std::path::PathBuf;
use std::time::Duration;

use super::modes::AuthType;
use super::section::section;

/// The default of `[auth] query`. It does not find roles that may not log in. For a role whose password is past its VALID
/// UNTIL, it returns no password (CVE-2025-2291). Every name is qualified, so that no search_path can put another table,
/// function or operator in its place (CVE-2025-12819).
pub const DEFAULT_AUTH_QUERY: &str = "\
SELECT role.rolname, CASE WHEN role.rolvaliduntil OPERATOR(pg_catalog.<) pg_catalog.now() \
THEN NULL ELSE role.rolpassword END \
FROM pg_catalog.pg_authid AS role \
WHERE role.rolname OPERATOR(pg_catalog.=) $1 AND role.rolcanlogin";

section! {
    /// `[auth]`.
    pub struct Auth {
        /// How clients authenticate.
        r#type as "type": AuthType = AuthType::ScramSha256,
        /// A PgBouncer `userlist.txt`.
        file: Option<PathBuf> = None,
        /// The query that finds the password of a user who is not configured. `$1` is the user; a row is (user, password).
        query: String = DEFAULT_AUTH_QUERY.to_owned(),
        /// The user that runs `query`; `None`: nobody runs it.
        user: Option<String> = None,
        /// The entry of `[databases]` where `query` runs; `None`: the one that the client asks for.
        dbname: Option<String> = None,
        /// Whether Trunkline may ask for a clear-text password on a connection without TLS.
        cleartext_without_tls: bool = false,
        /// How long the result of `query` is used again; `None`: the query runs for each login.
        auth_cache_ttl: Option<Duration> = Some(Duration::from_secs(10)),
    }
}
