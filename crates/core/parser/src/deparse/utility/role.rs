//! Writes roles, and the objects of privileges.

use crate::deparse::names::string_of;
use crate::deparse::need::required;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{AlterRoleSetStmt, GrantTargetType, List, ObjectType, RoleSpec, RoleSpecType};

impl Deparser<'_> {
    /// `RoleSpec`.
    pub(in crate::deparse) fn role_spec(&mut self, role: RoleSpec<'_>) -> DeparseResult {
        match role.roletype() {
            RoleSpecType::RolespecCstring => return self.col_id(role.rolename()),
            RoleSpecType::RolespecCurrentRole => self.str("CURRENT_ROLE"),
            RoleSpecType::RolespecCurrentUser => self.str("CURRENT_USER"),
            RoleSpecType::RolespecSessionUser => self.str("SESSION_USER"),
            RoleSpecType::RolespecPublic => self.str("public"),
        }
        Ok(())
    }

    pub(in crate::deparse) fn alter_role_set_stmt(&mut self, stmt: AlterRoleSetStmt<'_>) -> DeparseResult {
        self.str("ALTER ROLE ");
        match stmt.role() {
            None => self.str("ALL"),
            Some(role) => self.role_spec(role)?,
        }
        self.char(' ');
        if let Some(database) = stmt.database() {
            self.str("IN DATABASE ");
            self.ident(database);
            self.char(' ');
        }
        self.variable_set_stmt(required(stmt.setstmt(), "a role's setting")?)
    }

    /// `privilege_target`, or `defacl_privilege_target`.
    pub(in crate::deparse) fn privilege_target(
        &mut self,
        target: GrantTargetType,
        kind: ObjectType,
        objects: List<'_>,
    ) -> DeparseResult {
        match target {
            GrantTargetType::AclTargetObject => self.privileged_objects(kind, objects),
            GrantTargetType::AclTargetAllInSchema => {
                self.str("ALL ");
                self.str(plural(kind)?);
                self.str(" IN SCHEMA ");
                self.name_list(objects)
            }
            GrantTargetType::AclTargetDefaults => {
                self.str(plural(kind)?);
                Ok(())
            }
        }
    }

    fn privileged_objects(&mut self, kind: ObjectType, objects: List<'_>) -> DeparseResult {
        match kind {
            ObjectType::ObjectTable => {}
            ObjectType::ObjectForeignServer => self.str("FOREIGN SERVER "),
            ObjectType::ObjectParameterAcl => self.str("PARAMETER "),
            _ => self.object_kind(kind)?,
        }
        match kind {
            ObjectType::ObjectTable | ObjectType::ObjectSequence => self.qualified_name_list(objects),
            ObjectType::ObjectFunction | ObjectType::ObjectProcedure | ObjectType::ObjectRoutine => {
                self.function_with_argtypes_list(objects)
            }
            ObjectType::ObjectDomain | ObjectType::ObjectType => self.any_name_list(objects),
            ObjectType::ObjectLargeobject => self.numeric_only_list(objects),
            ObjectType::ObjectParameterAcl => self.separated(objects, |d, name| {
                d.var_name(string_of(name)?);
                Ok(())
            }),
            _ => self.name_list(objects),
        }
    }
}

/// The keyword for all objects of a kind.
fn plural(kind: ObjectType) -> Result<&'static str, DeparseError> {
    Ok(match kind {
        ObjectType::ObjectTable => "TABLES",
        ObjectType::ObjectFunction => "FUNCTIONS",
        ObjectType::ObjectProcedure => "PROCEDURES",
        ObjectType::ObjectRoutine => "ROUTINES",
        ObjectType::ObjectSequence => "SEQUENCES",
        ObjectType::ObjectType => "TYPES",
        ObjectType::ObjectSchema => "SCHEMAS",
        ObjectType::ObjectLargeobject => "LARGE OBJECTS",
        other => {
            return Err(DeparseError::new(format!("GRANT has no keyword for all of {}", other.c_name())));
        }
    })
}
