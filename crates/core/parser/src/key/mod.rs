//! A cache key for a statement, read from its letters alone: one pass, no parse, no C.
//!
//! Two texts have the same key only if PostgreSQL would make the same tree of both except for
//!
//! - the values of literals. Their class is in the key, by the type that PostgreSQL gives them: a number of 32 bits, one of
//!   64, any other, a string, a bit string and a hexadecimal string. A literal on whose value a type depends is in the key as
//!   it is: the bound of an array's type (`int[1]`; a subscript too, as only the grammar tells which it is) and the modifiers
//!   of a type (`numeric(10, 2)`);
//! - white space, comments, semicolons at the end, and the case of unquoted ASCII names;
//! - the length of a list `IN (...)` whose elements are literals of one class;
//! - the number of rows of `VALUES (...), (...)` and of `IN ((...), (...))` with the same key each.
//!
//! So texts of one key have the same parameters (every `$n` is in the key) and, under the same settings, catalog and
//! parameter types, results of the same types, with the same modifiers, except for a type of an extension in a list of
//! columns (`f() AS t (a geometry(4326))`). What a server said of one of them in ParameterDescription and RowDescription
//! holds for the others. The types of parameters that a client gives in Parse are in no text: they belong beside the key.
//!
//! What is cached by such a key has the *first* text's places, literals and list lengths. A caller that needs a value
//! (`LIMIT`, `ORDER BY 1`, a sharding column) takes the place of the literal from [`Key::literals`], which are those
//! of the text at hand in the order they stand in, and reads it there.
//!
//! Comments are not in the key. A caller that takes hints from comments (`/*+ ... */`) sees [`Key::has_comments`] and
//! reads them, or does not use the key.
//!
//! [`ScanKey::Unsure`] is the answer wherever a literal's value may decide what the statement is, or anything else
//! is not plain: such a text is parsed. It is not an error: the server may take the statement.
//!
//! Errors must not be cached by a key: their message quotes the text.
//!
//! ```
//! use trunkline_parser::key::{KeyBuffer, ScanKey, scan_key};
//!
//! let (mut one, mut other) = (KeyBuffer::new(), KeyBuffer::new());
//! let ScanKey::Sure(one) = scan_key("SELECT * FROM t WHERE id IN (1, 2, 3)", &mut one) else { panic!() };
//! let ScanKey::Sure(other) = scan_key("select *\nfrom T where ID in (4)", &mut other) else { panic!() };
//! assert_eq!(one.bytes, other.bytes);
//! assert_eq!((one.literals.len(), other.literals.len()), (3, 1));
//! ```

mod lists;
mod scan;
mod tag;
#[cfg(test)]
mod tests;
mod word;
mod writer;

use crate::lexer::LexError;
use std::fmt;
use writer::Writer;

/// A text longer than this is not keyed, in bytes. Past it even one pass takes longer than its turn should.
pub const KEYED_TEXT_MAX: usize = 16 << 20;

/// The places of at most this many literals are kept.
pub const LITERALS_MAX: usize = 1 << 16;

/// A buffer that grew past this many bytes is given back before the next text.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// What [`scan_key`] writes to; to be used again for the next text.
#[derive(Default)]
pub struct KeyBuffer {
    bytes: Writer,
    literals: Vec<Literal>,
}

impl KeyBuffer {
    /// An empty buffer.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: Writer::new(), literals: Vec::new() }
    }

    fn clear(&mut self) {
        self.bytes.clear(KEPT_BYTES_MAX);
        if self.literals.capacity() > KEPT_BYTES_MAX / size_of::<Literal>() {
            self.literals = Vec::new();
        }
        self.literals.clear();
    }
}

impl fmt::Debug for KeyBuffer {
    /// Without the bytes: they are a client's statement.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("KeyBuffer")
            .field("bytes", &self.bytes.len())
            .field("literals", &self.literals.len())
            .finish()
    }
}

