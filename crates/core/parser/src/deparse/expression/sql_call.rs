//! Writes calls of functions that have their own SQL syntax.

use super::precedence::{Precedence, Side};
use crate::deparse::context::Context;
use crate::deparse::need::{required_element, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{AConst, List};

impl Deparser<'_> {
    /// Writes the call of a built-in function in its own syntax. If there is no such syntax for this function with
    /// this many arguments, writes nothing and returns false.
    pub(super) fn sql_syntax_call(&mut self, name: &str, arguments: List<'_>) -> Result<bool, DeparseError> {
        match (name, arguments.len()) {
            ("overlay", 3) => self.phrase(&["overlay(", " placing ", " from "], arguments)?,
            ("overlay", 4) => self.phrase(&["OVERLAY(", " PLACING ", " FROM ", " FOR "], arguments)?,
            ("substring", 2 | 3) => self.phrase(&["SUBSTRING(", " FROM ", " FOR "], arguments)?,
            ("pg_collation_for", 1) => self.phrase(&["collation for ("], arguments)?,
            ("extract", 2) => self.phrase(&["extract (", " FROM "], arguments)?,
            ("overlaps", 4) => self.phrase(&["(", ", ", ") OVERLAPS (", ", "], arguments)?,
            ("position", 2) => self.position(arguments)?,
            ("xmlexists", 2) => self.xml_exists(arguments)?,
            ("ltrim", 1..) => self.trim_call("TRIM (LEADING ", arguments)?,
            ("btrim", 1..) => self.trim_call("TRIM (BOTH ", arguments)?,
            ("rtrim", 1..) => self.trim_call("TRIM (TRAILING ", arguments)?,
            ("timezone", 1 | 2) => self.at_time_zone(arguments)?,
            ("normalize", 1 | 2) => self.normalize(arguments)?,
            ("is_normalized", 1 | 2) => self.is_normalized(arguments)?,
            ("system_user", _) => self.str("SYSTEM_USER"),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The arguments, each with its words before it, and a closing parenthesis.
    fn phrase(&mut self, words: &[&str], arguments: List<'_>) -> DeparseResult {
        for (words, argument) in words.iter().zip(arguments) {
            self.str(words);
            self.expr(argument, Context::AExpr)?;
        }
        self.char(')');
        Ok(())
    }

    /// POSITION. The function has its arguments in the opposite order.
    fn position(&mut self, arguments: List<'_>) -> DeparseResult {
        self.str("POSITION(");
        self.b_expr(required_element(arguments, 1, "what POSITION looks for")?)?;
        self.str(" IN ");
        self.b_expr(required_element(arguments, 0, "what POSITION looks in")?)?;
        self.char(')');
        Ok(())
    }

    fn xml_exists(&mut self, arguments: List<'_>) -> DeparseResult {
        self.str("xmlexists (");
        self.c_expr(required_element(arguments, 0, "a path")?)?;
        self.str(" PASSING ");
        self.c_expr(required_element(arguments, 1, "a document")?)?;
        self.char(')');
        Ok(())
    }

    /// TRIM. The characters to remove are the second argument. The grammar accepts more arguments than the functions
    /// do.
    fn trim_call(&mut self, words: &str, arguments: List<'_>) -> DeparseResult {
        self.str(words);
        if arguments.len() == 2 {
            self.expr(required_element(arguments, 1, "what TRIM cuts off")?, Context::AExpr)?;
        }
        self.str(" FROM ");
        self.expr(required_element(arguments, 0, "what TRIM cuts from")?, Context::AExpr)?;
        if arguments.len() > 2 {
            for argument in arguments.iter().skip(1) {
                self.str(", ");
                self.expr(argument, Context::AExpr)?;
            }
        }
        self.char(')');
        Ok(())
    }

    /// AT TIME ZONE, AT LOCAL.
    fn at_time_zone(&mut self, arguments: List<'_>) -> DeparseResult {
        if arguments.len() == 1 {
            let time = required_element(arguments, 0, "a time")?;
            self.operand(time, Precedence::At, Side::Left, Context::AExpr)?;
            self.str(" AT LOCAL");
            return Ok(());
        }
        let time = required_element(arguments, 1, "a time")?;
        self.operand(time, Precedence::At, Side::Left, Context::AExpr)?;
        self.str(" AT TIME ZONE ");
        self.operand(
            required_element(arguments, 0, "a time zone")?,
            Precedence::At,
            Side::Right,
            Context::AExpr,
        )
    }

    fn normalize(&mut self, arguments: List<'_>) -> DeparseResult {
        self.str("normalize (");
        self.expr(required_element(arguments, 0, "a text")?, Context::AExpr)?;
        if arguments.len() == 2 {
            self.str(", ");
            self.normal_form(arguments)?;
        }
        self.char(')');
        Ok(())
    }

    fn is_normalized(&mut self, arguments: List<'_>) -> DeparseResult {
        self.operand(required_element(arguments, 0, "a text")?, Precedence::Is, Side::Left, Context::AExpr)?;
        self.str(" IS ");
        if arguments.len() == 2 {
            self.normal_form(arguments)?;
        }
        self.str(" NORMALIZED ");
        Ok(())
    }

    /// NFC, NFD, NFKC or NFKD, which are written as words.
    fn normal_form(&mut self, arguments: List<'_>) -> DeparseResult {
        let form: AConst<'_> =
            required_node(required_element(arguments, 1, "a normal form")?, "a normal form")?;
        self.value_or_null(form.val(), Context::None)
    }
}
