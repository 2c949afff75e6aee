//! Reads the files of `/vectors`.

use std::path::Path;

use serde_json::Value;
use trunkline_wire::frontend::PasswordKind;

/// Who sends the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// A server.
    Backend,
    /// A client, after its first packet.
    Frontend,
    /// A client, as its first packet.
    First,
}

/// Which message a vector of type `p` is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PasswordName {
    /// PasswordMessage.
    Password,
    /// SASLInitialResponse.
    SaslInitial,
    /// SASLResponse.
    Sasl,
    /// GSSResponse.
    Gss,
}

impl PasswordName {
    fn new(name: &str) -> PasswordName {
        match name {
            "password" => PasswordName::Password,
            "sasl_initial" => PasswordName::SaslInitial,
            "sasl" => PasswordName::Sasl,
            "gss" => PasswordName::Gss,
            _ => panic!("'{name}' is not a kind of password message"),
        }
    }

    /// The same for the decoder.
    pub(crate) fn kind(self) -> PasswordKind {
        match self {
            PasswordName::Password => PasswordKind::Password,
            PasswordName::SaslInitial => PasswordKind::SaslInitial,
            PasswordName::Sasl => PasswordKind::Sasl,
            PasswordName::Gss => PasswordKind::Gss,
        }
    }
}

/// One entry of a file.
#[derive(Clone, Debug)]
pub(crate) struct Vector {
    pub(crate) name: String,
    pub(crate) direction: Direction,
    pub(crate) bytes: Vec<u8>,
    pub(crate) password: Option<PasswordName>,
    /// `Null` in `malformed.json`.
    pub(crate) message: Value,
    /// Only in `malformed.json`: what refuses the bytes, `frame` or `body`.
    pub(crate) refused_by: Option<String>,
}

impl Vector {
    /// The message's name in the manual.
    pub(crate) fn kind(&self) -> &str {
        self.message["type"].as_str().expect("a message has a type")
    }

    /// Bytes of this vector that `Debug` must not show. Short ones are left out, because they may also occur elsewhere.
    pub(crate) fn secrets(&self) -> Vec<Vec<u8>> {
        let mut secrets = Vec::new();
        for key in ["secret_key_hex", "salt_hex", "data_hex", "value_hex"] {
            secrets.extend(self.message[key].as_str().map(unhex));
        }
        for key in ["values_hex", "arguments_hex"] {
            let values = self.message[key].as_array().into_iter().flatten();
            secrets.extend(values.filter_map(Value::as_str).map(unhex));
        }
        for key in ["password", "text", "query", "payload"] {
            secrets.extend(self.message[key].as_str().map(|text| text.as_bytes().to_vec()));
        }
        secrets.retain(|secret| secret.len() >= 3);
        secrets
    }
}

/// Several messages, one after the other.
pub(crate) struct Stream {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// The offset and the number of bytes of each message.
    pub(crate) frames: Vec<(usize, usize)>,
    /// Each is a list of offsets at which the test splits the stream.
    pub(crate) splits: Vec<Vec<usize>>,
}

/// The bytes that a client and a real server sent each other.
pub(crate) struct Conversation {
    pub(crate) name: String,
    /// What the client sent: a first packet, then messages.
    pub(crate) sent: Vec<u8>,
    pub(crate) received: Vec<u8>,
    /// The type bytes of the messages in `received`.
    pub(crate) received_types: String,
}

/// All conversations.
pub(crate) fn conversations() -> Vec<Conversation> {
    entries("captured")
        .iter()
        .map(|entry| Conversation {
            name: text(entry, "name").to_owned(),
            sent: unhex(text(entry, "sent_hex")),
            received: unhex(text(entry, "received_hex")),
            received_types: text(entry, "received_types").to_owned(),
        })
        .collect()
}

/// All well-formed vectors.
pub(crate) fn vectors() -> Vec<Vector> {
    ["backend", "frontend", "first"]
        .iter()
        .flat_map(|file| entries(file))
        .map(|entry| vector(&entry))
        .collect()
}

/// All vectors that must be refused.
pub(crate) fn malformed() -> Vec<Vector> {
    entries("malformed").iter().map(vector).collect()
}

/// All streams.
pub(crate) fn streams() -> Vec<Stream> {
    let number = |value: &Value| usize::try_from(value.as_u64().expect("an offset")).expect("a small one");
    entries("streams")
        .iter()
        .map(|entry| Stream {
            name: text(entry, "name").to_owned(),
            bytes: unhex(text(entry, "hex")),
            frames: list(&entry["frames"])
                .iter()
                .map(|frame| (number(&frame["at"]), number(&frame["bytes"])))
                .collect(),
            splits: list(&entry["splits"])
                .iter()
                .map(|split| list(split).iter().map(number).collect())
                .collect(),
        })
        .collect()
}

fn entries(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../vectors/{file}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let Value::Array(entries) = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
    else {
        panic!("{file}.json is not a list");
    };
    assert!(!entries.is_empty(), "{file}.json is empty");
    entries
}

fn vector(entry: &Value) -> Vector {
    Vector {
        name: text(entry, "name").to_owned(),
        direction: match text(entry, "direction") {
            "backend" => Direction::Backend,
            "frontend" => Direction::Frontend,
            "first" => Direction::First,
            other => panic!("'{other}' is not a direction"),
        },
        bytes: unhex(text(entry, "hex")),
        password: entry["password"].as_str().map(PasswordName::new),
        message: entry["message"].clone(),
        refused_by: entry["refused_by"].as_str().map(str::to_owned),
    }
}

fn text<'a>(entry: &'a Value, key: &str) -> &'a str {
    entry[key].as_str().unwrap_or_else(|| panic!("{entry} has no '{key}'"))
}

/// The items of a JSON list.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is not a list"))
}

/// Bytes from hexadecimal digits.
pub(crate) fn unhex(digits: &str) -> Vec<u8> {
    assert!(digits.len().is_multiple_of(2), "an odd number of digits: {digits}");
    (0..digits.len() / 2)
        .map(|at| u8::from_str_radix(&digits[at * 2..at * 2 + 2], 16).expect("hexadecimal digits"))
        .collect()
}

/// Bytes to hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