/// What one pass over a statement tells.
#[derive(Clone, Copy, Debug)]
pub enum ScanKey<'b> {
    /// A key: statements with these bytes share a tree.
    Sure(Key<'b>),
    /// The text must be parsed.
    Unsure(Unsure),
}

/// A statement's key and what was left out of it.
#[derive(Clone, Copy)]
pub struct Key<'b> {
    /// The key, to be compared byte by byte. It is no text: its form may change with any version.
    pub bytes: &'b [u8],
    /// The literals of the text in order, at most [`LITERALS_MAX`]: those whose values are not in the key.
    pub literals: &'b [Literal],
    /// Whether `literals` are all there are.
    pub all_literals: bool,
    /// The largest number of a parameter of the text, 0 if it has none: all texts of one key have the same.
    pub largest_parameter: u32,
    /// Whether the text has comments.
    pub has_comments: bool,
}

impl fmt::Debug for Key<'_> {
    /// Without the bytes: they are a client's statement.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Key")
            .field("bytes", &self.bytes.len())
            .field("literals", &self.literals.len())
            .field("all_literals", &self.all_literals)
            .field("largest_parameter", &self.largest_parameter)
            .field("has_comments", &self.has_comments)
            .finish()
    }
}

/// Where a literal stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Literal {
    /// The offset of its first byte: of its prefix (`E'`), but not of its sign.
    pub start: u32,
    /// The offset after its last byte.
    pub end: u32,
    /// What it is.
    pub class: LiteralClass,
    /// Whether a minus stands before it as an element of an `IN` list, whose key may be without the signs.
    pub negative: bool,
}

/// What kind of constant PostgreSQL makes of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum LiteralClass {
    /// A whole number of at most 31 bits: `integer`.
    Integer = tag::INTEGER,
    /// A whole number of 32 to 63 bits: `bigint`.
    BigInteger = tag::BIG_INTEGER,
    /// Any other number: `numeric`.
    Float = tag::FLOAT,
    /// A string of any kind but the two below.
    String = tag::STRING,
    /// `B'...'`.
    BitString = tag::BIT_STRING,
    /// `X'...'`.
    HexString = tag::HEX_STRING,
}

/// Why a text has no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsure {
    /// There is no statement.
    Empty,
    /// It does not begin with SELECT, INSERT, UPDATE, DELETE, MERGE, WITH, VALUES, TABLE or `(`: the literals of a
    /// utility statement decide what it does.
    Utility,
    /// There are several statements, whose places in the text a caller needs.
    SeveralStatements,
    /// It names `set_config` or `pg_settings`: literals tell which setting of the session changes.
    Settings,
    /// `float(n)`, which is one of two types, or `current_timestamp(n)` and its like, whose `n` is no constant of the
    /// tree.
    FloatPrecision,
    /// `U&'...'` or `U&"..."`, which need their UESCAPE.
    UnicodeEscapes,
    /// A character that SQL has no use for.
    StrayCharacter,
    /// The text is longer than [`KEYED_TEXT_MAX`].
    TooLong,
    /// The lexer refuses it.
    Lexer(LexError),
}

/// The key of the statement in `text`, for a session with standard_conforming_strings on.
///
/// The result borrows `buffer`, which is cleared first.
#[inline]
pub fn scan_key<'b>(text: &(impl AsRef<[u8]> + ?Sized), buffer: &'b mut KeyBuffer) -> ScanKey<'b> {
    scan::scan(text.as_ref(), buffer, true, false)
}

/// As [`scan_key`], for a session whose standard_conforming_strings is `on`.
pub fn scan_key_with<'b>(
    text: &(impl AsRef<[u8]> + ?Sized),
    buffer: &'b mut KeyBuffer,
    standard_conforming_strings: bool,
) -> ScanKey<'b> {
    scan::scan(text.as_ref(), buffer, standard_conforming_strings, false)
}
