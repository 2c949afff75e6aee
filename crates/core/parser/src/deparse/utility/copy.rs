//! COPY.

use crate::deparse::context::Context;
use crate::deparse::names::string_of;
use crate::deparse::need::{list_of, required, required_node};
use crate::deparse::writer::Indent;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{CopyStmt, DefElem, List, Node, NodeTag, StringNode, View};

/// Options whose value is a string literal.
const STRING_OPTIONS: [(&str, &str); 5] = [
    ("delimiter", "DELIMITER "),
    ("null", "NULL "),
    ("quote", "QUOTE "),
    ("escape", "ESCAPE "),
    ("encoding", "ENCODING "),
];
/// Options whose value is a list of columns or `*`.
const COLUMN_OPTIONS: [(&str, &str); 3] =
    [("force_quote", "FORCE_QUOTE "), ("force_not_null", "FORCE_NOT_NULL "), ("force_null", "FORCE_NULL ")];
/// Options that are on or off.
const SWITCHES: [(&str, &str); 2] = [("freeze", "FREEZE"), ("header", "HEADER")];
/// The formats and their words.
const FORMATS: [(&str, &str); 3] = [("binary", "BINARY"), ("csv", "CSV"), ("text", "TEXT")];

// Options in the old syntax, which has no parentheses.
const OLD_SWITCHES: [(&str, &str); 2] = [("freeze", "FREEZE "), ("header", "HEADER ")];
const OLD_FORMATS: [(&str, &str); 2] = [("binary", "BINARY "), ("csv", "CSV ")];
const OLD_COLUMN_OPTIONS: [(&str, &str); 3] =
    [("force_quote", "FORCE QUOTE "), ("force_not_null", "FORCE NOT NULL "), ("force_null", "FORCE NULL ")];

fn look_up(words: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    words.iter().find(|(wanted, _)| *wanted == name).map(|(_, word)| *word)
}

/// The value of an option, if it is a string.
fn string_value<'a>(value: Option<Node<'a>>) -> Option<&'a str> {
    value.and_then(Node::cast::<StringNode<'a>>).map(StringNode::sval)
}

/// Whether a value is written without quotes: a number, or one of the words for a Boolean.
fn is_switch(value: Option<Node<'_>>) -> bool {
    match value.map(Node::view) {
        None | Some(View::Integer(_) | View::Boolean(_)) => true,
        Some(View::String(text)) => matches!(text.sval(), "true" | "false" | "on" | "off"),
        Some(_) => false,
    }
}

/// An option in the syntax from before PostgreSQL 9.0, which has no parentheses.
enum OldOption<'a> {
    Word(&'static str),
    String(&'static str, &'a str),
    Columns(&'static str, Node<'a>),
}

impl<'a> OldOption<'a> {
    /// The option in the old syntax; `None` if the option needs parentheses.
    fn of(option: DefElem<'a>) -> Option<Self> {
        let value = option.arg()?;
        let name = option.defname()?;
        match value.view() {
            View::Boolean(is_on) if is_on.boolval() => look_up(&OLD_SWITCHES, name).map(Self::Word),
            View::String(text) if name == "format" => look_up(&OLD_FORMATS, text.sval()).map(Self::Word),
            View::String(text) => {
                look_up(&STRING_OPTIONS, name).map(|words| Self::String(words, text.sval()))
            }
            View::List(_) | View::AStar(_) => {
                look_up(&OLD_COLUMN_OPTIONS, name).map(|words| Self::Columns(words, value))
            }
            _ => None,
        }
    }

    /// Whether libpg_query uses the old syntax for it too.
    fn is_usual(&self) -> bool {
        match self {
            Self::Word(word) => *word != "BINARY ",
            Self::String(..) => false,
            Self::Columns(words, columns) => *words == "FORCE QUOTE " && columns.tag() == NodeTag::List,
        }
    }
}

fn is_boolean(option: DefElem<'_>) -> bool {
    option.arg().is_some_and(|value| value.tag() == NodeTag::Boolean)
}

