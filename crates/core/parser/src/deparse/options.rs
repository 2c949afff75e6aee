//! How SQL is to be written.

/// How [`deparse_with`](crate::ParsedSql::deparse_with) lays out what it writes. The default is one line a statement.
///
/// The layout, the options and their defaults are those of libpg_query 18, except for `comments_follow`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeparseOptions {
    /// Several lines, indented by clause.
    pub pretty: bool,
    /// How many spaces an indentation has, in pretty layout: 4.
    pub indent: usize,
    /// Lists are broken, in pretty layout, so that a line has at most this many bytes where possible: 80.
    pub line_length_max: usize,
    /// Whether the text of a statement ends with a newline, in pretty layout.
    pub trailing_newline: bool,
    /// Whether a comma begins a line instead of ending one, in pretty layout.
    pub commas_first: bool,
    /// Whether a comment at the end of a line stays on the line of the element of a list before it, in pretty layout:
    /// `a, -- the key`. Otherwise it goes before what comes next, as libpg_query has it. True.
    pub comments_follow: bool,
    /// Comments to put back, each before the first node at or after its place.
    /// [`comments`](crate::comments) finds those of a text.
    pub comments: Vec<Comment>,
}

impl Default for DeparseOptions {
    fn default() -> Self {
        Self {
            pretty: false,
            indent: 4,
            line_length_max: 80,
            trailing_newline: false,
            commas_first: false,
            comments_follow: true,
            comments: Vec::new(),
        }
    }
}

/// A comment, and where it goes in SQL that is written from a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// It is written before the first node whose location is this or more, in bytes of the text.
    pub location: usize,
    /// How many newlines stand before it.
    pub newlines_before: usize,
    /// How many stand after it.
    pub newlines_after: usize,
    /// The comment with its `--` or `/* */`.
    pub text: String,
}

impl Comment {
    /// Whether it ends with its line.
    pub(super) fn is_line(&self) -> bool {
        self.text.starts_with("--")
    }
}
