//! CREATE, ALTER and DROP ROLE.

use crate::deparse::names::string_of;
use crate::deparse::need::{bool_of, int_of, list_of, required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{
    AlterRoleStmt, CreateRoleStmt, DefElem, DropRoleStmt, List, Node, ParamRef, RoleStmtType, View,
};

/// Options of roles that are on or off: the name, the word for on, and the word for off.
const ABILITIES: [(&str, &str, &str); 7] = [
    ("superuser", "SUPERUSER", "NOSUPERUSER"),
    ("createrole", "CREATEROLE", "NOCREATEROLE"),
    ("isreplication", "REPLICATION", "NOREPLICATION"),
    ("createdb", "CREATEDB", "NOCREATEDB"),
    ("canlogin", "LOGIN", "NOLOGIN"),
    ("bypassrls", "BYPASSRLS", "NOBYPASSRLS"),
    ("inherit", "INHERIT", "NOINHERIT"),
];

/// The statement that has an option.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Create,
    Alter,
}

/// The members that ALTER GROUP adds or drops, if the options are such a list.
fn members_of(options: List<'_>) -> Result<Option<List<'_>>, DeparseError> {
    let only = options.first().filter(|_| options.len() == 1).and_then(Node::cast::<DefElem<'_>>);
    match only {
        Some(option) if option.defname() == Some("rolemembers") => list_of(option.arg(), "members").map(Some),
        _ => Ok(None),
    }
}

impl Deparser<'_> {
    pub(in crate::deparse) fn create_role_stmt(&mut self, statement: CreateRoleStmt<'_>) -> DeparseResult {
        self.str(match statement.stmt_type() {
            RoleStmtType::RolestmtRole => "CREATE ROLE ",
            RoleStmtType::RolestmtUser => "CREATE USER ",
            RoleStmtType::RolestmtGroup => "CREATE GROUP ",
        });
        self.ident(required(statement.role(), "a role")?);
        if !statement.options().is_empty() {
            self.str(" WITH");
            self.role_options(statement.options(), Verb::Create)?;
        }
        Ok(())
    }

    pub(in crate::deparse) fn alter_role_stmt(&mut self, statement: AlterRoleStmt<'_>) -> DeparseResult {
        let role = required(statement.role(), "a role")?;
        if let Some(members) = members_of(statement.options())? {
            self.str("ALTER GROUP ");
            self.role_spec(role)?;
            self.str(if statement.action() < 0 { " DROP USER " } else { " ADD USER " });
            return self.role_list(members);
        }
        self.str("ALTER ROLE ");
        self.role_spec(role)?;
        self.str(" WITH");
        self.role_options(statement.options(), Verb::Alter)
    }

    pub(in crate::deparse) fn drop_role_stmt(&mut self, statement: DropRoleStmt<'_>) -> DeparseResult {
        self.str("DROP ROLE ");
        if statement.missing_ok() {
            self.str("IF EXISTS ");
        }
        self.role_list(statement.roles())
    }

    /// The options, each with a space before it.
    fn role_options(&mut self, options: List<'_>, verb: Verb) -> DeparseResult {
        for option in options {
            self.char(' ');
            self.role_option(required_node(option, "an option of a role")?, verb)?;
        }
        Ok(())
    }

    fn role_option(&mut self, option: DefElem<'_>, verb: Verb) -> DeparseResult {
        let name = required(option.defname(), "the name of an option")?;
        if let Some((_, can, cannot)) = ABILITIES.iter().find(|(ability, _, _)| *ability == name) {
            self.str(if bool_of(option.arg())? { can } else { cannot });
            return Ok(());
        }
        match name {
            "password" => return self.password(option.arg()),
            "connectionlimit" => self.numbered("CONNECTION LIMIT ", int_of(option.arg())?),
            "sysid" => self.numbered("SYSID ", int_of(option.arg())?),
            "validUntil" => {
                self.str("VALID UNTIL ");
                self.string_literal(string_of(option.arg())?);
            }
            "adminmembers" => return self.members("ADMIN ", option),
            "rolemembers" if verb == Verb::Alter => return self.members("USER ", option),
            "rolemembers" => return self.members("ROLE ", option),
            "addroleto" => return self.members("IN ROLE ", option),
            other => return Err(DeparseError::new(format!("a role has no option named {other:?}"))),
        }
        Ok(())
    }

    fn password(&mut self, value: Option<Node<'_>>) -> DeparseResult {
        self.str("PASSWORD ");
        match value.map(Node::view) {
            None => self.str("NULL"),
            Some(View::String(text)) => self.string_literal(text.sval()),
            Some(_) => return self.param_ref(required_node::<ParamRef<'_>>(value, "a password")?),
        }
        Ok(())
    }

    fn numbered(&mut self, words: &str, number: i32) {
        self.str(words);
        self.int(number);
    }

    fn members(&mut self, words: &str, option: DefElem<'_>) -> DeparseResult {
        self.str(words);
        self.role_list(list_of(option.arg(), "members")?)
    }
}
