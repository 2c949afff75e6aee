//! Adds the effects of the nodes below a statement to the statement's class.

use super::Class;
use super::function;
use super::kind::Access;
use super::statement::Execution;
use super::touches::Touches;
use crate::node::*;

/// Adds the effects of the nodes below a statement to its class.
pub(super) fn add_nodes_below(statement: Node<'_>, class: &mut Class, execution: Execution) {
    let mut nodes = statement.nodes();
    // `statement::class_of` has classified the statement itself.
    nodes.next();
    if let Some(select) = statement.cast::<SelectStmt<'_>>() {
        add_into(select, class, execution);
    }
    while let Some(node) = nodes.next() {
        match node.tag() {
            // These are the most frequent nodes, and no node below them has an effect.
            NodeTag::ColumnRef | NodeTag::AConst | NodeTag::ParamRef => nodes.skip_below(),
            NodeTag::RangeVar => {
                if let Some(table) = node.cast::<RangeVar<'_>>() {
                    class.touches |= touches_of_table(table);
                }
                nodes.skip_below();
            }
            NodeTag::String => {
                if node.cast::<StringNode<'_>>().is_some_and(|name| is_temp_schema(name.sval())) {
                    class.touches |= Touches::TEMP_SCHEMA;
                }
            }
            _ => add_node(node, class, execution),
        }
    }
}

/// The rarer nodes.
fn add_node(node: Node<'_>, class: &mut Class, execution: Execution) {
    match node.view() {
        View::FuncCall(call) if execution != Execution::Nothing => {
            let effect = function::effect(call);
            if execution == Execution::Full {
                class.touches |= effect.touches;
                class.access = class.access.max(effect.access);
            } else {
                // The planner calls no volatile functions, and all functions with effects are volatile.
                class.touches |= effect.touches & (Touches::FUNCTIONS | Touches::UNKNOWN_FUNCTIONS);
            }
        }
        View::SQLValueFunction(value) if execution == Execution::Full && is_current_time(value.op()) => {
            class.touches |= Touches::TRANSACTION_TIME;
        }
        View::TypeCast(cast) if execution == Execution::Full && is_time_input(cast) => {
            class.touches |= Touches::TRANSACTION_TIME;
        }
        View::LockingClause(_) if execution == Execution::Full => {
            class.touches |= Touches::ROW_LOCK;
            class.access = Access::Write;
        }
        View::InsertStmt(_) | View::UpdateStmt(_) | View::DeleteStmt(_) | View::MergeStmt(_)
            if execution == Execution::Full =>
        {
            class.access = Access::Write;
        }
        View::CreateTableAsStmt(_) if execution == Execution::Full => {
            class.touches |= Touches::SCHEMA;
            class.access = Access::Write;
        }
        View::SelectStmt(select) => add_into(select, class, execution),
        // This occurs below CREATE TABLE AS and EXPLAIN.
        View::ExecuteStmt(_) => class.touches |= Touches::EXECUTE,
        View::CurrentOfExpr(_) if execution == Execution::Full => class.touches |= Touches::FETCH,
        _ => {}
    }
}

fn add_into(select: SelectStmt<'_>, class: &mut Class, execution: Execution) {
    if execution == Execution::Full && select.into_clause().is_some() {
        class.touches |= Touches::SCHEMA;
        class.access = Access::Write;
    }
}

fn touches_of_table(table: RangeVar<'_>) -> Touches {
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

/// Whether a name is the alias of the session's temporary schema, or the real name of any temporary schema.
fn is_temp_schema(name: &str) -> bool {
    name.strip_prefix("pg_temp").is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

fn is_current_time(op: SQLValueFunctionOp) -> bool {
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

/// Whether a cast makes a time. Texts such as 'now' and 'today' mean the time of the transaction. The value itself is
/// not looked at: a class must not depend on the values of literals, and values of parameters and columns are not
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
