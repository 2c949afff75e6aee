//! The walk over real trees.

use std::error::Error;

use trunkline_parser::node::{AConst, Node, NodeTag};
use trunkline_parser::{Path, Step, Visitor, parse};

/// Writes down what it sees; does not go below `skip`, ends at `stop`.
#[derive(Default)]
struct Recorder {
    seen: Vec<String>,
    skip: Option<NodeTag>,
    stop: Option<NodeTag>,
}

impl<'a> Visitor<'a> for Recorder {
    fn enter(&mut self, node: Node<'a>, path: &Path<'_, 'a>) -> Step {
        let place = path.index().map(|index| format!("[{index}]")).unwrap_or_default();
        self.seen.push(format!(
            "{}{}{place} {}",
            "  ".repeat(path.depth()),
            path.field(),
            node.tag().c_name()
        ));
        match Some(node.tag()) {
            tag if tag == self.stop => Step::Stop,
            tag if tag == self.skip => Step::Skip,
            _ => Step::Into,
        }
    }

    fn leave(&mut self, node: Node<'a>, path: &Path<'_, 'a>) -> Step {
        assert_eq!(path.ancestors().len(), path.depth());
        self.seen.push(format!("{}/{}", "  ".repeat(path.depth()), node.tag().c_name()));
        Step::Into
    }
}

fn record(sql: &str, mut recorder: Recorder) -> Result<Vec<String>, Box<dyn Error>> {
    parse(sql)?.walk(&mut recorder);
    Ok(recorder.seen)
}

#[test]
fn every_node_comes_before_and_after_those_below_it() -> Result<(), Box<dyn Error>> {
    assert_eq!(
        record("SELECT a WHERE b IN (1)", Recorder::default())?,
        [
            "[0] RawStmt",
            "  stmt SelectStmt",
            "    targetList[0] ResTarget",
            "      val ColumnRef",
            "        fields[0] String",
            "        /String",
            "      /ColumnRef",
            "    /ResTarget",
            "    whereClause A_Expr",
            "      name[0] String",
            "      /String",
            "      lexpr ColumnRef",
            "        fields[0] String",
            "        /String",
            "      /ColumnRef",
            "      rexpr List",
            "        [0] A_Const",
            "          val Integer",
            "          /Integer",
            "        /A_Const",
            "      /List",
            "    /A_Expr",
            "  /SelectStmt",
            "/RawStmt",
        ]
    );
    Ok(())
}

#[test]
fn skipping_leaves_out_what_is_below_and_stopping_all_the_rest() -> Result<(), Box<dyn Error>> {
    let skip = Recorder { skip: Some(NodeTag::SelectStmt), ..Recorder::default() };
    assert_eq!(
        record("SELECT 1; LISTEN a", skip)?,
        [
            "[0] RawStmt",
            "  stmt SelectStmt",
            "  /SelectStmt",
            "/RawStmt",
            "[1] RawStmt",
            "  stmt ListenStmt",
            "  /ListenStmt",
            "/RawStmt"
        ]
    );
    let stop = Recorder { stop: Some(NodeTag::SelectStmt), ..Recorder::default() };
    assert_eq!(record("SELECT 1; LISTEN a", stop)?, ["[0] RawStmt", "  stmt SelectStmt"]);
    Ok(())
}

#[test]
fn the_path_leads_to_the_top() -> Result<(), Box<dyn Error>> {
    let tree = parse("SELECT 1; SELECT f(2, 3)")?;
    let mut paths = Vec::new();
    tree.walk(&mut |node: Node<'_>, path: &Path<'_, '_>| {
        if node.is::<AConst>() {
            let links = path.links().map(|link| {
                let parent = link.parent.map_or("", |parent| parent.tag().c_name());
                format!(
                    "{parent}.{}{}",
                    link.field,
                    link.index.map(|index| index.to_string()).unwrap_or_default()
                )
            });
            paths.push(links.collect::<Vec<_>>().join(" "));
        }
        Step::Into
    });
    assert_eq!(
        paths,
        [
            "ResTarget.val SelectStmt.targetList0 RawStmt.stmt .0",
            "FuncCall.args0 ResTarget.val SelectStmt.targetList0 RawStmt.stmt .1",
            "FuncCall.args1 ResTarget.val SelectStmt.targetList0 RawStmt.stmt .1",
        ]
    );
    Ok(())
}

#[test]
fn the_iterator_yields_what_the_walk_enters() -> Result<(), Box<dyn Error>> {
    let tree = parse(
        "WITH x AS (SELECT 1) INSERT INTO t (a, b) VALUES (DEFAULT, 2) RETURNING *; CREATE TABLE u (a int)",
    )?;
    let mut entered = Vec::new();
    tree.walk(&mut |node: Node<'_>, _: &Path<'_, '_>| {
        entered.push(node.address());
        Step::Into
    });
    assert!(entered.len() > 20, "{}", entered.len());
    assert_eq!(tree.nodes().map(Node::address).collect::<Vec<_>>(), entered);
    let mut nodes = tree.nodes();
    let mut outside = 0;
    while let Some(node) = nodes.next() {
        outside += 1;
        if node.tag() == NodeTag::InsertStmt {
            nodes.skip_below();
        }
    }
    assert!(outside < entered.len());
    Ok(())
}

#[test]
fn depth_costs_no_stack() -> Result<(), Box<dyn Error>> {
    let tree = parse(&("SELECT 1".to_owned() + &" + 1".repeat(100_000)))?;
    let mut deepest = 0;
    tree.walk(&mut |_: Node<'_>, path: &Path<'_, '_>| {
        deepest = deepest.max(path.depth());
        Step::Into
    });
    assert!(deepest > 100_000, "{deepest}");
    assert!(tree.to_json().len() > 5_000_000);
    Ok(())
}
