//! Tables: where they are named, and which of the names are WITH's.

use super::collect::{Collector, dotted};
use super::{SummaryContext, SummaryTable};
use crate::error::{ParseError, SqlState};
use crate::lexer::{KeywordKind, keyword};
use crate::node::{List, Node, RangeVar, View};

/// A table as the text names it.
pub(super) struct Table<'a> {
    schema: Option<&'a str>,
    name: Option<&'a str>,
    alias: Option<&'a str>,
    /// The address of its node; None for one that is put together of a list of names.
    node: Option<*const ()>,
}

impl<'a> Collector<'a> {
    /// The tables of FROM or the like: those of joins too, not what is below subqueries.
    pub(super) fn from(&mut self, list: List<'a>, context: SummaryContext) -> Result<(), ParseError> {
        for item in list.nodes() {
            let mut left = vec![item];
            while let Some(item) = left.pop() {
                match item.view() {
                    View::RangeVar(table) => self.range_var(Some(table), context),
                    View::JoinExpr(join) => {
                        left.extend(join.rarg());
                        left.extend(join.larg());
                    }
                    View::RangeTableSample(sample) => left.extend(sample.relation()),
                    View::JsonTable(_)
                    | View::RangeTableFunc(_)
                    | View::RangeFunction(_)
                    | View::RangeSubselect(_) => {}
                    _ => {
                        let message = format!("unexpected node type: {}", item.tag() as u32);
                        return Err(Self::error(SqlState::INTERNAL_ERROR, message));
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn range_var(&mut self, table: Option<RangeVar<'a>>, context: SummaryContext) {
        let Some(table) = table else { return };
        let node = Some(table.node().address());
        let alias = table.alias().and_then(|alias| alias.aliasname());
        let table = Table { schema: table.schemaname(), name: table.relname(), alias, node };
        self.tables.push((table, context));
    }

    /// A table that has no node of its own.
    pub(super) fn table(&mut self, schema: Option<&'a str>, name: Option<&'a str>) {
        let table = Table { schema, name, alias: None, node: None };
        self.tables.push((table, SummaryContext::Ddl));
    }

    /// The table that a list of names means, the last `left_out` of them left out. Nothing if none is left.
    pub(super) fn named(&mut self, object: Node<'a>, left_out: usize) -> Result<(), ParseError> {
        let Some(names) = object.as_list() else { return Ok(()) };
        let length = names.len().saturating_sub(left_out);
        let mut parts = names.strings().take(length);
        let (first, second, third) = (parts.next(), parts.next(), parts.next());
        match length {
            0 => {}
            1 => self.table(None, first),
            2 => self.table(first, second),
            3 => self.table(second, third),
            _ => {
                let parts: Vec<_> = names.strings().take(length).collect();
                let text = if left_out == 0 { dotted(names)? } else { parts.join(".") };
                let message = format!("improper relation name (too many dotted names): {text}");
                return Err(Self::error(SqlState::SYNTAX_ERROR, message));
            }
        }
        Ok(())
    }

    /// Now that all names that WITH gives are known: the tables and their aliases.
    pub(super) fn resolve_tables(&mut self) {
        for (table, context) in std::mem::take(&mut self.tables) {
            let name = full_name(&table);
            if let Some(alias) = table.alias {
                self.summary.aliases.insert(alias.to_owned(), name.clone());
            }
            if !self.is_of_with(&table, context) {
                self.summary.tables.push(SummaryTable {
                    name,
                    schema_name: table.schema.unwrap_or_default().to_owned(),
                    table_name: table.name.unwrap_or_default().to_owned(),
                    context,
                });
            }
        }
    }

    /// Whether the name is one that WITH gives: where it is read, without a schema, and not in the query of that name.
    fn is_of_with(&self, table: &Table<'a>, context: SummaryContext) -> bool {
        context == SummaryContext::Select
            && table.schema.is_none()
            && table.name.is_some_and(|name| self.cte_names.contains(name))
            && !table.node.is_some_and(|node| self.self_references.contains(&node))
    }
}

fn full_name(table: &Table<'_>) -> String {
    let mut text = String::new();
    if let Some(schema) = table.schema {
        push_quoted(&mut text, schema);
        text.push('.');
    }
    push_quoted(&mut text, table.name.unwrap_or_default());
    text
}

/// A name as SQL, in quotes only where it needs them.
fn push_quoted(text: &mut String, name: &str) {
    let bytes = name.as_bytes();
    let is_plain = bytes.first().is_some_and(|first| first.is_ascii_lowercase() || *first == b'_')
        && bytes.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_')
        && keyword(bytes).is_none_or(|keyword| keyword.kind == KeywordKind::Unreserved);
    if is_plain {
        return text.push_str(name);
    }
    text.push('"');
    text.push_str(&name.replace('"', "\"\""));
    text.push('"');
}
