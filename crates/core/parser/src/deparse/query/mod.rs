//! Writes queries: SELECT with all its clauses, and the statements that change rows.

mod clauses;
mod columns;
mod insert;
mod into;
mod join;
mod locking;
mod merge;
mod prepare;
mod relation;
mod select;
mod targets;
mod update;
mod with;

use super::{DeparseResult, Deparser};
use crate::node::{List, Node, Value};

impl Deparser<'_> {
    /// Elements with commas between them; each is a part.
    pub(in crate::deparse) fn comma_parts<'a>(
        &mut self,
        elements: List<'a>,
        mut each: impl FnMut(&mut Self, Option<Node<'a>>) -> DeparseResult,
    ) -> DeparseResult {
        for (index, element) in elements.into_iter().enumerate() {
            if index > 0 {
                self.comma_part();
            }
            if self.has_comments_that_follow()
                && let Some(location) = element.and_then(beginning)
            {
                self.comments(location);
            }
            each(self, element)?;
        }
        Ok(())
    }

    /// A keyword, a name, and a space.
    pub(in crate::deparse) fn keyword_name(&mut self, keyword: &str, name: &str) {
        self.str(keyword);
        self.char(' ');
        self.ident(name);
        self.char(' ');
    }
}

/// How many levels below a node its beginning is searched.
const BEGINNING_DEPTH_MAX: usize = 32;

/// The location at which a node begins in the text, found from its own location and those of its first nodes.
fn beginning(node: Node<'_>) -> Option<i32> {
    let nodes = std::iter::successors(Some(node), |node| Some(node.children().next()?.node));
    let places = nodes.take(BEGINNING_DEPTH_MAX).filter_map(|node| {
        node.fields().find_map(|(_, value)| match value {
            Value::Location(place) if place >= 0 => Some(place),
            _ => None,
        })
    });
    places.min()
}
