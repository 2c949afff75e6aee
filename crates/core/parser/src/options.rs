//! Options for parsing.

/// What a text contains, and the settings of its session that affect how it is read.
///
/// ```
/// use trunkline_parser::{parse_with, Mode, ParseOptions};
///
/// let options = ParseOptions { mode: Mode::TypeName, ..ParseOptions::default() };
/// assert!(parse_with("numeric(10, 2)[]", options).is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseOptions {
    /// What the text contains.
    pub mode: Mode,
    /// The session's `standard_conforming_strings`: whether a backslash in `'...'` is an ordinary character. Default:
    /// true.
    pub standard_conforming_strings: bool,
    /// Whether `\'` means a quote in strings with escapes. True is PostgreSQL's `backslash_quote = safe_encoding`
    /// (UTF-8 is such an encoding), false is `off`. Default: true.
    pub backslash_quote: bool,
    /// The highest number of bytes of the tree. A larger tree is the error 53200. Default: [`TREE_BYTES_MAX`].
    pub tree_bytes_max: usize,
}

/// The default for the highest number of bytes of a tree: 16 GiB. A tree has 20 to 60 times the bytes of its text, and
/// PostgreSQL accepts texts of up to 1 GiB.
pub const TREE_BYTES_MAX: usize = 16 << 30;

/// How long a text can be, in bytes: PostgreSQL allocates no more than 1 GiB - 1 at once, and its scanner adds two
/// NULs.
pub const TEXT_BYTES_MAX: usize = (1 << 30) - 3;

/// A row that several columns are assigned from, as in `(a, b, c) = row`, hangs below each of them in JSON and in
/// what a fingerprint is made of, as pg_query has it: the text would be the square of such a statement. This many
/// bytes are repeated in one result; a row that would exceed them stands below its first column only. A row of 100
/// columns takes some 1.5 MB of JSON.
pub const REPEATED_BYTES_MAX: usize = 4 << 20;

impl Default for ParseOptions {
    fn default() -> Self {
        Self {
            mode: Mode::Statements,
            standard_conforming_strings: true,
            backslash_quote: true,
            tree_bytes_max: TREE_BYTES_MAX,
        }
    }
}

/// What a text is: PostgreSQL's `RawParseMode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Statements, with semicolons between them: each is a `RawStmt`.
    #[default]
    Statements,
    /// The name of a type: one `TypeName`.
    TypeName,
    /// An expression of PL/pgSQL: one `RawStmt` of a SELECT.
    PlpgsqlExpression,
    /// An assignment of PL/pgSQL to a variable of one name: one `RawStmt` of a `PLAssignStmt`.
    PlpgsqlAssign1,
    /// The same for `a.b`.
    PlpgsqlAssign2,
    /// The same for `a.b.c`.
    PlpgsqlAssign3,
}
