//! Writes CREATE of casts, operator classes and families, conversions, schemas and databases.

use crate::deparse::need::{required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{
    CoercionContext, CreateCastStmt, CreateConversionStmt, CreateOpClassItem, CreateOpClassStmt,
    CreateOpFamilyStmt, CreateSchemaStmt, CreatedbStmt, List, TypeName,
};

/// The kinds of items of an operator class: PostgreSQL's `OPCLASS_ITEM_...`.
const OPCLASS_ITEM_OPERATOR: i32 = 1;
const OPCLASS_ITEM_FUNCTION: i32 = 2;
const OPCLASS_ITEM_STORAGE: i32 = 3;

impl Deparser<'_> {
    /// A required type.
    pub(super) fn type_of(&mut self, name: Option<TypeName<'_>>) -> DeparseResult {
        self.type_name(required(name, "a type")?)
    }

    /// `type_list`.
    pub(in crate::deparse) fn type_list(&mut self, types: List<'_>) -> DeparseResult {
        self.separated(types, |d, name| d.type_name(required_node(name, "a type")?))
    }

    pub(in crate::deparse) fn create_cast_stmt(&mut self, stmt: CreateCastStmt<'_>) -> DeparseResult {
        self.str("CREATE CAST (");
        self.type_of(stmt.sourcetype())?;
        self.str(" AS ");
        self.type_of(stmt.targettype())?;
        self.str(") ");
        match stmt.func() {
            Some(function) => {
                self.str("WITH FUNCTION ");
                self.function_with_argtypes(function)?;
                self.char(' ');
            }
            None if stmt.inout() => self.str("WITH INOUT "),
            None => self.str("WITHOUT FUNCTION "),
        }
        match stmt.context() {
            CoercionContext::CoercionImplicit => self.str("AS IMPLICIT"),
            CoercionContext::CoercionAssignment => self.str("AS ASSIGNMENT"),
            CoercionContext::CoercionExplicit => {}
            CoercionContext::CoercionPlpgsql => {
                return Err(DeparseError::new("CREATE CAST cannot have the cast context of PL/pgSQL"));
            }
        }
        Ok(())
    }

    pub(in crate::deparse) fn create_op_class_stmt(&mut self, stmt: CreateOpClassStmt<'_>) -> DeparseResult {
        self.str("CREATE OPERATOR CLASS ");
        self.any_name(stmt.opclassname())?;
        self.char(' ');
        if stmt.is_default() {
            self.str("DEFAULT ");
        }
        self.str("FOR TYPE ");
        self.type_of(stmt.datatype())?;
        self.str(" USING ");
        self.col_id(stmt.amname())?;
        self.char(' ');
        if !stmt.opfamilyname().is_empty() {
            self.str("FAMILY ");
            self.any_name(stmt.opfamilyname())?;
            self.char(' ');
        }
        self.str("AS ");
        self.opclass_item_list(stmt.items())
    }

    pub(in crate::deparse) fn create_op_family_stmt(
        &mut self,
        stmt: CreateOpFamilyStmt<'_>,
    ) -> DeparseResult {
        self.str("CREATE OPERATOR FAMILY ");
        self.any_name(stmt.opfamilyname())?;
        self.str(" USING ");
        self.col_id(stmt.amname())
    }

    /// `opclass_item_list`.
    pub(in crate::deparse) fn opclass_item_list(&mut self, items: List<'_>) -> DeparseResult {
        self.separated(items, |d, item| {
            d.create_op_class_item(required_node(item, "an item of an operator class")?)
        })
    }

    pub(in crate::deparse) fn create_op_class_item(&mut self, item: CreateOpClassItem<'_>) -> DeparseResult {
        match item.itemtype() {
            OPCLASS_ITEM_OPERATOR => self.opclass_operator(item),
            OPCLASS_ITEM_FUNCTION => self.opclass_function(item),
            OPCLASS_ITEM_STORAGE => {
                self.str("STORAGE ");
                self.type_of(item.storedtype())
            }
            other => Err(DeparseError::new(format!("{other} is not a kind of item of an operator class"))),
        }
    }

    fn opclass_operator(&mut self, item: CreateOpClassItem<'_>) -> DeparseResult {
        self.str("OPERATOR ");
        self.int(item.number());
        self.char(' ');
        if let Some(operator) = item.name() {
            if operator.objargs().is_empty() {
                self.any_operator(operator.objname())?;
            } else {
                self.operator_with_argtypes(operator)?;
            }
            self.char(' ');
        }
        if !item.order_family().is_empty() {
            self.str("FOR ORDER BY ");
            self.any_name(item.order_family())?;
        }
        if !item.class_args().is_empty() {
            self.char('(');
            self.type_list(item.class_args())?;
            self.char(')');
        }
        self.trim();
        Ok(())
    }

    fn opclass_function(&mut self, item: CreateOpClassItem<'_>) -> DeparseResult {
        self.str("FUNCTION ");
        self.int(item.number());
        self.char(' ');
        if !item.class_args().is_empty() {
            self.char('(');
            self.type_list(item.class_args())?;
            self.str(") ");
        }
        if let Some(function) = item.name() {
            self.function_with_argtypes(function)?;
        }
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn create_conversion_stmt(
        &mut self,
        stmt: CreateConversionStmt<'_>,
    ) -> DeparseResult {
        self.str(if stmt.def() { "CREATE DEFAULT CONVERSION " } else { "CREATE CONVERSION " });
        self.any_name(stmt.conversion_name())?;
        self.str(" FOR ");
        self.sconst(stmt.for_encoding_name())?;
        self.str(" TO ");
        self.sconst(stmt.to_encoding_name())?;
        // As in libpg_query, there is no space before this. The lexer needs none.
        self.str("FROM ");
        self.any_name(stmt.func_name())
    }

    pub(in crate::deparse) fn create_schema_stmt(&mut self, stmt: CreateSchemaStmt<'_>) -> DeparseResult {
        self.str("CREATE SCHEMA ");
        if stmt.if_not_exists() {
            self.str("IF NOT EXISTS ");
        }
        if let Some(name) = stmt.schemaname() {
            self.ident(name);
            self.char(' ');
        }
        if let Some(role) = stmt.authrole() {
            self.str("AUTHORIZATION ");
            self.role_spec(role)?;
            self.char(' ');
        }
        for (index, element) in stmt.schema_elts().iter().enumerate() {
            if index > 0 {
                self.char(' ');
            }
            self.schema_stmt(element)?;
        }
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn createdb_stmt(&mut self, stmt: CreatedbStmt<'_>) -> DeparseResult {
        self.str("CREATE DATABASE ");
        self.col_id(stmt.dbname())?;
        self.char(' ');
        self.createdb_opt_list(stmt.options())?;
        self.trim();
        Ok(())
    }
}
