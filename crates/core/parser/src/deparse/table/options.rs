//! Clauses that many statements have.

use crate::deparse::need::need;
use crate::deparse::{Deparser, Done};
use crate::node::{DefElem, DropBehavior, List, Node, View};

impl Deparser<'_> {
    /// TEMPORARY or UNLOGGED and a space, by the letter of a relation's persistence.
    pub(in crate::deparse) fn opt_temp(&mut self, persistence: char) -> Done {
        match persistence {
            'u' => self.str("UNLOGGED "),
            't' => self.str("TEMPORARY "),
            // Permanent.
            _ => {}
        }
        Ok(())
    }

    /// CASCADE and a space.
    pub(in crate::deparse) fn opt_drop_behavior(&mut self, behavior: DropBehavior) -> Done {
        match behavior {
            DropBehavior::DropRestrict => {}
            DropBehavior::DropCascade => self.str("CASCADE "),
        }
        Ok(())
    }

    /// COLLATE and a space.
    pub(in crate::deparse) fn opt_collate(&mut self, collation: List<'_>) -> Done {
        if collation.is_empty() {
            return Ok(());
        }
        self.str("COLLATE ");
        self.any_name(collation)?;
        self.char(' ');
        Ok(())
    }

    /// INHERITS and a space.
    pub(in crate::deparse) fn opt_inherit(&mut self, parents: List<'_>) -> Done {
        if parents.is_empty() {
            return Ok(());
        }
        self.str("INHERITS (");
        self.qualified_name_list(parents)?;
        self.str(") ");
        Ok(())
    }

    /// WITH, its options, and a space.
    pub(in crate::deparse) fn opt_with(&mut self, options: List<'_>) -> Done {
        if options.is_empty() {
            return Ok(());
        }
        self.str("WITH ");
        self.rel_options(options)?;
        self.char(' ');
        Ok(())
    }

    /// Storage parameters in parentheses.
    pub(in crate::deparse) fn rel_options(&mut self, options: List<'_>) -> Done {
        self.char('(');
        self.separated(options, |d, option| d.rel_option(need(option, "a storage parameter")?))?;
        self.char(')');
        Ok(())
    }

    fn rel_option(&mut self, option: DefElem<'_>) -> Done {
        if let Some(namespace) = option.defnamespace() {
            self.ident(namespace);
            self.char('.');
        }
        if let Some(name) = option.defname() {
            self.ident(name);
        }
        if option.arg().is_none() {
            return Ok(());
        }
        if option.defname().is_some() {
            self.char('=');
            // An operator as the value would be one with the sign.
            if matches!(option.arg().map(Node::view), Some(View::List(name)) if name.len() == 1) {
                self.char(' ');
            }
        }
        self.def_arg(option.arg(), false)
    }
}
