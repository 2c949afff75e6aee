//! The typed views of nodes to be changed: a setter for each field, and a way down for each link.
//!
//! `build/edits.rs` writes which there are; all their unsafe code stands in the macros here.

use pg_query_sys::nodes as sys;

use super::error::EditError;
use super::fragment::Fragment;
use super::list_mut::ListMut;
use super::memory::Memory;
use super::node_mut::{self, NodeMut, NodeMutType};
use crate::lexer::{Lexer, TokenKind};
use crate::raw::enums::*;
use crate::raw::view;

/// The value of a constant: what [`AConstMut::set_val`] takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant<'a> {
    /// `NULL`.
    Null,
    /// `TRUE`, `FALSE`.
    Boolean(bool),
    /// A number of 32 bits.
    Integer(i32),
    /// Another number, as it is written: `1.5`, `-1e3`, `3000000000`. A number of 32 bits is taken for one.
    Float(&'a str),
    /// `'...'`.
    String(&'a str),
    /// `b` or `x`, and the digits: `b101`, `x1F`.
    BitString(&'a str),
}

impl Constant<'_> {
    /// The constant that PostgreSQL makes of it when it is written.
    fn as_the_grammar_has_it(self) -> Result<Self, EditError> {
        match self {
            Self::Float(text) => {
                let digits = text.strip_prefix('-').unwrap_or(text);
                let mut lexer = Lexer::new(digits);
                let token =
                    lexer.next_token().ok().flatten().filter(|token| token.end as usize == digits.len());
                match token.map(|token| token.kind) {
                    Some(TokenKind::Float) => Ok(self),
                    // To PostgreSQL that is another kind of constant; of octal digits and others the value is read
                    // there.
                    Some(TokenKind::Integer) => {
                        text.parse().map(Self::Integer).map_err(|_| EditError::NotOne("number"))
                    }
                    _ => Err(EditError::NotOne("number")),
                }
            }
            Self::BitString(text) if !text.starts_with(['b', 'x']) || text.contains('\'') => {
                Err(EditError::NotOne("bit string"))
            }
            _ => Ok(self),
        }
    }
}

/// Hangs a fragment into a field; None empties it.
///
/// # Safety
/// `slot` is a field of a node of the tree whose arena is `memory`, which holds nodes of type `only`, or any.
unsafe fn set<T>(
    slot: *mut *mut T,
    memory: Memory,
    only: Option<NodeTag>,
    fragment: Option<Fragment>,
) -> Result<(), EditError> {
    let node = match fragment {
        Some(fragment) => fragment.link(memory, only)?,
        None => std::ptr::null_mut(),
    };
    // SAFETY: the caller's.
    unsafe { *slot = node.cast() };
    Ok(())
}

macro_rules! setter {
    ($name:ident copy($type:ident) $set:ident $_mut:ident $into:ident $field:ident $doc:literal) => {
        #[doc = $doc]
        pub fn $set(&mut self, value: $type) {
            // SAFETY: a field of this node, which is borrowed mutably.
            unsafe { (*self.raw()).$field = value };
        }
    };
    ($name:ident letter() $set:ident $_mut:ident $into:ident $field:ident $doc:literal) => {
        #[doc = concat!($doc, " A letter of ASCII; any other is none.")]
        pub fn $set(&mut self, value: char) {
            let letter = if value.is_ascii() { value as u8 } else { 0 };
            // SAFETY: a field of this node, which is borrowed mutably.
            unsafe { (*self.raw()).$field = letter.cast_signed() };
        }
    };
    ($name:ident constant($type:ident) $set:ident $_mut:ident $into:ident $field:ident $doc:literal) => {
        #[doc = $doc]
        pub fn $set(&mut self, value: $type) {
            // SAFETY: a field of this node, which is borrowed mutably.
            unsafe { (*self.raw()).$field = value as _ };
        }
    };
    ($name:ident text() $set:ident $_mut:ident $into:ident $field:ident $doc:literal) => {
        #[doc = $doc]
        ///
        /// # Errors
        /// [`EditError::Nul`], [`EditError::OutOfMemory`].
        pub fn $set(&mut self, value: Option<&str>) -> Result<(), EditError> {
            let text = value.map_or(Ok(std::ptr::null_mut()), |value| self.0.memory.string(value))?;
            // SAFETY: a field of this node, which is borrowed mutably; the string is UTF-8 in this tree's memory.
            unsafe { (*self.raw()).$field = text };
            Ok(())
        }
    };
    ($name:ident content() $set:ident $_mut:ident $into:ident $field:ident $doc:literal) => {
        #[doc = $doc]
        ///
        /// # Errors
        /// [`EditError::Nul`], [`EditError::OutOfMemory`].
        pub fn $set(&mut self, value: &str) -> Result<(), EditError> {
            let text = self.0.memory.string(value)?;
            // SAFETY: as for other strings.
            unsafe { (*self.raw()).$field = text };
            Ok(())
        }
    };
    ($name:ident node() $set:ident $mut:ident $into:ident $field:ident $doc:literal) => {
        #[doc = $doc]
        ///
        /// # Errors
        /// None for this field; those of one type refuse others.
        pub fn $set(&mut self, value: Option<Fragment>) -> Result<(), EditError> {
            // SAFETY: a field of this node that holds any node.
            unsafe { set(&raw mut (*self.raw()).$field, self.0.memory, None, value) }
        }

        #[doc = concat!($doc, " To be changed.")]
        pub fn $mut(&mut self) -> Option<NodeMut<'_>> {
            // SAFETY: a field of this node, borrowed for as long as `self`.
            unsafe { node_mut::below(&raw mut (*self.raw()).$field, self.0.memory) }
        }

        #[doc = concat!($doc, " To be changed, for as long as the tree is borrowed.")]
        pub fn $into(self) -> Option<NodeMut<'t>> {
            // SAFETY: a field of this node, which nothing else reaches since `self` is gone.
            unsafe { node_mut::below(&raw mut (*self.raw()).$field, self.0.memory) }
        }
    };
    ($name:ident limit() $set:ident $mut:ident $into:ident $field:ident $doc:literal) => {
        #[doc = concat!($doc, " What LIMIT and OFFSET bring with them, `limitOption`, follows.")]
        ///
        /// # Errors
        /// None for this field; those of one type refuse others.
        pub fn $set(&mut self, value: Option<Fragment>) -> Result<(), EditError> {
            // SAFETY: as for other nodes; plain fields of this node.
            unsafe {
                set(&raw mut (*self.raw()).$field, self.0.memory, None, value)?;
                let select = self.raw();
                (*select).limitOption = match (
                    (*select).limitCount.is_null(),
                    (*select).limitOffset.is_null(),
                    LimitOption::of_field((*select).limitOption as _),
                ) {
                    (true, true, _) => LimitOption::LimitOptionDefault,
                    (false, _, LimitOption::LimitOptionWithTies) => LimitOption::LimitOptionWithTies,
                    _ => LimitOption::LimitOptionCount,
                } as _;
            }
            Ok(())
        }

        #[doc = concat!($doc, " To be changed.")]
        pub fn $mut(&mut self) -> Option<NodeMut<'_>> {
            // SAFETY: a field of this node, borrowed for as long as `self`.
            unsafe { node_mut::below(&raw mut (*self.raw()).$field, self.0.memory) }
        }

        #[doc = concat!($doc, " To be changed, for as long as the tree is borrowed.")]
        pub fn $into(self) -> Option<NodeMut<'t>> {
            // SAFETY: a field of this node, which nothing else reaches since `self` is gone.
            unsafe { node_mut::below(&raw mut (*self.raw()).$field, self.0.memory) }
        }
    };
    ($name:ident view_mut($type:ident) $set:ident $mut:ident $into:ident $field:ident $doc:literal) => {
        #[doc = $doc]
        ///
        /// # Errors
        /// [`EditError::WrongType`] for a node of another type.
        pub fn $set(&mut self, value: Option<Fragment>) -> Result<(), EditError> {
            // SAFETY: a field of this node that holds nodes of that type.
            unsafe {
                set(
                    &raw mut (*self.raw()).$field,
                    self.0.memory,
                    Some(<$type<'_> as NodeMutType<'_>>::TAG),
                    value,
                )
            }
        }

        #[doc = concat!($doc, " To be changed.")]
        pub fn $mut(&mut self) -> Option<$type<'_>> {
            // SAFETY: a field of this node, borrowed for as long as `self`; its type tells the node's.
            unsafe { node_mut::below(&raw mut (*self.raw()).$field, self.0.memory) }.map($type)
        }

        #[doc = concat!($doc, " To be changed, for as long as the tree is borrowed.")]
        pub fn $into(self) -> Option<$type<'t>> {
            // SAFETY: as above, and `self` is gone.
            unsafe { node_mut::below(&raw mut (*self.raw()).$field, self.0.memory) }.map($type)
        }
    };
    ($name:ident inner_mut($type:ident) $set:ident $mut:ident $into:ident $field:ident $doc:literal) => {
        #[doc = concat!($doc, " To be changed.")]
        pub fn $mut(&mut self) -> $type<'_> {
            // The embedded struct lies at this node's beginning (asserted in `pg-query-sys`).
            $type(self.0.reborrow())
        }
    };
    ($name:ident list() $set:ident $mut:ident $into:ident $field:ident $doc:literal) => {
        #[doc = concat!($doc, " To be changed.")]
        pub fn $mut(&mut self) -> ListMut<'_> {
            // SAFETY: a field of this node, borrowed for as long as `self`.
            unsafe { ListMut::of(&raw mut (*self.raw()).$field, self.0.memory) }
        }

        #[doc = concat!($doc, " To be changed, for as long as the tree is borrowed.")]
        pub fn $into(self) -> ListMut<'t> {
            // SAFETY: as above, and `self` is gone.
            unsafe { ListMut::of(&raw mut (*self.raw()).$field, self.0.memory) }
        }
    };
    // Sets of integers are the planner's.
    ($name:ident bits() $set:ident $_mut:ident $into:ident $field:ident $doc:literal) => {};
    ($name:ident value() $set:ident $_mut:ident $into:ident $field:ident $doc:literal) => {
        #[doc = $doc]
        ///
        /// # Errors
        /// [`EditError::Nul`], [`EditError::OutOfMemory`]; [`EditError::NotOne`] for what is no number or bit string.
        pub fn $set(&mut self, value: Constant<'_>) -> Result<(), EditError> {
            let value = value.as_the_grammar_has_it()?;
            let memory = self.0.memory;
            let text = match value {
                Constant::Float(text) | Constant::String(text) | Constant::BitString(text) => {
                    memory.string(text)?
                }
                _ => std::ptr::null_mut(),
            };
            let raw = self.raw();
            // SAFETY: the union is large enough for each of its members, and this node is borrowed mutably.
            unsafe {
                let place = &raw mut (*raw).$field;
                (*raw).isnull = matches!(value, Constant::Null);
                std::ptr::write_bytes(place, 0, 1);
                let tag = match value {
                    Constant::Null => return Ok(()),
                    Constant::Boolean(value) => {
                        (*place.cast::<sys::Boolean>()).boolval = value;
                        NodeTag::Boolean
                    }
                    Constant::Integer(value) => {
                        (*place.cast::<sys::Integer>()).ival = value;
                        NodeTag::Integer
                    }
                    Constant::Float(_) => {
                        (*place.cast::<sys::Float>()).fval = text;
                        NodeTag::Float
                    }
                    Constant::String(_) => {
                        (*place.cast::<sys::String>()).sval = text;
                        NodeTag::String
                    }
                    Constant::BitString(_) => {
                        (*place.cast::<sys::BitString>()).bsval = text;
                        NodeTag::BitString
                    }
                };
                place.cast::<sys::NodeTag>().write(tag as sys::NodeTag);
            }
            Ok(())
        }
    };
}

