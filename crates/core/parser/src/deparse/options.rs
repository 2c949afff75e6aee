//! Options for writing SQL.

/// The layout of [`deparse_with`](crate::ParsedSql::deparse_with). By default each statement is one line.
///
/// The layout, the options and their defaults are those of libpg_query 18, except for `comments_follow`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeparseOptions {
    /// Whether a statement is written in several lines, indented by clause: the pretty layout.
    pub pretty: bool,
    /// The number of spaces of an indentation, in pretty layout. Default: 4.
    pub indent: usize,
    /// The number of bytes after which lists are broken into lines where possible, in pretty layout. Default: 80.
    pub line_length_max: usize,
    /// Whether the text of a statement ends with a newline, in pretty layout.
    pub trailing_newline: bool,
    /// Whether commas are at the beginning of lines instead of the end, in pretty layout.
    pub commas_first: bool,
    /// Whether a comment at the end of a line stays on the line of the list element before it, in pretty layout:
    /// `a, -- the key`. Otherwise it is written before the next element, as libpg_query does. Default: true.
    pub comments_follow: bool,
    /// Comments to put into the text, each before the first node at or after its location.
    /// [`comments`](crate::comments) finds the comments of a text.
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

/// A comment, and its location for SQL that is written from a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The comment is written before the first node whose location is not smaller than this. In bytes of the text.
    pub location: usize,
    /// The number of newlines before it.
    pub newlines_before: usize,
    /// The number of newlines after it.
    pub newlines_after: usize,
    /// The comment with its `--` or `/* */`.
    pub text: String,
}

impl Comment {
    /// Whether the comment begins with `--` and so ends with its line.
    pub(super) fn is_line(&self) -> bool {
        self.text.starts_with("--")
    }
}
