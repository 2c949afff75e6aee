//! The typed views: one for each struct of a node, a pointer wide, with a getter for each field.
//!
//! `build/views.rs` writes which there are; all their unsafe code stands in the macros here.

use std::fmt;

use pg_query_sys::nodes as sys;

use super::bitmapset::Bitmapset;
use super::enums::*;
use super::list::List;
use super::node::{Node, NodeType, sealed, text};
use super::pointer::Pointer;

macro_rules! getter {
    (copy($type:ident) $getter:ident $field:ident $doc:literal) => {
        #[doc = $doc]
        #[inline]
        #[must_use]
        pub fn $getter(self) -> $type {
            self.0.get().$field
        }
    };
    (letter() $getter:ident $field:ident $doc:literal) => {
        #[doc = $doc]
        #[inline]
        #[must_use]
        pub fn $getter(self) -> char {
            char::from(self.0.get().$field.cast_unsigned())
        }
    };
    (constant($type:ident) $getter:ident $field:ident $doc:literal) => {
        #[doc = $doc]
        #[inline]
        #[must_use]
        pub fn $getter(self) -> $type {
            $type::of_field(self.0.get().$field)
        }
    };
    (text() $getter:ident $field:ident $doc:literal) => {
        #[doc = $doc]
        #[inline]
        #[must_use]
        pub fn $getter(self) -> Option<&'a str> {
            // SAFETY: invariant of trees.
            unsafe { text(self.0.get().$field) }
        }
    };
    (content() $getter:ident $field:ident $doc:literal) => {
        #[doc = concat!($doc, " Empty for NULL, which the grammar never puts there.")]
        #[inline]
        #[must_use]
        pub fn $getter(self) -> &'a str {
            // SAFETY: invariant of trees.
            unsafe { text(self.0.get().$field) }.unwrap_or("")
        }
    };
    (node() $getter:ident $field:ident $doc:literal) => {
        #[doc = $doc]
        #[inline]
        #[must_use]
        pub fn $getter(self) -> Option<Node<'a>> {
            // SAFETY: invariant of trees.
            unsafe { Node::of(self.0.get().$field) }
        }
    };
    (list() $getter:ident $field:ident $doc:literal) => {
        #[doc = $doc]
        #[inline]
        #[must_use]
        pub fn $getter(self) -> List<'a> {
            // SAFETY: invariant of trees.
            unsafe { List::from_raw(self.0.get().$field) }
        }
    };
    (bits() $getter:ident $field:ident $doc:literal) => {
        #[doc = $doc]
        #[inline]
        #[must_use]
        pub fn $getter(self) -> Bitmapset<'a> {
            // SAFETY: invariant of trees.
            unsafe { Bitmapset::of(self.0.get().$field) }
        }
    };
    (view($type:ident) $getter:ident $field:ident $doc:literal) => {
        #[doc = $doc]
        #[inline]
        #[must_use]
        pub fn $getter(self) -> Option<$type<'a>> {
            // SAFETY: invariant of trees: the field's type tells the node's.
            let found = unsafe { Pointer::new(self.0.get().$field) }.map($type);
            debug_assert!(found.is_none_or(|view| view.node().tag() == $type::TAG));
            found
        }
    };
    (inner($type:ident) $getter:ident $field:ident $doc:literal) => {
        #[doc = concat!($doc, " As a node it is the one it is embedded in.")]
        #[inline]
        #[must_use]
        pub fn $getter(self) -> $type<'a> {
            // SAFETY: invariant of trees: it lies inside this node, at its beginning.
            $type(unsafe { self.0.cast() })
        }
    };
    (value() $getter:ident $field:ident $doc:literal) => {
        #[doc = concat!($doc, " None for the constant NULL.")]
        #[inline]
        #[must_use]
        pub fn $getter(self) -> Option<Node<'a>> {
            if self.0.get().isnull {
                return None;
            }
            // SAFETY: invariant of trees: a constant that is not NULL has one of the value nodes in place.
            unsafe { Node::of((&raw const (*self.0.address()).$field).cast()) }
        }
    };
}

macro_rules! view {
    ($name:ident $tag:ident $raw:ident $c:literal {
        $($arm:ident($($type:ident)?) $getter:ident $field:ident $doc:literal;)*
    }) => {
        #[doc = concat!("A node of C's struct `", $c, "`.")]
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub struct $name<'a>(Pointer<'a, sys::$raw>);

        impl<'a> $name<'a> {
            /// This node without its type.
            #[inline]
            #[must_use]
            pub fn node(self) -> Node<'a> {
                // SAFETY: every node begins with its tag.
                Node::of_pointer(unsafe { self.0.cast() })
            }

            /// The view of a node of this type, or of one that begins with such a node.
            ///
            /// # Safety
            /// It is one.
            #[inline]
            pub(super) unsafe fn of_node(node: Node<'a>) -> Self {
                // SAFETY: the caller's.
                Self(unsafe { node.pointer() })
            }

            $(getter! { $arm($($type)?) $getter $field $doc })*
        }

        impl sealed::Sealed for $name<'_> {}

        impl<'a> NodeType<'a> for $name<'a> {
            const TAG: NodeTag = NodeTag::$tag;

            #[inline]
            fn from_node(node: Node<'a>) -> Option<Self> {
                if node.tag() != Self::TAG {
                    return None;
                }
                // SAFETY: the tag was just seen.
                Some(Self(unsafe { node.pointer() }))
            }
        }

        impl<'a> From<$name<'a>> for Node<'a> {
            #[inline]
            fn from(view: $name<'a>) -> Self {
                view.node()
            }
        }

        impl fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.node().fmt(f)
            }
        }

        impl PartialEq for $name<'_> {
            fn eq(&self, other: &Self) -> bool {
                self.node() == other.node()
            }
        }
    };
}

macro_rules! views {
    ($($tag:ident $name:ident,)*) => {
        /// A node by its type. What the grammar never makes, and no struct was read for, is [`View::Other`].
        #[derive(Clone, Copy)]
        pub enum View<'a> {
            /// A list of nodes.
            List(List<'a>),
            /// A list of integers.
            IntList(List<'a>),
            /// A list of object ids.
            OidList(List<'a>),
            $(#[doc = concat!("`", stringify!($tag), "`.")]
            $tag($name<'a>),)*
            /// A node of another type.
            Other(NodeTag),
        }

        impl<'a> View<'a> {
            /// The tag.
            #[inline]
            #[must_use]
            pub fn tag(self) -> NodeTag {
                match self {
                    $(Self::$tag(_) => NodeTag::$tag,)*
                    Self::List(_) => NodeTag::List,
                    Self::IntList(_) => NodeTag::IntList,
                    Self::OidList(_) => NodeTag::OidList,
                    Self::Other(tag) => tag,
                }
            }
        }

        impl<'a> Node<'a> {
            /// The node by its type, to match on.
            #[inline]
            #[must_use]
            pub fn view(self) -> View<'a> {
                let tag = self.tag();
                match tag {
                    $(NodeTag::$tag => {
                        // SAFETY: the tag tells the type.
                        View::$tag($name(unsafe { self.pointer() }))
                    })*
                    NodeTag::List => self.as_list().map_or(View::Other(tag), View::List),
                    NodeTag::IntList => self.as_list().map_or(View::Other(tag), View::IntList),
                    NodeTag::OidList => self.as_list().map_or(View::Other(tag), View::OidList),
                    other => View::Other(other),
                }
            }
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/views.rs"));
