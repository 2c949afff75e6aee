//! The effects of functions, by their names.
//!
//! A name counts if it is unqualified or in `pg_catalog`. A text shows no more without a catalog: the call may also
//! mean a function of the same name in another schema of the `search_path`. If the name is one with an effect, the
//! class then has a bit too many. If it is one of [`is_plain`], the class lacks the bit
//! [`Touches::UNKNOWN_FUNCTIONS`]. A caller for whom that matters must look at [`Touches::FUNCTIONS`] and ask the
//! catalog about each call.

use super::kind::Access;
use super::touches::Touches;
use crate::node::{AConst, Boolean, CoercionForm, FuncCall};

/// The effect of a call.
#[derive(Clone, Copy)]
pub(super) struct Effect {
    pub(super) touches: Touches,
    pub(super) access: Access,
}

/// The effect of a call. EXTRACT, SUBSTRING .. FROM and other calls with their own SQL syntax have no effect. The
/// grammar writes `pg_catalog` before their names.
pub(super) fn effect(call: FuncCall<'_>) -> Effect {
    if call.funcformat() == CoercionForm::CoerceSqlSyntax {
        return Effect { touches: Touches::NONE, access: Access::Read };
    }
    let mut parts = call.funcname().strings().rev();
    let name = parts.next().unwrap_or("");
    let is_built_in = match (parts.next(), parts.next()) {
        (None, _) => true,
        (Some(schema), None) => schema == "pg_catalog",
        _ => false,
    };
    if is_built_in {
        if let Some((touches, access)) = known(name, call) {
            return Effect { touches: touches | Touches::FUNCTIONS, access };
        }
        if is_plain(name) {
            return Effect { touches: Touches::FUNCTIONS, access: Access::Read };
        }
    }
    Effect { touches: Touches::FUNCTIONS | Touches::UNKNOWN_FUNCTIONS, access: Access::Read }
}

/// The effect of a built-in function that touches the session or the transaction.
fn known(name: &str, call: FuncCall<'_>) -> Option<(Touches, Access)> {
    Some(match name {
        "nextval" => (Touches::NEXTVAL, Access::Write),
        "setval" => (Touches::SETVAL, Access::Write),
        "currval" | "lastval" => (Touches::CURRVAL, Access::Read),
        "set_config" => (set_config(call), Access::Session),
        "current_setting" => (Touches::SHOW, Access::Read),
        "now" | "transaction_timestamp" | "age" => (Touches::TRANSACTION_TIME, Access::Read),
        "pg_notify" => (Touches::NOTIFY, Access::Maintain),
        "pg_listening_channels" => (Touches::LISTENING, Access::Read),
        "pg_prepared_statement" => (Touches::PREPARED_STATEMENTS, Access::Read),
        "pg_cursor" => (Touches::CURSORS, Access::Read),
        "cursor_to_xml" | "cursor_to_xmlschema" => (Touches::FETCH, Access::Session),
        "pg_show_all_settings" => (Touches::SHOW, Access::Read),
        "pg_backend_pid"
        | "pg_my_temp_schema"
        | "pg_is_other_temp_schema"
        | "inet_client_addr"
        | "inet_client_port"
        | "inet_server_addr"
        | "inet_server_port" => (Touches::BACKEND, Access::Read),
        "pg_advisory_lock"
        | "pg_advisory_lock_shared"
        | "pg_try_advisory_lock"
        | "pg_try_advisory_lock_shared" => (Touches::ADVISORY_LOCK, Access::Session),
        "pg_advisory_unlock" | "pg_advisory_unlock_shared" | "pg_advisory_unlock_all" => {
            (Touches::ADVISORY_UNLOCK, Access::Session)
        }
        "pg_advisory_xact_lock"
        | "pg_advisory_xact_lock_shared"
        | "pg_try_advisory_xact_lock"
        | "pg_try_advisory_xact_lock_shared" => (Touches::ADVISORY_LOCK_TRANSACTION, Access::Session),
        "txid_current" | "pg_current_xact_id" => (Touches::TRANSACTION_ID, Access::Maintain),
        "txid_current_if_assigned"
        | "pg_current_xact_id_if_assigned"
        | "txid_current_snapshot"
        | "pg_current_snapshot"
        | "pg_export_snapshot" => (Touches::TRANSACTION_ID, Access::Session),
        "lo_open" | "lo_truncate" | "lo_truncate64" | "lowrite" => (Touches::LARGE_OBJECT, Access::Write),
        "lo_close" | "lo_lseek" | "lo_lseek64" | "lo_tell" | "lo_tell64" | "loread" => {
            (Touches::LARGE_OBJECT, Access::Read)
        }
        "lo_creat" | "lo_create" | "lo_from_bytea" | "lo_import" | "lo_put" | "lo_unlink" => {
            (Touches::NONE, Access::Write)
        }
        "lo_export" | "lo_get" => (Touches::NONE, Access::Read),
        _ => return None,
    })
}

