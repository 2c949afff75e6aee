//! Views of real trees.

use trunkline_parser::node::{
    AConst, AExpr, AExprKind, ColumnRef, CreateForeignTableStmt, Integer, LimitOption, NodeTag, RangeVar,
    RawStmt, SelectStmt, SetOperation, View,
};
use trunkline_parser::{ParsedSql, parse};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn select(tree: &ParsedSql) -> Option<SelectStmt<'_>> {
    tree.root().first()?.cast::<RawStmt>()?.stmt()?.cast()
}

#[test]
fn a_select_is_read_field_by_field() -> Outcome {
    let tree = parse(
        "SELECT a.b, 'ü' FROM ONLY public.t AS x (c) WHERE id = 42 ORDER BY 1 FETCH FIRST 3 ROWS WITH TIES",
    )?;
    let select = select(&tree).ok_or("no select")?;
    assert_eq!(select.limit_option(), LimitOption::LimitOptionWithTies);
    assert_eq!(select.op(), SetOperation::SetopNone);
    assert!(select.larg().is_none() && select.with_clause().is_none() && select.group_clause().is_empty());
    let table = select.from_clause().first().and_then(|node| node.cast::<RangeVar>()).ok_or("no table")?;
    assert_eq!((table.schemaname(), table.relname(), table.catalogname()), (Some("public"), Some("t"), None));
    assert_eq!((table.inh(), table.relpersistence(), table.location()), (false, 'p', 27));
    let alias = table.alias().ok_or("no alias")?;
    assert_eq!(alias.aliasname(), Some("x"));
    assert_eq!(alias.colnames().strings().collect::<Vec<_>>(), ["c"]);
    let condition = select.where_clause().and_then(|node| node.cast::<AExpr>()).ok_or("no condition")?;
    assert_eq!((condition.kind(), condition.kind().c_name()), (AExprKind::AexprOp, "AEXPR_OP"));
    assert_eq!(condition.name().strings().collect::<String>(), "=");
    let View::ColumnRef(column) = condition.lexpr().ok_or("no left")?.view() else {
        return Err("no column".into());
    };
    assert_eq!(column.fields().strings().next(), Some("id"));
    let constant = condition.rexpr().and_then(|node| node.cast::<AConst>()).ok_or("no constant")?;
    assert_eq!(constant.val().and_then(|value| value.cast::<Integer>()).map(Integer::ival), Some(42));
    Ok(())
}

#[test]
fn null_constants_have_no_value() -> Outcome {
    let tree = parse("SELECT NULL")?;
    let target = select(&tree).and_then(|select| select.target_list().first()).ok_or("no target")?;
    let View::ResTarget(target) = target.view() else { return Err("no target".into()) };
    let constant = target.val().and_then(|node| node.cast::<AConst>()).ok_or("no constant")?;
    assert!(constant.isnull() && constant.val().is_none());
    Ok(())
}

#[test]
fn lists_go_both_ways_and_into_lists() -> Outcome {
    let tree = parse("VALUES (1, 2), (3, 4), (5, 6)")?;
    let rows = select(&tree).ok_or("no select")?.values_lists();
    assert_eq!((rows.len(), rows.iter().len(), rows.tag()), (3, 3, NodeTag::List));
    let last = rows.last().and_then(|node| node.as_list()).ok_or("no list")?;
    let values: Vec<i32> = last
        .nodes()
        .rev()
        .filter_map(|node| node.cast::<AConst>()?.val()?.cast::<Integer>())
        .map(Integer::ival)
        .collect();
    assert_eq!(values, [6, 5]);
    assert!(rows.get(3).is_none() && rows.get(0).flatten().is_some());
    assert_eq!(rows.ints().len(), 0, "a list of nodes has no integers");
    Ok(())
}

