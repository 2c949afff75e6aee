//! Writes `expression.rs`: for each node of queries and expressions the fields that PostgreSQL's
//! `raw_expression_tree_walker` follows, in the order it follows them.

use std::fmt::Write as _;

use pg_query_headers::{Kind, Model};

/// The nodes and their fields. The walker follows no fields of a node that is not in this list, such as a name of a
/// column or a function. PostgreSQL's walker does not visit `CaseWhen`: it goes from `CaseExpr` to the two fields.
const FOLLOWED: &[(&str, &[&str])] = &[
    ("A_ArrayExpr", &["elements"]),
    ("A_Expr", &["lexpr", "rexpr"]),
    ("A_Indices", &["lidx", "uidx"]),
    ("A_Indirection", &["arg", "indirection"]),
    ("BooleanTest", &["arg"]),
    ("BoolExpr", &["args"]),
    ("CaseExpr", &["arg", "args", "defresult"]),
    ("CaseWhen", &["expr", "result"]),
    ("CoalesceExpr", &["args"]),
    ("CollateClause", &["arg"]),
    ("ColumnDef", &["typeName", "raw_default", "collClause"]),
    ("CommonTableExpr", &["ctequery"]),
    ("DeleteStmt", &["relation", "usingClause", "whereClause", "returningClause", "withClause"]),
    ("FuncCall", &["args", "agg_order", "agg_filter", "over"]),
    ("GroupingFunc", &["args"]),
    ("GroupingSet", &["content"]),
    ("IndexElem", &["expr"]),
    ("InferClause", &["indexElems", "whereClause"]),
    ("InsertStmt", &["relation", "cols", "selectStmt", "onConflictClause", "returningClause", "withClause"]),
    ("IntoClause", &["rel", "viewQuery"]),
    ("JoinExpr", &["larg", "rarg", "quals", "alias"]),
    ("JsonAggConstructor", &["output", "agg_order", "agg_filter", "over"]),
    ("JsonArgument", &["val"]),
    ("JsonArrayAgg", &["constructor", "arg"]),
    ("JsonArrayConstructor", &["output", "exprs"]),
    ("JsonArrayQueryConstructor", &["output", "query"]),
    ("JsonBehavior", &["expr"]),
    ("JsonConstructorExpr", &["args", "func", "coercion", "returning"]),
    ("JsonFuncExpr", &["context_item", "pathspec", "passing", "output", "on_empty", "on_error"]),
    ("JsonIsPredicate", &["expr"]),
    ("JsonKeyValue", &["key", "value"]),
    ("JsonObjectAgg", &["constructor", "arg"]),
    ("JsonObjectConstructor", &["output", "exprs"]),
    ("JsonOutput", &["typeName", "returning"]),
    ("JsonParseExpr", &["expr", "output"]),
    ("JsonReturning", &["format"]),
    ("JsonScalarExpr", &["expr", "output"]),
    ("JsonSerializeExpr", &["expr", "output"]),
    ("JsonTable", &["context_item", "pathspec", "passing", "columns", "on_error"]),
    ("JsonTableColumn", &["typeName", "on_empty", "on_error", "columns"]),
    ("JsonTablePathSpec", &["string"]),
    ("JsonValueExpr", &["raw_expr", "formatted_expr", "format"]),
    ("LockingClause", &["lockedRels"]),
    (
        "MergeStmt",
        &["relation", "sourceRelation", "joinCondition", "mergeWhenClauses", "returningClause", "withClause"],
    ),
    ("MergeWhenClause", &["condition", "targetList", "values"]),
    ("MinMaxExpr", &["args"]),
    ("MultiAssignRef", &["source"]),
    ("NamedArgExpr", &["arg"]),
    ("NullTest", &["arg"]),
    ("OnConflictClause", &["infer", "targetList", "whereClause"]),
    ("PLAssignStmt", &["indirection", "val"]),
    ("RangeFunction", &["functions", "alias", "coldeflist"]),
    ("RangeSubselect", &["subquery", "alias"]),
    ("RangeTableFunc", &["docexpr", "rowexpr", "namespaces", "columns", "alias"]),
    ("RangeTableFuncCol", &["colexpr", "coldefexpr"]),
    ("RangeTableSample", &["relation", "args", "repeatable"]),
    ("RangeVar", &["alias"]),
    ("ResTarget", &["indirection", "val"]),
    ("ReturningClause", &["options", "exprs"]),
    ("RowExpr", &["args"]),
    (
        "SelectStmt",
        &[
            "distinctClause",
            "intoClause",
            "targetList",
            "fromClause",
            "whereClause",
            "groupClause",
            "havingClause",
            "windowClause",
            "valuesLists",
            "sortClause",
            "limitOffset",
            "limitCount",
            "lockingClause",
            "withClause",
            "larg",
            "rarg",
        ],
    ),
    ("SortBy", &["node"]),
    ("SubLink", &["testexpr", "subselect"]),
    ("TypeCast", &["arg", "typeName"]),
    ("TypeName", &["typmods", "arrayBounds"]),
    ("UpdateStmt", &["relation", "targetList", "whereClause", "fromClause", "returningClause", "withClause"]),
    ("WindowDef", &["partitionClause", "orderClause", "startOffset", "endOffset"]),
    ("WithClause", &["ctes"]),
    ("XmlExpr", &["named_args", "args"]),
    ("XmlSerialize", &["expr", "typeName"]),
];

/// The text of `expression.rs`: `FOLLOWED`, whose type is in `raw/expression.rs`.
///
/// # Errors
/// When the headers do not have one of the nodes or fields.
pub(crate) fn text(model: &Model) -> Result<String, String> {
    let mut text = String::new();
    let last = model.tags.iter().map(|tag| tag.value).max().unwrap_or(0);
    let mut links = vec![String::new(); last as usize + 1];
    for (name, fields) in FOLLOWED {
        let one = model.find_struct(name).ok_or_else(|| format!("no struct {name}"))?;
        let place = one.tag.and_then(|tag| links.get_mut(tag as usize));
        let place = place.ok_or_else(|| format!("{name} has no tag"))?;
        for wanted in *fields {
            let field = one.fields.iter().find(|field| field.name == *wanted);
            let field = field.ok_or_else(|| format!("no field {name}.{wanted}"))?;
            let is_list = match field.kind {
                Kind::List => true,
                Kind::Node | Kind::Pointer(_) => false,
                _ => return Err(format!("{name}.{wanted} is not a link")),
            };
            // Writing to a String cannot fail.
            let _ = write!(place, "Link {{ offset: {}, is_list: {is_list} }}, ", field.offset);
        }
    }
    let _ = writeln!(text, "static FOLLOWED: [&[Link]; {}] = [", links.len());
    for one in links {
        let _ = writeln!(text, "    &[{one}],");
    }
    text.push_str("];\n");
    Ok(text)
}
