//! Edits that make trees that PostgreSQL's grammar does not make: each is an error, or right SQL. Never other SQL
//! without a word.

use trunkline_parser::edit::{
    self, AConstMut, AExprMut, BoolExprMut, Constant, EditError, FloatMut, Fragment, ParamRefMut,
    RangeVarMut, RawStmtMut, ResTargetMut, SelectStmtMut, StringNodeMut,
};
use trunkline_parser::node::{AConst, NodeTag};
use trunkline_parser::{Comment, DeparseOptions, ParsedSql, parse};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn with_select<T>(tree: &mut ParsedSql, change: impl FnOnce(SelectStmtMut<'_>) -> T) -> T {
    let mut statements = tree.statements_mut();
    let statement = statements.get_mut(0).and_then(|node| node.cast::<RawStmtMut<'_>>());
    let select = statement.and_then(RawStmtMut::into_stmt).and_then(|node| node.cast::<SelectStmtMut<'_>>());
    change(select.expect("a SELECT"))
}

fn number(text: &str) -> Result<Fragment, EditError> {
    edit::expression(text)
}

/// The text, if there is one, is that tree's.
fn says(tree: &ParsedSql, text: &str) -> Outcome {
    assert_eq!(tree.deparse()?, text);
    assert!(parse(text)? == *tree, "{text}");
    Ok(())
}

fn refused(tree: &ParsedSql) -> String {
    let pretty = DeparseOptions { pretty: true, ..DeparseOptions::default() };
    assert!(tree.deparse_with(&pretty).is_err());
    assert!(tree.truncate(1000).is_err());
    tree.deparse().expect_err("the grammar makes no such tree").to_string()
}

#[test]
fn limit_and_offset_bring_their_words() -> Outcome {
    let mut tree = parse("SELECT a FROM t")?;
    with_select(&mut tree, |mut select| select.set_limit_count(Some(number("10")?)))?;
    says(&tree, "SELECT a FROM t LIMIT 10")?;
    with_select(&mut tree, |mut select| select.set_limit_offset(Some(number("5")?)))?;
    says(&tree, "SELECT a FROM t LIMIT 10 OFFSET 5")?;
    with_select(&mut tree, |mut select| select.set_limit_count(None))?;
    says(&tree, "SELECT a FROM t OFFSET 5")?;
    with_select(&mut tree, |mut select| select.set_limit_offset(None))?;
    says(&tree, "SELECT a FROM t")?;
    let mut tree = parse("SELECT a FROM t ORDER BY a FETCH FIRST 3 ROWS WITH TIES")?;
    with_select(&mut tree, |mut select| select.set_limit_count(Some(number("4")?)))?;
    says(&tree, "SELECT a FROM t ORDER BY a FETCH FIRST 4 ROWS WITH TIES")
}

#[test]
fn a_condition_of_a_union_does_not_vanish() -> Outcome {
    for text in ["SELECT a FROM t UNION SELECT a FROM u", "VALUES (1), (2)", "SELECT 1 EXCEPT ALL SELECT 2"] {
        let mut tree = parse(text)?;
        with_select(&mut tree, |mut select| select.set_where_clause(Some(edit::expression("tenant = $1")?)))?;
        assert!(refused(&tree).contains("WHERE"), "{}", refused(&tree));
    }
    let mut tree = parse("SELECT a FROM t")?;
    with_select(&mut tree, |mut select| select.set_rarg(Some(edit::statement("SELECT 2")?)))?;
    refused(&tree);
    Ok(())
}

#[test]
fn a_number_is_one() -> Outcome {
    for text in [
        "1; DROP TABLE x",
        "1 -- ",
        "",
        "-",
        "--1",
        "1e",
        "a",
        "1.5.5",
        " 1",
        "1 ",
        "NaN",
        "+1",
        "0x1G",
        "0x1F",
    ] {
        assert_eq!(edit::constant(Constant::Float(text)).err(), Some(EditError::NotOne("number")), "{text}");
    }
    for (text, tag) in [
        ("1.5", NodeTag::Float),
        ("-1e3", NodeTag::Float),
        ("3000000000", NodeTag::Float),
        ("10", NodeTag::Integer),
    ] {
        let constant = edit::constant(Constant::Float(text))?;
        let value = constant.node().cast::<AConst<'_>>().and_then(AConst::val);
        assert_eq!(value.map(|value| value.tag()), Some(tag), "{text}");
        assert_eq!(constant.node().deparse()?, text);
    }
    // In a value node the letters are not looked at until they are written.
    let mut tree = parse("SET x = 1.5")?;
    tree.edit_each(|mut slot| match slot.node_mut().cast::<AConstMut<'_>>() {
        Some(mut constant) => constant.set_val(Constant::String("1; DROP TABLE x")),
        None => Ok(()),
    })?;
    assert!(tree.deparse().is_ok_and(|text| parse(&text).is_ok_and(|again| again == tree)));
    let mut tree = parse("CREATE SEQUENCE s INCREMENT 3000000000")?;
    tree.edit_each(|mut slot| match slot.node_mut().cast::<FloatMut<'_>>() {
        Some(mut number) => number.set_fval("1; DROP TABLE x"),
        None => Ok(()),
    })?;
    refused(&tree);
    Ok(())
}

#[test]
fn an_operator_is_one() -> Outcome {
    let operands =
        || -> Result<(Fragment, Fragment), EditError> { Ok((edit::column(&["a"])?, edit::parameter(1)?)) };
    for text in [
        "--",
        "/*",
        "; DROP TABLE x; --",
        "",
        "like",
        "a",
        "= ",
        "=(",
        "+-",
        "1",
        ",",
        ".",
        "::",
        ":=",
        "=>",
        "( ",
    ] {
        let (left, right) = operands()?;
        assert_eq!(edit::operator(text, left, right).err(), Some(EditError::NotOne("operator")), "{text}");
    }
    for (text, written) in
        [("=", "a = $1"), ("!=", "a <> $1"), ("@>", "a @> $1"), ("-", "a - $1"), ("<=", "a <= $1")]
    {
        let (left, right) = operands()?;
        assert_eq!(edit::operator(text, left, right)?.node().deparse()?, written);
    }
    for text in ["--", "/*", "; DROP TABLE x; --", "=1 OR 1=", "!="] {
        let mut tree = parse("SELECT a FROM t WHERE b = c")?;
        tree.edit_each(|mut slot| match slot.node_mut().cast::<AExprMut<'_>>() {
            Some(mut expression) => expression.name_mut().replace(0, edit::name(text)?),
            None => Ok(()),
        })?;
        refused(&tree);
    }
    Ok(())
}

