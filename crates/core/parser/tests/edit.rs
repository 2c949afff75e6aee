//! Changing trees.

use trunkline_parser::edit::{self, Constant, EditError, Fragment, RangeVarMut, RawStmtMut, SelectStmtMut};
use trunkline_parser::node::NodeTag;
use trunkline_parser::{ParsedSql, parse};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn with_select<T>(tree: &mut ParsedSql, change: impl FnOnce(SelectStmtMut<'_>) -> T) -> Option<T> {
    let mut statements = tree.statements_mut();
    let statement = statements.get_mut(0)?.cast::<RawStmtMut<'_>>()?;
    Some(change(statement.into_stmt()?.cast::<SelectStmtMut<'_>>()?))
}

/// What a changed tree says must parse to that tree again.
fn says(tree: &ParsedSql, text: &str) -> Outcome {
    assert_eq!(tree.deparse()?, text);
    assert!(parse(text)? == *tree, "{text}");
    Ok(())
}

#[test]
fn a_condition_is_added() -> Outcome {
    let mut tree = parse("SELECT a FROM t WHERE b > 1")?;
    let changed = with_select(&mut tree, |mut select| {
        let before = select.view().where_clause().map(|node| node.to_fragment()).transpose()?;
        let tenant = edit::operator("=", edit::column(&["t", "tenant"])?, edit::parameter(1)?)?;
        select.set_where_clause(Some(edit::and(before.into_iter().chain([tenant]))?))
    });
    assert_eq!(changed, Some(Ok(())));
    says(&tree, "SELECT a FROM t WHERE b > 1 AND t.tenant = $1")
}

#[test]
fn lists_grow_and_shrink() -> Outcome {
    let mut tree = parse("SELECT a, b, c FROM t")?;
    with_select(&mut tree, |mut select| -> Result<(), EditError> {
        let mut targets = select.target_list_mut();
        assert!(targets.remove(1));
        assert!(!targets.remove(7));
        for number in 0..20 {
            let value = edit::constant(Constant::Integer(number))?;
            targets.insert(1, edit::target(value, (number == 3).then_some("Three"))?)?;
        }
        assert_eq!(targets.insert(100, edit::name("x")?), Err(EditError::OutOfRange));
        Ok(())
    })
    .transpose()?;
    says(
        &tree,
        "SELECT a, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3 AS \"Three\", 2, 1, 0, c FROM t",
    )?;
    with_select(&mut tree, |mut select| select.from_clause_mut().clear());
    with_select(&mut tree, |mut select| while select.target_list_mut().remove(0) {});
    says(&tree, "SELECT")
}

#[test]
fn every_table_is_renamed() -> Outcome {
    let mut tree = parse(
        "WITH x AS (SELECT * FROM a) INSERT INTO b SELECT * FROM x JOIN c USING (d) WHERE e IN (SELECT f FROM g)",
    )?;
    let mut count = 0;
    tree.edit_each(|mut slot| {
        if let Some(mut table) = slot.node_mut().cast::<RangeVarMut<'_>>() {
            count += 1;
            table.set_schemaname(Some("s"))?;
        }
        Ok(())
    })?;
    assert_eq!(count, 5);
    says(
        &tree,
        "WITH x AS (SELECT * FROM s.a) INSERT INTO s.b SELECT * FROM s.x JOIN s.c USING (d) WHERE e IN (SELECT f FROM s.g)",
    )
}

#[test]
fn nodes_are_replaced_where_they_hang() -> Outcome {
    let mut tree = parse("SELECT 1, f(2, 'x'), ARRAY[3]")?;
    let mut number = 0;
    tree.edit_each(|mut slot| {
        if slot.node().is_some_and(|node| node.tag() == NodeTag::AConst) {
            number += 1;
            slot.replace(edit::parameter(number)?)?;
        }
        Ok(())
    })?;
    says(&tree, "SELECT $1, f($2, $3), ARRAY[$4]")
}

#[test]
fn wrong_nodes_and_strings_are_refused() -> Outcome {
    let mut tree = parse("SELECT a INTO b FROM t")?;
    let refused = with_select(&mut tree, |mut select| select.set_into_clause(Some(edit::name("x")?)));
    assert_eq!(
        refused,
        Some(Err(EditError::WrongType { expected: NodeTag::IntoClause, found: NodeTag::String }))
    );
    assert_eq!(edit::name("a\0b").err(), Some(EditError::Nul));
    assert_eq!(Fragment::new(NodeTag::Invalid).err(), Some(EditError::NoSuchNode(NodeTag::Invalid)));
    for text in ["1, 2", "1 FROM t", "1 UNION SELECT 2", "1 AS x", "", "ALL 1", "DISTINCT 1", "1;", "*, 1"] {
        assert!(edit::expression(text).is_err(), "{text}");
    }
    assert_eq!(edit::statement("SELECT 1; SELECT 2").err(), Some(EditError::NotOne("statement")));
    says(&tree, "SELECT a INTO b FROM t")
}

#[test]
fn copies_outlive_their_trees() -> Outcome {
    let text = "SELECT a.b, 1.5, 'é', B'101', NULL, true, CASE WHEN x THEN y END FROM (VALUES (1, 2), (3, 4)) v (p, q) \
                WHERE r = ANY (ARRAY[1]) AND s COLLATE \"C\" < t::varchar(3) ORDER BY 1 FOR UPDATE OF v";
    let tree = parse(text)?;
    let node = tree.root().nodes().next().ok_or("no statement")?;
    let copy = node.to_fragment()?;
    let json = node.to_json();
    drop(tree);
    assert_eq!(copy.node().to_json(), json);
    let again = copy.node().to_fragment()?;
    drop(copy);
    assert_eq!(again.node().to_json(), json);
    Ok(())
}

#[test]
fn a_chain_is_built_as_deep_as_wanted() -> Outcome {
    let mut sum = edit::constant(Constant::Integer(1))?;
    for _ in 0..20_000 {
        sum = edit::operator("+", sum, edit::constant(Constant::Integer(1))?)?;
    }
    let copy = sum.node().to_fragment()?;
    assert_eq!(copy.node().deparse()?.len(), 1 + 20_000 * 4);
    Ok(())
}

#[test]
fn every_node_can_be_made_and_read() {
    let mut made = 0;
    for tag in (0..1000).map(NodeTag::from_raw) {
        if let Ok(fragment) = Fragment::new(tag) {
            made += 1;
            assert_eq!(fragment.node().tag(), tag);
            let _ = (fragment.node().to_json(), fragment.node().deparse(), format!("{:?}", fragment.node()));
            assert!(fragment.node().to_fragment().is_ok(), "{tag:?}");
        }
    }
    assert!(made > 200, "{made}");
}

/// Found by the fuzz target `sql_edit`: a list of no element had no cells.
#[test]
fn a_list_of_nothing() -> Outcome {
    let none = Fragment::list([])?;
    assert_eq!(none.node().as_list().map(|list| (list.len(), list.is_empty())), Some((0, true)));
    let copy = none.node().to_fragment()?;
    assert!(copy.node() == none.node());
    assert_eq!(Fragment::list([none, edit::name("a")?])?.node().as_list().map(|list| list.len()), Some(2));
    Ok(())
}
