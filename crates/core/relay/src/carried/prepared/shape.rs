//! The format of a statement's result: its columns and their types.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use trunkline_wire::backend::RowDescription;

/// A hash of the format of a statement's result: the types of its columns, and their names if they are ASCII. (Other names are
/// sent in the client's encoding, so their bytes can differ.)
///
/// A client that has had a statement described reads all later results by that description. So it must not get the result of a
/// server on which the same text has another format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape(u64);

impl Shape {
    /// The format is not known.
    pub const UNKNOWN: Self = Self(0);

    /// The shape as a number, to store it in an atomic.
    #[must_use]
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// Inverse of [`Shape::to_bits`].
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The shape by the answer to a Describe: the body of a RowDescription, or `None` for NoData.
    #[must_use]
    pub fn of_description(description: Option<&[u8]>) -> Self {
        let mut hasher = FixedState::default().build_hasher();
        match description.map(RowDescription::decode) {
            Some(Ok(description)) => {
                for column in description.columns {
                    if column.name.is_ascii() {
                        hasher.write(column.name);
                    }
                    hasher.write_u8(0);
                    hasher.write_u32(column.type_oid);
                    hasher.write_i32(column.type_modifier);
                }
                hasher.write_u8(1);
            }
            Some(Err(_)) => hasher.write_u8(2),
            None => hasher.write_u8(3),
        }
        Self(hasher.finish().max(1))
    }
}

#[cfg(test)]
mod tests {
    use trunkline_wire::backend::Column;
    use trunkline_wire::list::Format;

    use super::*;

    fn described(names: &[&'static [u8]]) -> Shape {
        let column = |name: &&'static [u8]| Column {
            name,
            table: 0,
            attribute: 0,
            type_oid: 23,
            type_size: 4,
            type_modifier: -1,
            format: Format(0),
        };
        let columns: Vec<_> = names.iter().map(column).collect();
        let mut frame = Vec::new();
        RowDescription::write(&mut frame, &columns).expect("small");
        Shape::of_description(Some(&frame[5..]))
    }

    #[test]
    fn shapes_differ_by_columns() {
        assert_eq!(described(&[b"a"]), described(&[b"a"]));
        assert_ne!(described(&[b"a"]), described(&[b"b"]));
        assert_ne!(described(&[b"a"]), described(&[b"a", b"b"]));
        assert_ne!(described(&[]), Shape::of_description(None));
        assert_ne!(Shape::of_description(None), Shape::UNKNOWN);
    }

    #[test]
    fn the_shape_does_not_depend_on_the_encoding_of_names() {
        assert_eq!(described(&[b"\xc3\xa9"]), described(&[b"\xe9"]));
        assert_eq!(described(&[b"\xe8\xa1\xa8"]), described(&[b"\x95\x5c"]));
    }
}
