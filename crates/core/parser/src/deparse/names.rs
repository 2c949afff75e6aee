//! Identifiers and literals.

use super::keyword::{Use, restricted};
use super::need::need;
use super::writer::may_be_joined;
use super::{DeparseError, Deparser, Done};
use crate::node::{List, Node, StringNode};

/// PostgreSQL's `NAMEDATALEN`: an identifier is cut to fewer bytes than this.
pub(super) const NAME_BYTES_LIMIT: usize = 64;

/// The string of a list's element.
pub(super) fn string_of(node: Option<Node<'_>>) -> Result<&str, DeparseError> {
    let Some(node) = node else { return Err(DeparseError::missing("a name")) };
    let string =
        node.cast::<StringNode<'_>>().ok_or_else(|| DeparseError::misplaced(node.tag(), "a name"))?;
    Ok(string.sval())
}

/// The string of a name that has no schema.
#[inline]
pub(super) fn only_string(names: List<'_>) -> Option<&str> {
    if names.len() != 1 {
        return None;
    }
    names.get(0)?.and_then(Node::cast::<StringNode<'_>>).map(StringNode::sval)
}

/// The name of what belongs to the schema `pg_catalog`: of what the grammar itself named, mostly.
#[inline]
pub(super) fn system_name(names: List<'_>) -> Option<&str> {
    if names.len() != 2 {
        return None;
    }
    let mut names = names.strings();
    names.next().filter(|schema| *schema == "pg_catalog")?;
    names.next()
}

/// Whether an identifier has small letters, digits and underscores only, so that it is read as it is written.
#[inline]
fn has_plain_letters(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_lowercase() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Whether the lexer reads a name as it is: in small letters, or letters that have no other case to the lexer.
pub(super) fn is_read_as_written(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'_' || !byte.is_ascii();
    let mut bytes = name.bytes();
    bytes.next().is_some_and(is_letter)
        && bytes.all(|byte| is_letter(byte) || byte.is_ascii_digit() || byte == b'$')
}

/// Whether a name in small letters is a keyword that only a label after AS may be.
pub(super) fn is_reserved_keyword(name: &str) -> bool {
    restricted(name) == Some(Use::Reserved)
}

impl Deparser<'_> {
    /// An identifier, in quotes where it needs them somewhere (PostgreSQL's `quote_identifier`): if it is not in small
    /// letters, or a keyword that may not stand for any name.
    pub(super) fn ident(&mut self, name: &str) {
        self.quoted_unless(name, has_plain_letters(name) && restricted(name).is_none());
    }

    /// A column's or window's name where libpg_query writes it as it is: in quotes only if it needs them there.
    pub(super) fn column_name(&mut self, name: &str) {
        let is_bare = is_read_as_written(name) && matches!(restricted(name), None | Some(Use::ColumnName));
        self.quoted_unless(name, is_bare);
    }

    /// A function's or argument's name where libpg_query writes it as it is: in quotes only if it needs them there.
    pub(super) fn type_function_name(&mut self, name: &str) {
        let is_bare =
            is_read_as_written(name) && matches!(restricted(name), None | Some(Use::TypeFunctionName));
        self.quoted_unless(name, is_bare);
    }

    /// A name after a dot where libpg_query writes it as it is: in quotes only if it needs them there.
    pub(super) fn attribute_name(&mut self, name: &str) {
        self.quoted_unless(name, is_read_as_written(name));
    }

    #[inline]
    fn quoted_unless(&mut self, name: &str, is_bare: bool) {
        if is_bare {
            self.has_joined |= may_be_joined(name);
            self.str(name);
        } else {
            self.quoted(name);
        }
    }

    /// An identifier in quotes.
    pub(super) fn quoted(&mut self, name: &str) {
        self.char('"');
        self.doubling(name, '"');
        self.char('"');
    }

    /// A string as a literal: `E'...'` if it has a backslash, whatever `standard_conforming_strings` is.
    pub(super) fn string_literal(&mut self, value: &str) {
        if memchr::memchr2(b'\'', b'\\', value.as_bytes()).is_none() {
            self.char('\'');
            self.str(value);
        } else if value.contains('\\') {
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

    /// `ColLabel`: any name after AS; only reserved keywords are quoted.
    pub(super) fn col_label(&mut self, name: &str) {
        self.ident(name);
    }

    /// `role_list`: names of roles, or words like CURRENT_USER.
    pub(super) fn role_list(&mut self, roles: List<'_>) -> Done {
        self.separated(roles, |deparser, role| deparser.role_spec(need(role, "a role")?))
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