#[test]
fn and_of_nothing_is_an_error() -> Outcome {
    assert_eq!(edit::and([]).err(), Some(EditError::Nothing("operands of AND or OR")));
    assert_eq!(edit::or([]).err(), Some(EditError::Nothing("operands of AND or OR")));
    assert_eq!(edit::and([edit::expression("a")?])?.node().deparse()?, "a");
    assert_eq!(
        edit::and([edit::expression("a AND b")?, edit::expression("c AND d")?])?.node().deparse()?,
        "a AND b AND (c AND d)"
    );
    assert_eq!(
        edit::or([edit::expression("a AND b")?, edit::expression("c OR d")?])?.node().deparse()?,
        "(a AND b) OR (c OR d)"
    );
    let mut tree = parse("SELECT 1 WHERE a AND b")?;
    tree.edit_each(|mut slot| {
        if let Some(mut and) = slot.node_mut().cast::<BoolExprMut<'_>>() {
            and.args_mut().clear();
        }
        Ok(())
    })?;
    refused(&tree);
    Ok(())
}

#[test]
fn parameters_are_numbered_from_1() -> Outcome {
    for number in [0, -1, i32::MIN] {
        assert_eq!(edit::parameter(number).err(), Some(EditError::NoParameter(number)));
    }
    let mut tree = parse("SELECT $1")?;
    tree.edit_each(|mut slot| {
        if let Some(mut parameter) = slot.node_mut().cast::<ParamRefMut<'_>>() {
            parameter.set_number(-1);
        }
        Ok(())
    })?;
    refused(&tree);
    Ok(())
}

#[test]
fn names_that_no_text_has() -> Outcome {
    let long = "n".repeat(64);
    for name in ["", long.as_str()] {
        let mut tree = parse("SELECT a AS b FROM t")?;
        tree.edit_each(|mut slot| {
            if let Some(mut table) = slot.node_mut().cast::<RangeVarMut<'_>>() {
                table.set_relname(Some(name))?;
            }
            Ok(())
        })?;
        refused(&tree);
        let mut tree = parse("SELECT a AS b FROM t")?;
        tree.edit_each(|mut slot| match slot.node_mut().cast::<ResTargetMut<'_>>() {
            Some(mut target) => target.set_name(Some(name)),
            None => Ok(()),
        })?;
        refused(&tree);
        assert!(edit::column(&[name])?.node().deparse().is_err());
    }
    assert_eq!(edit::column(&[]).err(), Some(EditError::Nothing("a column's names")));
    assert_eq!(edit::function(&[], []).err(), Some(EditError::Nothing("a function's names")));
    Ok(())
}

#[test]
fn bit_strings_have_no_quote() -> Outcome {
    for text in ["", "101", "b1'; DROP TABLE x; --", "y1"] {
        assert_eq!(
            edit::constant(Constant::BitString(text)).err(),
            Some(EditError::NotOne("bit string")),
            "{text}"
        );
    }
    assert_eq!(edit::constant(Constant::BitString("x1F"))?.node().deparse()?, "x'1F'");
    Ok(())
}

#[test]
fn a_word_that_is_written_as_it_is() -> Outcome {
    // The format of COPY and its like are names to the grammar, and written without a look at their letters.
    for (text, wrong) in
        [("COPY t TO STDOUT (FORMAT csv)", "csv); DROP TABLE x; --"), ("SET x = y", "y; DROP TABLE x")]
    {
        let mut tree = parse(text)?;
        tree.edit_each(|mut slot| match slot.node_mut().cast::<StringNodeMut<'_>>() {
            Some(mut string) => string.set_sval(wrong),
            None => Ok(()),
        })?;
        if let Ok(written) = tree.deparse() {
            assert!(parse(&written)? == tree, "{written}");
        }
    }
    Ok(())
}

#[test]
fn a_comment_that_is_none() -> Outcome {
    let tree = parse("SELECT a FROM t")?;
    for text in ["; DROP TABLE x; --", "/* a */ b", "-- a\nb", "/* a", "", " -- a", "-- a\r b"] {
        let comment = Comment { location: 9, newlines_before: 0, newlines_after: 0, text: text.to_owned() };
        let options = DeparseOptions { comments: vec![comment], ..DeparseOptions::default() };
        assert!(tree.deparse_with(&options).is_err(), "{text}");
    }
    Ok(())
}

#[test]
fn new_nodes_are_what_the_grammar_makes() -> Outcome {
    let mut table = Fragment::new(NodeTag::RangeVar)?;
    table.node_mut().cast::<RangeVarMut<'_>>().ok_or("a table")?.set_relname(Some("t"))?;
    let mut tree = parse("SELECT 1")?;
    with_select(&mut tree, |mut select| select.from_clause_mut().push(table))?;
    says(&tree, "SELECT 1 FROM t")
}
