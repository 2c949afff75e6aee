//! Utility statements, which libpg_query looks into by what they are.

use super::SummaryContext::{Ddl, Select};
use super::collect::Collector;
use crate::error::ParseError;
use crate::node::{
    DropStmt, GrantStmt, IndexElem, Node, ObjectType, ObjectWithArgs, RenameStmt, VacuumRelation, View,
};

impl<'a> Collector<'a> {
    /// A statement, and the one in it (EXPLAIN, PREPARE, CREATE TABLE AS, CREATE VIEW).
    pub(super) fn statement(&mut self, statement: Option<Node<'a>>) -> Result<(), ParseError> {
        let mut next = statement;
        while let Some(node) = next.take() {
            self.add_type(node.tag());
            match node.view() {
                View::ExplainStmt(statement) => next = statement.query(),
                View::PrepareStmt(statement) => next = statement.query(),
                View::CreateTableAsStmt(statement) => {
                    self.range_var(statement.into().and_then(|into| into.rel()), Ddl);
                    next = statement.query();
                }
                View::ViewStmt(statement) => {
                    self.range_var(statement.view(), Ddl);
                    next = statement.query();
                }
                _ => self.one(node)?,
            }
        }
        Ok(())
    }

    fn one(&mut self, node: Node<'a>) -> Result<(), ParseError> {
        match node.view() {
            View::CallStmt(statement) => {
                statement.funccall().map_or(Ok(()), |call| self.walk(call.node(), false))?;
            }
            View::CopyStmt(statement) => {
                self.range_var(statement.relation(), Select);
                // What is copied has no type in the summary.
                statement.query().map_or(Ok(()), |query| self.walk(query, false))?;
            }
            View::AlterTableStmt(statement) => {
                if statement.objtype() != ObjectType::ObjectIndex {
                    self.range_var(statement.relation(), Ddl);
                }
            }
            View::CreateStmt(statement) => self.range_var(statement.relation(), Ddl),
            View::TruncateStmt(statement) => self.from(statement.relations(), Ddl)?,
            View::IndexStmt(statement) => {
                self.range_var(statement.relation(), Ddl);
                let columns = statement.index_params().nodes();
                for expression in columns.filter_map(|node| node.cast::<IndexElem<'a>>()?.expr()) {
                    self.walk(expression, false)?;
                }
                statement.where_clause().map_or(Ok(()), |condition| self.walk(condition, false))?;
            }
            View::CreateTrigStmt(statement) => self.range_var(statement.relation(), Ddl),
            View::RuleStmt(statement) => self.range_var(statement.relation(), Ddl),
            View::VacuumStmt(statement) => {
                for table in statement.rels().nodes().filter_map(|node| node.cast::<VacuumRelation<'a>>()) {
                    self.range_var(table.relation(), Ddl);
                }
            }
            View::RefreshMatViewStmt(statement) => self.range_var(statement.relation(), Ddl),
            View::DropStmt(statement) => self.drop_objects(statement)?,
            View::GrantStmt(statement) => self.grant(statement)?,
            View::LockStmt(statement) => self.from(statement.relations(), Ddl)?,
            View::CreateFunctionStmt(statement) => self.function(statement.funcname(), Ddl)?,
            View::RenameStmt(statement) => self.rename(statement)?,
            _ => self.walk(node, true)?,
        }
        Ok(())
    }

    fn drop_objects(&mut self, statement: DropStmt<'a>) -> Result<(), ParseError> {
        let left_out = match statement.remove_type() {
            ObjectType::ObjectTable => 0,
            // The last name is the rule's or the trigger's.
            ObjectType::ObjectRule | ObjectType::ObjectTrigger => 1,
            ObjectType::ObjectFunction => {
                let first = statement.objects().get(0).flatten();
                return first.map_or(Ok(()), |object| self.function_object(object));
            }
            _ => return Ok(()),
        };
        statement.objects().nodes().try_for_each(|object| self.named(object, left_out))
    }

    fn function_object(&mut self, object: Node<'a>) -> Result<(), ParseError> {
        match object.cast::<ObjectWithArgs<'a>>().map(ObjectWithArgs::objname) {
            Some(names) if !names.is_empty() => self.function(names, Ddl),
            _ => Ok(()),
        }
    }

    fn grant(&mut self, statement: GrantStmt<'a>) -> Result<(), ParseError> {
        for object in statement.objects().nodes() {
            match (statement.objtype(), object.view()) {
                (ObjectType::ObjectTable, View::RangeVar(table)) => self.range_var(Some(table), Ddl),
                (ObjectType::ObjectFunction | ObjectType::ObjectProcedure | ObjectType::ObjectRoutine, _) => {
                    self.function_object(object)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn rename(&mut self, statement: RenameStmt<'a>) -> Result<(), ParseError> {
        match statement.rename_type() {
            ObjectType::ObjectTable => {
                self.range_var(statement.relation(), Ddl);
                let schema = statement.relation().and_then(|table| table.schemaname());
                self.table(schema, statement.newname());
            }
            ObjectType::ObjectFunction | ObjectType::ObjectProcedure | ObjectType::ObjectRoutine => {
                statement.object().map_or(Ok(()), |object| self.function_object(object))?;
                let name = statement.newname().unwrap_or_default().to_owned();
                self.summary.functions.push(super::SummaryFunction {
                    name: name.clone(),
                    function_name: name,
                    schema_name: String::new(),
                    context: Ddl,
                });
            }
            _ => {}
        }
        Ok(())
    }
}
