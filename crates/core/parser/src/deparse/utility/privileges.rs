//! GRANT and REVOKE, of privileges and of roles.

use crate::deparse::need::{bool_of, given, list_of, need};
use crate::deparse::{DeparseError, Deparser, Done};
use crate::node::{
    AccessPriv, AlterDefaultPrivilegesStmt, DefElem, DropBehavior, GrantRoleStmt, GrantStmt, Node, RoleSpec,
};

/// Privileges whose names are keywords that no identifier may be: they stand without quotes all the same.
const KEYWORD_PRIVILEGES: [&str; 3] = ["select", "references", "create"];

/// Options of a role's membership, with the words for them.
const MEMBERSHIP_OPTIONS: [(&str, &str); 3] = [("admin", "ADMIN"), ("inherit", "INHERIT"), ("set", "SET")];

fn membership_option(node: Option<Node<'_>>) -> Result<DefElem<'_>, DeparseError> {
    need(node, "an option of a role's membership")
}

impl Deparser<'_> {
    fn access_priv(&mut self, node: Option<Node<'_>>) -> Done {
        let privilege = need::<AccessPriv<'_>>(node, "a privilege")?;
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

    pub(in crate::deparse) fn grant_stmt(&mut self, statement: GrantStmt<'_>) -> Done {
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

    pub(in crate::deparse) fn grant_role_stmt(&mut self, statement: GrantRoleStmt<'_>) -> Done {
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

    fn membership_word(&mut self, option: DefElem<'_>) -> Done {
        let name = given(option.defname(), "the name of an option")?;
        match MEMBERSHIP_OPTIONS.iter().find(|(wanted, _)| *wanted == name) {
            Some((_, word)) => self.str(word),
            // WITH and this word are one token.
            None if name == "ordinality" => self.quoted(name),
            None => self.ident(name),
        }
        Ok(())
    }

    /// The end of a GRANT or REVOKE: the grammar has CASCADE last.
    fn granted_by(&mut self, grantor: Option<RoleSpec<'_>>, behavior: DropBehavior) -> Done {
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
    ) -> Done {
        self.str("ALTER DEFAULT PRIVILEGES ");
        for option in statement.options() {
            let option = need::<DefElem<'_>>(option, "an option of ALTER DEFAULT PRIVILEGES")?;
            match option.defname() {
                Some("schemas") => {
                    self.str("IN SCHEMA ");
                    self.name_list(list_of(option.arg(), "schemas")?)?;
                }
                Some("roles") => {
                    self.str("FOR ROLE ");
                    self.role_list(list_of(option.arg(), "roles")?)?;
                }
                _ => return Err(DeparseError::new("default privileges are of schemas and roles only")),
            }
            self.char(' ');
        }
        self.grant_stmt(given(statement.action(), "a GRANT or REVOKE")?)
    }
}
