//! Queries: SELECT with all its clauses, and the statements that change rows.

mod clauses;
mod columns;
mod insert;
mod into;
mod join;
mod locking;
mod merge;
mod prepare;
mod relation;
mod select;
mod targets;
mod update;
mod with;

use super::{Deparser, Done};

impl Deparser<'_> {
    /// Elements with commas between them, each in a part of its own.
    pub(in crate::deparse) fn comma_parts<T>(
        &mut self,
        elements: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T) -> Done,
    ) -> Done {
        for (index, element) in elements.into_iter().enumerate() {
            if index > 0 {
                self.comma_part();
            }
            each(self, element)?;
        }
        Ok(())
    }

    /// A keyword with the name behind it, and a space.
    pub(in crate::deparse) fn keyword_name(&mut self, keyword: &str, name: &str) {
        self.str(keyword);
        self.char(' ');
        self.ident(name);
        self.char(' ');
    }
}
