//! What a statement is made of, node by node.

use super::Class;
use super::function;
use super::kind::Access;
use super::statement::Runs;
use super::touches::Touches;
use crate::node::*;

/// Adds to a statement's class what the nodes below it do.
pub(super) fn add(statement: Node<'_>, class: &mut Class, runs: Runs) {
    let mut nodes = statement.nodes();
    // The statement itself is dealt with; as a node below another it counts differently.
    nodes.next();
    if let Some(select) = statement.cast::<SelectStmt<'_>>() {
        add_into(select, class, runs);
    }
    while let Some(node) = nodes.next() {
        match node.tag() {
            // These are the most frequent, and have nothing below them that counts.
            NodeTag::ColumnRef | NodeTag::AConst | NodeTag::ParamRef => nodes.skip_below(),
            NodeTag::RangeVar => {
                if let Some(table) = node.cast::<RangeVar<'_>>() {
                    class.touches |= of_table(table);
                }
                nodes.skip_below();
            }
            NodeTag::String => {
                if node.cast::<StringNode<'_>>().is_some_and(|name| is_temp_schema(name.sval())) {
                    class.touches |= Touches::TEMP_SCHEMA;
                }
            }
            _ => add_node(node, class, runs),
        }
    }
}

/// The rarer nodes.
fn add_node(node: Node<'_>, class: &mut Class, runs: Runs) {
    match node.view() {
        View::FuncCall(call) if runs != Runs::Nothing => {
            let effect = function::effect(call);
            if runs == Runs::All {
                class.touches |= effect.touches;
                class.access = class.access.max(effect.access);
            } else {
                // The planner does not call volatile functions, and all functions with effects that count here are
                // volatile.
                class.touches |= effect.touches & (Touches::FUNCTIONS | Touches::UNKNOWN_FUNCTIONS);
            }
        }
        View::SQLValueFunction(value) if runs == Runs::All && tells_time(value.op()) => {
            class.touches |= Touches::TRANSACTION_TIME;
        }
        View::TypeCast(cast) if runs == Runs::All && is_time_input(cast) => {
            class.touches |= Touches::TRANSACTION_TIME;
        }
        View::LockingClause(_) if runs == Runs::All => {
            class.touches |= Touches::ROW_LOCK;
            class.access = Access::Write;
        }
        View::InsertStmt(_) | View::UpdateStmt(_) | View::DeleteStmt(_) | View::MergeStmt(_)
            if runs == Runs::All =>
        {
            class.access = Access::Write;
        }
        View::CreateTableAsStmt(_) if runs == Runs::All => {
            class.touches |= Touches::SCHEMA;
            class.access = Access::Write;
        }
        View::SelectStmt(select) => add_into(select, class, runs),
        // CREATE TABLE AS EXECUTE, EXPLAIN EXECUTE.
        View::ExecuteStmt(_) => class.touches |= Touches::EXECUTE,
        View::CurrentOfExpr(_) if runs == Runs::All => class.touches |= Touches::FETCH,
        _ => {}
    }
}

fn add_into(select: SelectStmt<'_>, class: &mut Class, runs: Runs) {
    if runs == Runs::All && select.into_clause().is_some() {
        class.touches |= Touches::SCHEMA;
        class.access = Access::Write;
    }
}

fn of_table(table: RangeVar<'_>) -> Touches {
    let mut touches = Touches::NONE;
    if table.relpersistence() == 't' {
        touches |= Touches::TEMP;
    }
    let schema = table.schemaname();
    if schema.is_some_and(is_temp_schema) {
        touches |= Touches::TEMP_SCHEMA;
    }
    if schema.is_none_or(|schema| schema == "pg_catalog") {
        touches |= match table.relname() {
            Some("pg_settings") => Touches::SHOW,
            Some("pg_prepared_statements") => Touches::PREPARED_STATEMENTS,
            Some("pg_cursors") => Touches::CURSORS,
            _ => Touches::NONE,
        };
    }
    touches
}

/// The session's own temporary schema by its alias, or any session's by its real name.
fn is_temp_schema(name: &str) -> bool {
    name.strip_prefix("pg_temp").is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

fn tells_time(op: SQLValueFunctionOp) -> bool {
    use SQLValueFunctionOp::*;
    match op {
        SvfopCurrentDate
        | SvfopCurrentTime
        | SvfopCurrentTimeN
        | SvfopCurrentTimestamp
        | SvfopCurrentTimestampN
        | SvfopLocaltime
        | SvfopLocaltimeN
        | SvfopLocaltimestamp
        | SvfopLocaltimestampN => true,
        SvfopCurrentRole | SvfopCurrentUser | SvfopUser | SvfopSessionUser | SvfopCurrentCatalog
        | SvfopCurrentSchema => false,
    }
}

/// Whether something becomes a time here: the texts 'now', 'today' and their like are the transaction's. The value does
/// not matter: the class must not depend on the values of literals, and the value of a parameter or column is not
/// known.
fn is_time_input(cast: TypeCast<'_>) -> bool {
    let last = cast.type_name().and_then(|of| of.names().strings().next_back());
    last.is_some_and(|name| {
        matches!(
            name,
            "date"
                | "time"
                | "timetz"
                | "timestamp"
                | "timestamptz"
                | "daterange"
                | "tsrange"
                | "tstzrange"
                | "datemultirange"
                | "tsmultirange"
                | "tstzmultirange"
        )
    })
}
