//! Values as C's types, from text and from binary.

use std::str::FromStr;

use trunkline_wire::Format;

use crate::status::{Status, TRUNKLINE_TYPE};

const BOOL: u32 = 16;
/// int8, int2, int4, oid.
const INTEGERS: [u32; 4] = [20, 21, 23, 26];
/// float4, float8.
const FLOATS: [u32; 2] = [700, 701];

const UNFIT: Status = Status(TRUNKLINE_TYPE);

/// A boolean.
pub(crate) fn boolean(value: &[u8], format: Format, type_oid: Option<u32>) -> Result<bool, Status> {
    if type_oid.is_some_and(|oid| oid != BOOL) {
        return Err(UNFIT);
    }
    match (format, value) {
        (Format::BINARY, [0]) | (Format::TEXT, b"f") => Ok(false),
        (Format::BINARY, [1]) | (Format::TEXT, b"t") => Ok(true),
        _ => Err(UNFIT),
    }
}

/// An integer of any width.
#[inline]
pub(crate) fn integer(value: &[u8], format: Format, type_oid: Option<u32>) -> Result<i64, Status> {
    if type_oid.is_some_and(|oid| !INTEGERS.contains(&oid)) {
        return Err(UNFIT);
    }
    if format != Format::BINARY {
        return parsed(value);
    }
    // An oid has no sign.
    match (value, type_oid) {
        (&[a, b, c, d], Some(26)) => Ok(u32::from_be_bytes([a, b, c, d]).into()),
        (&[a, b, c, d], _) => Ok(i32::from_be_bytes([a, b, c, d]).into()),
        (&[a, b, c, d, e, f, g, h], _) => Ok(i64::from_be_bytes([a, b, c, d, e, f, g, h])),
        (&[a, b], _) => Ok(i16::from_be_bytes([a, b]).into()),
        _ => Err(UNFIT),
    }
}

/// A floating-point number of either width.
#[inline]
pub(crate) fn float(value: &[u8], format: Format, type_oid: Option<u32>) -> Result<f64, Status> {
    if type_oid.is_some_and(|oid| !FLOATS.contains(&oid)) {
        return Err(UNFIT);
    }
    if format != Format::BINARY {
        return parsed(value);
    }
    match *value {
        [a, b, c, d] => Ok(f32::from_be_bytes([a, b, c, d]).into()),
        [a, b, c, d, e, f, g, h] => Ok(f64::from_be_bytes([a, b, c, d, e, f, g, h])),
        _ => Err(UNFIT),
    }
}

fn parsed<T: FromStr>(value: &[u8]) -> Result<T, Status> {
    std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()).ok_or(UNFIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_each_width_and_their_extremes() {
        let binary = |value: &[u8], oid| integer(value, Format::BINARY, oid);
        assert_eq!(binary(&i16::MIN.to_be_bytes(), Some(21)), Ok(i16::MIN.into()));
        assert_eq!(binary(&i32::MIN.to_be_bytes(), None), Ok(i32::MIN.into()));
        assert_eq!(binary(&i64::MIN.to_be_bytes(), Some(20)), Ok(i64::MIN));
        assert_eq!(binary(&u32::MAX.to_be_bytes(), Some(26)), Ok(u32::MAX.into()));
        assert_eq!(integer(b"-9223372036854775808", Format::TEXT, None), Ok(i64::MIN));
        for wrong in [&b""[..], b"1", b"123", b"123456789"] {
            assert_eq!(binary(wrong, None), Err(UNFIT), "{wrong:?}");
        }
        assert_eq!(integer(b"1.5", Format::TEXT, None), Err(UNFIT));
        // A text of four letters is no integer, where the type is known.
        assert_eq!(binary(b"abcd", Some(25)), Err(UNFIT));
    }

    #[test]
    fn floats_with_their_specials() {
        assert_eq!(float(&1.5_f32.to_be_bytes(), Format::BINARY, Some(700)), Ok(1.5));
        assert_eq!(float(b"-Infinity", Format::TEXT, Some(701)), Ok(f64::NEG_INFINITY));
        assert!(float(b"NaN", Format::TEXT, None).is_ok_and(f64::is_nan));
        assert_eq!(float(b"1", Format::BINARY, None), Err(UNFIT));
    }

    #[test]
    fn booleans() {
        assert_eq!(boolean(b"t", Format::TEXT, Some(16)), Ok(true));
        assert_eq!(boolean(&[0], Format::BINARY, None), Ok(false));
        assert_eq!(boolean(&[2], Format::BINARY, None), Err(UNFIT));
        assert_eq!(boolean(b"true", Format::TEXT, None), Err(UNFIT));
        assert_eq!(boolean(b"t", Format::TEXT, Some(25)), Err(UNFIT));
    }
}
