//! SQL/JSON: constructors, aggregates and functions.

use super::precedence::{Precedence, Side, takes_with_unique};
use crate::deparse::context::Context;
use crate::deparse::need::{required, required_node};
use crate::deparse::{DeparseResult, Deparser};
use crate::node::*;

impl Deparser<'_> {
    /// FORMAT, with a space after it; nothing for the default.
    pub(in crate::deparse) fn json_format(&mut self, node: Option<JsonFormat<'_>>) {
        let Some(node) = node else { return };
        if node.format_type() == JsonFormatType::JsFormatDefault {
            return;
        }
        self.str("FORMAT JSON ");
        self.str(match node.encoding() {
            JsonEncoding::JsEncUtf8 => "ENCODING utf8 ",
            JsonEncoding::JsEncUtf16 => "ENCODING utf16 ",
            JsonEncoding::JsEncUtf32 => "ENCODING utf32 ",
            JsonEncoding::JsEncDefault => "",
        });
    }

    /// IS JSON.
    pub(in crate::deparse) fn json_is_predicate(&mut self, node: JsonIsPredicate<'_>) -> DeparseResult {
        self.operand(node.expr(), Precedence::Is, Side::Left, Context::AExpr)?;
        self.char(' ');
        self.json_format(node.format());
        self.str(match node.item_type() {
            JsonValueType::JsTypeAny => "IS JSON ",
            JsonValueType::JsTypeArray => "IS JSON ARRAY ",
            JsonValueType::JsTypeObject => "IS JSON OBJECT ",
            JsonValueType::JsTypeScalar => "IS JSON SCALAR ",
        });
        if node.unique_keys() {
            self.str("WITH UNIQUE ");
        }
        self.trim();
        Ok(())
    }

    /// `json_value_expr`, with a space after it.
    pub(in crate::deparse) fn json_value_expr(&mut self, node: Option<JsonValueExpr<'_>>) -> DeparseResult {
        let node = required(node, "a JSON value")?;
        self.expr(node.raw_expr(), Context::AExpr)?;
        self.char(' ');
        self.json_format(node.format());
        Ok(())
    }

    /// `json_value_expr_list`, with a space after it.
    pub(in crate::deparse) fn json_value_expr_list(&mut self, list: List<'_>) -> DeparseResult {
        self.separated(list, |deparser, node| {
            deparser.json_value_expr(Some(required_node(node, "a JSON value")?))?;
            deparser.trim();
            Ok(())
        })?;
        self.char(' ');
        Ok(())
    }

    /// `json_name_and_value`, with a space after it.
    pub(in crate::deparse) fn json_key_value(&mut self, node: JsonKeyValue<'_>) -> DeparseResult {
        self.expr(node.key(), Context::AExpr)?;
        self.str(": ");
        self.json_value_expr(node.value())
    }

    /// `json_name_and_value_list`, with a space after it.
    pub(in crate::deparse) fn json_key_value_list(&mut self, list: List<'_>) -> DeparseResult {
        self.separated(list, |deparser, node| {
            deparser.json_key_value(required_node(node, "a JSON key and value")?)?;
            deparser.trim();
            Ok(())
        })?;
        self.char(' ');
        Ok(())
    }

    /// RETURNING, with a space after it; nothing for none.
    pub(in crate::deparse) fn json_output(&mut self, node: Option<JsonOutput<'_>>) -> DeparseResult {
        let Some(node) = node else { return Ok(()) };
        let returning = required(node.returning(), "what RETURNING returns")?;
        self.str("RETURNING ");
        self.type_name(required(node.type_name(), "the type of RETURNING")?)?;
        self.char(' ');
        self.json_format(returning.format());
        Ok(())
    }

    /// JSON_OBJECTAGG.
    pub(in crate::deparse) fn json_object_agg(&mut self, node: JsonObjectAgg<'_>) -> DeparseResult {
        let aggregate = required(node.constructor(), "an aggregate")?;
        self.str("JSON_OBJECTAGG(");
        self.json_key_value(required(node.arg(), "a JSON key and value")?)?;
        let value = node.arg().and_then(|pair| pair.value());
        self.object_options(node.absent_on_null(), node.unique(), value);
        self.json_output(aggregate.output())?;
        self.trim();
        self.str(") ");
        self.filter_and_over(aggregate.agg_filter(), aggregate.over())
    }

    /// The words for options of objects that differ from the defaults (null values are kept, keys may occur twice).
    /// `value` is the value before them.
    fn object_options(&mut self, absent_on_null: bool, unique: bool, value: Option<JsonValueExpr<'_>>) {
        if absent_on_null {
            self.str("ABSENT ON NULL ");
        } else if unique && value.is_some_and(|value| takes_with_unique(value.raw_expr())) {
            self.str("NULL ON NULL ");
        }
        if unique {
            self.str("WITH UNIQUE ");
        }
    }

    /// JSON_ARRAYAGG.
    pub(in crate::deparse) fn json_array_agg(&mut self, node: JsonArrayAgg<'_>) -> DeparseResult {
        let aggregate = required(node.constructor(), "an aggregate")?;
        self.str("JSON_ARRAYAGG(");
        self.json_value_expr(node.arg())?;
        self.opt_sort_clause(aggregate.agg_order(), Context::None)?;
        if !node.absent_on_null() {
            self.str("NULL ON NULL ");
        }
        self.json_output(aggregate.output())?;
        self.trim();
        self.str(") ");
        self.filter_and_over(aggregate.agg_filter(), aggregate.over())
    }

    /// JSON_OBJECT.
    pub(in crate::deparse) fn json_object_constructor(
        &mut self,
        node: JsonObjectConstructor<'_>,
    ) -> DeparseResult {
        self.str("JSON_OBJECT(");
        self.json_key_value_list(node.exprs())?;
        let last = node.exprs().last().and_then(Node::cast::<JsonKeyValue<'_>>);
        self.object_options(node.absent_on_null(), node.unique(), last.and_then(|pair| pair.value()));
        self.json_output(node.output())?;
        self.trim();
        self.char(')');
        Ok(())
    }

    /// JSON_ARRAY of values.
    pub(in crate::deparse) fn json_array_constructor(
        &mut self,
        node: JsonArrayConstructor<'_>,
    ) -> DeparseResult {
        self.str("JSON_ARRAY(");
        self.json_value_expr_list(node.exprs())?;
        if !node.absent_on_null() {
            self.str("NULL ON NULL ");
        }
        self.json_output(node.output())?;
        self.trim();
        self.char(')');
        Ok(())
    }

    /// JSON_ARRAY of a query's rows.
    pub(in crate::deparse) fn json_array_query_constructor(
        &mut self,
        node: JsonArrayQueryConstructor<'_>,
    ) -> DeparseResult {
        self.str("JSON_ARRAY(");
        self.select_stmt(required_node(node.query(), "the query of JSON_ARRAY")?, Context::None)?;
        self.json_format(node.format());
        self.json_output(node.output())?;
        self.trim();
        self.char(')');
        Ok(())
    }

    /// JSON.
    pub(in crate::deparse) fn json_parse_expr(&mut self, node: JsonParseExpr<'_>) -> DeparseResult {
        self.str("JSON(");
        let value = required(node.expr(), "a JSON value")?;
        if node.unique_keys() && takes_with_unique(value.raw_expr()) {
            self.in_parens(required(value.raw_expr(), "a JSON value")?)?;
            self.json_format(value.format());
        } else {
            self.json_value_expr(Some(value))?;
        }
        if node.unique_keys() {
            self.str(" WITH UNIQUE KEYS");
        }
        self.char(')');
        Ok(())
    }

    /// JSON_SCALAR.
    pub(in crate::deparse) fn json_scalar_expr(&mut self, node: JsonScalarExpr<'_>) -> DeparseResult {
        self.str("JSON_SCALAR(");
        self.expr(node.expr(), Context::AExpr)?;
        self.char(')');
        Ok(())
    }

    /// JSON_SERIALIZE.
    pub(in crate::deparse) fn json_serialize_expr(&mut self, node: JsonSerializeExpr<'_>) -> DeparseResult {
        self.str("JSON_SERIALIZE(");
        self.json_value_expr(node.expr())?;
        self.json_output(node.output())?;
        self.char(')');
        Ok(())
    }

    /// JSON_EXISTS, JSON_QUERY, JSON_VALUE.
    pub(in crate::deparse) fn json_func_expr(&mut self, node: JsonFuncExpr<'_>) -> DeparseResult {
        self.str(match node.op() {
            JsonExprOp::JsonExistsOp => "JSON_EXISTS(",
            JsonExprOp::JsonQueryOp => "JSON_QUERY(",
            JsonExprOp::JsonValueOp => "JSON_VALUE(",
            JsonExprOp::JsonTableOp => "JSON_TABLE(",
        });
        self.json_value_expr(node.context_item())?;
        self.str(", ");
        self.expr(node.pathspec(), Context::AExpr)?;
        self.json_passing(node.passing())?;
        if node.output().is_some() {
            self.char(' ');
            self.json_output(node.output())?;
        }
        self.json_wrapper(node.wrapper());
        self.json_quotes_clause_opt(node.quotes());
        self.json_on_empty_clause_opt(node.on_empty())?;
        self.json_on_error_clause_opt(node.on_error())?;
        self.char(')');
        Ok(())
    }
}
