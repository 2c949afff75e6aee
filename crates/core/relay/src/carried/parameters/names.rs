//! Which parameters follow clients, and how they are spelt.

/// Reported parameters that no SET can change (PostgreSQL manual, 54.2.7 "Asynchronous Operations", and guc_tables.c).
const FIXED: [&str; 5] =
    ["server_version", "server_encoding", "integer_datetimes", "is_superuser", "in_hot_standby"];

/// Parameters whose name the server spells with capitals; all others are lower case.
const SPELT: [&str; 3] = ["DateStyle", "TimeZone", "IntervalStyle"];

/// `GUC_LIST_QUOTE` parameters: `SET x = 'a, b'` would make one name of their value.
const QUOTED_LISTS: [&str; 5] = [
    "search_path",
    "temp_tablespaces",
    "session_preload_libraries",
    "local_preload_libraries",
    "unix_socket_directories",
];

/// Parameters of a transaction: each transaction begins with the `default_...` ones, so that a value from the start-up
/// packet has no effect on a direct connection. PostgreSQL 16 and later refuse to RESET them (`GUC_NO_RESET`).
const OF_A_TRANSACTION: [&str; 3] =
    ["transaction_isolation", "transaction_read_only", "transaction_deferrable"];

/// The seed of random(): no RESET takes it back.
pub const SEED: &str = "seed";

/// Who the session acts as. RESET ALL leaves both alone (`GUC_NO_RESET_ALL`).
pub const SESSION_AUTHORIZATION: &str = "session_authorization";
/// See [`SESSION_AUTHORIZATION`].
pub const ROLE: &str = "role";

/// The spelling under which a parameter is kept: the server's.
#[must_use]
pub fn canonical_name(name: &str) -> String {
    SPELT
        .iter()
        .find(|spelt| spelt.eq_ignore_ascii_case(name))
        .map_or_else(|| name.to_ascii_lowercase(), |spelt| (*spelt).to_owned())
}

/// Whether a name can be a parameter's (letters, digits, `_`, `$`, and `.` of extensions'), so that it can stand
/// in a SET unquoted.
#[must_use]
pub fn is_parameter_name(name: &str) -> bool {
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    first && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$'))
}

/// Whether a reported parameter (by canonical name) follows clients: all do that can be set.
#[must_use]
pub fn follows(name: &str) -> bool {
    !FIXED.contains(&name)
}

/// Whether a start-up value means nothing to the session, so that it is put on no connection.
#[must_use]
pub fn is_of_a_transaction(name: &str) -> bool {
    OF_A_TRANSACTION.contains(&name)
}

/// Whether RESET ALL brings the parameter back.
#[must_use]
pub fn is_reset_by_all(name: &str) -> bool {
    ![SESSION_AUTHORIZATION, ROLE, SEED].contains(&name) && !is_of_a_transaction(name)
}

/// Whether its value is a list of names, each quoted by itself.
pub(super) fn is_quoted_list(name: &str) -> bool {
    QUOTED_LISTS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelt_as_the_server_does() {
        assert_eq!(canonical_name("datestyle"), "DateStyle");
        assert_eq!(canonical_name("Work_Mem"), "work_mem");
        assert!(is_parameter_name("my.ext_x$1") && !is_parameter_name("a;b") && !is_parameter_name("1a"));
    }
}
