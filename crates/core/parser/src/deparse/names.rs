//! Identifiers and literals.

use super::{DeparseError, Deparser, Done};
use crate::node::{List, Node, String as StringNode};

/// The string of a list's element.
pub(super) fn string_of(node: Option<Node<'_>>) -> Result<&str, DeparseError> {
    let Some(node) = node else { return Err(DeparseError::missing("a name")) };
    let string =
        node.cast::<StringNode<'_>>().ok_or_else(|| DeparseError::misplaced(node.tag(), "a name"))?;
    Ok(string.sval())
}

/// Whether an identifier means the same without quotes: in lower case, and no keyword of the grammar's but those that it
/// lets stand as any name.
fn is_plain(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_lowercase() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        && !must_be_quoted(name)
}

// To come with the lexer's table of keywords.
fn must_be_quoted(_name: &str) -> bool {
    false
}

// To come with the lexer's table of keywords.
pub(super) fn is_reserved_keyword(_name: &str) -> bool {
    false
}

impl Deparser<'_> {
    /// An identifier, in quotes where it needs them (PostgreSQL's `quote_identifier`).
    pub(super) fn ident(&mut self, name: &str) {
        if is_plain(name) {
            self.str(name);
            return;
        }
        self.char('"');
        self.doubling(name, '"');
        self.char('"');
    }

    /// A string as a literal: `E'...'` if it has a backslash, whatever `standard_conforming_strings` is.
    pub(super) fn string_literal(&mut self, value: &str) {
        if value.contains('\\') {
            self.char('E');
            self.char('\'');
            for piece in value.split_inclusive(['\'', '\\']) {
                self.str(piece);
                if let Some(last) = piece.chars().last().filter(|last| matches!(last, '\'' | '\\')) {
                    self.char(last);
                }
            }
        } else {
            self.char('\'');
            self.doubling(value, '\'');
        }
        self.char('\'');
    }

    fn doubling(&mut self, text: &str, quote: char) {
        for piece in text.split_inclusive(quote) {
            self.str(piece);
            if piece.ends_with(quote) {
                self.char(quote);
            }
        }
    }

    /// `ColId`: a name that the node must have.
    pub(super) fn col_id(&mut self, name: Option<&str>) -> Done {
        self.ident(name.ok_or_else(|| DeparseError::missing("a name"))?);
        Ok(())
    }

    /// A string literal that the node must have.
    pub(super) fn sconst(&mut self, value: Option<&str>) -> Done {
        self.string_literal(value.ok_or_else(|| DeparseError::missing("a string"))?);
        Ok(())
    }

    /// A name where libpg_query never writes quotes, even around one that needs them.
    pub(super) fn bare_name(&mut self, name: &str) {
        self.str(name);
    }

    /// `ColLabel`: any name after AS; only reserved keywords are quoted.
    pub(super) fn col_label(&mut self, name: &str) {
        self.ident(name);
    }

    /// `any_name`: names with dots between them.
    pub(super) fn any_name(&mut self, names: List<'_>) -> Done {
        self.dotted(names.iter())
    }

    /// `any_name` without its first name.
    pub(super) fn any_name_skip_first(&mut self, names: List<'_>) -> Done {
        self.dotted(names.iter().skip(1))
    }

    /// `any_name` without its last name.
    pub(super) fn any_name_skip_last(&mut self, names: List<'_>) -> Done {
        self.dotted(names.iter().take(names.len().saturating_sub(1)))
    }

    fn dotted<'a>(&mut self, names: impl Iterator<Item = Option<Node<'a>>>) -> Done {
        for (index, name) in names.enumerate() {
            if index > 0 {
                self.char('.');
            }
            self.ident(string_of(name)?);
        }
        Ok(())
    }
}