macro_rules! view_mut {
    ($name:ident $view:ident $tag:ident $raw:ident $c:literal {
        $($arm:ident($($type:ident)?) $set:ident $mut:ident $into:ident $field:ident $doc:literal;)*
    }) => {
        #[doc = concat!("A node of C's struct `", $c, "`, to be changed.")]
        pub struct $name<'t>(NodeMut<'t>);

        #[allow(clippy::missing_errors_doc, clippy::wrong_self_convention)]
        impl<'t> $name<'t> {
            // A few nodes have no field.
            #[allow(dead_code)]
            fn raw(&self) -> *mut sys::$raw {
                self.0.node.as_ptr().cast()
            }

            /// The node, to be read.
            pub fn view(&self) -> view::$view<'_> {
                // SAFETY: the tag or the field's type told that it is one (`NodeMutType`, `setter!`).
                unsafe { view::$view::of_node(self.0.node()) }
            }

            /// This node without its type.
            pub fn into_node(self) -> NodeMut<'t> {
                self.0
            }

            $(setter! { $name $arm($($type)?) $set $mut $into $field $doc })*
        }

        impl<'t> NodeMutType<'t> for $name<'t> {
            const TAG: NodeTag = NodeTag::$tag;

            fn from_node_mut(node: NodeMut<'t>) -> Option<Self> {
                (node.node().tag() == NodeTag::$tag).then_some(Self(node))
            }
        }
    };
}

macro_rules! sizes {
    ($($view:ident $raw:ident,)*) => {
        /// How many bytes the struct of a tag has; None for tags without one.
        pub(super) fn size_of_node(tag: NodeTag) -> Option<usize> {
            match tag {
                $(NodeTag::$view => Some(size_of::<sys::$raw>()),)*
                _ => None,
            }
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/edits.rs"));
