//! Options of sequences and of identity columns.

use crate::deparse::need::{bool_of, given, int_of, list_of, need};
use crate::deparse::{DeparseError, Deparser, Done};
use crate::node::{DefElem, List, Node};

impl Deparser<'_> {
    pub(in crate::deparse) fn seq_opt_elem(&mut self, option: DefElem<'_>) -> Done {
        let value = option.arg();
        match given(option.defname(), "the name of an option of a sequence")? {
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

    fn sequence_number(&mut self, keyword: &str, value: Option<Node<'_>>) -> Done {
        self.str(keyword);
        self.numeric_only(given(value, "the number of an option of a sequence")?)
    }

    fn opt_sequence_number(&mut self, keyword: &str, without: &str, value: Option<Node<'_>>) -> Done {
        if value.is_none() {
            self.str(without);
            return Ok(());
        }
        self.sequence_number(keyword, value)
    }

    /// Options, a space after each.
    pub(in crate::deparse) fn seq_opt_list(&mut self, options: List<'_>) -> Done {
        for option in options {
            self.seq_opt_elem(need(option, "an option of a sequence")?)?;
            self.char(' ');
        }
        Ok(())
    }

    pub(in crate::deparse) fn opt_seq_opt_list(&mut self, options: List<'_>) -> Done {
        self.seq_opt_list(options)
    }

    pub(in crate::deparse) fn opt_parenthesized_seq_opt_list(&mut self, options: List<'_>) -> Done {
        if options.is_empty() {
            return Ok(());
        }
        self.char('(');
        self.seq_opt_list(options)?;
        self.char(')');
        Ok(())
    }

    /// What ALTER TABLE changes of an identity column.
    pub(in crate::deparse) fn alter_identity_column_option_list(&mut self, options: List<'_>) -> Done {
        for (index, option) in options.iter().enumerate() {
            if index > 0 {
                self.char(' ');
            }
            let option = need::<DefElem<'_>>(option, "an option of an identity column")?;
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

    /// When an identity column is generated, by PostgreSQL's letter.
    pub(super) fn identity_when(&mut self, when: char) -> Done {
        match when {
            'a' => self.str("ALWAYS"),
            'd' => self.str("BY DEFAULT"),
            other => {
                return Err(DeparseError::new(format!("identity columns are not generated at {other:?}")));
            }
        }
        Ok(())
    }
}
