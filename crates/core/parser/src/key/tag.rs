//! How a key is written: each token so that it is clear where it ends, which makes different token sequences
//! different keys.
//!
//! | token | bytes |
//! |---|---|
//! | word | space, its bytes in lower case: letters, digits, `_`, `$`, bytes from 0x80 on |
//! | quoted name | `QUOTED`, its bytes with quotes still doubled, `QUOTED_END` |
//! | operator of several characters or an unusual one | `OPERATOR`, its length, its bytes |
//! | character that is a token | itself: punctuation |
//! | literal | its class |
//! | literal that decides a type: an array's bound, a type's modifier, 2^31 and 2^63 | `VERBATIM`, its bytes |
//! | parameter | `PARAM`, its number in decimal |
//! | list of literals | `LIST`, their class |
//!
//! No token's bytes begin with a byte that could go on a word or a number, and 0 is in no text.

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
