//! Writes CREATE, ALTER and DROP SUBSCRIPTION.

use crate::deparse::names::string_of;
use crate::deparse::need::{bool_of, required, required_node};
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{
    AlterSubscriptionStmt, AlterSubscriptionType, CreateSubscriptionStmt, DefElem, DropSubscriptionStmt, List,
};

impl Deparser<'_> {
    pub(in crate::deparse) fn create_subscription_stmt(
        &mut self,
        statement: CreateSubscriptionStmt<'_>,
    ) -> DeparseResult {
        self.str("CREATE SUBSCRIPTION ");
        self.ident(required(statement.subname(), "a subscription")?);
        self.str(" CONNECTION ");
        self.string_literal(statement.conninfo().unwrap_or_default());
        self.str(" PUBLICATION ");
        self.publications(statement.publication(), statement.options())
    }

    pub(in crate::deparse) fn alter_subscription_stmt(
        &mut self,
        statement: AlterSubscriptionStmt<'_>,
    ) -> DeparseResult {
        self.str("ALTER SUBSCRIPTION ");
        self.ident(required(statement.subname(), "a subscription")?);
        let options = statement.options();
        match statement.kind() {
            AlterSubscriptionType::AlterSubscriptionOptions => {
                self.str(" SET ");
                self.definition(options)
            }
            AlterSubscriptionType::AlterSubscriptionSkip => {
                self.str(" SKIP ");
                self.definition(options)
            }
            AlterSubscriptionType::AlterSubscriptionConnection => {
                self.str(" CONNECTION ");
                self.string_literal(statement.conninfo().unwrap_or_default());
                Ok(())
            }
            AlterSubscriptionType::AlterSubscriptionRefresh => {
                self.str(" REFRESH PUBLICATION ");
                self.opt_definition(options)?;
                self.trim();
                Ok(())
            }
            AlterSubscriptionType::AlterSubscriptionAddPublication => {
                self.str(" ADD PUBLICATION ");
                self.publications(statement.publication(), options)
            }
            AlterSubscriptionType::AlterSubscriptionDropPublication => {
                self.str(" DROP PUBLICATION ");
                self.publications(statement.publication(), options)
            }
            AlterSubscriptionType::AlterSubscriptionSetPublication => {
                self.str(" SET PUBLICATION ");
                self.publications(statement.publication(), options)
            }
            AlterSubscriptionType::AlterSubscriptionEnabled => {
                let option =
                    required_node::<DefElem<'_>>(options.first(), "whether a subscription is enabled")?;
                // libpg_query writes two spaces here.
                self.str(if bool_of(option.arg())? { "  ENABLE" } else { "  DISABLE" });
                Ok(())
            }
        }
    }

    /// Publications, and the options after them.
    fn publications(&mut self, publications: List<'_>, options: List<'_>) -> DeparseResult {
        self.separated(publications, |this, publication| {
            this.col_label(string_of(publication)?);
            Ok(())
        })?;
        self.char(' ');
        self.opt_definition(options)?;
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn drop_subscription_stmt(
        &mut self,
        statement: DropSubscriptionStmt<'_>,
    ) -> DeparseResult {
        self.str("DROP SUBSCRIPTION ");
        if statement.missing_ok() {
            self.str("IF EXISTS ");
        }
        self.ident(required(statement.subname(), "a subscription")?);
        self.char(' ');
        self.opt_drop_behavior(statement.behavior())?;
        self.trim();
        Ok(())
    }
}
