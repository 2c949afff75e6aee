//! The names of parameters: which can be set, which RESET ALL resets, and how the server spells them.

/// Reported parameters that no SET can change (PostgreSQL manual, 54.2.7 "Asynchronous Operations", and guc_tables.c).
const FIXED: [&str; 5] =
    ["server_version", "server_encoding", "integer_datetimes", "is_superuser", "in_hot_standby"];

/// Parameters whose name the server spells with capitals; all others are lower case.
const WITH_CAPITALS: [&str; 3] = ["DateStyle", "TimeZone", "IntervalStyle"];

/// `GUC_LIST_QUOTE` parameters, whose value is a list of names. `SET x = 'a, b'` would set a list with one name.
const QUOTED_LISTS: [&str; 5] = [
    "search_path",
    "temp_tablespaces",
    "session_preload_libraries",
    "local_preload_libraries",
    "unix_socket_directories",
];

/// Parameters of a transaction. Each transaction begins with the values of the `default_...` parameters, so a value in the
/// startup packet has no effect on a direct connection. PostgreSQL 16 and later refuse to RESET these (`GUC_NO_RESET`).
const OF_A_TRANSACTION: [&str; 3] =
    ["transaction_isolation", "transaction_read_only", "transaction_deferrable"];

/// The seed of random(). No RESET changes it.
pub const SEED: &str = "seed";

/// The user whose rights the session has. RESET ALL does not change this one or [`ROLE`] (`GUC_NO_RESET_ALL`).
pub const SESSION_AUTHORIZATION: &str = "session_authorization";
/// The role whose rights the session has; see [`SESSION_AUTHORIZATION`].
pub const ROLE: &str = "role";

/// The server's spelling of a parameter's name. Profiles use it.
#[must_use]
pub fn canonical_name(name: &str) -> String {
    WITH_CAPITALS
        .iter()
        .find(|spelling| spelling.eq_ignore_ascii_case(name))
        .map_or_else(|| name.to_ascii_lowercase(), |spelling| (*spelling).to_owned())
}

/// Whether a text can be a parameter's name (letters, digits, `_`, `$`, and `.` in names of extensions), so that it can be
/// written unquoted in a SET.
#[must_use]
pub fn is_parameter_name(name: &str) -> bool {
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    first && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$'))
}

/// Whether a parameter that the server reports (by canonical name) can be set. If so, clients take their values along.
#[must_use]
pub fn can_be_set(name: &str) -> bool {
    !FIXED.contains(&name)
}

/// Whether a parameter is one of a transaction. A start-up value of it is set on no connection, because it has no effect.
#[must_use]
pub fn belongs_to_transaction(name: &str) -> bool {
    OF_A_TRANSACTION.contains(&name)
}

/// Whether RESET ALL resets the parameter.
#[must_use]
pub fn is_reset_by_all(name: &str) -> bool {
    ![SESSION_AUTHORIZATION, ROLE, SEED].contains(&name) && !belongs_to_transaction(name)
}

/// Whether the parameter's value is a list of names, each of which is quoted by itself.
pub(super) fn is_quoted_list(name: &str) -> bool {
    QUOTED_LISTS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_the_spelling_of_the_server() {
        assert_eq!(canonical_name("datestyle"), "DateStyle");
        assert_eq!(canonical_name("Work_Mem"), "work_mem");
        assert!(is_parameter_name("my.ext_x$1") && !is_parameter_name("a;b") && !is_parameter_name("1a"));
    }
}
