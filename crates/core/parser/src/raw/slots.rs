//! Where in a struct the links to other nodes lie, and the locations: for code that changes trees.

use super::enums::NodeTag;
use super::fields::{FieldInfo, FieldKind, fields_of};

/// A field that links to other nodes.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    /// This many bytes from the node's beginning.
    pub(super) offset: usize,
    pub(super) kind: SlotKind,
}

#[derive(Clone, Copy)]
pub(super) enum SlotKind {
    /// A pointer to a node: of any type, or of one only.
    Node(Option<NodeTag>),
    /// A pointer to a list.
    List,
}

/// The fields of a struct, those of one that is embedded at its beginning in its place.
pub(super) fn flat(tag: NodeTag) -> impl DoubleEndedIterator<Item = &'static FieldInfo> {
    fields_of(tag).iter().flat_map(|field| match field.kind() {
        FieldKind::Inner(inner) => fields_of(inner),
        _ => std::slice::from_ref(field),
    })
}

/// The links of a struct, in C's order.
pub(super) fn slots(tag: NodeTag) -> impl DoubleEndedIterator<Item = Slot> {
    flat(tag).filter_map(|field| {
        let kind = match field.kind() {
            FieldKind::Node => SlotKind::Node(None),
            FieldKind::View(tag) => SlotKind::Node(Some(tag)),
            FieldKind::List => SlotKind::List,
            _ => return None,
        };
        Some(Slot { offset: field.offset(), kind })
    })
}

/// Where the strings of a struct lie.
pub(super) fn string_offsets(tag: NodeTag) -> impl Iterator<Item = usize> {
    flat(tag).filter(|field| matches!(field.kind(), FieldKind::Str)).map(FieldInfo::offset)
}

/// Where the locations of a struct lie.
pub(super) fn location_offsets(tag: NodeTag) -> impl Iterator<Item = usize> {
    flat(tag).filter(|field| matches!(field.kind(), FieldKind::Location)).map(FieldInfo::offset)
}
