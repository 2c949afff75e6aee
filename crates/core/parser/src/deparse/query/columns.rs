//! Writes lists of names.

use crate::deparse::names::string_of;
use crate::deparse::need::list_of;
use crate::deparse::{DeparseResult, Deparser};
use crate::node::List;

impl Deparser<'_> {
    pub(in crate::deparse) fn name_list(&mut self, names: List<'_>) -> DeparseResult {
        self.separated(names, |d, name| {
            d.ident(string_of(name)?);
            Ok(())
        })
    }

    pub(in crate::deparse) fn column_list(&mut self, columns: List<'_>) -> DeparseResult {
        self.name_list(columns)
    }

    /// Columns; the last one is a PERIOD.
    pub(in crate::deparse) fn column_list_with_period(&mut self, columns: List<'_>) -> DeparseResult {
        let last = columns.len().saturating_sub(1);
        self.separated(columns.iter().enumerate(), |d, (index, column)| {
            if index == last {
                d.str("PERIOD ");
            }
            d.ident(string_of(column)?);
            Ok(())
        })
    }

    pub(in crate::deparse) fn any_name_list(&mut self, names: List<'_>) -> DeparseResult {
        self.separated(names, |d, name| d.any_name(list_of(name, "a qualified name")?))
    }
}
