//! A way through a tree: every node before and after those below it, with the path that leads there.
//!
//! Lists are no nodes of their own where a field is declared as one: its elements hang in the field, each with
//! its index. Where a list stands for a node (the rows of VALUES, the right side of IN) it is visited like one.

use crate::ParsedSql;
use crate::node::{Children, ListIter, Node};

/// How deep the path is before its memory grows: a KiB, which allocators have at hand.
const DEPTH_USUAL: usize = 16;

// glibc keeps blocks of up to 1,032 bytes for each thread.
const _: () = assert!(DEPTH_USUAL * size_of::<Children<'_>>() <= 1024);

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

/// Looks at each node. A closure looks at a node before the nodes below it.
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
    /// The nodes above, each with the child that the way goes through as the last that came.
    above: &'s [Children<'a>],
    /// The place of the topmost node among the statements.
    top: Option<u32>,
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
        self.above.last().map(Children::parent)
    }

    /// The parent's field that the node hangs in, by its name in C; empty below a list and at the top.
    #[inline]
    #[must_use]
    pub fn field(&self) -> &'static str {
        self.above.last().map_or("", Children::field)
    }

    /// The node's place in the list, if the field is one or the parent is.
    #[inline]
    #[must_use]
    pub fn index(&self) -> Option<u32> {
        self.above.last().map_or(self.top, Children::index)
    }

    /// The nodes above, the parent first.
    pub fn ancestors(&self) -> impl ExactSizeIterator<Item = Node<'a>> + use<'_, 'a> {
        self.above.iter().rev().map(Children::parent)
    }

    /// How the node and each above it hangs, the node first, the top last.
    pub fn links(&self) -> impl Iterator<Item = Link<'a>> + use<'_, 'a> {
        let top = Link { parent: None, field: "", index: self.top };
        let below = self.above.iter().rev().map(|above| Link {
            parent: Some(above.parent()),
            field: above.field(),
            index: above.index(),
        });
        below.chain(std::iter::once(top))
    }
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
        Walk::new().run(self, None, visitor);
    }

    /// This node and all below it, each before those below it.
    #[must_use]
    pub fn nodes(self) -> Nodes<'a> {
        Nodes::new(ListIter::default(), Some(self))
    }
}

impl ParsedSql {
    /// Visits every node, statement by statement; the statements' index is theirs in [`ParsedSql::root`].
    pub fn walk<'a>(&'a self, visitor: &mut impl Visitor<'a>) {
        let mut walk = Walk::new();
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
        Nodes::new(self.root().iter(), None)
    }
}

struct Walk<'a> {
    /// The nodes whose children are being visited.
    stack: Vec<Children<'a>>,
}

impl<'a> Walk<'a> {
    fn new() -> Self {
        Self { stack: Vec::with_capacity(DEPTH_USUAL) }
    }

    /// Whether to go on with the next statement.
    fn run(&mut self, top: Node<'a>, place: Option<u32>, visitor: &mut impl Visitor<'a>) -> bool {
        let mut node = top;
        loop {
            let path = Path { above: &self.stack, top: place };
            match visitor.enter(node, &path) {
                Step::Stop => return false,
                Step::Into => match node.branches() {
                    Some(children) => self.stack.push(children),
                    None if visitor.leave(node, &path) == Step::Stop => return false,
                    None => {}
                },
                Step::Skip => {
                    if visitor.leave(node, &path) == Step::Stop {
                        return false;
                    }
                }
            }
            // The next node: the first child of one whose children are not all visited; leave those in between.
            node = loop {
                let Some(children) = self.stack.last_mut() else { return true };
                if let Some(child) = children.next_node() {
                    break child;
                }
                let done = children.parent();
                self.stack.pop();
                if visitor.leave(done, &Path { above: &self.stack, top: place }) == Step::Stop {
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
    /// The children yet to come of the node that came last and of those above it.
    stack: Vec<Children<'a>>,
    /// Whether the topmost of them are those of the node that came last: it is no leaf.
    is_below: bool,
}

impl<'a> Nodes<'a> {
    fn new(roots: ListIter<'a>, next: Option<Node<'a>>) -> Self {
        Self { roots, next, stack: Vec::with_capacity(DEPTH_USUAL), is_below: false }
    }

    /// Leaves out the nodes below the one that came last.
    pub fn skip_below(&mut self) {
        if std::mem::take(&mut self.is_below) {
            self.stack.pop();
        }
    }

    /// The next of the nodes the iterator began with.
    #[cold]
    fn next_root(&mut self) -> Option<Node<'a>> {
        self.next.take().or_else(|| self.roots.by_ref().flatten().next())
    }
}

impl<'a> Iterator for Nodes<'a> {
    type Item = Node<'a>;

    #[inline]
    fn next(&mut self) -> Option<Node<'a>> {
        let node = loop {
            let Some(children) = self.stack.last_mut() else { break self.next_root()? };
            match children.next_node() {
                Some(child) => break child,
                None => drop(self.stack.pop()),
            }
        };
        let children = node.branches();
        self.is_below = children.is_some();
        self.stack.extend(children);
        Some(node)
    }
}
