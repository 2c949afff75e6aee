//! Writes the commands of ALTER TABLE.

use crate::deparse::context::Context;
use crate::deparse::names::string_of;
use crate::deparse::need::{list_of, required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{AlterTableCmd, AlterTableType, Node, TypeName};

/// The words before and after the name of the object that a command alters.
struct Words {
    before: &'static str,
    after: &'static str,
    /// Whether IF EXISTS is at the end and not before the name.
    ends_in_if_exists: bool,
}

impl Words {
    const fn new(before: &'static str) -> Self {
        Self { before, after: "", ends_in_if_exists: false }
    }

    const fn column(after: &'static str) -> Self {
        Self { before: "ALTER COLUMN ", after, ends_in_if_exists: false }
    }

    const fn column_if_exists(after: &'static str) -> Self {
        Self { before: "ALTER COLUMN ", after, ends_in_if_exists: true }
    }

    fn of(command: AlterTableCmd<'_>, context: Context) -> Result<Self, DeparseError> {
        use AlterTableType as At;
        Ok(match (command.subtype(), context) {
            (At::AtAddColumn, Context::AlterType) => Self::new("ADD ATTRIBUTE "),
            (At::AtDropColumn, Context::AlterType) => Self::new("DROP ATTRIBUTE "),
            (At::AtAlterColumnType, Context::AlterType) => {
                Self { before: "ALTER ATTRIBUTE ", ..Self::column("TYPE ") }
            }
            (At::AtAddColumn, _) => Self::new("ADD COLUMN "),
            (At::AtDropColumn, _) => Self::new("DROP "),
            (At::AtAlterColumnType, _) => Self::column("TYPE "),
            (At::AtColumnDefault, _) if command.def().is_some() => Self::column("SET DEFAULT "),
            (At::AtColumnDefault, _) => Self::column("DROP DEFAULT "),
            (At::AtDropNotNull, _) => Self::column("DROP NOT NULL "),
            (At::AtSetNotNull, _) => Self::column("SET NOT NULL "),
            (At::AtSetExpression, _) => Self::column(""),
            (At::AtDropExpression, _) => Self::column_if_exists("DROP EXPRESSION "),
            (At::AtSetStatistics, _) => Self::column("SET STATISTICS "),
            (At::AtSetOptions, _) => Self::column("SET "),
            (At::AtResetOptions, _) => Self::column("RESET "),
            (At::AtSetStorage, _) => Self::column("SET STORAGE "),
            (At::AtSetCompression, _) => Self::column("SET COMPRESSION "),
            (At::AtAlterColumnGenericOptions, _) => Self::column(""),
            (At::AtAddIdentity, _) => Self { before: "ALTER ", ..Self::column("ADD ") },
            (At::AtSetIdentity, _) => Self::new("ALTER "),
            (At::AtDropIdentity, _) => Self::column_if_exists("DROP IDENTITY "),
            (subtype, _) => Self::new(keyword_of(subtype)?),
        })
    }
}

/// The words of commands that do not alter a column.
fn keyword_of(subtype: AlterTableType) -> Result<&'static str, DeparseError> {
    use AlterTableType as At;
    Ok(match subtype {
        At::AtAddConstraint => "ADD ",
        // The constraint writes its own keyword.
        At::AtAlterConstraint => "ALTER ",
        At::AtValidateConstraint => "VALIDATE CONSTRAINT ",
        At::AtDropConstraint => "DROP CONSTRAINT ",
        At::AtChangeOwner => "OWNER TO ",
        At::AtClusterOn => "CLUSTER ON ",
        At::AtDropCluster => "SET WITHOUT CLUSTER ",
        At::AtSetLogged => "SET LOGGED ",
        At::AtSetUnLogged => "SET UNLOGGED ",
        At::AtDropOids => "SET WITHOUT OIDS ",
        At::AtSetAccessMethod => "SET ACCESS METHOD ",
        At::AtSetTableSpace => "SET TABLESPACE ",
        At::AtSetRelOptions => "SET ",
        At::AtResetRelOptions => "RESET ",
        At::AtEnableTrig => "ENABLE TRIGGER ",
        At::AtEnableAlwaysTrig => "ENABLE ALWAYS TRIGGER ",
        At::AtEnableReplicaTrig => "ENABLE REPLICA TRIGGER ",
        At::AtDisableTrig => "DISABLE TRIGGER ",
        At::AtEnableTrigAll => "ENABLE TRIGGER ALL ",
        At::AtDisableTrigAll => "DISABLE TRIGGER ALL ",
        At::AtEnableTrigUser => "ENABLE TRIGGER USER ",
        At::AtDisableTrigUser => "DISABLE TRIGGER USER ",
        At::AtEnableRule => "ENABLE RULE ",
        At::AtEnableAlwaysRule => "ENABLE ALWAYS RULE ",
        At::AtEnableReplicaRule => "ENABLE REPLICA RULE ",
        At::AtDisableRule => "DISABLE RULE ",
        At::AtAddInherit => "INHERIT ",
        At::AtDropInherit => "NO INHERIT ",
        At::AtAddOf => "OF ",
        At::AtDropOf => "NOT OF ",
        At::AtReplicaIdentity => "REPLICA IDENTITY ",
        At::AtEnableRowSecurity => "ENABLE ROW LEVEL SECURITY ",
        At::AtDisableRowSecurity => "DISABLE ROW LEVEL SECURITY ",
        At::AtForceRowSecurity => "FORCE ROW LEVEL SECURITY ",
        At::AtNoForceRowSecurity => "NO FORCE ROW LEVEL SECURITY ",
        At::AtGenericOptions => "",
        At::AtAttachPartition => "ATTACH PARTITION ",
        At::AtDetachPartition | At::AtDetachPartitionFinalize => "DETACH PARTITION ",
        // PostgreSQL makes the other commands internally.
        other => return Err(DeparseError::new(format!("{} is not a command of SQL", other.c_name()))),
    })
}

