//! Makes a cache key for a statement from its tokens, in one pass without a parse.
//!
//! Two texts have the same key only if PostgreSQL would make the same tree from both, except for
//!
//! - the values of literals. The key has their class, by the type that PostgreSQL gives them: a number of 32 bits, a number
//!   of 64 bits, any other number, a string, a bit string, a hexadecimal string. If a type depends on the value of a literal,
//!   the key has the literal itself. These are the bound of an array's type (`int[1]`; also a subscript, because only the
//!   grammar can distinguish them) and the modifiers of a type (`numeric(10, 2)`);
//! - white space, comments, semicolons at the end, and the case of unquoted ASCII names;
//! - the length of a list `IN (...)` whose elements are literals of one class;
//! - the number of rows in `VALUES (...), (...)` and `IN ((...), (...))`, if all rows have the same key.
//!
//! So texts with the same key have the same parameters, because every `$n` is in the key. Under the same settings,
//! catalog and parameter types, their results also have the same types and modifiers. (The exception is a type of an
//! extension in a list of columns: `f() AS t (a geometry(4326))`.) So a server's ParameterDescription and
//! RowDescription for one of them are valid for all. The parameter types that a client gives in Parse are not in the
//! text: keep them beside the key.
//!
//! A tree that is cached by a key has the locations, literals and list lengths of the *first* text. A caller that
//! needs a value (`LIMIT`, `ORDER BY 1`, a sharding column) finds its place in [`Key::literals`] and reads it from
//! the text: these are the literals of the text that was scanned, in their order.
//!
//! Comments are not in the key. A caller that reads hints in comments (`/*+ ... */`) must look at
//! [`Key::has_comments`].
//!
//! If the value of a literal may decide what the statement means, or if anything else is unusual, the result is
//! [`ScanKey::Unsure`], and the text must be parsed. This is not an error: the server may accept the statement.
//!
//! Do not cache errors by a key, because their messages quote the text.
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

/// The longest text, in bytes, that gets a key. For a longer text even one pass takes too long.
pub const KEYED_TEXT_MAX: usize = 16 << 20;

/// The highest number of literals whose places are kept.
pub const LITERALS_MAX: usize = 1 << 16;

/// A buffer that grew larger than this is freed before the next text.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// The buffer into which [`scan_key`] writes. Use it again for the next text.
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
    /// `Debug` does not show the bytes, because they are a client's statement.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("KeyBuffer")
            .field("bytes", &self.bytes.len())
            .field("literals", &self.literals.len())
            .finish()
    }
}

/// The result of a scan.
#[derive(Clone, Copy, Debug)]
pub enum ScanKey<'b> {
    /// A key. Statements with the same key can share a tree.
    Sure(Key<'b>),
    /// The text must be parsed.
    Unsure(Unsure),
}

/// The key of a statement, and the literals that are not in it.
#[derive(Clone, Copy)]
pub struct Key<'b> {
    /// The key. Compare it byte by byte. It is not text, and its form may change with any version.
    pub bytes: &'b [u8],
    /// The literals of the text whose values are not in the key, in order; at most [`LITERALS_MAX`].
    pub literals: &'b [Literal],
    /// Whether `literals` has all of them.
    pub all_literals: bool,
    /// The largest number of a parameter in the text; 0 if it has none. It is the same for all texts with this key.
    pub largest_parameter: u32,
    /// Whether the text has comments.
    pub has_comments: bool,
}

impl fmt::Debug for Key<'_> {
    /// `Debug` does not show the bytes, because they are a client's statement.
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

/// The place of a literal in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Literal {
    /// The offset of its first byte, which may be a prefix (`E'`) but not a sign.
    pub start: u32,
    /// The offset after its last byte.
    pub end: u32,
    /// The class of the literal.
    pub class: LiteralClass,
    /// Whether it is an element of an `IN` list with a minus before it, because the key of the list may not have the
    /// sign.
    pub negative: bool,
}

/// The kind of constant that PostgreSQL makes from a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum LiteralClass {
    /// An integer of at most 31 bits: `integer`.
    Integer = tag::INTEGER,
    /// An integer of 32 to 63 bits: `bigint`.
    BigInteger = tag::BIG_INTEGER,
    /// Any other number: `numeric`.
    Float = tag::FLOAT,
    /// A string of any other kind than the two below.
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
    /// The text has no statement.
    Empty,
    /// It does not begin with SELECT, INSERT, UPDATE, DELETE, MERGE, WITH, VALUES, TABLE or `(`. In a utility
    /// statement, the literals decide what it does.
    Utility,
    /// The text has several statements. A caller needs their places in the text.
    SeveralStatements,
    /// It names `set_config` or `pg_settings`. Then literals decide which setting of the session changes.
    Settings,
    /// It has `float(n)`, which is one of two types, or `current_timestamp(n)` and so on, where `n` is not a constant
    /// in the tree.
    FloatPrecision,
    /// It has `U&'...'` or `U&"..."`, whose meaning depends on a UESCAPE after them.
    UnicodeEscapes,
    /// It has a character that is not used in SQL.
    StrayCharacter,
    /// The text is longer than [`KEYED_TEXT_MAX`].
    TooLong,
    /// The lexer refuses the text.
    Lexer(LexError),
}

/// Makes the key of the statement in `text`, for a session with standard_conforming_strings on.
///
/// Clears `buffer` first; the result borrows it.
#[inline]
pub fn scan_key<'b>(text: &(impl AsRef<[u8]> + ?Sized), buffer: &'b mut KeyBuffer) -> ScanKey<'b> {
    scan::scan(text.as_ref(), buffer, true, false)
}

/// As [`scan_key`], for a session whose standard_conforming_strings has the value `on`.
pub fn scan_key_with<'b>(
    text: &(impl AsRef<[u8]> + ?Sized),
    buffer: &'b mut KeyBuffer,
    standard_conforming_strings: bool,
) -> ScanKey<'b> {
    scan::scan(text.as_ref(), buffer, standard_conforming_strings, false)
}
