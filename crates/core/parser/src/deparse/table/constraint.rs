//! Writes constraints.

use crate::deparse::context::Context;
use crate::deparse::names::string_of;
use crate::deparse::need::{list_of, required, required_element, required_node};
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{ATAlterConstraint, ConstrType, Constraint, List, Node};

/// The default access method of an index: PostgreSQL's `DEFAULT_INDEX_TYPE`.
const DEFAULT_ACCESS_METHOD: &str = "btree";

impl Deparser<'_> {
    pub(in crate::deparse) fn constraint(
        &mut self,
        constraint: Constraint<'_>,
        context: Context,
    ) -> DeparseResult {
        if let Some(name) = constraint.conname() {
            self.keyword_name("CONSTRAINT", name);
        }
        self.constraint_kind(constraint)?;
        self.constraint_keys(constraint, context)?;
        self.foreign_key(constraint)?;
        self.foreign_key_actions(constraint)?;
        if !constraint.including().is_empty() {
            self.str("INCLUDE ");
            self.columns_in_parentheses(constraint.including(), false)?;
        }
        self.constraint_attributes(constraint)?;
        self.trim();
        Ok(())
    }

    /// The beginning of a constraint, up to its columns.
    fn constraint_kind(&mut self, constraint: Constraint<'_>) -> DeparseResult {
        match constraint.contype() {
            ConstrType::ConstrNull => self.str("NULL "),
            ConstrType::ConstrNotnull => self.str("NOT NULL "),
            ConstrType::ConstrDefault => {
                self.str("DEFAULT ");
                self.b_expr(constraint.raw_expr())?;
            }
            ConstrType::ConstrIdentity => {
                self.str("GENERATED ");
                self.identity_when(constraint.generated_when())?;
                self.str(" AS IDENTITY ");
                self.opt_parenthesized_seq_opt_list(constraint.options())?;
            }
            ConstrType::ConstrGenerated => {
                self.constraint_expr("GENERATED ALWAYS AS (", constraint.raw_expr())?;
                self.str(if constraint.generated_kind() == 's' { "STORED " } else { "VIRTUAL " });
            }
            ConstrType::ConstrCheck => self.constraint_expr("CHECK (", constraint.raw_expr())?,
            ConstrType::ConstrPrimary => self.str("PRIMARY KEY "),
            ConstrType::ConstrUnique if constraint.nulls_not_distinct() => {
                self.str("UNIQUE NULLS NOT DISTINCT ");
            }
            ConstrType::ConstrUnique => self.str("UNIQUE "),
            ConstrType::ConstrExclusion => self.exclusion(constraint)?,
            ConstrType::ConstrForeign if constraint.fk_attrs().is_empty() => {}
            ConstrType::ConstrForeign => self.str("FOREIGN KEY "),
            ConstrType::ConstrAttrDeferrable => self.str("DEFERRABLE "),
            ConstrType::ConstrAttrNotDeferrable => self.str("NOT DEFERRABLE "),
            ConstrType::ConstrAttrDeferred => self.str("INITIALLY DEFERRED "),
            ConstrType::ConstrAttrImmediate => self.str("INITIALLY IMMEDIATE "),
            ConstrType::ConstrAttrEnforced => self.str("ENFORCED "),
            ConstrType::ConstrAttrNotEnforced => self.str("NOT ENFORCED "),
        }
        Ok(())
    }

    fn constraint_expr(&mut self, opening: &str, expression: Option<Node<'_>>) -> DeparseResult {
        self.str(opening);
        self.expr(expression, Context::AExpr)?;
        self.str(") ");
        Ok(())
    }

    fn exclusion(&mut self, constraint: Constraint<'_>) -> DeparseResult {
        self.str("EXCLUDE ");
        if let Some(method) = constraint.access_method().filter(|method| *method != DEFAULT_ACCESS_METHOD) {
            self.keyword_name("USING", method);
        }
        self.char('(');
        self.separated(constraint.exclusions(), |d, exclusion| {
            let pair = list_of(exclusion, "an element of EXCLUDE")?;
            d.index_elem(required_node(
                required_element(pair, 0, "the column of EXCLUDE")?,
                "the column of EXCLUDE",
            )?)?;
            d.str(" WITH ");
            d.any_operator(list_of(
                required_element(pair, 1, "the operator of EXCLUDE")?,
                "the operator of EXCLUDE",
            )?)
        })?;
        self.str(") ");
        Ok(())
    }

    fn constraint_keys(&mut self, constraint: Constraint<'_>, context: Context) -> DeparseResult {
        let keys = constraint.keys();
        let is_null = matches!(constraint.contype(), ConstrType::ConstrNull | ConstrType::ConstrNotnull);
        match (keys.len(), is_null) {
            (0, _) => return Ok(()),
            (1, true) => {
                // NOT NULL of a domain has its only key in the tree but not in the text.
                let is_implied = context == Context::AlterDomain && keys.strings().eq(["value"]);
                if !is_implied {
                    self.column_list(keys)?;
                }
                if constraint.without_overlaps() {
                    self.str(" WITHOUT OVERLAPS");
                }
            }
            _ => {
                self.char('(');
                self.column_list(keys)?;
                if constraint.without_overlaps() {
                    self.str(" WITHOUT OVERLAPS");
                }
                self.char(')');
            }
        }
        self.char(' ');
        Ok(())
    }

    fn columns_in_parentheses(&mut self, columns: List<'_>, with_period: bool) -> DeparseResult {
        if columns.is_empty() {
            return Ok(());
        }
        self.char('(');
        match with_period {
            true => self.column_list_with_period(columns)?,
            false => self.column_list(columns)?,
        }
        self.str(") ");
        Ok(())
    }

    fn foreign_key(&mut self, constraint: Constraint<'_>) -> DeparseResult {
        self.columns_in_parentheses(constraint.fk_attrs(), constraint.fk_with_period())?;
        if let Some(table) = constraint.pktable() {
            self.str("REFERENCES ");
            self.range_var(table, Context::None)?;
            self.char(' ');
            self.columns_in_parentheses(constraint.pk_attrs(), constraint.pk_with_period())?;
        }
        if constraint.fk_matchtype() == 'f' {
            self.str("MATCH FULL ");
        }
        Ok(())
    }

    fn foreign_key_actions(&mut self, constraint: Constraint<'_>) -> DeparseResult {
        for (event, letter) in
            [("ON UPDATE ", constraint.fk_upd_action()), ("ON DELETE ", constraint.fk_del_action())]
        {
            let action = match letter {
                'r' => "RESTRICT ",
                'c' => "CASCADE ",
                'n' => "SET NULL ",
                'd' => "SET DEFAULT ",
                // NO ACTION (the default), or not a foreign key.
                _ => continue,
            };
            self.str(event);
            self.str(action);
        }
        if matches!(constraint.fk_del_action(), 'n' | 'd') && !constraint.fk_del_set_cols().is_empty() {
            self.char('(');
            self.separated(constraint.fk_del_set_cols(), |d, column| {
                d.ident(string_of(column)?);
                Ok(())
            })?;
            self.char(')');
        }
        Ok(())
    }

    fn constraint_attributes(&mut self, constraint: Constraint<'_>) -> DeparseResult {
        let kind = constraint.contype();
        if matches!(kind, ConstrType::ConstrPrimary | ConstrType::ConstrUnique | ConstrType::ConstrExclusion)
        {
            self.opt_with(constraint.options())?;
        }
        if let Some(index) = constraint.indexname() {
            self.keyword_name("USING INDEX", index);
        }
        if let Some(tablespace) = constraint.indexspace() {
            self.keyword_name("USING INDEX TABLESPACE", tablespace);
        }
        if let Some(condition) = constraint.where_clause() {
            self.constraint_expr("WHERE (", Some(condition))?;
        }
        let may_be_unenforced = matches!(kind, ConstrType::ConstrForeign | ConstrType::ConstrCheck);
        for (is_so, words) in [
            (constraint.deferrable(), "DEFERRABLE "),
            (constraint.initdeferred(), "INITIALLY DEFERRED "),
            (constraint.is_no_inherit(), "NO INHERIT "),
            (may_be_unenforced && !constraint.is_enforced(), "NOT ENFORCED "),
            (constraint.skip_validation(), "NOT VALID "),
        ] {
            if is_so {
                self.str(words);
            }
        }
        Ok(())
    }

    /// The new properties of a constraint in ALTER CONSTRAINT.
    pub(in crate::deparse) fn at_alter_constraint(
        &mut self,
        constraint: ATAlterConstraint<'_>,
    ) -> DeparseResult {
        self.keyword_name("CONSTRAINT", required(constraint.conname(), "the name of a constraint")?);
        if constraint.alter_enforceability() {
            self.str(if constraint.is_enforced() { "ENFORCED " } else { "NOT ENFORCED " });
        }
        if constraint.alter_deferrability() {
            self.str(match (constraint.initdeferred(), constraint.deferrable()) {
                (true, _) => "INITIALLY DEFERRED ",
                (false, true) => "DEFERRABLE ",
                (false, false) => "NOT DEFERRABLE ",
            });
        }
        if constraint.alter_inheritability() {
            self.str(if constraint.noinherit() { "NO INHERIT " } else { "INHERIT " });
        }
        self.trim();
        Ok(())
    }
}
