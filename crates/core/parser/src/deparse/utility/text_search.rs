//! ALTER TEXT SEARCH.

use crate::deparse::need::list_of;
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{AlterTSConfigType, AlterTSConfigurationStmt, AlterTSDictionaryStmt, List};

impl Deparser<'_> {
    pub(in crate::deparse) fn alter_ts_dictionary_stmt(
        &mut self,
        statement: AlterTSDictionaryStmt<'_>,
    ) -> DeparseResult {
        self.str("ALTER TEXT SEARCH DICTIONARY ");
        self.any_name(statement.dictname())?;
        self.char(' ');
        self.definition(statement.options())
    }

    pub(in crate::deparse) fn alter_ts_configuration_stmt(
        &mut self,
        statement: AlterTSConfigurationStmt<'_>,
    ) -> DeparseResult {
        self.str("ALTER TEXT SEARCH CONFIGURATION ");
        self.any_name(statement.cfgname())?;
        match statement.kind() {
            AlterTSConfigType::AlterTsconfigAddMapping => {
                self.str(" ADD MAPPING FOR ");
                self.mapping(statement)
            }
            AlterTSConfigType::AlterTsconfigAlterMappingForToken => {
                self.str(" ALTER MAPPING FOR ");
                self.mapping(statement)
            }
            AlterTSConfigType::AlterTsconfigReplaceDict => {
                self.str(" ALTER MAPPING REPLACE ");
                self.replacement(statement.dicts())
            }
            AlterTSConfigType::AlterTsconfigReplaceDictForToken => {
                self.str(" ALTER MAPPING FOR ");
                self.name_list(statement.tokentype())?;
                self.str(" REPLACE ");
                self.replacement(statement.dicts())
            }
            AlterTSConfigType::AlterTsconfigDropMapping => {
                self.str(" DROP MAPPING ");
                if statement.missing_ok() {
                    self.str("IF EXISTS ");
                }
                self.str("FOR ");
                self.name_list(statement.tokentype())
            }
        }
    }

    fn mapping(&mut self, statement: AlterTSConfigurationStmt<'_>) -> DeparseResult {
        self.name_list(statement.tokentype())?;
        self.str(" WITH ");
        self.any_name_list(statement.dicts())
    }

    /// The replacement of one dictionary by another.
    fn replacement(&mut self, dictionaries: List<'_>) -> DeparseResult {
        let mut names = dictionaries.into_iter().map(|names| list_of(names, "a dictionary"));
        self.any_name(names.next().transpose()?.unwrap_or_default())?;
        self.str(" WITH ");
        self.any_name(names.next().transpose()?.unwrap_or_default())
    }
}
