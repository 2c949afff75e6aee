//! The form of a key. The end of each token is always clear, so different sequences of tokens give different keys.
//!
//! | token | bytes |
//! |---|---|
//! | word | space, its bytes in lower case: letters, digits, `_`, `$`, bytes from 0x80 on |
//! | quoted name | `QUOTED`, its bytes with quotes still doubled, `QUOTED_END` |
//! | operator of several characters or an unusual one | `OPERATOR`, its length, its bytes |
//! | other single character (punctuation) | the character |
//! | literal | its class |
//! | literal on which a type depends: an array's bound, a type's modifier, 2^31 and 2^63 | `VERBATIM`, its bytes |
//! | parameter | `PARAM`, its number in decimal |
//! | list of literals | `LIST`, their class |
//!
//! No token begins with a byte that could continue a word or a number, and no text contains 0.

pub(super) const QUOTED_END: u8 = 0x00;
pub(super) const QUOTED: u8 = 0x01;
pub(super) const OPERATOR: u8 = 0x02;
pub(super) const PARAM: u8 = 0x03;
pub(super) const VERBATIM: u8 = 0x04;
pub(super) const INTEGER: u8 = 0x05;
pub(super) const BIG_INTEGER: u8 = 0x06;
pub(super) const FLOAT: u8 = 0x07;
pub(super) const STRING: u8 = 0x08;
pub(super) const BIT_STRING: u8 = 0x09;
pub(super) const HEX_STRING: u8 = 0x0a;
pub(super) const LIST: u8 = 0x0b;
pub(super) const WORD: u8 = b' ';
