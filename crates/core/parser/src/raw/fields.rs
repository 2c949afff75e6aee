//! Every node's fields by name, kind and place: for code that treats all nodes alike.

use std::ffi::c_char;
use std::slice;

use pg_query_sys::nodes as sys;

use super::bitmapset::Bitmapset;
use super::enums::*;
use super::list::{List, ListIter};
use super::node::{Node, text};
use super::pointer::Pointer;
use super::view::MultiAssignRef;

/// What is known of a type of node.
#[derive(Debug)]
pub(crate) struct NodeInfo {
    /// Whether it is a list of nodes, integers or object ids.
    is_list: bool,
    fields: &'static [FieldInfo],
    links: &'static [Link],
}

impl NodeInfo {
    const NONE: Self = Self { is_list: false, fields: &[], links: &[] };
    const LIST: Self = Self { is_list: true, ..Self::NONE };
}

/// A field of a type of node.
#[derive(Debug)]
pub struct FieldInfo {
    /// Its name as JSON has it before a value: `"name":`.
    quoted: &'static str,
    offset: u16,
    kind: FieldKind,
    equal_ignore: bool,
}

impl FieldInfo {
    /// Its name in C, and in pg_query's JSON.
    #[inline]
    #[must_use]
    pub fn name(&self) -> &'static str {
        // Without the quote before it, and the quote and the colon after it.
        self.quoted.get(1..self.quoted.len() - 2).unwrap_or_default()
    }

    /// Its name in quotes, with a colon after them.
    #[inline]
    pub(crate) fn quoted(&self) -> &'static str {
        self.quoted
    }

    /// This many bytes from the node's beginning.
    pub(super) fn offset(&self) -> usize {
        usize::from(self.offset)
    }

    /// What it holds.
    #[must_use]
    pub fn kind(&self) -> FieldKind {
        self.kind
    }

    /// Whether PostgreSQL's `equal()` leaves it out: locations in the text, and a few the planner sets.
    #[must_use]
    pub fn is_ignored_by_equal(&self) -> bool {
        self.equal_ignore || matches!(self.kind, FieldKind::Location)
    }
}

/// What a field holds.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum FieldKind {
    /// A node of any type.
    Node,
    /// A list.
    List,
    /// A node of this type.
    View(NodeTag),
    /// A struct of this type in place.
    Inner(NodeTag),
    /// A constant's value in place.
    Value,
    /// Text.
    Str,
    /// True or false.
    Bool,
    /// A letter.
    Char,
    /// 16 bits.
    Int16,
    /// 32 bits.
    Int,
    /// 32 bits without sign.
    UInt,
    /// 64 bits.
    Long,
    /// 64 bits without sign.
    ULong,
    /// A float of 64 bits.
    Float,
    /// An enum's constant.
    Enum(&'static EnumInfo),
    /// A place in the text, in bytes; -1 if unknown.
    Location,
    /// A set of integers.
    Bitmapset,
}

