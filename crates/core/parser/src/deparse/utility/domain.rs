//! CREATE DOMAIN, ALTER DOMAIN.

use crate::deparse::context::Context;
use crate::deparse::need::required_node;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{AlterDomainStmt, CreateDomainStmt, DropBehavior};

impl Deparser<'_> {
    pub(in crate::deparse) fn create_domain_stmt(&mut self, stmt: CreateDomainStmt<'_>) -> DeparseResult {
        self.str("CREATE DOMAIN ");
        self.any_name(stmt.domainname())?;
        self.str(" AS ");
        self.type_of(stmt.type_name())?;
        self.char(' ');
        if let Some(collation) = stmt.coll_clause() {
            self.collate_clause(collation)?;
            self.char(' ');
        }
        for constraint in stmt.constraints() {
            self.constraint(required_node(constraint, "a constraint")?, Context::None)?;
            self.char(' ');
        }
        self.trim();
        Ok(())
    }

    /// `AlterDomainStmt`.
    pub(in crate::deparse) fn alter_domain_stmt(&mut self, stmt: AlterDomainStmt<'_>) -> DeparseResult {
        self.str("ALTER DOMAIN ");
        self.any_name(stmt.type_name())?;
        self.char(' ');
        match stmt.subtype() {
            'T' => match stmt.def() {
                None => self.str("DROP DEFAULT"),
                default => {
                    self.str("SET DEFAULT ");
                    return self.expr(default, Context::AExpr);
                }
            },
            'N' => self.str("DROP NOT NULL"),
            'O' => self.str("SET NOT NULL"),
            'C' => {
                self.str("ADD ");
                return self.constraint(required_node(stmt.def(), "a constraint")?, Context::AlterDomain);
            }
            'X' => {
                self.str("DROP CONSTRAINT ");
                if stmt.missing_ok() {
                    self.str("IF EXISTS ");
                }
                self.col_id(stmt.name())?;
                if stmt.behavior() == DropBehavior::DropCascade {
                    self.str(" CASCADE");
                }
            }
            'V' => {
                self.str("VALIDATE CONSTRAINT ");
                return self.col_id(stmt.name());
            }
            other => return Err(DeparseError::new(format!("{other:?} is not a kind of ALTER DOMAIN"))),
        }
        Ok(())
    }
}