fn option_of(node: Option<Node<'_>>) -> Result<DefElem<'_>, DeparseError> {
    required_node(node, "an option of COPY")
}

impl Deparser<'_> {
    pub(in crate::deparse) fn copy_stmt(&mut self, statement: CopyStmt<'_>) -> DeparseResult {
        self.group("COPY", Indent::Parts);
        if let Some(relation) = statement.relation() {
            self.range_var(relation, Context::None)?;
            if !statement.attlist().is_empty() {
                self.char('(');
                self.column_list(statement.attlist())?;
                self.char(')');
            }
            self.char(' ');
        }
        if let Some(query) = statement.query() {
            self.char('(');
            self.preparable_stmt(Some(query))?;
            self.str(") ");
        }
        self.copy_end(statement);
        self.copy_options(statement.options())?;
        self.where_clause(statement.where_clause())?;
        self.trim();
        Ok(())
    }

    /// The source or the destination of the rows.
    fn copy_end(&mut self, statement: CopyStmt<'_>) {
        self.str(if statement.is_from() { "FROM " } else { "TO " });
        if statement.is_program() {
            self.str("PROGRAM ");
        }
        match statement.filename() {
            Some(name) => {
                self.string_literal(name);
                self.char(' ');
            }
            None if statement.is_from() => self.str("STDIN "),
            None => self.str("STDOUT "),
        }
    }

    /// The options. The old syntax is used if all options have it and one of them would give another tree in
    /// parentheses: in parentheses, a Boolean is a word.
    fn copy_options(&mut self, options: List<'_>) -> DeparseResult {
        if options.is_empty() {
            return Ok(());
        }
        let old: Option<Vec<_>> =
            options.iter().map(|option| OldOption::of(option?.cast::<DefElem<'_>>()?)).collect();
        let has_switch = options.iter().flatten().filter_map(Node::cast::<DefElem<'_>>).any(is_boolean);
        let Some(old) = old.filter(|old| has_switch || old.iter().all(OldOption::is_usual)) else {
            self.str("WITH (");
            self.separated(options, |this, option| this.copy_option(option_of(option)?))?;
            self.str(") ");
            return Ok(());
        };
        for option in old {
            match option {
                OldOption::Word(word) => self.str(word),
                OldOption::String(words, text) => {
                    self.str(words);
                    self.string_literal(text);
                    self.char(' ');
                }
                OldOption::Columns(words, columns) => {
                    self.str(words);
                    match columns.as_list() {
                        Some(columns) => self.column_list(columns)?,
                        None => self.char('*'),
                    }
                    self.char(' ');
                }
            }
        }
        Ok(())
    }

    fn copy_option(&mut self, option: DefElem<'_>) -> DeparseResult {
        let name = required(option.defname(), "the name of an option")?;
        let value = option.arg();
        if let Some(word) = look_up(&SWITCHES, name)
            && is_switch(value)
        {
            self.str(word);
            return self.opt_boolean(value);
        }
        if let Some(text) = string_value(value) {
            if let Some(format) = look_up(&FORMATS, text).filter(|_| name == "format") {
                self.str("FORMAT ");
                self.str(format);
                return Ok(());
            }
            if let Some(word) = look_up(&STRING_OPTIONS, name) {
                self.str(word);
                self.string_literal(text);
                return Ok(());
            }
        }
        if let (Some(word), Some(value)) = (look_up(&COLUMN_OPTIONS, name), value)
            && matches!(value.tag(), NodeTag::AStar | NodeTag::List)
        {
            self.str(word);
            return self.copy_columns(value);
        }
        match look_up(&SWITCHES, name) {
            Some(word) => self.str(word),
            None => self.ident(name),
        }
        let Some(value) = value else { return Ok(()) };
        self.char(' ');
        self.copy_value(value)
    }

    fn copy_columns(&mut self, columns: Node<'_>) -> DeparseResult {
        if columns.tag() == NodeTag::AStar {
            self.char('*');
            return Ok(());
        }
        self.char('(');
        self.column_list(list_of(Some(columns), "columns")?)?;
        self.char(')');
        Ok(())
    }

    /// The value of an option without a special form.
    fn copy_value(&mut self, value: Node<'_>) -> DeparseResult {
        match value.view() {
            View::String(text) => self.opt_boolean_or_string(text.sval()),
            View::Integer(_) | View::Float(_) => self.numeric_only(value),
            View::AStar(_) => {
                self.char('*');
                Ok(())
            }
            View::List(values) => {
                self.char('(');
                self.separated(values, |this, value| this.opt_boolean_or_string(string_of(value)?))?;
                self.char(')');
                Ok(())
            }
            other => Err(DeparseError::misplaced(other.tag(), "the value of an option of COPY")),
        }
    }
}
