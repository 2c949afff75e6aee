//! Writes the bytes that are hashed to a fingerprint.

use std::collections::HashMap;

use twox_hash::xxhash3_64::Hasher;

use super::{Fingerprint, FingerprintOptions};
use crate::node::{AConst, AExpr, AExprKind, List, Node, NodeTag, ParamRef, TypeCast, Value, View};
use crate::options::REPEATED_BYTES_MAX;

/// The version of libpg_query's fingerprints, which is the seed of the hash.
const VERSION: u64 = 3;
/// Nodes below this depth do not count, as in libpg_query. So the recursion here goes no deeper.
const DEPTH_MAX: u32 = 100;
/// The number of bytes that most fingerprints need.
const BYTES_USUAL: usize = 1024;

pub(super) fn of_list(list: List<'_>, options: FingerprintOptions) -> Fingerprint {
    let mut writer = Writer::new(options);
    writer.list(list, Place { parent: None, field: "", depth: 0 });
    writer.finish()
}

pub(super) fn of_node(node: Node<'_>, options: FingerprintOptions) -> Fingerprint {
    let mut writer = Writer::new(options);
    writer.node(node, Place { parent: None, field: "", depth: 0 });
    writer.finish()
}

/// The place of a node in the tree.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The type of the nearest node above that is not a list.
    pub(super) parent: Option<NodeTag>,
    /// The field of that node, by its name in C.
    pub(super) field: &'static str,
    pub(super) depth: u32,
}

impl Place {
    fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

pub(super) struct Writer {
    bytes: Vec<u8>,
    pub(super) options: FingerprintOptions,
    /// The elements of the lists around the current node that are ordered by hash.
    elements: Vec<Element>,
    /// The buffer in which a list is put in order.
    ordered: Vec<u8>,
    /// The bytes of each row in `(a, b, c) = row`, by the row's address. They are the same for every column.
    rows: HashMap<*const (), Vec<u8>>,
    /// The number of bytes that were copied for further columns.
    repeated_bytes: usize,
    /// The number of visited nodes.
    #[cfg(test)]
    nodes: usize,
}

#[derive(Clone, Copy)]
struct Element {
    hash: u64,
    start: usize,
    end: usize,
}

fn hash(bytes: &[u8]) -> u64 {
    Hasher::oneshot_with_seed(VERSION, bytes)
}

impl Writer {
    fn new(options: FingerprintOptions) -> Self {
        Self {
            bytes: Vec::with_capacity(BYTES_USUAL),
            options,
            elements: Vec::new(),
            ordered: Vec::new(),
            rows: HashMap::new(),
            repeated_bytes: 0,
            #[cfg(test)]
            nodes: 0,
        }
    }

    fn finish(self) -> Fingerprint {
        Fingerprint(hash(&self.bytes))
    }