/// A field's content.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Value<'a> {
    /// A node of whatever type; None for NULL.
    Node(Option<Node<'a>>),
    /// A node of the one type that the field is declared with, which need not be named beside it; None for NULL.
    View(Option<Node<'a>>),
    /// The fields of a struct in place.
    Inner(Fields<'a>),
    /// A list.
    List(List<'a>),
    /// Text; None for NULL.
    Str(Option<&'a str>),
    /// True or false.
    Bool(bool),
    /// A letter; NUL if none.
    Char(char),
    /// An integer of whatever size.
    Int(i64),
    /// An integer without sign.
    UInt(u64),
    /// A float.
    Float(f64),
    /// An enum's constant, or a number that is none, and the enum.
    Enum(i32, &'static EnumInfo),
    /// A place in the text, in bytes; -1 if unknown.
    Location(i32),
    /// A set of integers.
    Bitmapset(Bitmapset<'a>),
}

/// The fields of a node with their contents, in C's order.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    node: Node<'a>,
    infos: &'static [FieldInfo],
}

impl<'a> Fields<'a> {
    /// How many are left.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.infos.len()
    }

    /// Whether none is left.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.infos.is_empty()
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'static FieldInfo, Value<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (info, rest) = self.infos.split_first()?;
        self.infos = rest;
        Some((info, info.value(self.node)))
    }
}

impl FieldInfo {
    /// The content of this field of a node. `node` is of a type that has this field.
    fn value<'a>(&self, node: Node<'a>) -> Value<'a> {
        let place = node.place(self.offset);
        // SAFETY: the tables are generated from the headers, `layout.c` and Rust's asserts prove their
        // offsets, and the node's tag chose them: a field of this kind lies there. Invariant of trees.
        unsafe {
            match self.kind {
                FieldKind::Node => Value::Node(Node::of(read::<*const sys::Node>(place))),
                FieldKind::View(tag) => {
                    let below = Node::of(read::<*const sys::Node>(place));
                    debug_assert!(
                        below.is_none_or(|below| below.tag() == tag),
                        "{} is no {tag:?}",
                        self.quoted
                    );
                    Value::View(below)
                }
                FieldKind::List => Value::List(List::from_raw(read::<*const sys::List>(place))),
                FieldKind::Inner(tag) => Value::Inner(Fields { node, infos: info(tag).fields }),
                FieldKind::Value => Value::Node(constant(place)),
                FieldKind::Str => Value::Str(text(read::<*const c_char>(place))),
                FieldKind::Bool => Value::Bool(read::<bool>(place)),
                FieldKind::Char => Value::Char(char::from(read::<u8>(place))),
                FieldKind::Int16 => Value::Int(read::<i16>(place).into()),
                FieldKind::Int => Value::Int(read::<i32>(place).into()),
                FieldKind::UInt => Value::UInt(read::<u32>(place).into()),
                FieldKind::Long => Value::Int(read::<i64>(place)),
                FieldKind::ULong => Value::UInt(read::<u64>(place)),
                FieldKind::Float => Value::Float(read::<f64>(place)),
                FieldKind::Enum(info) => Value::Enum(read::<i32>(place), info),
                FieldKind::Location => Value::Location(read::<i32>(place)),
                FieldKind::Bitmapset => Value::Bitmapset(Bitmapset::of(read::<*const sys::Bitmapset>(place))),
            }
        }
    }
}

/// What lies at a place.
///
/// # Safety
/// A `T` does, initialized and aligned.
#[inline]
unsafe fn read<T: Copy>(place: *const u8) -> T {
    // SAFETY: the caller's.
    unsafe { place.cast::<T>().read() }
}

/// A constant's value in place; None where its tag is that of no value: the constant NULL.
///
/// # Safety
/// `place` is the field `val` of a constant for which the invariant of trees holds during `'a`.
#[inline]
unsafe fn constant<'a>(place: *const u8) -> Option<Node<'a>> {
    // SAFETY: the caller's; the union begins with a tag, 0 if nothing is in it.
    unsafe { if read::<sys::NodeTag>(place) == 0 { None } else { Node::of(place.cast()) } }
}

/// The fields of a type of node, in C's order.
pub(super) fn fields_of(tag: NodeTag) -> &'static [FieldInfo] {
    info(tag).fields
}

#[inline]
fn info(tag: NodeTag) -> &'static NodeInfo {
    NODES.get(tag as usize).unwrap_or(&NodeInfo::NONE)
}

impl<'a> Node<'a> {
    /// The fields with their contents, in C's order; none for lists.
    #[inline]
    #[must_use]
    pub fn fields(self) -> Fields<'a> {
        Fields { node: self, infos: info(self.tag()).fields }
    }

    /// The nodes right below, in C's order, NULLs left out, and a row that several columns are assigned from below the
    /// first only, so that a walk meets each node once: what the fields point to, elements of lists each for
    /// itself. Below a list are its elements.
    #[inline]
    #[must_use]
    pub fn children(self) -> Children<'a> {
        Children::new(self, info(self.tag()))
    }

    /// As [`children`](Self::children); None for a node of a type that has none.
    #[inline]
    pub(crate) fn branches(self) -> Option<Children<'a>> {
        let info = info(self.tag());
        (info.is_list || !info.links.is_empty()).then(|| Children::new(self, info))
    }
}

/// A node below another, and where it hangs.
#[derive(Clone, Copy)]
pub struct Child<'a> {
    /// The node.
    pub node: Node<'a>,
    /// The field of the node above that it hangs in, by its name in C; empty below a list.
    pub field: &'static str,
    /// Its place in the list, if the field is a list or the node above is one.
    pub index: Option<u32>,
}

/// The nodes right below a node.
#[derive(Clone)]
pub struct Children<'a> {
    node: Node<'a>,
    links: slice::Iter<'static, Link>,
    /// The link that was followed last; none below a list.
    link: Option<&'static Link>,
    /// What is left of that link's list, or of the list the node is.
    cells: ListIter<'a>,
    /// Its first cell.
    first: *const sys::ListCell,
}

