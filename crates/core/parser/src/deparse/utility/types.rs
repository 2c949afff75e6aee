//! Writes CREATE AGGREGATE, OPERATOR, TYPE, COLLATION, TEXT SEARCH, and ALTER of types and operators.

use crate::deparse::context::Context;
use crate::deparse::names::string_of;
use crate::deparse::need::{required, required_node};
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{
    AlterEnumStmt, AlterOpFamilyStmt, AlterOperatorStmt, AlterTypeStmt, ColumnDef, CompositeTypeStmt,
    CreateEnumStmt, CreateRangeStmt, DefElem, DefineStmt, List, Node, ObjectType,
};

/// The collation from which a new one is copied, if it is not defined by options.
fn source_collation(statement: DefineStmt<'_>) -> Option<List<'_>> {
    let definition = statement.definition();
    if statement.kind() != ObjectType::ObjectCollation || definition.len() != 1 {
        return None;
    }
    let option = definition.first()?.cast::<DefElem<'_>>()?;
    if option.defname() == Some("from") { option.arg().and_then(Node::as_list) } else { None }
}

impl Deparser<'_> {
    pub(in crate::deparse) fn define_stmt(&mut self, statement: DefineStmt<'_>) -> DeparseResult {
        self.str(if statement.replace() { "CREATE OR REPLACE " } else { "CREATE " });
        let kind = statement.kind();
        self.object_kind(kind)?;
        if statement.if_not_exists() {
            self.str("IF NOT EXISTS ");
        }
        match kind {
            ObjectType::ObjectAggregate => self.func_name(statement.defnames())?,
            ObjectType::ObjectOperator => self.any_operator(statement.defnames())?,
            _ => self.any_name(statement.defnames())?,
        }
        self.char(' ');
        if kind == ObjectType::ObjectAggregate && !statement.oldstyle() {
            self.aggr_args(statement.args())?;
            self.char(' ');
        }
        if let Some(source) = source_collation(statement) {
            self.str("FROM ");
            self.any_name(source)?;
        } else if statement.oldstyle() {
            self.old_aggr_definition(statement.definition())?;
        } else if !statement.definition().is_empty() {
            self.definition(statement.definition())?;
        }
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn composite_type_stmt(
        &mut self,
        statement: CompositeTypeStmt<'_>,
    ) -> DeparseResult {
        self.str("CREATE TYPE ");
        self.range_var(required(statement.typevar(), "a type")?, Context::CreateType)?;
        self.str(" AS (");
        self.level_of(statement.coldeflist(), |this, column| {
            this.column_def(required_node::<ColumnDef<'_>>(column, "a column")?)
        })?;
        self.char(')');
        Ok(())
    }

    pub(in crate::deparse) fn create_enum_stmt(&mut self, statement: CreateEnumStmt<'_>) -> DeparseResult {
        self.str("CREATE TYPE ");
        self.any_name(statement.type_name())?;
        self.str(" AS ENUM (");
        self.level_of(statement.vals(), |this, value| {
            this.string_literal(string_of(value)?);
            Ok(())
        })?;
        self.char(')');
        Ok(())
    }

    /// Writes elements as parts of a new level.
    fn level_of(
        &mut self,
        elements: List<'_>,
        mut each: impl FnMut(&mut Self, Option<Node<'_>>) -> DeparseResult,
    ) -> DeparseResult {
        self.enter();
        for (index, element) in elements.into_iter().enumerate() {
            if index > 0 {
                self.comma_part();
            }
            each(self, element)?;
        }
        self.leave();
        Ok(())
    }

    pub(in crate::deparse) fn create_range_stmt(&mut self, statement: CreateRangeStmt<'_>) -> DeparseResult {
        self.str("CREATE TYPE ");
        self.any_name(statement.type_name())?;
        self.str(" AS RANGE ");
        self.definition(statement.params())
    }

    pub(in crate::deparse) fn alter_enum_stmt(&mut self, statement: AlterEnumStmt<'_>) -> DeparseResult {
        self.str("ALTER TYPE ");
        self.any_name(statement.type_name())?;
        let value = required(statement.new_val(), "a value of an enum")?;
        if let Some(old) = statement.old_val() {
            self.str(" RENAME VALUE ");
            self.string_literal(old);
            self.str(" TO ");
            self.string_literal(value);
            return Ok(());
        }
        self.str(" ADD VALUE ");
        if statement.skip_if_new_val_exists() {
            self.str("IF NOT EXISTS ");
        }
        self.string_literal(value);
        if let Some(neighbor) = statement.new_val_neighbor() {
            self.str(if statement.new_val_is_after() { " AFTER " } else { " BEFORE " });
            self.string_literal(neighbor);
        }
        Ok(())
    }

    pub(in crate::deparse) fn alter_type_stmt(&mut self, statement: AlterTypeStmt<'_>) -> DeparseResult {
        self.str("ALTER TYPE ");
        self.any_name(statement.type_name())?;
        self.set_definition(statement.options())
    }

    pub(in crate::deparse) fn alter_operator_stmt(
        &mut self,
        statement: AlterOperatorStmt<'_>,
    ) -> DeparseResult {
        self.str("ALTER OPERATOR ");
        self.operator_with_argtypes(required(statement.opername(), "an operator")?)?;
        self.set_definition(statement.options())
    }

    fn set_definition(&mut self, options: List<'_>) -> DeparseResult {
        self.str(" SET (");
        self.operator_def_list(options)?;
        self.char(')');
        Ok(())
    }

    /// As `definition`, but an option without a value gets the word NONE.
    fn operator_def_list(&mut self, options: List<'_>) -> DeparseResult {
        self.separated(options, |this, option| {
            let option = required_node::<DefElem<'_>>(option, "an option of an operator")?;
            this.ident(required(option.defname(), "the name of an option")?);
            this.str(" = ");
            match option.arg() {
                Some(value) => this.def_arg(Some(value), true),
                None => {
                    this.str("NONE");
                    Ok(())
                }
            }
        })
    }

    pub(in crate::deparse) fn alter_op_family_stmt(
        &mut self,
        statement: AlterOpFamilyStmt<'_>,
    ) -> DeparseResult {
        self.str("ALTER OPERATOR FAMILY ");
        self.any_name(statement.opfamilyname())?;
        self.str(" USING ");
        self.ident(required(statement.amname(), "an access method")?);
        self.str(if statement.is_drop() { " DROP " } else { " ADD " });
        self.opclass_item_list(statement.items())
    }
}
