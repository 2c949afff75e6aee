//! Writes clauses that many statements have.

use crate::deparse::need::required_node;
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{DefElem, DropBehavior, List, Node, View};

impl Deparser<'_> {
    /// TEMPORARY or UNLOGGED and a space, by the letter of a relation's persistence.
    pub(in crate::deparse) fn opt_temp(&mut self, persistence: char) -> DeparseResult {
        match persistence {
            'u' => self.str("UNLOGGED "),
            't' => self.str("TEMPORARY "),
            // Permanent.
            _ => {}
        }
        Ok(())
    }

    /// CASCADE and a space.
    pub(in crate::deparse) fn opt_drop_behavior(&mut self, behavior: DropBehavior) -> DeparseResult {
        match behavior {
            DropBehavior::DropRestrict => {}
            DropBehavior::DropCascade => self.str("CASCADE "),
        }
        Ok(())
    }

    /// COLLATE and a space.
    pub(in crate::deparse) fn opt_collate(&mut self, collation: List<'_>) -> DeparseResult {
        if collation.is_empty() {
            return Ok(());
        }
        self.str("COLLATE ");
        self.any_name(collation)?;
        self.char(' ');
        Ok(())
    }

    /// INHERITS and a space.
    pub(in crate::deparse) fn opt_inherit(&mut self, parents: List<'_>) -> DeparseResult {
        if parents.is_empty() {
            return Ok(());
        }
        self.str("INHERITS (");
        self.qualified_name_list(parents)?;
        self.str(") ");
        Ok(())
    }

    /// WITH, its options, and a space.
    pub(in crate::deparse) fn opt_with(&mut self, options: List<'_>) -> DeparseResult {
        if options.is_empty() {
            return Ok(());
        }
        self.str("WITH ");
        self.rel_options(options)?;
        self.char(' ');
        Ok(())
    }

    /// Storage parameters in parentheses.
    pub(in crate::deparse) fn rel_options(&mut self, options: List<'_>) -> DeparseResult {
        self.char('(');
        self.separated(options, |d, option| d.rel_option(required_node(option, "a storage parameter")?))?;
        self.char(')');
        Ok(())
    }

    fn rel_option(&mut self, option: DefElem<'_>) -> DeparseResult {
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
            // If the value were a bare operator, the lexer would join it with the equals sign.
            if matches!(option.arg().map(Node::view), Some(View::List(name)) if name.len() == 1) {
                self.char(' ');
            }
        }
        self.def_arg(option.arg(), false)
    }
}
