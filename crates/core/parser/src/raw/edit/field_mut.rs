//! Changing a node's field that is known by its name only: for code that treats all nodes alike.

use pg_query_sys::nodes as sys;

use super::error::EditError;
use super::fragment::Fragment;
use super::list_mut::ListMut;
use super::node_mut::{self, NodeMut};
use super::view_mut::{AConstMut, BoolExprMut, Constant};
use crate::raw::enums::{BoolExprType, NodeTag};
use crate::raw::fields::{FieldInfo, FieldKind};
use crate::raw::slots::flat;
use crate::raw::view::BoolExpr;

/// What a field is set to.
pub enum NewValue<'a> {
    /// A node, or none.
    Node(Option<Fragment>),
    /// Text, or none.
    Str(Option<&'a str>),
    /// True or false.
    Bool(bool),
    /// A letter of ASCII; any other is none.
    Char(char),
    /// A whole number, for integers of any size: a number that does not fit is refused. Also a constant of an enum, by
    /// its number, and a place in the text.
    Int(i64),
    /// A float.
    Float(f64),
    /// The value of a constant.
    Constant(Constant<'a>),
}

impl NodeMut<'_> {
    /// The fields of the node that [`set`](Self::set) and [`list_mut`](Self::list_mut) know, by their names in C:
    /// those of an embedded struct in its place.
    pub fn settable(&self) -> impl ExactSizeIterator<Item = &'static FieldInfo> + use<> {
        let fields: Vec<_> = flat(self.node().tag())
            .filter(|field| !matches!(field.kind(), FieldKind::Bitmapset | FieldKind::Inner(_)))
            .collect();
        fields.into_iter()
    }

    /// Sets a field by its name in C, as [`FieldInfo::name`] and pg_query's JSON have it.
    ///
    /// ```
    /// use trunkline_parser::edit::{self, NewValue};
    ///
    /// let mut fragment = edit::table(None, "people")?;
    /// fragment.node_mut().set("schemaname", NewValue::Str(Some("app")))?;
    /// assert!(fragment.node().to_json().contains(r#""schemaname":"app""#));
    /// assert!(fragment.node_mut().set("schemaname", NewValue::Bool(true)).is_err());
    /// # Ok::<(), edit::EditError>(())
    /// ```
    ///
    /// # Errors
    /// [`EditError::NoSuchField`] for a name or a value that is none of the node's, and as of the typed setters.
    pub fn set(&mut self, name: &str, value: NewValue<'_>) -> Result<(), EditError> {
        let field = self.field(name)?;
        let wrong = EditError::NoSuchField(field.name());
        let place = self.place(field);
        // SAFETY: a field of this kind lies there (`FieldInfo::value`), of a node that is borrowed mutably; nodes and strings
        // come into this tree's memory before they hang in it.
        unsafe {
            match (field.kind(), value) {
                (FieldKind::Node, NewValue::Node(node)) => {
                    let node = node.map(|node| node.link(self.memory, None)).transpose()?;
                    write(place, node.unwrap_or(std::ptr::null_mut()));
                }
                (FieldKind::View(tag), NewValue::Node(node)) => {
                    let node = node.map(|node| node.link(self.memory, Some(tag))).transpose()?;
                    write(place, node.unwrap_or(std::ptr::null_mut()));
                }
                (FieldKind::Str, NewValue::Str(text)) => {
                    let text = text.map(|text| self.memory.string(text)).transpose()?;
                    write(place, text.unwrap_or(std::ptr::null_mut()));
                }
                (FieldKind::Bool, NewValue::Bool(value)) => write(place, value),
                (FieldKind::Char, NewValue::Char(value)) => {
                    write(place, if value.is_ascii() { value as u8 } else { 0 });
                }
                (FieldKind::Float, NewValue::Float(value)) => write(place, value),
                (FieldKind::Value, NewValue::Constant(value)) => {
                    return self.reborrow().cast::<AConstMut<'_>>().ok_or(wrong)?.set_val(value);
                }
                (kind, NewValue::Int(value)) => match kind {
                    FieldKind::Int16 => write(place, i16::try_from(value).map_err(|_| wrong)?),
                    FieldKind::Int | FieldKind::Location => {
                        write(place, i32::try_from(value).map_err(|_| wrong)?);
                    }
                    FieldKind::UInt => write(place, u32::try_from(value).map_err(|_| wrong)?),
                    FieldKind::Long => write(place, value),
                    FieldKind::ULong => write(place, u64::try_from(value).map_err(|_| wrong)?),
                    FieldKind::Enum(info) => {
                        let number =
                            i32::try_from(value).ok().filter(|number| info.constant(*number).is_some());
                        write(place, number.ok_or(wrong)?);
                    }
                    _ => return Err(wrong),
                },
                _ => return Err(wrong),
            }
        }
        Ok(())
    }

    /// A list in a field, by its name in C, to be changed; in a field of any node, only where one is there.
    ///
    /// # Errors
    /// [`EditError::NoSuchField`] for a name that is none of the node's lists.
    pub fn list_mut(&mut self, name: &str) -> Result<ListMut<'_>, EditError> {
        let field = self.field(name)?;
        let place = self.place(field);
        // SAFETY: a list or a node lies there, of a node that is borrowed for as long as `self`.
        let list = unsafe {
            match field.kind() {
                FieldKind::List => Some(ListMut::of(place.cast(), self.memory)),
                FieldKind::Node => node_mut::list_below(place.cast(), self.memory),
                _ => None,
            }
        };
        list.ok_or(EditError::NoSuchField(field.name()))
    }

    /// Adds a condition by AND to the one that is in a field, or puts it there where there is none. What was there
    /// stays where it lies.
    pub(crate) fn and_condition(&mut self, name: &str, condition: Fragment) -> Result<(), EditError> {
        let field = self.field(name)?;
        if !matches!(field.kind(), FieldKind::Node) {
            return Err(EditError::NoSuchField(field.name()));
        }
        let place = self.place(field).cast::<*mut sys::Node>();
        // SAFETY: a node lies there or null, of a node that is borrowed mutably.
        let Some(before) = (unsafe { NodeMut::of(*place, self.memory) }) else {
            return self.set(name, NewValue::Node(Some(condition)));
        };
        let is_and =
            before.node().cast::<BoolExpr<'_>>().is_some_and(|one| one.boolop() == BoolExprType::AndExpr);
        if is_and {
            let and = before.cast::<BoolExprMut<'_>>().ok_or(EditError::NoSuchField(field.name()))?;
            return and.into_args().push(condition);
        }
        let mut both = Fragment::new(NodeTag::BoolExpr)?;
        if let Some(mut and) = both.node_mut().cast::<BoolExprMut<'_>>() {
            and.set_boolop(BoolExprType::AndExpr);
            and.args_mut().push(Fragment::new(NodeTag::Alias)?)?;
            and.args_mut().push(condition)?;
        }
        let node = both.link(self.memory, None)?;
        // SAFETY: the new AND, whose first argument, which held its place, becomes what was in the field; the field has the
        // AND instead, so that it hangs in one place only.
        unsafe {
            let args = (*node.cast::<sys::BoolExpr>()).args;
            (*(*args).elements).ptr_value = (*place).cast();
            *place = node;
        }
        Ok(())
    }

    fn field(&self, name: &str) -> Result<&'static FieldInfo, EditError> {
        self.settable().find(|field| field.name() == name).ok_or(EditError::NoSuchField("of that name"))
    }

    fn place(&self, field: &FieldInfo) -> *mut u8 {
        // SAFETY: the tables have the fields of the struct that the node's tag tells.
        unsafe { self.node.as_ptr().cast::<u8>().add(field.offset()) }
    }
}

/// # Safety
/// A `T` lies at `place`, which nothing else reads or writes.
unsafe fn write<T>(place: *mut u8, value: T) {
    // SAFETY: the caller's.
    unsafe { place.cast::<T>().write(value) };
}
