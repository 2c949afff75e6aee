//! Partitioning.

use crate::deparse::context::Context;
use crate::deparse::need::{required, required_node};
use crate::deparse::writer::Indent;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{PartitionBoundSpec, PartitionCmd, PartitionElem, PartitionSpec, PartitionStrategy};

impl Deparser<'_> {
    pub(in crate::deparse) fn partition_spec(&mut self, spec: PartitionSpec<'_>) -> DeparseResult {
        self.group("PARTITION BY", Indent::Parts);
        self.str(match spec.strategy() {
            PartitionStrategy::PartitionStrategyList => "LIST (",
            PartitionStrategy::PartitionStrategyHash => "HASH (",
            PartitionStrategy::PartitionStrategyRange => "RANGE (",
        });
        self.separated(spec.part_params(), |d, element| {
            d.partition_elem(required_node(element, "a partition key")?)
        })?;
        self.char(')');
        Ok(())
    }

    pub(in crate::deparse) fn partition_elem(&mut self, element: PartitionElem<'_>) -> DeparseResult {
        if let Some(name) = element.name() {
            self.ident(name);
            self.char(' ');
        } else if element.expr().is_some() {
            self.char('(');
            self.expr(element.expr(), Context::AExpr)?;
            self.str(") ");
        }
        self.opt_collate(element.collation())?;
        self.any_name(element.opclass())?;
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn partition_bound_spec(
        &mut self,
        bound: PartitionBoundSpec<'_>,
    ) -> DeparseResult {
        if bound.is_default() {
            self.str("DEFAULT");
            return Ok(());
        }
        self.str("FOR VALUES ");
        match bound.strategy() {
            'h' => {
                self.str("WITH (MODULUS ");
                self.int(bound.modulus());
                self.str(", REMAINDER ");
                self.int(bound.remainder());
            }
            'l' => {
                self.str("IN (");
                self.expr_list(bound.listdatums())?;
            }
            'r' => {
                self.str("FROM (");
                self.expr_list(bound.lowerdatums())?;
                self.str(") TO (");
                self.expr_list(bound.upperdatums())?;
            }
            other => return Err(DeparseError::new(format!("{other:?} is not a partitioning strategy"))),
        }
        self.char(')');
        Ok(())
    }

    pub(in crate::deparse) fn partition_cmd(&mut self, command: PartitionCmd<'_>) -> DeparseResult {
        self.range_var(required(command.name(), "the name of a partition")?, Context::None)?;
        if let Some(bound) = command.bound() {
            self.char(' ');
            self.partition_bound_spec(bound)?;
        }
        if command.concurrent() {
            self.str(" CONCURRENTLY ");
        }
        Ok(())
    }
}
