//! `trunkline sql classify`.

use std::io::Write;

use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};
use trunkline_parser::classify::{Class, Setting, SettingValue, Subject, Touches, TransactionModes};
use trunkline_parser::node::{List, Node};

use super::failure::SqlFailure;
use super::json;
use super::place::{Place, PlaceFinder};
use super::source::Source;

/// `trunkline sql classify`.
#[derive(Debug, Args)]
pub struct Classify {
    #[command(flatten)]
    source: Source,

    /// Break lines and indent
    #[arg(long)]
    pretty: bool,
}

/// The output for one statement. Most fields are answers of [`Class`].
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    place: Place,
    kind: String,
    access: String,
    is_read_only: bool,
    runs_on_standby: bool,
    may_write: bool,
    locks_rows: bool,
    controls_transaction: bool,
    leaves_state: bool,
    reads_state: bool,
    touches: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modes: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<Value>,
}

impl Row {
    fn of(statement: Node<'_>, place: Place) -> Self {
        let class: Class = statement.classify();
        Self {
            place,
            kind: json::variant_name(class.kind()),
            access: json::variant_name(class.access()),
            is_read_only: class.is_read_only(),
            runs_on_standby: class.runs_on_standby(),
            may_write: class.may_write(),
            locks_rows: class.locks_rows(),
            controls_transaction: class.controls_transaction(),
            leaves_state: class.touches().any(Touches::LEAVES_STATE),
            reads_state: class.touches().any(Touches::READS_STATE),
            touches: class.touches().names().map(str::to_ascii_lowercase).collect(),
            transaction: class.transaction().map(json::variant_name),
            modes: modes(class.modes()),
            copy: class.copy().map(json::variant_name),
            subject: subject(statement.subject()),
        }
    }
}

/// The transaction modes that a statement names; `None` if it names none.
fn modes(modes: TransactionModes) -> Option<Value> {
    (modes != TransactionModes::default()).then(|| {
        json!({
            "isolation": modes.isolation.map(json::variant_name),
            "read_only": modes.read_only,
            "deferrable": modes.deferrable,
        })
    })
}

/// The subject of a statement, as an object with one field, whose name is the kind of the subject.
fn subject(subject: Subject<'_>) -> Option<Value> {
    Some(match subject {
        Subject::Setting(setting) => json!({ "setting": setting_json(setting) }),
        Subject::Show(name) => json!({ "show": name }),
        Subject::Prepare { name, types, query } => json!({
            "prepare": { "name": name, "parameters": types.len(), "query": query.and_then(part_as_sql) },
        }),
        Subject::Execute { name, parameters } => json!({
            "execute": { "name": name, "parameters": parts_as_sql(parameters) },
        }),
        Subject::Deallocate(name) => json!({ "deallocate": one_or_all(name) }),
        Subject::Discard(mode) => json!({ "discard": json::variant_name(mode).replace("discard_", "") }),
        Subject::Declare { name, query } => json!({
            "declare": { "name": name, "query": query.and_then(part_as_sql) },
        }),
        Subject::Fetch(cursor) => json!({ "fetch": cursor }),
        Subject::Close(cursor) => json!({ "close": one_or_all(cursor) }),
        Subject::Listen(channel) => json!({ "listen": channel }),
        Subject::Unlisten(channel) => json!({ "unlisten": one_or_all(channel) }),
        Subject::Notify { channel, payload } => json!({
            "notify": { "channel": channel, "payload": payload },
        }),
        Subject::Savepoint(name) => json!({ "savepoint": name }),
        Subject::TwoPhase(name) => json!({ "two_phase": name }),
        Subject::Library(name) => json!({ "library": name }),
        Subject::Copy { table, query, file } => json!({
            "copy": {
                "schema": table.and_then(|table| table.schemaname()),
                "table": table.and_then(|table| table.relname()),
                "query": query.and_then(part_as_sql),
                "file": file,
            },
        }),
        _ => return None,
    })
}

/// `{"name": ...}`, or `{"all": true}`.
fn one_or_all(name: Option<&str>) -> Value {
    name.map_or_else(|| json!({ "all": true }), |name| json!({ "name": name }))
}

fn setting_json(setting: Setting<'_>) -> Value {
    let values: Vec<Value> = setting
        .values()
        .filter_map(|value| match value {
            SettingValue::Text(text) | SettingValue::Number(text) => Some(text.into()),
            SettingValue::Integer(number) => Some(number.into()),
            // Transaction modes have no SQL text of their own. The field `modes` has them.
            SettingValue::Other(node) => part_as_sql(node).map(Value::from),
        })
        .collect();
    json!({
        "name": setting.name,
        "action": json::variant_name(setting.kind).replace("var_", ""),
        "scope": json::variant_name(setting.scope),
        "values": values,
    })
}

/// The SQL text of a part of a statement; `None` if the part has none.
fn part_as_sql(node: Node<'_>) -> Option<String> {
    node.deparse().ok()
}

fn parts_as_sql(nodes: List<'_>) -> Vec<Option<String>> {
    nodes.nodes().map(part_as_sql).collect()
}

pub(super) fn run(arguments: &Classify, out: &mut dyn Write) -> Result<(), SqlFailure> {
    let text = arguments.source.read()?;
    let tree = super::tree(&arguments.source, &text)?;
    let mut places = PlaceFinder::new(&text.sql);
    let rows = tree
        .root()
        .nodes()
        .zip(tree.split(&text.sql))
        .map(|(statement, part)| Row::of(statement, places.place_of(&part)));
    json::print_array(out, rows, arguments.pretty).map_err(SqlFailure::Output)
}
