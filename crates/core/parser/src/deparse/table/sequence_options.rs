//! Writes options of sequences and of identity columns.

use crate::deparse::need::{bool_of, int_of, list_of, required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{DefElem, List, Node};

impl Deparser<'_> {
    pub(in crate::deparse) fn seq_opt_elem(&mut self, option: DefElem<'_>) -> DeparseResult {
        let value = option.arg();
        match required(option.defname(), "the name of an option of a sequence")? {
            "as" => {
                self.str("AS ");
                self.simple_typename(value)
            }
            "cycle" => {
                self.str(if bool_of(value)? { "CYCLE" } else { "NO CYCLE" });
                Ok(())
            }
            "cache" => self.sequence_number("CACHE ", value),
            "increment" => self.sequence_number("INCREMENT ", value),
            "start" => self.sequence_number("START ", value),
            "maxvalue" => self.opt_sequence_number("MAXVALUE ", "NO MAXVALUE", value),
            "minvalue" => self.opt_sequence_number("MINVALUE ", "NO MINVALUE", value),
            "restart" => self.opt_sequence_number("RESTART ", "RESTART", value),
            "owned_by" => {
                self.str("OWNED BY ");
                self.any_name(list_of(value, "the owner of a sequence")?)
            }
            "sequence_name" => {
                self.str("SEQUENCE NAME ");
                self.any_name(list_of(value, "the name of a sequence")?)
            }
            "logged" => {
                self.str("LOGGED");
                Ok(())
            }
            "unlogged" => {
                self.str("UNLOGGED");
                Ok(())
            }
            other => Err(DeparseError::new(format!("sequences have no option \"{other}\""))),
        }
    }

    fn sequence_number(&mut self, keyword: &str, value: Option<Node<'_>>) -> DeparseResult {
        self.str(keyword);
        self.numeric_only(required(value, "the number of an option of a sequence")?)
    }

    fn opt_sequence_number(
        &mut self,
        keyword: &str,
        without: &str,
        value: Option<Node<'_>>,
    ) -> DeparseResult {
        if value.is_none() {
            self.str(without);
            return Ok(());
        }
        self.sequence_number(keyword, value)
    }

    /// Options, with a space after each.
    pub(in crate::deparse) fn seq_opt_list(&mut self, options: List<'_>) -> DeparseResult {
        for option in options {
            self.seq_opt_elem(required_node(option, "an option of a sequence")?)?;
            self.char(' ');
        }
        Ok(())
    }

    pub(in crate::deparse) fn opt_seq_opt_list(&mut self, options: List<'_>) -> DeparseResult {
        self.seq_opt_list(options)
    }

    pub(in crate::deparse) fn opt_parenthesized_seq_opt_list(&mut self, options: List<'_>) -> DeparseResult {
        if options.is_empty() {
            return Ok(());
        }
        self.char('(');
        self.seq_opt_list(options)?;
        self.char(')');
        Ok(())
    }

    /// The options of an identity column in ALTER TABLE.
    pub(in crate::deparse) fn alter_identity_column_option_list(
        &mut self,
        options: List<'_>,
    ) -> DeparseResult {
        for (index, option) in options.iter().enumerate() {
            if index > 0 {
                self.char(' ');
            }
            let option = required_node::<DefElem<'_>>(option, "an option of an identity column")?;
            match option.defname() {
                Some("restart") => {}
                Some("generated") => {
                    self.str("SET GENERATED ");
                    let when = u32::try_from(int_of(option.arg())?).ok().and_then(char::from_u32);
                    self.identity_when(when.unwrap_or_default())?;
                    continue;
                }
                _ => self.str("SET "),
            }
            self.seq_opt_elem(option)?;
        }
        Ok(())
    }

    /// ALWAYS or BY DEFAULT, from PostgreSQL's letter.
    pub(super) fn identity_when(&mut self, when: char) -> DeparseResult {
        match when {
            'a' => self.str("ALWAYS"),
            'd' => self.str("BY DEFAULT"),
            other => {
                return Err(DeparseError::new(format!("{other:?} is not a letter for ALWAYS or BY DEFAULT")));
            }
        }
        Ok(())
    }
}
