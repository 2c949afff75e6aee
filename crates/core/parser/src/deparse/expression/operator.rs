//! Names of operators.

use crate::deparse::names::{only_string, string_of};
use crate::deparse::{DeparseError, Deparser, Done};
use crate::node::List;

/// Whether a name has characters of operators only.
fn is_op(name: &str) -> bool {
    name.bytes().all(|byte| {
        matches!(
            byte,
            b'~' | b'!'
                | b'@'
                | b'#'
                | b'^'
                | b'&'
                | b'|'
                | b'`'
                | b'?'
                | b'+'
                | b'-'
                | b'*'
                | b'/'
                | b'%'
                | b'<'
                | b'>'
                | b'='
        )
    })
}

impl Deparser<'_> {
    /// `any_operator`: perhaps with its schema.
    pub(in crate::deparse) fn any_operator(&mut self, name: List<'_>) -> Done {
        let count = name.len();
        if count == 0 {
            return Err(DeparseError::missing("an operator"));
        }
        for (index, part) in name.iter().enumerate() {
            let part = string_of(part)?;
            if index + 1 == count {
                self.str(part);
            } else {
                self.ident(part);
                self.char('.');
            }
        }
        Ok(())
    }

    /// `qual_Op` and `qual_all_Op`.
    pub(in crate::deparse) fn qual_op(&mut self, name: List<'_>) -> Done {
        if let Some(operator) = only_string(name).filter(|name| is_op(name)) {
            self.str(operator);
            return Ok(());
        }
        self.str("OPERATOR(");
        self.any_operator(name)?;
        self.char(')');
        Ok(())
    }

    /// `subquery_Op`: before ANY and ALL.
    pub(in crate::deparse) fn subquery_op(&mut self, name: List<'_>) -> Done {
        let word = match only_string(name) {
            Some("~~") => "LIKE",
            Some("!~~") => "NOT LIKE",
            Some("~~*") => "ILIKE",
            Some("!~~*") => "NOT ILIKE",
            _ => return self.qual_op(name),
        };
        self.str(word);
        Ok(())
    }
}
