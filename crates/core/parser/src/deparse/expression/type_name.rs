//! Writes types.

use crate::deparse::names::system_name;
use crate::deparse::need::{required, required_element, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{AConst, Integer, List, Node, TypeName};

/// SQL's name of a built-in type, without the words that may follow it.
fn sql_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "bpchar" => "char",
        "varchar" => "varchar",
        "numeric" => "numeric",
        "bool" => "boolean",
        "int2" => "smallint",
        "int4" => "int",
        "int8" => "bigint",
        "float4" => "real",
        "float8" => "double precision",
        "time" => "time",
        "timestamp" => "timestamp",
        _ => return None,
    })
}

// The bits of an interval's first modifier: `1 << field`, by the fields of PostgreSQL's utils/datetime.h.
const MONTH: i32 = 1 << 1;
const YEAR: i32 = 1 << 2;
const DAY: i32 = 1 << 3;
const HOUR: i32 = 1 << 10;
const MINUTE: i32 = 1 << 11;
const SECOND: i32 = 1 << 12;
/// All fields: no fields are written.
const INTERVAL_FULL_RANGE: i32 = 0x7FFF;

const INTERVALS: [(i32, &str); 14] = [
    (YEAR, " year"),
    (MONTH, " month"),
    (DAY, " day"),
    (HOUR, " hour"),
    (MINUTE, " minute"),
    (SECOND, " second"),
    (YEAR | MONTH, " year to month"),
    (DAY | HOUR, " day to hour"),
    (DAY | HOUR | MINUTE, " day to minute"),
    (DAY | HOUR | MINUTE | SECOND, " day to second"),
    (HOUR | MINUTE, " hour to minute"),
    (HOUR | MINUTE | SECOND, " hour to second"),
    (MINUTE | SECOND, " minute to second"),
    (INTERVAL_FULL_RANGE, ""),
];

/// A type's modifier, if it is an integer.
fn int_const(node: Option<Node<'_>>) -> Option<i32> {
    node?.cast::<AConst<'_>>()?.val()?.cast::<Integer<'_>>().map(Integer::ival)
}

/// Whether the grammar accepts these modifiers after SQL's name of a type in `pg_catalog`. After the name with the
/// schema it accepts any.
fn takes_modifiers(name: &str, modifiers: List<'_>) -> bool {
    if modifiers.is_empty() {
        return true;
    }
    let is_iconst = |modifier: Option<Node<'_>>| int_const(modifier).is_some_and(|value| value >= 0);
    match name {
        "numeric" => true,
        "bpchar" | "varchar" | "time" | "timetz" | "timestamp" | "timestamptz" => {
            modifiers.len() == 1 && modifiers.iter().all(is_iconst)
        }
        "interval" => {
            let fields = modifiers.first().and_then(|fields| int_const(Some(fields)));
            match (modifiers.len(), fields) {
                (1, Some(fields)) => fields != INTERVAL_FULL_RANGE && interval_words(fields).is_some(),
                // Only seconds have a precision.
                (2, Some(fields)) => {
                    fields & SECOND != 0
                        && interval_words(fields).is_some()
                        && modifiers.iter().all(is_iconst)
                }
                _ => false,
            }
        }
        _ => false,
    }
}

fn interval_words(fields: i32) -> Option<&'static str> {
    INTERVALS.iter().find(|(bits, _)| *bits == fields).map(|(_, words)| *words)
}

impl Deparser<'_> {
    /// `Typename`.
    pub(in crate::deparse) fn type_name(&mut self, node: TypeName<'_>) -> DeparseResult {
        if node.setof() {
            self.str("SETOF ");
        }
        match system_name(node.names()) {
            // With %TYPE the name is a column's name, not a type's.
            Some(name) if !node.pct_type() => self.system_type(name, node)?,
            _ => {
                self.any_name(node.names())?;
                self.type_modifiers(node.typmods())?;
            }
        }
        for bound in node.array_bounds() {
            self.char('[');
            let size = bound.and_then(Node::cast::<Integer<'_>>).map(Integer::ival);
            if let Some(size) = size.filter(|size| *size != -1) {
                self.int(size);
            }
            self.char(']');
        }
        if node.pct_type() {
            self.str("%type");
        }
        Ok(())
    }

    /// A type before its literal. Returns whether the fields of an interval must follow the literal.
    pub(super) fn type_of_literal(&mut self, node: TypeName<'_>) -> Result<bool, DeparseError> {
        let modifiers = node.typmods();
        let is_interval =
            system_name(node.names()) == Some("interval") && takes_modifiers("interval", modifiers);
        let has_fields = is_interval
            && modifiers.first().is_some_and(|fields| int_const(Some(fields)) != Some(INTERVAL_FULL_RANGE));
        if has_fields {
            self.str("interval");
        } else {
            self.type_name(node)?;
        }
        Ok(has_fields)
    }

    /// A type in the schema `pg_catalog`.
    fn system_type(&mut self, name: &str, node: TypeName<'_>) -> DeparseResult {
        let modifiers = node.typmods();
        match name {
            _ if !takes_modifiers(name, modifiers) => self.in_catalog(name),
            "timetz" => return self.with_time_zone("time ", modifiers),
            "timestamptz" => return self.with_time_zone("timestamp ", modifiers),
            "interval" => {
                self.str("interval");
                return if modifiers.is_empty() { Ok(()) } else { self.interval_typmods(node) };
            }
            // `char` would be read as `char(1)`.
            "bpchar" if modifiers.is_empty() => self.str("pg_catalog.bpchar"),
            _ => match sql_name(name) {
                Some(name) => self.str(name),
                None => self.in_catalog(name),
            },
        }
        self.type_modifiers(modifiers)
    }

    fn in_catalog(&mut self, name: &str) {
        self.str("pg_catalog.");
        self.attribute_name(name);
    }

    fn with_time_zone(&mut self, name: &str, modifiers: List<'_>) -> DeparseResult {
        self.str(name);
        if !modifiers.is_empty() {
            self.char('(');
            self.separated(modifiers, |deparser, modifier| {
                deparser.int(required(int_const(modifier), "a precision")?);
                Ok(())
            })?;
            self.str(") ");
        }
        self.str("with time zone");
        Ok(())
    }

    fn type_modifiers(&mut self, modifiers: List<'_>) -> DeparseResult {
        if modifiers.is_empty() {
            return Ok(());
        }
        self.char('(');
        self.expr_list(modifiers)?;
        self.char(')');
        Ok(())
    }

    /// The fields and the precision of an interval. They follow the word INTERVAL, or the literal in a SET.
    pub(in crate::deparse) fn interval_typmods(&mut self, node: TypeName<'_>) -> DeparseResult {
        let modifiers = node.typmods();
        let fields = required(
            int_const(required_element(modifiers, 0, "an interval's fields")?),
            "an interval's fields",
        )?;
        let words = interval_words(fields);
        self.str(words.ok_or_else(|| DeparseError::new("an interval cannot have these fields"))?);
        if modifiers.len() == 2 {
            let precision =
                required(int_const(required_element(modifiers, 1, "a precision")?), "a precision")?;
            self.char('(');
            self.int(precision);
            self.char(')');
        }
        Ok(())
    }

    /// `SimpleTypename`.
    pub(in crate::deparse) fn simple_typename(&mut self, node: Option<Node<'_>>) -> DeparseResult {
        self.type_name(required_node(node, "a type")?)
    }
}