// SAFETY: `first` is an address to count from and never read; all else is as `Node` and `ListIter` are.
unsafe impl Send for Children<'_> {}
// SAFETY: as above.
unsafe impl Sync for Children<'_> {}

impl<'a> Children<'a> {
    #[inline]
    fn new(node: Node<'a>, info: &'static NodeInfo) -> Self {
        let list = if info.is_list { node.as_list() } else { None };
        let cells = list.unwrap_or_default().iter();
        Children { node, links: info.links.iter(), link: None, first: cells.position(), cells }
    }

    /// The node whose children they are.
    #[inline]
    #[must_use]
    pub fn parent(&self) -> Node<'a> {
        self.node
    }

    /// The field that the child which came last hangs in: see [`Child::field`].
    #[inline]
    pub(crate) fn field(&self) -> &'static str {
        self.link.map_or("", |link| link.field)
    }

    /// The place of the child which came last: see [`Child::index`].
    #[inline]
    pub(crate) fn index(&self) -> Option<u32> {
        if self.link.is_some_and(|link| link.kind != LinkKind::List) {
            return None;
        }
        let next = self.cells.position().addr().checked_sub(self.first.addr())? / size_of::<sys::ListCell>();
        u32::try_from(next.checked_sub(1)?).ok()
    }

    /// The next child.
    #[inline]
    pub(crate) fn next_node(&mut self) -> Option<Node<'a>> {
        loop {
            for cell in self.cells.by_ref() {
                if cell.is_some() {
                    return cell;
                }
            }
            let (link, below) = self.follow()?;
            if link.kind != LinkKind::List {
                return Some(Node::of_pointer(below));
            }
            // SAFETY: the link's kind tells that it is a list.
            self.cells = unsafe { List::from_raw(below.address().cast()) }.iter();
            self.first = self.cells.position();
        }
    }

    /// The next link that is not NULL, and what it leads to. Most are NULL.
    #[inline]
    fn follow(&mut self) -> Option<(&'static Link, Pointer<'a, sys::Node>)> {
        let node = self.node;
        let (link, below) = self.links.find_map(|link| {
            let place = node.place(link.offset);
            // SAFETY: as in `FieldInfo::value`: a value lies there, or a pointer to a node or a list.
            let below = unsafe {
                match link.kind {
                    LinkKind::Row if is_row_of_other_column(node) => None,
                    LinkKind::Value if read::<sys::NodeTag>(place) == 0 => None,
                    LinkKind::Value => Pointer::new(place.cast()),
                    LinkKind::Node | LinkKind::Row | LinkKind::List => {
                        Pointer::new(read::<*const sys::Node>(place))
                    }
                }
            };
            below.map(|below| (link, below))
        })?;
        self.link = Some(link);
        Some((link, below))
    }
}

impl<'a> Iterator for Children<'a> {
    type Item = Child<'a>;

    #[inline]
    fn next(&mut self) -> Option<Child<'a>> {
        let node = self.next_node()?;
        Some(Child { node, field: self.field(), index: self.index() })
    }
}

/// A link of a type of node to other nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    offset: u16,
    /// The field's name in C.
    field: &'static str,
    kind: LinkKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinkKind {
    /// A pointer to a node.
    Node,
    /// A pointer to a list.
    List,
    /// A constant's value, in place.
    Value,
    /// A pointer to a node that several have in common, the columns of `(a, b, c) = row`: below the first only.
    Row,
}

/// Whether a node is a column of `(a, b, c) = row`, and not the first. All of them point to the one row.
pub(crate) fn is_row_of_other_column(node: Node<'_>) -> bool {
    node.cast::<MultiAssignRef<'_>>().is_some_and(|column| column.colno() > 1)
}

impl<'a> Node<'a> {
    /// The fields that count for a fingerprint, in the order they count in; those of an embedded node in its place.
    #[inline]
    pub(crate) fn fingerprint_fields(self) -> Fields<'a> {
        Fields { node: self, infos: FINGERPRINT.get(self.tag() as usize).copied().unwrap_or_default() }
    }

    /// Whether it counts for nothing in a fingerprint.
    #[inline]
    pub(crate) fn is_ignored_by_fingerprint(self) -> bool {
        IGNORED_BY_FINGERPRINT.contains(&self.tag())
    }
}

include!(concat!(env!("OUT_DIR"), "/tables.rs"));
include!(concat!(env!("OUT_DIR"), "/fingerprint.rs"));
