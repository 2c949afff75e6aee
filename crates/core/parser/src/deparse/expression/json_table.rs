//! Writes JSON_TABLE, and the clauses that it shares with SQL/JSON's query functions.

use crate::deparse::context::Context;
use crate::deparse::need::{required, required_node};
use crate::deparse::{DeparseResult, Deparser};
use crate::node::*;

impl Deparser<'_> {
    /// PASSING.
    pub(super) fn json_passing(&mut self, list: List<'_>) -> DeparseResult {
        if list.is_empty() {
            return Ok(());
        }
        self.str(" PASSING ");
        self.separated(list, |deparser, node| {
            let argument: JsonArgument<'_> = required_node(node, "an argument of PASSING")?;
            deparser.json_value_expr(argument.val())?;
            deparser.str(" AS ");
            deparser.col_label(required(argument.name(), "an argument's name")?);
            Ok(())
        })
    }

    pub(super) fn json_wrapper(&mut self, wrapper: JsonWrapper) {
        self.str(match wrapper {
            JsonWrapper::JswUnspec => "",
            JsonWrapper::JswNone => " WITHOUT WRAPPER",
            JsonWrapper::JswConditional => " WITH CONDITIONAL WRAPPER",
            JsonWrapper::JswUnconditional => " WITH UNCONDITIONAL WRAPPER",
        });
    }

    /// `json_quotes_clause_opt`.
    pub(in crate::deparse) fn json_quotes_clause_opt(&mut self, quotes: JsonQuotes) {
        self.str(match quotes {
            JsonQuotes::JsQuotesUnspec => "",
            JsonQuotes::JsQuotesKeep => " KEEP QUOTES",
            JsonQuotes::JsQuotesOmit => " OMIT QUOTES",
        });
    }

    /// `json_on_error_clause_opt`.
    pub(in crate::deparse) fn json_on_error_clause_opt(
        &mut self,
        behavior: Option<JsonBehavior<'_>>,
    ) -> DeparseResult {
        self.behavior_on(behavior, " ON ERROR")
    }

    /// ON EMPTY.
    pub(in crate::deparse) fn json_on_empty_clause_opt(
        &mut self,
        behavior: Option<JsonBehavior<'_>>,
    ) -> DeparseResult {
        self.behavior_on(behavior, " ON EMPTY")
    }

    fn behavior_on(&mut self, behavior: Option<JsonBehavior<'_>>, event: &str) -> DeparseResult {
        let Some(behavior) = behavior else { return Ok(()) };
        self.char(' ');
        self.json_behavior(behavior)?;
        self.str(event);
        Ok(())
    }

    /// `json_behavior`.
    pub(in crate::deparse) fn json_behavior(&mut self, node: JsonBehavior<'_>) -> DeparseResult {
        use JsonBehaviorType as Type;
        self.str(match node.btype() {
            Type::JsonBehaviorNull => "NULL",
            Type::JsonBehaviorError => "ERROR",
            Type::JsonBehaviorEmpty => "EMPTY",
            Type::JsonBehaviorTrue => "TRUE",
            Type::JsonBehaviorFalse => "FALSE",
            Type::JsonBehaviorEmptyArray => "EMPTY ARRAY",
            Type::JsonBehaviorEmptyObject => "EMPTY OBJECT",
            Type::JsonBehaviorUnknown => "UNKNOWN",
            Type::JsonBehaviorDefault => {
                self.str("DEFAULT ");
                return self.expr(node.expr(), Context::AExpr);
            }
        });
        Ok(())
    }

    /// A path of JSON_TABLE, perhaps with a name.
    pub(in crate::deparse) fn json_table_path_spec(&mut self, node: JsonTablePathSpec<'_>) -> DeparseResult {
        let path: AConst<'_> = required_node(node.string(), "a JSON path")?;
        let path: StringNode<'_> = required_node(path.val(), "a JSON path")?;
        self.string_literal(path.sval());
        if let Some(name) = node.name() {
            self.str(" AS ");
            self.col_label(name);
        }
        Ok(())
    }

    /// A column of JSON_TABLE. A nested column has its own columns.
    pub(in crate::deparse) fn json_table_column(&mut self, node: JsonTableColumn<'_>) -> DeparseResult {
        use JsonTableColumnType as Type;
        if node.coltype() == Type::JtcNested {
            self.str("NESTED PATH ");
            self.json_table_path_spec(required(node.pathspec(), "a JSON path")?)?;
            return self.deeper(|deparser| deparser.json_table_columns(node.columns()));
        }
        self.col_label(required(node.name(), "a column's name")?);
        self.char(' ');
        match node.coltype() {
            Type::JtcForOrdinality => self.str(" FOR ORDINALITY"),
            Type::JtcExists | Type::JtcFormatted | Type::JtcRegular | Type::JtcNested => {
                self.type_name(required(node.type_name(), "a column's type")?)?;
                self.str(if node.coltype() == Type::JtcExists { " EXISTS " } else { " " });
                self.json_format(node.format());
                if let Some(path) = node.pathspec() {
                    self.str("PATH ");
                    self.json_table_path_spec(path)?;
                }
            }
        }
        // For a column that cannot have a wrapper, the grammar sets "no wrapper".
        let takes_wrapper = matches!(node.coltype(), Type::JtcRegular | Type::JtcFormatted);
        if takes_wrapper || node.wrapper() != JsonWrapper::JswNone {
            self.json_wrapper(node.wrapper());
        }
        self.json_quotes_clause_opt(node.quotes());
        self.json_on_empty_clause_opt(node.on_empty())?;
        self.json_on_error_clause_opt(node.on_error())
    }

    /// COLUMNS.
    pub(in crate::deparse) fn json_table_columns(&mut self, columns: List<'_>) -> DeparseResult {
        self.str(" COLUMNS (");
        self.separated(columns, |deparser, column| {
            deparser.json_table_column(required_node(column, "a column of JSON_TABLE")?)
        })?;
        self.char(')');
        Ok(())
    }

    /// JSON_TABLE.
    pub(in crate::deparse) fn json_table(&mut self, node: JsonTable<'_>) -> DeparseResult {
        if node.lateral() {
            self.str("LATERAL ");
        }
        self.str("JSON_TABLE(");
        self.json_value_expr(node.context_item())?;
        self.str(", ");
        self.json_table_path_spec(required(node.pathspec(), "a JSON path")?)?;
        self.json_passing(node.passing())?;
        self.json_table_columns(node.columns())?;
        if let Some(behavior) = node.on_error() {
            self.json_behavior(behavior)?;
            self.str(" ON ERROR");
        }
        self.char(')');
        if let Some(alias) = node.alias() {
            self.char(' ');
            self.alias(alias)?;
        }
        Ok(())
    }
}
