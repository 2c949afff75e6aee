//! Writes functions, procedures, aggregates and operators with their argument types; CREATE FUNCTION.

use crate::deparse::context::Context;
use crate::deparse::names::string_of;
use crate::deparse::need::{bool_of, int_of, list_of, required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{
    CreateFunctionStmt, DefElem, FunctionParameter, FunctionParameterMode, List, Node, ObjectWithArgs,
    ReturnStmt, TypeName, VariableSetStmt,
};

use super::definition::option_name;

impl Deparser<'_> {
    /// `func_name`.
    pub(in crate::deparse) fn func_name(&mut self, names: List<'_>) -> DeparseResult {
        self.any_name(names)
    }

    /// `handler_name`.
    pub(in crate::deparse) fn handler_name(&mut self, names: List<'_>) -> DeparseResult {
        self.any_name(names)
    }

    /// `function_with_argtypes`.
    pub(in crate::deparse) fn function_with_argtypes(
        &mut self,
        function: ObjectWithArgs<'_>,
    ) -> DeparseResult {
        self.func_name(function.objname())?;
        if function.args_unspecified() {
            return Ok(());
        }
        self.char('(');
        self.arguments(function)?;
        self.char(')');
        Ok(())
    }

    /// The arguments, as parameters if the tree has parameters.
    fn arguments(&mut self, function: ObjectWithArgs<'_>) -> DeparseResult {
        let parameters = function.objfuncargs();
        let arguments = if parameters.is_empty() { function.objargs() } else { parameters };
        self.separated(arguments, |d, argument| {
            match argument.and_then(|argument| argument.cast::<FunctionParameter<'_>>()) {
                Some(parameter) => d.function_parameter(parameter),
                None => d.type_name(required_node(argument, "an argument's type")?),
            }
        })
    }

    /// `function_with_argtypes_list`.
    pub(in crate::deparse) fn function_with_argtypes_list(&mut self, functions: List<'_>) -> DeparseResult {
        self.separated(functions, |d, function| {
            d.function_with_argtypes(required_node(function, "a function")?)
        })
    }

    /// `operator_with_argtypes`.
    pub(in crate::deparse) fn operator_with_argtypes(
        &mut self,
        operator: ObjectWithArgs<'_>,
    ) -> DeparseResult {
        self.any_operator(operator.objname())?;
        let mut operands = operator.objargs().iter();
        let (Some(left), Some(right)) = (operands.next(), operands.next()) else {
            return Err(DeparseError::missing("an operand of an operator"));
        };
        self.char('(');
        self.operand_type(left)?;
        self.str(", ");
        self.operand_type(right)?;
        self.char(')');
        Ok(())
    }

    fn operand_type(&mut self, operand: Option<Node<'_>>) -> DeparseResult {
        if operand.is_none() {
            self.str("NONE");
            return Ok(());
        }
        self.type_name(required_node::<TypeName<'_>>(operand, "an operand's type")?)
    }

    /// `aggr_args`: a list of the arguments, and the number of arguments before ORDER BY (-1 if there is no ORDER BY).
    pub(in crate::deparse) fn aggr_args(&mut self, arguments: List<'_>) -> DeparseResult {
        let mut parts = arguments.iter();
        let (Some(arguments), Some(direct)) = (parts.next(), parts.next()) else {
            return Err(DeparseError::missing("a part of an aggregate's arguments"));
        };
        let arguments = list_of(arguments, "an aggregate's arguments")?;
        let direct = usize::try_from(int_of(direct)?).ok();
        self.char('(');
        if arguments.is_empty() {
            self.char('*');
        }
        for (index, argument) in arguments.iter().enumerate() {
            if direct == Some(index) {
                self.str(if index > 0 { " ORDER BY " } else { "ORDER BY " });
            } else if index > 0 {
                self.str(", ");
            }
            self.function_parameter(required_node(argument, "an argument")?)?;
        }
        // A variadic argument that is before and after ORDER BY is only once in the tree.
        if !arguments.is_empty() && direct == Some(arguments.len()) {
            self.str(" ORDER BY ");
            self.function_parameter(required_node(arguments.last(), "an argument")?)?;
        }
        self.char(')');
        Ok(())
    }

    /// `aggregate_with_argtypes`.
    pub(in crate::deparse) fn aggregate_with_argtypes(
        &mut self,
        aggregate: ObjectWithArgs<'_>,
    ) -> DeparseResult {
        self.func_name(aggregate.objname())?;
        self.char('(');
        if aggregate.objargs().is_empty() && aggregate.objfuncargs().is_empty() {
            self.char('*');
        } else {
            self.arguments(aggregate)?;
        }
        self.char(')');
        Ok(())
    }

    pub(in crate::deparse) fn create_function_stmt(&mut self, stmt: CreateFunctionStmt<'_>) -> DeparseResult {
        self.str(if stmt.replace() { "CREATE OR REPLACE " } else { "CREATE " });
        self.str(if stmt.is_procedure() { "PROCEDURE " } else { "FUNCTION " });
        self.func_name(stmt.funcname())?;
        self.char('(');
        let is_table = self.function_parameters(stmt.parameters(), false)?;
        self.str(") ");
        if is_table {
            self.str("RETURNS TABLE (");
            self.function_parameters(stmt.parameters(), true)?;
            self.str(") ");
        } else if let Some(returned) = stmt.return_type() {
            self.str("RETURNS ");
            self.type_name(returned)?;
            self.char(' ');
        }
        for option in stmt.options() {
            self.create_func_opt_item(required_node(option, "an option of a function")?)?;
            self.char(' ');
        }
        if let Some(body) = stmt.sql_body() {
            self.function_body(body)?;
        }
        self.trim();
        Ok(())
    }

    /// The real parameters, or the columns of the table that the function returns. Returns whether there are others.
    fn function_parameters(&mut self, parameters: List<'_>, of_table: bool) -> Result<bool, DeparseError> {
        let (mut has_written, mut has_others) = (false, false);
        for parameter in parameters {
            let parameter = required_node::<FunctionParameter<'_>>(parameter, "a parameter of a function")?;
            if (parameter.mode() == FunctionParameterMode::FuncParamTable) != of_table {
                has_others = true;
                continue;
            }
            if has_written {
                self.str(", ");
            }
            self.function_parameter(parameter)?;
            has_written = true;
        }
        Ok(has_others)
    }

    /// `func_arg_with_default` and similar rules.
    pub(in crate::deparse) fn function_parameter(
        &mut self,
        parameter: FunctionParameter<'_>,
    ) -> DeparseResult {
        match parameter.mode() {
            FunctionParameterMode::FuncParamIn => self.str("IN "),
            FunctionParameterMode::FuncParamOut => self.str("OUT "),
            FunctionParameterMode::FuncParamInout => self.str("INOUT "),
            FunctionParameterMode::FuncParamVariadic => self.str("VARIADIC "),
            FunctionParameterMode::FuncParamTable | FunctionParameterMode::FuncParamDefault => {}
        }
        if let Some(name) = parameter.name() {
            self.type_function_name(name);
            self.char(' ');
        }
        self.type_of(parameter.arg_type())?;
        if let Some(default) = parameter.defexpr() {
            self.str(" = ");
            self.expr(Some(default), Context::AExpr)?;
            self.trim();
        }
        Ok(())
    }

    /// An SQL body: RETURN, or BEGIN ATOMIC, for which the tree has a list in a list.
    fn function_body(&mut self, body: Node<'_>) -> DeparseResult {
        if let Some(returned) = body.cast::<ReturnStmt<'_>>() {
            return self.return_stmt(returned);
        }
        self.str("BEGIN ATOMIC ");
        let bodies = list_of(Some(body), "the body of a function")?;
        let statements = required(bodies.get(0), "the list of a function's statements")?;
        for statement in list_of(statements, "the statements of a function")? {
            match statement.and_then(|statement| statement.cast::<ReturnStmt<'_>>()) {
                Some(returned) => self.return_stmt(returned)?,
                None => self.stmt(statement)?,
            }
            self.str("; ");
        }
        self.str("END ");
        Ok(())
    }

    /// `ReturnStmt`.
    pub(in crate::deparse) fn return_stmt(&mut self, stmt: ReturnStmt<'_>) -> DeparseResult {
        self.str("RETURN ");
        self.expr(stmt.returnval(), Context::AExpr)
    }

    /// `createfunc_opt_item`.
    pub(in crate::deparse) fn create_func_opt_item(&mut self, option: DefElem<'_>) -> DeparseResult {
        match option_name(option) {
            "as" => {
                self.str("AS ");
                self.func_as(list_of(option.arg(), "the text of a function")?)
            }
            "language" => {
                self.str("LANGUAGE ");
                self.non_reserved_word_or_sconst(string_of(option.arg())?)
            }
            "transform" => {
                self.str("TRANSFORM ");
                self.separated(list_of(option.arg(), "the types to transform")?, |d, name| {
                    d.str("FOR TYPE ");
                    d.type_name(required_node(name, "a type")?)
                })
            }
            "window" => {
                self.str("WINDOW");
                Ok(())
            }
            _ => self.common_func_opt_item(option),
        }
    }

    /// `func_as`.
    pub(in crate::deparse) fn func_as(&mut self, texts: List<'_>) -> DeparseResult {
        self.separated(texts, |d, text| {
            let text = string_of(text)?;
            if text.contains("$$") || text.ends_with('$') {
                d.string_literal(text);
            } else {
                d.str("$$");
                d.str(text);
                d.str("$$");
            }
            Ok(())
        })
    }

    /// `common_func_opt_item`.
    pub(in crate::deparse) fn common_func_opt_item(&mut self, option: DefElem<'_>) -> DeparseResult {
        let arg = option.arg();
        let mut switch = |on, off| {
            self.str(if bool_of(arg)? { on } else { off });
            Ok(())
        };
        match option_name(option) {
            "strict" => switch("RETURNS NULL ON NULL INPUT", "CALLED ON NULL INPUT"),
            "security" => switch("SECURITY DEFINER", "SECURITY INVOKER"),
            "leakproof" => switch("LEAKPROOF", "NOT LEAKPROOF"),
            "volatility" => {
                self.str(match string_of(arg)? {
                    "immutable" => "IMMUTABLE",
                    "stable" => "STABLE",
                    "volatile" => "VOLATILE",
                    other => {
                        return Err(DeparseError::new(format!(
                            "{other:?} is not a volatility of a function"
                        )));
                    }
                });
                Ok(())
            }
            "cost" => {
                self.str("COST ");
                self.value(required(arg, "the cost of a function")?, Context::None)
            }
            "rows" => {
                self.str("ROWS ");
                self.value(required(arg, "the rows of a function")?, Context::None)
            }
            "support" => {
                self.str("SUPPORT ");
                self.any_name(list_of(arg, "the support function of a function")?)
            }
            "set" => {
                self.variable_set_stmt(required_node::<VariableSetStmt<'_>>(arg, "a function's setting")?)
            }
            "parallel" => {
                self.str("PARALLEL ");
                self.ident(string_of(arg)?);
                Ok(())
            }
            other => Err(DeparseError::new(format!("functions have no option {other:?}"))),
        }
    }
}
