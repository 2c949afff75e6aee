//! A way through a tree: every node before and after those below it, with the path that leads there.
//!
//! Lists are no nodes of their own where a field is declared as one: its elements hang in the field, each with
//! its index. Where a list stands for a node (the rows of VALUES, the right side of IN) it is visited like one.

use crate::ParsedSql;
use crate::node::{Children, List, ListIter, Node};

/// How deep the path is before its memory grows.
const DEPTH_USUAL: usize = 24;

/// What a visitor wants done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Go on, with the nodes below first.
    Into,
    /// Go on, but not to the nodes below. [`Visitor::leave`] is called all the same.
    Skip,
    /// Visit nothing more; [`Visitor::leave`] is not called either, neither here nor above.
    Stop,
}

/// Who looks at each node. A closure is one that looks before the nodes below.
pub trait Visitor<'a> {
    /// A node, before those below it.
    fn enter(&mut self, node: Node<'a>, path: &Path<'_, 'a>) -> Step;

    /// The node again, after those below it. [`Step::Stop`] ends the walk; the others go on.
    fn leave(&mut self, node: Node<'a>, path: &Path<'_, 'a>) -> Step {
        let _ = (node, path);
        Step::Into
    }
}

impl<'a, F: FnMut(Node<'a>, &Path<'_, 'a>) -> Step> Visitor<'a> for F {
    #[inline]
    fn enter(&mut self, node: Node<'a>, path: &Path<'_, 'a>) -> Step {
        self(node, path)
    }
}

/// Where a node hangs.
#[derive(Clone, Copy)]
pub struct Link<'a> {
    /// The node above; None for where the walk began.
    pub parent: Option<Node<'a>>,
    /// The parent's field, by its name in C; empty below a list and at the top.
    pub field: &'static str,
    /// The place in the list, if the field is one or the parent is.
    pub index: Option<u32>,
}

/// The way from where the walk began to a node.
pub struct Path<'s, 'a> {
    above: &'s [Frame<'a>],
    field: &'static str,
    index: Option<u32>,
}

impl<'a> Path<'_, 'a> {
    /// How many nodes lie above.
    #[inline]
    #[must_use]
    pub fn depth(&self) -> usize {
        self.above.len()
    }

    /// The node above.
    #[inline]
    #[must_use]
    pub fn parent(&self) -> Option<Node<'a>> {
        self.above.last().map(|frame| frame.node)
    }

    /// The parent's field that the node hangs in, by its name in C; empty below a list and at the top.
    #[inline]
    #[must_use]
    pub fn field(&self) -> &'static str {
        self.field
    }

    /// The node's place in the list, if the field is one or the parent is.
    #[inline]
    #[must_use]
    pub fn index(&self) -> Option<u32> {
        self.index
    }

    /// The nodes above, the parent first.
    pub fn ancestors(&self) -> impl ExactSizeIterator<Item = Node<'a>> + use<'_, 'a> {
        self.above.iter().rev().map(|frame| frame.node)
    }

    /// How the node and each above it hangs, the node first, the top last.
    pub fn links(&self) -> impl Iterator<Item = Link<'a>> + use<'_, 'a> {
        let own = (self.field, self.index);
        let hangs =
            std::iter::once(own).chain(self.above.iter().rev().map(|frame| (frame.field, frame.index)));
        let parents = self.ancestors().map(Some).chain(std::iter::once(None));
        hangs.zip(parents).map(|((field, index), parent)| Link { parent, field, index })
    }
}

/// A node whose children are being visited.
struct Frame<'a> {
    node: Node<'a>,
    children: Children<'a>,
    field: &'static str,
    index: Option<u32>,
}

