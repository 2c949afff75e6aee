//! Random texts of difficult parts for lexers: quotes, dollars, comments, operators, numbers, escapes.

// No test file uses all of this module.
#![allow(dead_code)]

/// Makes texts from a seed. The same seed gives the same texts.
pub(crate) struct Nasty(u64);

/// The number of pieces of a text is below this.
const PIECES_MAX: u64 = 24;

const PIECES: &[&str] = &[
    // Quotes.
    "'",
    "''",
    "'a'",
    "E'",
    "e'",
    "b'",
    "X'",
    "n'",
    "N'",
    "U&'",
    "u&\"",
    "U&",
    "\"",
    "\"\"",
    "\"a\"",
    "\"A b\"",
    // Dollars.
    "$",
    "$$",
    "$a$",
    "$a",
    "$1",
    "$2",
    "$12a",
    "$99999999999",
    "$2147483647",
    "$2147483648",
    "$é$",
    "$_1$",
    // Comments.
    "--",
    "-- x\n",
    "/*",
    "*/",
    "/**/",
    "/*/",
    // Operators.
    "/",
    "*",
    "+",
    "-",
    "=",
    "<",
    ">",
    "!",
    "@",
    "#",
    "%",
    "^",
    "&",
    "|",
    "`",
    "?",
    "~",
    "::",
    ":=",
    ":",
    ".",
    "..",
    "...",
    "=>",
    "<=",
    ">=",
    "<>",
    "!=",
    // White space.
    " ",
    " ",
    " ",
    "\n",
    "\r",
    "\t",
    "\x0b",
    "\x0c",
    // Escapes.
    "\\",
    "\\'",
    "\\\\",
    "\\x4",
    "\\x41",
    "\\xff",
    "\\xc3",
    "\\xa9",
    "\\377",
    "\\0",
    "\\400",
    "\\u",
    "\\u0041",
    "\\u004",
    "\\ud83d",
    "\\ude00",
    "\\U0001F600",
    "\\U00110000",
    "\\U",
    "\\u0000",
    "\\n",
    "\\é",
    // Letters.
    "é",
    "日本",
    "😀",
    "a",
    "b",
    "e",
    "x",
    "n",
    "u",
    "E",
    "_",
    "abcdefghijklmnop",
    "Abc_1$",
    // Numbers.
    "0",
    "1",
    "12",
    "1_000",
    "1_",
    "1__2",
    "0x",
    "0x1F",
    "0xg",
    "0x_",
    "0x_1",
    "0o",
    "0o17",
    "0o8",
    "0b",
    "0b1",
    "0b2",
    "1e",
    "1e5",
    "1e+",
    "1e-5",
    "1.5",
    "1.",
    ".5",
    "e5",
    "E+",
    "2147483647",
    "2147483648",
    "0x7fffffff",
    "0x80000000",
    "999999999999999999999",
    // Words and punctuation.
    "SELECT ",
    "select",
    "uescape",
    " IN (",
    "VALUES (",
    " FROM ",
    "(",
    ")",
    "[",
    "]",
    ",",
    ";",
    "{",
    "}",
    "\x01",
    "\x7f",
];

impl Nasty {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    pub(crate) fn text(&mut self) -> String {
        let most = if self.below(4) == 0 { PIECES_MAX } else { PIECES_MAX / 4 };
        let mut text = String::new();
        for _ in 0..=self.below(most) {
            let piece = PIECES[self.below(PIECES.len() as u64) as usize];
            let times = if self.below(40) == 0 { self.below(70) } else { 0 };
            (0..=times).for_each(|_| text.push_str(piece));
        }
        text
    }
}