    #[inline]
    pub(super) fn str(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub(super) fn pair(&mut self, name: &str, value: &str) {
        self.str(name);
        self.str(value);
    }

    fn number(&mut self, name: &str, number: impl itoa::Integer) {
        self.pair(name, itoa::Buffer::new().format(number));
    }

    fn node(&mut self, node: Node<'_>, place: Place) {
        if place.depth >= DEPTH_MAX {
            return;
        }
        match node.view() {
            View::List(list) => self.list(list, place),
            View::IntList(_) | View::OidList(_) => {}
            View::Integer(value) if value.ival() == 0 => {}
            View::Integer(value) => self.number("Integerival", value.ival()),
            // As in libpg_query, the fields have their names from version 14, so that fingerprints stay the same.
            View::Float(value) => self.pair("Floatstr", value.fval()),
            View::String(value) => self.pair("Stringstr", value.sval()),
            View::BitString(value) => self.pair("BitStringstr", value.bsval()),
            View::Boolean(value) => {
                self.pair("Booleanboolval", if value.boolval() { "true" } else { "false" });
            }
            View::TypeCast(cast) if is_of_literal(cast) => {}
            _ if node.is_ignored_by_fingerprint() => {}
            _ => {
                self.str(node.tag().c_name());
                self.fields(node, place);
            }
        }
    }

    /// The fields of a node, without its name.
    fn fields(&mut self, node: Node<'_>, place: Place) {
        #[cfg(test)]
        {
            self.nodes += 1;
        }
        match node.view() {
            View::RangeVar(table) => return self.range_var(table, place),
            View::AExpr(expression) => self.a_expr_kind(expression),
            View::CreateForeignTableStmt(_) => self.str("base"),
            _ => {}
        }
        let below = Place { parent: Some(node.tag()), field: "", depth: place.depth + 1 };
        for (field, value) in node.fingerprint_fields() {
            let name = field.name();
            match value {
                Value::Node(Some(row)) if node.tag() == NodeTag::MultiAssignRef => {
                    self.row(name, row, Place { field: name, ..below });
                }
                Value::Node(Some(node)) => {
                    self.below(name, false, |w| w.node(node, Place { field: name, ..below }));
                }
                Value::View(Some(node)) => self.view(name, node, Place { field: name, ..below }),
                Value::List(list) if !list.is_empty() => {
                    // For a list of one NULL (DISTINCT without ON), the field's name alone counts.
                    let counts = list.len() == 1 && list.nodes().next().is_none();
                    self.below(name, counts, |w| w.field_list(list, Place { field: name, ..below }));
                }
                Value::Str(Some(text)) if !is_result_name(node, place, name) => self.pair(name, text),
                Value::Bool(true) => self.pair(name, "true"),
                Value::Char(letter) if letter != '\0' => self.pair(name, letter.encode_utf8(&mut [0; 4])),
                Value::Int(number) if number != 0 => self.number(name, number),
                // libpg_query writes all numbers as signed, except for 64-bit ones.
                Value::UInt(number) if number != 0 => match i32::try_from(number as i64) {
                    Ok(number) => self.number(name, number),
                    Err(_) => self.number(name, number as u32 as i32),
                },
                Value::Float(number) if number != 0.0 => self.pair(name, &format!("{number:.6}")),
                Value::Enum(value, info) if !(name == "kind" && node.is::<AExpr<'_>>()) => {
                    self.pair(name, info.constant(value).unwrap_or_default());
                }
                _ => {}
            }
        }
    }

    /// The row of a column of `(a, b, c) = row`. It is written once, then copied.
    fn row(&mut self, name: &'static str, row: Node<'_>, place: Place) {
        if let Some(written) = self.rows.get(&row.address()) {
            self.repeated_bytes += written.len();
            if self.repeated_bytes <= REPEATED_BYTES_MAX {
                self.bytes.extend_from_slice(written);
            }
            return;
        }
        let start = self.bytes.len();
        self.below(name, false, |w| w.node(row, place));
        let written = self.bytes.get(start..).unwrap_or_default().to_vec();
        self.rows.insert(row.address(), written);
    }

    /// A node in a field whose type already says the node's type, so the node's name is left out.
    fn view(&mut self, name: &'static str, node: Node<'_>, place: Place) {
        if place.depth >= DEPTH_MAX {
            return;
        }
        match node.view() {
            View::String(value) if value.sval().is_empty() => {}
            View::String(value) => self.pair(name, value.sval()),
            _ => self.below(name, false, |w| w.fields(node, place)),
        }
    }

    /// A field's name and what `write` writes. If that is nothing, the name is left out too, unless `counts` is set.
    fn below(&mut self, name: &str, counts: bool, write: impl FnOnce(&mut Self)) {
        let start = self.bytes.len();
        self.str(name);
        let begun = self.bytes.len();
        write(self);
        if self.bytes.len() == begun && !counts {
            self.bytes.truncate(start);
        }
    }

    fn field_list(&mut self, list: List<'_>, place: Place) {
        if place.depth < DEPTH_MAX {
            self.list(list, place);
        }
    }

    fn list(&mut self, list: List<'_>, place: Place) {
        let place = place.deeper();
        if !is_unordered(place.field) {
            for node in list.nodes() {
                self.node(node, place);
            }
            return;
        }
        let first = self.elements.len();
        for node in list.iter() {
            let start = self.bytes.len();
            if let Some(node) = node {
                self.node(node, place);
            }
            self.elements.push(Element { hash: 0, start, end: self.bytes.len() });
        }
        if self.elements.len() > first + 1 {
            self.put_in_order(first);
        }
        self.elements.truncate(first);
    }

    /// Orders the elements from `first` on by their hashes, and removes duplicates. They are the last bytes that were
    /// written.
    fn put_in_order(&mut self, first: usize) {
        let Some(elements) = self.elements.get_mut(first..) else { return };
        let Some(start) = elements.first().map(|element| element.start) else { return };
        for element in &mut *elements {
            element.hash = hash(self.bytes.get(element.start..element.end).unwrap_or_default());
        }
        if elements.is_sorted_by(|a, b| a.hash < b.hash) {
            return;
        }
        elements.sort_by_key(|element| element.hash);
        self.ordered.clear();
        let mut before = None;
        for element in elements {
            if before != Some(element.hash) {
                before = Some(element.hash);
                self.ordered
                    .extend_from_slice(self.bytes.get(element.start..element.end).unwrap_or_default());
            }
        }
        self.bytes.truncate(start);
        self.bytes.extend_from_slice(&self.ordered);
    }

    /// `= ANY (...)` and `IN (...)` count as `=`.
    fn a_expr_kind(&mut self, expression: AExpr<'_>) {
        let kind = match expression.kind() {
            AExprKind::AexprOpAny | AExprKind::AexprIn => AExprKind::AexprOp,
            kind => kind,
        };
        self.pair("kind", kind.c_name());
    }
}

/// Whether the order of a list, and the number of equal elements, do not count. This depends only on the field's name.
fn is_unordered(field: &str) -> bool {
    matches!(field, "fromClause" | "targetList" | "cols" | "rexpr" | "valuesLists" | "args")
}

/// Whether a field is the name of a column in a result of SELECT, which does not count.
fn is_result_name(node: Node<'_>, place: Place, field: &str) -> bool {
    node.tag() == NodeTag::ResTarget
        && field == "name"
        && place.parent == Some(NodeTag::SelectStmt)
        && place.field == "targetList"
}

/// Whether a cast is applied to a literal or parameter. Then neither the type nor the cast counts.
fn is_of_literal(cast: TypeCast<'_>) -> bool {
    cast.arg().is_some_and(|arg| arg.is::<AConst<'_>>() || arg.is::<ParamRef<'_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fuzzer found that 63 KB of such a text took 4.8 s. The row's bytes are short, because its elements are equal.
    #[test]
    fn a_row_of_many_columns_is_gone_through_once() {
        const COLUMNS: usize = 2_000;
        let columns: Vec<_> = (0..COLUMNS).map(|column| format!("c{column}")).collect();
        for row in
            [format!("SELECT {}1", "1, ".repeat(COLUMNS - 1)), format!("SELECT {}", columns.join(", "))]
        {
            let text = format!("UPDATE t SET ({}) = ({row})", columns.join(", "));
            let tree = crate::parse(&text).expect("it parses");
            let mut writer = Writer::new(FingerprintOptions::default());
            writer.list(tree.root(), Place { parent: None, field: "", depth: 0 });
            assert!(writer.nodes < 10 * COLUMNS, "{} nodes", writer.nodes);
            assert!(writer.bytes.len() < REPEATED_BYTES_MAX + 1000 * COLUMNS, "{} bytes", writer.bytes.len());
        }
    }
}
