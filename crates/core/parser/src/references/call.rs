//! Calls of functions, and parameters.

use crate::node::{CoercionForm, FuncCall, List};

/// A call of a function, aggregate or procedure.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The schema, if the name has one; `pg_catalog` where SQL has a syntax of its own: EXTRACT, AT TIME ZONE.
    pub schema: Option<&'a str>,
    /// The name; empty if it has more than a catalog, a schema and a name.
    pub name: &'a str,
    /// How many arguments it is called with; those of `ORDER BY` in `WITHIN GROUP` are not among them.
    pub arguments: usize,
    /// The level it stands in.
    pub level: u32,
    /// The call itself.
    pub node: FuncCall<'a>,
}

impl<'a> Call<'a> {
    pub(super) fn of(node: FuncCall<'a>, level: u32) -> Self {
        let parts = Parts::of(node.funcname());
        Self {
            schema: parts.schema,
            name: parts.name.unwrap_or(""),
            arguments: node.args().len(),
            level,
            node,
        }
    }

    /// The place of the name in the text, in bytes; -1 if unknown.
    #[must_use]
    pub fn location(&self) -> i32 {
        self.node.location()
    }

    /// Whether it is written in a syntax of SQL's and not as a call: always the function in `pg_catalog`.
    #[must_use]
    pub fn is_syntax(&self) -> bool {
        self.node.funcformat() == CoercionForm::CoerceSqlSyntax
    }
}

/// A parameter in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// The `n` of `$n`, from 1.
    pub number: i32,
    /// Its place in the text, in bytes; -1 if unknown.
    pub location: i32,
}

/// A name of up to three parts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Parts<'a> {
    pub(super) catalog: Option<&'a str>,
    pub(super) schema: Option<&'a str>,
    pub(super) name: Option<&'a str>,
}

impl<'a> Parts<'a> {
    /// The name that a list of strings is.
    pub(super) fn of(name: List<'a>) -> Self {
        Self::of_parts(name.strings().rev())
    }

    /// The name whose parts are these, the last first. Nothing if there are too many.
    pub(super) fn of_parts(mut parts: impl Iterator<Item = &'a str>) -> Self {
        let found = Self { name: parts.next(), schema: parts.next(), catalog: parts.next() };
        if parts.next().is_some() { Self::default() } else { found }
    }
}
