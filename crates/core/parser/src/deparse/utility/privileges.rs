//! GRANT and REVOKE, of privileges and of roles.

use crate::deparse::need::{bool_of, list_of, required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{
    AccessPriv, AlterDefaultPrivilegesStmt, DefElem, DropBehavior, GrantRoleStmt, GrantStmt, Node, RoleSpec,
};

/// Privileges whose names are reserved keywords. They are written without quotes.
const KEYWORD_PRIVILEGES: [&str; 3] = ["select", "references", "create"];

/// Options of a role's membership, with the words for them.
const MEMBERSHIP_OPTIONS: [(&str, &str); 3] = [("admin", "ADMIN"), ("inherit", "INHERIT"), ("set", "SET")];

fn membership_option(node: Option<Node<'_>>) -> Result<DefElem<'_>, DeparseError> {
    required_node(node, "an option of a role's membership")
}

impl Deparser<'_> {
    fn access_priv(&mut self, node: Option<Node<'_>>) -> DeparseResult {
        let privilege = required_node::<AccessPriv<'_>>(node, "a privilege")?;
        match privilege.priv_name() {
            None => self.str("ALL"),
            Some(name) if KEYWORD_PRIVILEGES.contains(&name) => self.str(name),
            Some(name) => self.ident(name),
        }
        if !privilege.cols().is_empty() {
            self.str(" (");
            self.column_list(privilege.cols())?;
            self.char(')');
        }
        Ok(())
    }

    pub(in crate::deparse) fn grant_stmt(&mut self, statement: GrantStmt<'_>) -> DeparseResult {
        let grants = statement.is_grant();
        self.str(if grants { "GRANT " } else { "REVOKE " });
        if !grants && statement.grant_option() {
            self.str("GRANT OPTION FOR ");
        }
        if statement.privileges().is_empty() {
            self.str("ALL");
        } else {
            self.separated(statement.privileges(), Self::access_priv)?;
        }
        self.str(" ON ");
        self.privilege_target(statement.targtype(), statement.objtype(), statement.objects())?;
        self.str(if grants { " TO " } else { " FROM " });
        self.role_list(statement.grantees())?;
        self.char(' ');
        if grants && statement.grant_option() {
            self.str("WITH GRANT OPTION ");
        }
        self.granted_by(statement.grantor(), statement.behavior())
    }

    pub(in crate::deparse) fn grant_role_stmt(&mut self, statement: GrantRoleStmt<'_>) -> DeparseResult {
        let grants = statement.is_grant();
        self.str(if grants { "GRANT " } else { "REVOKE " });
        if !grants && let Some(option) = statement.opt().first() {
            self.membership_word(membership_option(Some(option))?)?;
            self.str(" OPTION FOR ");
        }
        self.separated(statement.granted_roles(), Self::access_priv)?;
        self.str(if grants { " TO " } else { " FROM " });
        self.role_list(statement.grantee_roles())?;
        self.char(' ');
        if grants && !statement.opt().is_empty() {
            self.str("WITH ");
            self.separated(statement.opt(), |this, option| {
                let option = membership_option(option)?;
                this.membership_word(option)?;
                this.str(if bool_of(option.arg())? { " OPTION" } else { " FALSE" });
                Ok(())
            })?;
            self.char(' ');
        }
        self.granted_by(statement.grantor(), statement.behavior())
    }

    fn membership_word(&mut self, option: DefElem<'_>) -> DeparseResult {
        let name = required(option.defname(), "the name of an option")?;
        match MEMBERSHIP_OPTIONS.iter().find(|(wanted, _)| *wanted == name) {
            Some((_, word)) => self.str(word),
            // The lexer reads WITH and this word as one token.
            None if name == "ordinality" => self.quoted(name),
            None => self.ident(name),
        }
        Ok(())
    }

    /// The end of a GRANT or REVOKE. In the grammar CASCADE comes last.
    fn granted_by(&mut self, grantor: Option<RoleSpec<'_>>, behavior: DropBehavior) -> DeparseResult {
        if let Some(grantor) = grantor {
            self.str("GRANTED BY ");
            self.role_spec(grantor)?;
            self.char(' ');
        }
        self.opt_drop_behavior(behavior)?;
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn alter_default_privileges_stmt(
        &mut self,
        statement: AlterDefaultPrivilegesStmt<'_>,
    ) -> DeparseResult {
        self.str("ALTER DEFAULT PRIVILEGES ");
        for option in statement.options() {
            let option = required_node::<DefElem<'_>>(option, "an option of ALTER DEFAULT PRIVILEGES")?;
            match option.defname() {
                Some("schemas") => {
                    self.str("IN SCHEMA ");
                    self.name_list(list_of(option.arg(), "schemas")?)?;
                }
                Some("roles") => {
                    self.str("FOR ROLE ");
                    self.role_list(list_of(option.arg(), "roles")?)?;
                }
                _ => {
                    return Err(DeparseError::new(
                        "ALTER DEFAULT PRIVILEGES has only the options for schemas and roles",
                    ));
                }
            }
            self.char(' ');
        }
        self.grant_stmt(required(statement.action(), "a GRANT or REVOKE")?)
    }
}
