//! Makes the fragments that edits put into a tree.

use trunkline_parser::ParsedSql;
use trunkline_parser::edit::{self, Constant, EditError, Fragment};
use trunkline_parser::node::NodeTag;

use super::{Script, fields};

/// All node tags are below this number. Tags of lists, and numbers that are no tag, are refused.
const TAGS: usize = 500;

pub fn fragment(tree: &ParsedSql, script: &mut Script<'_>) -> Result<Fragment, EditError> {
    if script.depth_left == 0 {
        return edit::parameter(1);
    }
    script.depth_left -= 1;
    let text = script.text();
    let made = match script.byte() % 16 {
        0..=4 => {
            let at = script.below(tree.nodes().count());
            tree.nodes().nth(at).map_or_else(|| edit::name(text), |node| node.to_fragment())
        }
        5 => edit::constant(constant(script)),
        6 => edit::column(&[text, script.text()]),
        7 => edit::operator(text, fragment(tree, script)?, fragment(tree, script)?),
        8 => edit::and([fragment(tree, script)?, fragment(tree, script)?]),
        9 => edit::not(fragment(tree, script)?),
        10 => edit::function(&[text], [fragment(tree, script)?]),
        11 => edit::table(Some(script.text()), text),
        12 => edit::target(fragment(tree, script)?, Some(text)),
        13 => Fragment::list([fragment(tree, script)?, fragment(tree, script)?]),
        14 => edit::expression(text),
        _ => {
            let mut made = Fragment::new(NodeTag::from_raw(script.below(TAGS) as u32))?;
            let other = fragment(tree, script)?;
            let _ = fields::change(made.node_mut(), script, other);
            Ok(made)
        }
    };
    script.depth_left += 1;
    made
}

pub fn constant<'a>(script: &mut Script<'a>) -> Constant<'a> {
    match script.byte() % 6 {
        0 => Constant::Null,
        1 => Constant::Boolean(script.byte() % 2 == 0),
        2 => Constant::Integer(script.below(70_000) as i32 - 100),
        3 => Constant::Float(script.text()),
        4 => Constant::String(script.text()),
        _ => Constant::BitString(script.text()),
    }
}