impl<'a> Node<'a> {
    /// Visits this node and all below it. Takes stack for no depth of the tree.
    ///
    /// ```
    /// use trunkline_parser::node::{Node, RangeVar};
    /// use trunkline_parser::{Path, Step};
    ///
    /// let tree = trunkline_parser::parse("SELECT 1 FROM a JOIN (SELECT 2 FROM b) c ON true")?;
    /// let mut tables = Vec::new();
    /// tree.walk(&mut |node: Node<'_>, path: &Path<'_, '_>| {
    ///     if let Some(table) = node.cast::<RangeVar>() {
    ///         tables.push(format!("{}.{}", path.field(), table.relname().unwrap_or("")));
    ///     }
    ///     Step::Into
    /// });
    /// assert_eq!(tables, ["larg.a", "fromClause.b"]);
    /// # Ok::<(), trunkline_parser::ParseError>(())
    /// ```
    pub fn walk(self, visitor: &mut impl Visitor<'a>) {
        Walk { stack: Vec::with_capacity(DEPTH_USUAL) }.run(self, None, visitor);
    }

    /// This node and all below it, each before those below it.
    #[must_use]
    pub fn nodes(self) -> Nodes<'a> {
        Nodes { roots: List::default().iter(), next: Some(self), stack: Vec::with_capacity(DEPTH_USUAL) }
    }
}

impl ParsedSql {
    /// Visits every node, statement by statement; the statements' index is theirs in [`ParsedSql::root`].
    pub fn walk<'a>(&'a self, visitor: &mut impl Visitor<'a>) {
        let mut walk = Walk { stack: Vec::with_capacity(DEPTH_USUAL) };
        for (index, statement) in (0_u32..).zip(self.root()) {
            let going_on = statement.is_none_or(|node| walk.run(node, Some(index), visitor));
            if !going_on {
                return;
            }
        }
    }

    /// Every node, each before those below it.
    #[must_use]
    pub fn nodes(&self) -> Nodes<'_> {
        Nodes { roots: self.root().iter(), next: None, stack: Vec::with_capacity(DEPTH_USUAL) }
    }
}

struct Walk<'a> {
    stack: Vec<Frame<'a>>,
}

impl<'a> Walk<'a> {
    /// Whether to go on with the next statement.
    fn run(&mut self, top: Node<'a>, index: Option<u32>, visitor: &mut impl Visitor<'a>) -> bool {
        let mut next = (top, "", index);
        loop {
            let (node, field, index) = next;
            let path = Path { above: &self.stack, field, index };
            match visitor.enter(node, &path) {
                Step::Stop => return false,
                Step::Skip => {
                    if visitor.leave(node, &path) == Step::Stop {
                        return false;
                    }
                }
                Step::Into => self.stack.push(Frame { node, children: node.children(), field, index }),
            }
            // The next node: the first child of one whose children are not all visited; leave those in between.
            next = loop {
                let Some(frame) = self.stack.last_mut() else { return true };
                if let Some(child) = frame.children.next() {
                    break (child.node, child.field, child.index);
                }
                let (node, field, index) = (frame.node, frame.field, frame.index);
                self.stack.pop();
                if visitor.leave(node, &Path { above: &self.stack, field, index }) == Step::Stop {
                    return false;
                }
            };
        }
    }
}

/// Nodes one by one, each before those below it, in C's order of fields.
#[derive(Clone)]
pub struct Nodes<'a> {
    roots: ListIter<'a>,
    next: Option<Node<'a>>,
    stack: Vec<Children<'a>>,
}

impl Nodes<'_> {
    /// Leaves out the nodes below the one that came last.
    pub fn skip_below(&mut self) {
        self.stack.pop();
    }
}

impl<'a> Iterator for Nodes<'a> {
    type Item = Node<'a>;

    #[inline]
    fn next(&mut self) -> Option<Node<'a>> {
        let node = match self.next.take() {
            Some(top) => top,
            None => loop {
                match self.stack.last_mut() {
                    Some(children) => match children.next() {
                        Some(child) => break child.node,
                        None => drop(self.stack.pop()),
                    },
                    None => {
                        if let Some(root) = self.roots.next()? {
                            break root;
                        }
                    }
                }
            },
        };
        self.stack.push(node.children());
        Some(node)
    }
}