/// The effect of `set_config(name, value, is_local)`. It is local only if the third argument is the keyword `true`
/// and has no name. The string 't' does not count, because classes must not depend on the values of literals: see
/// [`Class`](super::Class).
fn set_config(call: FuncCall<'_>) -> Touches {
    let is_local = call.args().get(2).flatten().and_then(|argument| argument.cast::<AConst<'_>>());
    match is_local.and_then(AConst::val).and_then(|value| value.cast::<Boolean<'_>>()) {
        Some(value) if value.boolval() => Touches::SET_CONFIG_LOCAL,
        _ => Touches::SET_CONFIG,
    }
}

/// Whether a name belongs to a built-in function that has no effect in any of its forms. The list has the functions
/// that queries call most. It has only functions of PostgreSQL 15: in an older version, the name of a newer function
/// may belong to a user's function.
// tidy: long because it is a list of names
fn is_plain(name: &str) -> bool {
    matches!(
        name,
        "abs"
            | "array_agg"
            | "array_append"
            | "array_length"
            | "array_position"
            | "array_remove"
            | "array_to_string"
            | "avg"
            | "bool_and"
            | "bool_or"
            | "btrim"
            | "cardinality"
            | "ceil"
            | "ceiling"
            | "char_length"
            | "clock_timestamp"
            | "concat"
            | "concat_ws"
            | "count"
            | "cume_dist"
            | "current_database"
            | "current_schema"
            | "current_schemas"
            | "date_part"
            | "date_trunc"
            | "decode"
            | "dense_rank"
            | "encode"
            | "every"
            | "exp"
            | "first_value"
            | "floor"
            | "format"
            | "format_type"
            | "gen_random_uuid"
            | "generate_series"
            | "generate_subscripts"
            | "hashtext"
            | "initcap"
            | "json_agg"
            | "json_array_elements"
            | "json_build_array"
            | "json_build_object"
            | "json_object_agg"
            | "jsonb_agg"
            | "jsonb_array_elements"
            | "jsonb_array_elements_text"
            | "jsonb_array_length"
            | "jsonb_build_array"
            | "jsonb_build_object"
            | "jsonb_each"
            | "jsonb_each_text"
            | "jsonb_object_agg"
            | "jsonb_set"
            | "lag"
            | "last_value"
            | "lead"
            | "left"
            | "length"
            | "like_escape"
            | "ln"
            | "lower"
            | "lpad"
            | "ltrim"
            | "make_date"
            | "make_interval"
            | "max"
            | "md5"
            | "min"
            | "mod"
            | "ntile"
            | "nth_value"
            | "octet_length"
            | "percent_rank"
            | "percentile_cont"
            | "percentile_disc"
            | "plainto_tsquery"
            | "position"
            | "power"
            | "random"
            | "rank"
            | "regexp_match"
            | "regexp_matches"
            | "regexp_replace"
            | "regexp_split_to_table"
            | "repeat"
            | "replace"
            | "reverse"
            | "right"
            | "round"
            | "row_number"
            | "row_to_json"
            | "rpad"
            | "rtrim"
            | "sha256"
            | "similar_to_escape"
            | "split_part"
            | "sqrt"
            | "statement_timestamp"
            | "stddev"
            | "string_agg"
            | "string_to_array"
            | "strpos"
            | "substr"
            | "substring"
            | "sum"
            | "to_char"
            | "to_date"
            | "to_json"
            | "to_jsonb"
            | "to_number"
            | "to_timestamp"
            | "to_tsquery"
            | "to_tsvector"
            | "translate"
            | "trunc"
            | "ts_rank"
            | "unnest"
            | "upper"
            | "variance"
            | "version"
            | "websearch_to_tsquery"
            | "width_bucket"
    )
}
