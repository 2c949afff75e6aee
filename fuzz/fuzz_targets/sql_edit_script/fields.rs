//! Edits of a node's fields.

use trunkline_parser::edit::*;
use trunkline_parser::node::NodeTag;

use super::{Script, change_list, make};

/// Tries the view of each type in turn; the one of the node's type makes the change.
macro_rules! of_type {
    ($node:ident, { $($tag:ident $view:ident => |$name:ident| $change:expr,)* }) => {
        match $node.node().tag() {
            $(NodeTag::$tag => {
                let Some(mut $name) = $node.cast::<$view<'_>>() else { panic!("a tag is not its view's") };
                $change
            })*
            _ => Ok(()),
        }
    };
}

/// A list of the node, whichever the script tells.
pub fn change_lists(node: NodeMut<'_>, script: &mut Script<'_>, fragment: Fragment) -> Result<(), EditError> {
    let which = script.byte() % 4;
    of_type!(node, {
        SelectStmt SelectStmtMut => |view| match which {
            0 => change_list(view.target_list_mut(), script, fragment),
            1 => change_list(view.from_clause_mut(), script, fragment),
            2 => change_list(view.values_lists_mut(), script, fragment),
            _ => change_list(view.sort_clause_mut(), script, fragment),
        },
        InsertStmt InsertStmtMut => |view| match which {
            0 => change_list(view.cols_mut(), script, fragment),
            _ => view.set_select_stmt(Some(fragment)),
        },
        UpdateStmt UpdateStmtMut => |view| match which {
            0 => change_list(view.target_list_mut(), script, fragment),
            _ => change_list(view.from_clause_mut(), script, fragment),
        },
        FuncCall FuncCallMut => |view| match which {
            0 => change_list(view.funcname_mut(), script, fragment),
            1 => change_list(view.agg_order_mut(), script, fragment),
            _ => change_list(view.args_mut(), script, fragment),
        },
        TypeName TypeNameMut => |view| match which {
            0 => change_list(view.names_mut(), script, fragment),
            1 => change_list(view.typmods_mut(), script, fragment),
            _ => change_list(view.array_bounds_mut(), script, fragment),
        },
        CreateStmt CreateStmtMut => |view| match which {
            0 => change_list(view.table_elts_mut(), script, fragment),
            1 => change_list(view.inh_relations_mut(), script, fragment),
            _ => change_list(view.options_mut(), script, fragment),
        },
        AExpr AExprMut => |view| change_list(view.name_mut(), script, fragment),
        BoolExpr BoolExprMut => |view| change_list(view.args_mut(), script, fragment),
        ColumnRef ColumnRefMut => |view| change_list(view.fields_mut(), script, fragment),
        CaseExpr CaseExprMut => |view| change_list(view.args_mut(), script, fragment),
        RowExpr RowExprMut => |view| change_list(view.args_mut(), script, fragment),
        WithClause WithClauseMut => |view| change_list(view.ctes_mut(), script, fragment),
        Alias AliasMut => |view| change_list(view.colnames_mut(), script, fragment),
        DropStmt DropStmtMut => |view| change_list(view.objects_mut(), script, fragment),
    })
}

/// A field of the node that is none.
pub fn change(node: NodeMut<'_>, script: &mut Script<'_>, fragment: Fragment) -> Result<(), EditError> {
    let (which, text) = (script.byte() % 4, script.text());
    let some = (script.byte() % 8 != 0).then_some(fragment);
    of_type!(node, {
        RawStmt RawStmtMut => |view| view.set_stmt(some),
        SelectStmt SelectStmtMut => |view| match which {
            0 => view.set_where_clause(some),
            1 => view.set_larg(some),
            2 => view.set_limit_count(some),
            _ => view.set_with_clause(some),
        },
        DeleteStmt DeleteStmtMut => |view| match which {
            0 => view.set_relation(some),
            _ => view.set_where_clause(some),
        },
        UpdateStmt UpdateStmtMut => |view| view.set_relation(some),
        AExpr AExprMut => |view| match which {
            0 => view.set_lexpr(some),
            _ => view.set_rexpr(some),
        },
        AConst AConstMut => |view| view.set_val(make::constant(script)),
        TypeCast TypeCastMut => |view| match which {
            0 => view.set_arg(some),
            _ => view.set_type_name(some),
        },
        SubLink SubLinkMut => |view| match which {
            0 => view.set_testexpr(some),
            _ => view.set_subselect(some),
        },
        JoinExpr JoinExprMut => |view| match which {
            0 => view.set_larg(some),
            1 => view.set_rarg(some),
            2 => view.set_alias(some),
            _ => view.set_quals(some),
        },
        CaseExpr CaseExprMut => |view| view.set_defresult(some),
        NullTest NullTestMut => |view| view.set_arg(some),
        RangeVar RangeVarMut => |view| match which {
            0 => view.set_catalogname(Some(text)),
            1 => view.set_schemaname(None),
            2 => view.set_relname(Some(text)),
            _ => view.set_alias(some),
        },
        ResTarget ResTargetMut => |view| match which {
            0 => view.set_name(Some(text)),
            _ => view.set_val(some),
        },
        DefElem DefElemMut => |view| match which {
            0 => view.set_defname(Some(text)),
            _ => view.set_arg(some),
        },
        ColumnDef ColumnDefMut => |view| match which {
            0 => view.set_colname(Some(text)),
            1 => view.set_type_name(some),
            _ => view.set_raw_default(some),
        },
        CommonTableExpr CommonTableExprMut => |view| match which {
            0 => view.set_ctename(Some(text)),
            _ => view.set_ctequery(some),
        },
        VariableSetStmt VariableSetStmtMut => |view| view.set_name(Some(text)),
        Alias AliasMut => |view| view.set_aliasname(Some(text)),
        String StringMut => |view| view.set_sval(text),
        Float FloatMut => |view| view.set_fval(text),
        BitString BitStringMut => |view| view.set_bsval(text),
    })
}
