//! Tables in a fingerprint.

use super::write::{Place, Writer};
use crate::node::{NodeTag, RangeVar};

impl Writer {
    /// In queries an alias counts instead of the table's name, as in PostgreSQL 18's own query identifiers.
    pub(super) fn range_var(&mut self, table: RangeVar<'_>, place: Place) {
        let in_query = is_in_query(place);
        let alias = table.alias().filter(|_| !self.options.ignore_aliases);
        if let Some(name) = alias.and_then(|alias| alias.aliasname()) {
            self.pair("aliasname", name);
        }
        if let Some(catalog) = table.catalogname() {
            self.pair("catalogname", catalog);
        }
        if table.inh() {
            self.pair("inh", "true");
        }
        let persistence = table.relpersistence();
        if let Some(name) = table.relname()
            && persistence != 't'
            && !(in_query && alias.is_some())
        {
            self.relation_name(name);
        }
        if persistence != '\0' {
            self.pair("relpersistence", persistence.encode_utf8(&mut [0; 4]));
        }
        if let Some(schema) = table.schemaname()
            && (!in_query || self.options.include_schemas)
        {
            self.pair("schemaname", schema);
        }
    }

    /// Two or more digits in a row do not count, because partitions have them in their names.
    fn relation_name(&mut self, name: &str) {
        self.str("relname");
        if self.options.full_relation_names {
            return self.str(name);
        }
        for piece in name.split_inclusive(|letter: char| !letter.is_ascii_digit()) {
            let other = piece.trim_start_matches(|letter: char| letter.is_ascii_digit());
            let digits = piece.get(..piece.len() - other.len()).unwrap_or_default();
            if digits.len() == 1 {
                self.str(digits);
            }
            self.str(other);
        }
    }
}

/// Whether a query reads or writes the table at this place.
fn is_in_query(place: Place) -> bool {
    match place.parent {
        Some(NodeTag::SelectStmt) => place.field == "fromClause",
        Some(NodeTag::InsertStmt) => place.field == "relation",
        Some(NodeTag::UpdateStmt) => matches!(place.field, "relation" | "fromClause"),
        Some(NodeTag::DeleteStmt) => matches!(place.field, "relation" | "usingClause"),
        Some(NodeTag::MergeStmt) => matches!(place.field, "relation" | "sourceRelation"),
        Some(NodeTag::JoinExpr | NodeTag::RangeTableSample | NodeTag::LockingClause) => true,
        _ => false,
    }
}