#[test]
fn a_cast_to_another_type_is_none() -> Outcome {
    let tree = parse("SELECT 1")?;
    let node = tree.root().first().ok_or("no statement")?;
    assert!(node.cast::<ColumnRef>().is_none() && node.is::<RawStmt>());
    assert!(matches!(node.view(), View::RawStmt(raw) if raw.stmt_len() == 0));
    assert_eq!(size_of::<Option<SelectStmt<'_>>>(), size_of::<usize>());
    Ok(())
}

#[test]
fn an_embedded_struct_is_viewed_in_place() -> Outcome {
    let tree = parse("CREATE FOREIGN TABLE f (a int) SERVER s")?;
    let stmt = tree.root().first().and_then(|node| node.cast::<RawStmt>()?.stmt()).ok_or("no statement")?;
    let create = stmt.cast::<CreateForeignTableStmt>().ok_or("no foreign table")?;
    assert_eq!(create.servername(), Some("s"));
    assert_eq!(create.base().relation().and_then(|table| table.relname()), Some("f"));
    assert_eq!(create.base().table_elts().len(), 1);
    assert_eq!(create.base().node().tag(), NodeTag::CreateForeignTableStmt);
    let below: Vec<_> = stmt.children().map(|child| (child.field, child.node.tag())).collect();
    assert_eq!(below, [("relation", NodeTag::RangeVar), ("tableElts", NodeTag::ColumnDef)]);
    Ok(())
}

#[test]
fn debug_leaves_out_what_says_nothing() -> Outcome {
    let tree = parse("SELECT x FROM t WHERE a IN (1, NULL)")?;
    assert_eq!(
        format!("{tree:?}"),
        "[RawStmt { stmt: SelectStmt { targetList: [ResTarget { val: ColumnRef { fields: [\"x\"], location: 7 }, location: 7 }], \
         fromClause: [RangeVar { relname: \"t\", inh: true, relpersistence: 'p', location: 14 }], \
         whereClause: A_Expr { kind: AEXPR_IN, name: [\"=\"], lexpr: ColumnRef { fields: [\"a\"], location: 22 }, \
         rexpr: [A_Const { val: 1, location: 28 }, A_Const { isnull: true, location: 31 }], \
         rexpr_list_start: 27, rexpr_list_end: 35, location: 24 } }, stmt_location: 0, stmt_len: 0 }]"
    );
    assert_eq!(
        format!("{:#?}", parse("LISTEN a")?),
        "[\n  RawStmt {\n    stmt: ListenStmt {\n      conditionname: \"a\"\n    },\n    stmt_location: 0,\n    stmt_len: 0\n  }\n]"
    );
    Ok(())
}

#[test]
fn trees_are_equal_but_for_places() -> Outcome {
    assert_eq!(parse("SELECT  a,1 FROM t")?, parse("select a , 1  from t -- x")?);
    for (one, other) in [
        ("SELECT a", "SELECT b"),
        ("SELECT 1", "SELECT 1.0"),
        ("SELECT NULL", "SELECT 1"),
        ("SELECT a, a", "SELECT a"),
        ("SELECT a FROM t", "SELECT a"),
        ("COMMENT ON TABLE t IS ''", "COMMENT ON TABLE t IS NULL"),
        ("SELECT 1", "SELECT 1; SELECT 1"),
    ] {
        assert_ne!(parse(one)?, parse(other)?, "{one} | {other}");
    }
    Ok(())
}

/// Test threads have 2 MB of stack, as tokio's have.
#[test]
fn depth_costs_no_stack() -> Outcome {
    for deep in [
        "SELECT 1".to_owned() + &" + 1".repeat(100_000),
        "SELECT 1".to_owned() + &" UNION SELECT 1".repeat(10_000),
        "SELECT 1".to_owned() + &"::int".repeat(10_000),
        "SELECT a".to_owned() + &" COLLATE \"C\"".repeat(10_000),
        "SELECT 1 FROM a".to_owned() + &" JOIN a ON true".repeat(10_000),
        format!("SELECT {}1{}", "(SELECT ".repeat(1_500), ")".repeat(1_500)),
    ] {
        let (tree, same) = (parse(&deep)?, parse(&deep)?);
        assert_eq!(tree, same);
        let (debug, pretty, json) = (format!("{tree:?}"), format!("{tree:#?}"), tree.to_json());
        assert!(debug.len() > deep.len() && json.len() > deep.len());
        // The text of a tree is linear in the tree, however deep: indentation ends somewhere.
        assert!(pretty.len() < 12 * debug.len(), "{} {}", pretty.len(), debug.len());
    }
    Ok(())
}