impl Deparser<'_> {
    pub(in crate::deparse) fn alter_table_cmd(
        &mut self,
        command: AlterTableCmd<'_>,
        context: Context,
    ) -> DeparseResult {
        let words = Words::of(command, context)?;
        self.str(words.before);
        if command.subtype() == AlterTableType::AtChangeOwner {
            self.role_spec(required(command.newowner(), "the new owner")?)?;
        }
        if command.missing_ok() && !words.ends_in_if_exists {
            self.str(match command.subtype() {
                AlterTableType::AtAddColumn => "IF NOT EXISTS ",
                _ => "IF EXISTS ",
            });
        }
        match command.name() {
            Some(name) => {
                self.ident(name);
                self.char(' ');
            }
            None if command.subtype() == AlterTableType::AtSetAccessMethod => self.str(" DEFAULT"),
            None => {}
        }
        if command.num() > 0 {
            self.int(command.num());
            self.char(' ');
        }
        self.str(words.after);
        if command.missing_ok() && words.ends_in_if_exists {
            self.str("IF EXISTS ");
        }
        self.alter_table_definition(command)?;
        self.opt_drop_behavior(command.behavior())?;
        self.trim();
        Ok(())
    }

    /// The new definition in a command, and a space.
    fn alter_table_definition(&mut self, command: AlterTableCmd<'_>) -> DeparseResult {
        use AlterTableType as At;
        let definition = command.def();
        let place = "what ALTER TABLE makes";
        match command.subtype() {
            At::AtAttachPartition | At::AtDetachPartition => {
                self.partition_cmd(required_node(definition, place)?)?;
            }
            At::AtDetachPartitionFinalize => {
                self.partition_cmd(required_node(definition, place)?)?;
                self.str(" FINALIZE");
            }
            At::AtAddColumn | At::AtAlterColumnType => self.column_def(required_node(definition, place)?)?,
            At::AtColumnDefault if definition.is_some() => self.expr(definition, Context::AExpr)?,
            At::AtSetStatistics if definition.is_some() => self.signed_iconst(definition)?,
            At::AtSetStatistics => self.str("DEFAULT"),
            At::AtSetOptions | At::AtResetOptions | At::AtSetRelOptions | At::AtResetRelOptions => {
                self.rel_options(list_of(definition, place)?)?;
            }
            At::AtSetStorage => self.ident(string_of(definition)?),
            At::AtSetCompression => self.compression(definition)?,
            At::AtAddIdentity | At::AtAddConstraint => {
                self.constraint(required_node(definition, place)?, Context::None)?;
            }
            At::AtAlterConstraint => self.at_alter_constraint(required_node(definition, place)?)?,
            At::AtSetIdentity => self.alter_identity_column_option_list(list_of(definition, place)?)?,
            At::AtAlterColumnGenericOptions | At::AtGenericOptions => {
                self.alter_generic_options(list_of(definition, place)?)?;
            }
            At::AtAddInherit | At::AtDropInherit => {
                self.range_var(required_node(definition, place)?, Context::None)?;
            }
            At::AtAddOf => self.any_name(required_node::<TypeName<'_>>(definition, place)?.names())?,
            At::AtReplicaIdentity => self.replica_identity_stmt(required_node(definition, place)?)?,
            At::AtSetExpression => {
                self.str("SET EXPRESSION AS (");
                self.expr(definition, Context::AExpr)?;
                self.char(')');
            }
            _ => return Ok(()),
        }
        self.char(' ');
        Ok(())
    }

    fn compression(&mut self, method: Option<Node<'_>>) -> DeparseResult {
        match string_of(method)? {
            "default" => self.str("DEFAULT"),
            method => self.ident(method),
        }
        Ok(())
    }
}
