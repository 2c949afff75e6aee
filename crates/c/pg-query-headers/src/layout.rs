//! Sizes and offsets by C's rules, for targets whose pointers and `long` have 8 bytes.
//!
//! The generated code asserts every number with the C compiler and with Rust's, so an error here stops the
//! build and reads no wrong byte.

use crate::error::Error;
use crate::model::{Kind, Struct};

/// Bytes of a pointer, `long`, `double` and `Datum`.
const WORD: usize = 8;
/// Bytes of `int` and of every enum.
const INT: usize = 4;

/// Size and alignment of a field.
fn shape(kind: &Kind, before: &[Struct]) -> Result<(usize, usize), Error> {
    Ok(match kind {
        Kind::Tag | Kind::Location | Kind::Enum(_) => (INT, INT),
        Kind::Bool | Kind::Char => (1, 1),
        Kind::Int { bytes, .. } => (*bytes, *bytes),
        Kind::Long | Kind::Float | Kind::Datum => (WORD, WORD),
        Kind::Str
        | Kind::Node
        | Kind::List
        | Kind::Bitmapset
        | Kind::Pointer(_)
        | Kind::Cells
        | Kind::Void => (WORD, WORD),
        Kind::Embedded(name) => match before.iter().find(|one| one.name == *name) {
            Some(inner) => (inner.size, inner.align),
            None => return Err(Error::Model(format!("{name} is embedded before it is declared"))),
        },
        Kind::Flexible(element) => (0, shape(element, before)?.1),
    })
}

/// Sets the offsets of all fields, the size and the alignment, given the structs declared before.
///
/// # Errors
/// [`Error::Model`] where an embedded struct is not among them.
pub(crate) fn lay_out(one: &mut Struct, before: &[Struct]) -> Result<(), Error> {
    let mut end = 0_usize;
    let mut align = 1;
    for field in &mut one.fields {
        let (field_size, field_align) = shape(&field.kind, before)?;
        field.offset = if one.is_union { 0 } else { end.next_multiple_of(field_align) };
        end = end.max(field.offset + field_size);
        align = align.max(field_align);
    }
    one.size = end.next_multiple_of(align);
    one.align = align;
    Ok(())
}
