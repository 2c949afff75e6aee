//! Writes identifiers and literals.

use super::keyword::{Use, restricted};
use super::need::required_node;
use super::writer::may_join_next_word;
use super::{DeparseError, DeparseResult, Deparser};
use crate::node::{List, Node, StringNode};

/// PostgreSQL's `NAMEDATALEN`. An identifier is cut to less than this many bytes.
pub(super) const NAME_BYTES_LIMIT: usize = 64;

/// The string in an element of a list.
pub(super) fn string_of(node: Option<Node<'_>>) -> Result<&str, DeparseError> {
    let Some(node) = node else { return Err(DeparseError::missing("a name")) };
    let string =
        node.cast::<StringNode<'_>>().ok_or_else(|| DeparseError::misplaced(node.tag(), "a name"))?;
    Ok(string.sval())
}

/// The string of a name without a schema.
#[inline]
pub(super) fn only_string(names: List<'_>) -> Option<&str> {
    if names.len() != 1 {
        return None;
    }
    names.get(0)?.and_then(Node::cast::<StringNode<'_>>).map(StringNode::sval)
}

/// The name of an object in the schema `pg_catalog`. In most cases the grammar itself has set this schema.
#[inline]
pub(super) fn system_name(names: List<'_>) -> Option<&str> {
    if names.len() != 2 {
        return None;
    }
    let mut names = names.strings();
    names.next().filter(|schema| *schema == "pg_catalog")?;
    names.next()
}

/// Whether an identifier has only lower-case letters, digits and underscores, so that the lexer does not change it.
#[inline]
fn has_plain_letters(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_lowercase() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Whether the lexer reads a name without quotes unchanged: in lower case, or in letters without case for the lexer.
pub(super) fn is_read_as_written(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'_' || !byte.is_ascii();
    let mut bytes = name.bytes();
    bytes.next().is_some_and(is_letter)
        && bytes.all(|byte| is_letter(byte) || byte.is_ascii_digit() || byte == b'$')
}

/// Whether a name in lower case is a keyword that is only allowed as a label after AS.
pub(super) fn is_reserved_keyword(name: &str) -> bool {
    restricted(name) == Some(Use::Reserved)
}

impl Deparser<'_> {
    /// An identifier, as PostgreSQL's `quote_identifier` writes it: in quotes if it is not in lower case, or if it is
    /// a keyword that is not allowed as every kind of name.
    pub(super) fn ident(&mut self, name: &str) {
        self.quoted_unless(name, has_plain_letters(name) && restricted(name).is_none());
    }

    /// A column's or window's name, where libpg_query writes it without quotes. It gets quotes only if it needs them
    /// here.
    pub(super) fn column_name(&mut self, name: &str) {
        let is_bare = is_read_as_written(name) && matches!(restricted(name), None | Some(Use::ColumnName));
        self.quoted_unless(name, is_bare);
    }

    /// A function's or argument's name, where libpg_query writes it without quotes. It gets quotes only if it needs
    /// them here.
    pub(super) fn type_function_name(&mut self, name: &str) {
        let is_bare =
            is_read_as_written(name) && matches!(restricted(name), None | Some(Use::TypeFunctionName));
        self.quoted_unless(name, is_bare);
    }

    /// A name after a dot, where libpg_query writes it without quotes. It gets quotes only if it needs them here.
    pub(super) fn attribute_name(&mut self, name: &str) {
        self.quoted_unless(name, is_read_as_written(name));
    }

    #[inline]
    fn quoted_unless(&mut self, name: &str, is_bare: bool) {
        if is_bare {
            self.has_joining_name |= may_join_next_word(name);
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

    /// A string literal: `E'...'` if it has a backslash, so that `standard_conforming_strings` makes no difference.
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

    /// `ColId`: a required name.
    pub(super) fn col_id(&mut self, name: Option<&str>) -> DeparseResult {
        self.ident(name.ok_or_else(|| DeparseError::missing("a name"))?);
        Ok(())
    }

    /// `Sconst`: a required string literal.
    pub(super) fn sconst(&mut self, value: Option<&str>) -> DeparseResult {
        self.string_literal(value.ok_or_else(|| DeparseError::missing("a string"))?);
        Ok(())
    }

    /// `ColLabel`: any name after AS. Only reserved keywords get quotes.
    pub(super) fn col_label(&mut self, name: &str) {
        self.ident(name);
    }

    /// `role_list`: names of roles, or words such as CURRENT_USER.
    pub(super) fn role_list(&mut self, roles: List<'_>) -> DeparseResult {
        self.separated(roles, |deparser, role| deparser.role_spec(required_node(role, "a role")?))
    }

    /// `any_name`: names with dots between them.
    pub(super) fn any_name(&mut self, names: List<'_>) -> DeparseResult {
        self.dotted(names.iter())
    }

    /// `any_name` without its first name.
    pub(super) fn any_name_skip_first(&mut self, names: List<'_>) -> DeparseResult {
        self.dotted(names.iter().skip(1))
    }

    /// `any_name` without its last name.
    pub(super) fn any_name_skip_last(&mut self, names: List<'_>) -> DeparseResult {
        self.dotted(names.iter().take(names.len().saturating_sub(1)))
    }

    fn dotted<'a>(&mut self, names: impl Iterator<Item = Option<Node<'a>>>) -> DeparseResult {
        for (index, name) in names.enumerate() {
            if index > 0 {
                self.char('.');
            }
            self.ident(string_of(name)?);
        }
        Ok(())
    }
}
