//! Reads a list of edits from the bytes of an input.

mod fields;
mod make;

use trunkline_parser::ParsedSql;
use trunkline_parser::edit::{EditError, ListMut};

/// The bytes that are not read yet. After the end, zeros are read.
pub struct Script<'a> {
    bytes: &'a [u8],
    /// How many more levels of fragments may be nested in the fragment that is being made.
    depth_left: u32,
}

/// How deep fragments are nested in fragments.
const DEPTH_MAX: u32 = 8;

impl<'a> Script<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, depth_left: DEPTH_MAX }
    }

    pub fn byte(&mut self) -> u8 {
        let (byte, rest) = self.bytes.split_first().map_or((0, self.bytes), |(byte, rest)| (*byte, rest));
        self.bytes = rest;
        byte
    }

    /// A number below `end`, read from two bytes.
    pub fn below(&mut self, end: usize) -> usize {
        usize::from(u16::from_le_bytes([self.byte(), self.byte()])) % end.max(1)
    }

    /// A string to put into a tree. Some of them are strings that the parser never puts there.
    pub fn text(&mut self) -> &'a str {
        const TEXTS: &[&str] = &[
            "",
            "a",
            "A b",
            "select",
            "\"",
            "'",
            "é",
            "a\0b",
            "+",
            "=",
            "<>",
            "--",
            "/*",
            "*/",
            "pg_catalog",
            "int4",
            "interval",
            "char",
            "1",
            "-1.5e3",
            "b101",
            "x1F",
            "x",
            "[]",
            "(",
            ";",
            "\\",
            "$1",
            "$$",
            "~~",
            "!~~*",
            "a name that is longer than the sixty-three bytes that PostgreSQL has for one",
            "\n",
            "%",
            "public",
            "like",
            "csv",
            "heap",
            "t",
            "; DROP TABLE x; --",
            "1; DROP TABLE x",
            ")",
            ",",
            "current_user",
            "default",
            "on",
            "extract",
            "b1'",
            "E'",
        ];
        TEXTS[self.below(TEXTS.len())]
    }

    pub fn next_edit(&mut self) -> Option<Edit> {
        if self.bytes.is_empty() {
            return None;
        }
        self.depth_left = DEPTH_MAX;
        Some(match self.byte() % 5 {
            0 => Edit::Replace,
            1 => Edit::Statements,
            _ => Edit::Fields,
        })
    }
}

/// One edit. The script says of which node.
pub enum Edit {
    /// Replaces a node.
    Replace,
    /// Changes the list of statements.
    Statements,
    /// Changes a field of a node.
    Fields,
}

impl Edit {
    pub fn apply(self, tree: &mut ParsedSql, script: &mut Script<'_>, size: usize) -> Result<(), EditError> {
        let at = script.below(size);
        if let Edit::Statements = self {
            let other = make::fragment(tree, script)?;
            return change_list(tree.statements_mut(), script, other);
        }
        let other = make::fragment(tree, script)?;
        let (mut seen, mut other) = (0, Some(other));
        tree.edit_each(|mut slot| {
            let here = seen == at;
            seen += 1;
            let Some(fragment) = other.take_if(|_| here) else { return Ok(()) };
            match self {
                Edit::Replace => slot.replace(fragment),
                _ => fields::change(slot.node_mut(), script, fragment),
            }
        })
    }
}

/// Changes a list: at its end, at an index that may be past its end, or in an element that is itself a list.
pub fn change_list(
    mut list: ListMut<'_>,
    script: &mut Script<'_>,
    fragment: trunkline_parser::edit::Fragment,
) -> Result<(), EditError> {
    let index = script.below(list.len() + 2);
    match script.byte() % 8 {
        0 | 1 => list.push(fragment),
        2 => list.insert(index, fragment),
        3 => list.replace(index, fragment),
        4 => {
            let before = list.len();
            assert_eq!(list.remove(index), index < before);
            Ok(())
        }
        5 => {
            list.clear();
            assert!(list.is_empty());
            Ok(())
        }
        6 => match list.list_mut(index) {
            Some(inner) => change_list(inner, script, fragment),
            None => Ok(()),
        },
        _ => match list.get_mut(index) {
            Some(node) => fields::change(node, script, fragment),
            None => Ok(()),
        },
    }
}
