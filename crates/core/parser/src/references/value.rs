//! The values that columns are compared with.

use crate::node::*;

/// A constant or a parameter, casts around it taken off.
#[derive(Debug, Clone, Copy)]
pub struct Value<'a> {
    /// What it is.
    pub kind: ValueKind<'a>,
    /// The type it is cast to: the outermost of several.
    pub cast: Option<TypeName<'a>>,
    /// The node, casts included.
    pub node: Node<'a>,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ValueKind<'a> {
    /// `$n`.
    Parameter(i32),
    /// NULL.
    Null,
    /// A whole number of 32 bits, with its sign.
    Integer(i32),
    /// Any other number, as it is written, with its sign.
    Number(&'a str),
    /// A string; its quotes and escapes taken off.
    Text(&'a str),
    /// true, false.
    Boolean(bool),
    /// A bit string: `b` or `x`, then its digits.
    Bits(&'a str),
    /// DEFAULT, in INSERT and UPDATE.
    Default,
}

impl<'a> Value<'a> {
    /// The value that an expression is; None if it is another expression.
    pub(super) fn of(node: Node<'a>) -> Option<Self> {
        let mut inner = node;
        let mut cast = None;
        while let Some(one) = inner.cast::<TypeCast<'a>>() {
            cast = cast.or(one.type_name());
            inner = one.arg()?;
        }
        let kind = match inner.view() {
            View::ParamRef(parameter) => ValueKind::Parameter(parameter.number()),
            View::SetToDefault(_) => ValueKind::Default,
            View::AConst(constant) => match constant.val().map(Node::view) {
                None => ValueKind::Null,
                Some(View::Integer(value)) => ValueKind::Integer(value.ival()),
                Some(View::Float(value)) => ValueKind::Number(value.fval()),
                Some(View::String(value)) => ValueKind::Text(value.sval()),
                Some(View::Boolean(value)) => ValueKind::Boolean(value.boolval()),
                Some(View::BitString(value)) => ValueKind::Bits(value.bsval()),
                Some(_) => return None,
            },
            _ => return None,
        };
        Some(Self { kind, cast, node })
    }
}

/// The values of a comparison, lent by the tree. Every one is a [`Value`].
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// None: IS NULL.
    None,
    /// One.
    One(Node<'a>),
    /// One that is an array: `= ANY($1)`.
    Array(Node<'a>),
    /// Several: those of IN, of BETWEEN, of `ANY (ARRAY[..])`.
    List(List<'a>),
    /// One from each row, which is a list or a `RowExpr`: those of VALUES, of `(a, b) IN ((1, 2), (3, 4))`.
    Rows {
        /// The rows.
        rows: List<'a>,
        /// The place in each.
        place: u32,
    },
}

impl<'a> Values<'a> {
    /// One by one; those of [`Values::Rows`] row by row.
    pub fn iter(self) -> impl Iterator<Item = Value<'a>> {
        self.nodes().filter_map(|node| node.and_then(Value::of))
    }

    /// How many there are.
    #[must_use]
    pub fn len(self) -> usize {
        match self {
            Self::None => 0,
            Self::One(_) | Self::Array(_) => 1,
            Self::List(list) | Self::Rows { rows: list, .. } => list.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Whether each is a constant or a parameter.
    pub(super) fn are_values(self) -> bool {
        self.nodes().all(|node| node.and_then(Value::of).is_some())
    }

    fn nodes(self) -> impl Iterator<Item = Option<Node<'a>>> {
        let (one, list, place) = match self {
            Self::None => (None, List::default(), None),
            Self::One(node) | Self::Array(node) => (Some(Some(node)), List::default(), None),
            Self::List(list) => (None, list, None),
            Self::Rows { rows, place } => (None, rows, usize::try_from(place).ok()),
        };
        let of_list = list.iter().map(move |node| match place {
            Some(place) => node.and_then(row).and_then(|row| row.get(place).flatten()),
            None => node,
        });
        one.into_iter().chain(of_list)
    }
}

/// The expressions of a row.
pub(super) fn row(node: Node<'_>) -> Option<List<'_>> {
    match node.view() {
        View::List(list) => Some(list),
        View::RowExpr(row) => Some(row.args()),
        _ => None,
    }
}
