//! Writes lists of options with their values.

use crate::deparse::context::Context;
use crate::deparse::names::{NAME_BYTES_LIMIT, is_read_as_written, is_reserved_keyword, string_of};
use crate::deparse::need::{required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::lexer::keyword;
use crate::node::{DefElem, DefElemAction, List, Node, View};

/// The options that are keywords in CREATE DATABASE and ALTER DATABASE. All other options are identifiers there.
const DATABASE_OPTIONS: [&str; 5] = ["encoding", "location", "owner", "tablespace", "template"];

/// The name of an option.
pub(super) fn option_name(option: DefElem<'_>) -> &str {
    option.defname().unwrap_or_default()
}

impl Deparser<'_> {
    /// Options with `, ` between them.
    pub(super) fn options(
        &mut self,
        options: List<'_>,
        mut each: impl FnMut(&mut Self, DefElem<'_>) -> DeparseResult,
    ) -> DeparseResult {
        self.separated(options, |d, option| each(d, required_node(option, "an option")?))
    }

    /// The name of an option, which may be a keyword. It is written in capital letters if the lexer reads them as the
    /// same name.
    pub(in crate::deparse) fn generic_def_elem_name(&mut self, name: &str) -> DeparseResult {
        if is_read_as_written(name) && (name == "analyze" || !is_reserved_keyword(name)) {
            self.str(&name.to_ascii_uppercase());
        } else {
            self.ident(name);
        }
        Ok(())
    }

    /// `def_arg`, or `operator_def_arg` in ALTER OPERATOR.
    pub(in crate::deparse) fn def_arg(
        &mut self,
        value: Option<Node<'_>>,
        of_operator: bool,
    ) -> DeparseResult {
        let value = required(value, "the value of an option")?;
        match value.view() {
            View::TypeName(name) => return self.type_name(name),
            View::List(name) => return self.def_arg_operator(name),
            View::Float(_) | View::Integer(_) => return self.value(value, Context::None),
            View::String(string) => match string.sval() {
                "none" if !of_operator => self.str("NONE"),
                keyword if is_reserved_keyword(keyword) => self.str(keyword),
                text => self.string_literal(text),
            },
            other => return Err(DeparseError::misplaced(other.tag(), "the value of an option")),
        }
        Ok(())
    }

    /// `qual_all_Op` as the value of an option.
    fn def_arg_operator(&mut self, name: List<'_>) -> DeparseResult {
        if name.len() == 1 {
            self.str(string_of(name.first())?);
            return Ok(());
        }
        self.str("OPERATOR(");
        self.any_operator(name)?;
        self.char(')');
        Ok(())
    }

    /// `definition`.
    pub(in crate::deparse) fn definition(&mut self, options: List<'_>) -> DeparseResult {
        self.definition_by(options, Self::ident)
    }

    /// `old_aggr_definition`, where no keyword can be a name.
    pub(in crate::deparse) fn old_aggr_definition(&mut self, options: List<'_>) -> DeparseResult {
        self.definition_by(options, |d, name| match keyword(name.as_bytes()) {
            Some(_) => d.quoted(name),
            None => d.ident(name),
        })
    }

    fn definition_by(&mut self, options: List<'_>, name: fn(&mut Self, &str)) -> DeparseResult {
        self.char('(');
        self.options(options, |d, option| {
            name(d, option_name(option));
            if option.arg().is_some() {
                d.str(" = ");
                d.def_arg(option.arg(), false)?;
            }
            Ok(())
        })?;
        self.char(')');
        Ok(())
    }

    /// `opt_definition`.
    pub(in crate::deparse) fn opt_definition(&mut self, options: List<'_>) -> DeparseResult {
        if options.is_empty() {
            return Ok(());
        }
        self.str("WITH ");
        self.definition(options)
    }

    /// `create_generic_options`. Writes nothing if there are no options.
    pub(in crate::deparse) fn create_generic_options(&mut self, options: List<'_>) -> DeparseResult {
        if options.is_empty() {
            return Ok(());
        }
        self.str("OPTIONS (");
        self.options(options, Self::generic_option)?;
        self.char(')');
        Ok(())
    }

    /// `alter_generic_options`. Ends with a space.
    pub(in crate::deparse) fn alter_generic_options(&mut self, options: List<'_>) -> DeparseResult {
        self.str("OPTIONS (");
        self.options(options, |d, option| {
            match option.defaction() {
                DefElemAction::DefelemUnspec => {}
                DefElemAction::DefelemSet => d.str("SET "),
                DefElemAction::DefelemAdd => d.str("ADD "),
                DefElemAction::DefelemDrop => {
                    d.str("DROP ");
                    return d.col_id(option.defname());
                }
            }
            d.generic_option(option)
        })?;
        self.str(") ");
        Ok(())
    }

    fn generic_option(&mut self, option: DefElem<'_>) -> DeparseResult {
        self.col_id(option.defname())?;
        self.char(' ');
        self.string_literal(string_of(option.arg())?);
        Ok(())
    }

    /// `NonReservedWord_or_Sconst`: an identifier, or a literal if the value cannot be an identifier.
    pub(in crate::deparse) fn non_reserved_word_or_sconst(&mut self, value: &str) -> DeparseResult {
        if value.is_empty() || value.len() >= NAME_BYTES_LIMIT {
            self.string_literal(value);
        } else {
            self.ident(value);
        }
        Ok(())
    }

    /// `opt_boolean_or_string`.
    pub(in crate::deparse) fn opt_boolean_or_string(&mut self, value: &str) -> DeparseResult {
        match value {
            "true" => self.str("TRUE"),
            "false" => self.str("FALSE"),
            "on" => self.str("ON"),
            "off" => self.str("OFF"),
            other => return self.non_reserved_word_or_sconst(other),
        }
        Ok(())
    }

    /// A Boolean in any spelling, after the name of an option. Begins with a space.
    pub(in crate::deparse) fn opt_boolean(&mut self, value: Option<Node<'_>>) -> DeparseResult {
        let Some(value) = value else { return Ok(()) };
        self.char(' ');
        match value.view() {
            View::String(string) => self.str(string.sval()),
            View::Integer(integer) => self.int(integer.ival()),
            View::Boolean(boolean) => self.str(if boolean.boolval() { "TRUE" } else { "FALSE" }),
            other => return Err(DeparseError::misplaced(other.tag(), "a Boolean")),
        }
        Ok(())
    }

    /// `utility_option_list`. Ends with a space.
    pub(in crate::deparse) fn utility_option_list(&mut self, options: List<'_>) -> DeparseResult {
        if options.is_empty() {
            return Ok(());
        }
        self.char('(');
        self.options(options, |d, option| {
            d.generic_def_elem_name(option_name(option))?;
            let Some(value) = option.arg() else { return Ok(()) };
            d.char(' ');
            d.option_value(value)
        })?;
        self.str(") ");
        Ok(())
    }

    /// `NumericOnly`, or `opt_boolean_or_string`.
    fn option_value(&mut self, value: Node<'_>) -> DeparseResult {
        match value.view() {
            View::Integer(_) | View::Float(_) => self.numeric_only(value),
            View::String(string) => self.opt_boolean_or_string(string.sval()),
            other => Err(DeparseError::misplaced(other.tag(), "the value of an option")),
        }
    }

    /// `createdb_opt_list`.
    pub(in crate::deparse) fn createdb_opt_list(&mut self, options: List<'_>) -> DeparseResult {
        for (index, option) in options.into_iter().enumerate() {
            if index > 0 {
                self.char(' ');
            }
            let option = required_node::<DefElem<'_>>(option, "an option")?;
            match option_name(option) {
                "connection_limit" => self.str("CONNECTION LIMIT"),
                name if keyword(name.as_bytes()).is_some() && !DATABASE_OPTIONS.contains(&name) => {
                    self.quoted(name);
                }
                name => self.generic_def_elem_name(name)?,
            }
            self.char(' ');
            match option.arg() {
                None => self.str("DEFAULT"),
                Some(value) => self.option_value(value)?,
            }
        }
        Ok(())
    }
}
