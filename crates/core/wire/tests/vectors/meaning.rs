//! The meaning of a decoded message, in the form that `/vectors/README.md` describes.

use serde_json::{Map, Value, json};
use trunkline_wire::backend::{Authentication, ErrorFields, Message as Backend};
use trunkline_wire::frontend::Message as Frontend;
use trunkline_wire::list::{Formats, Oids, Values};
use trunkline_wire::startup::{FirstPacket, ProtocolVersion};

use crate::file::hex;

/// Adds a text to `message`. If it is not UTF-8, it adds the bytes, under `key` with `_hex` after it.
fn text(mut message: Value, key: &str, bytes: &[u8]) -> Value {
    let fields: &mut Map<String, Value> = message.as_object_mut().expect("a message is an object");
    match std::str::from_utf8(bytes) {
        Ok(text) => fields.insert(key.to_owned(), json!(text)),
        Err(_) => fields.insert(format!("{key}_hex"), json!(hex(bytes))),
    };
    message
}

fn utf8(bytes: &[u8]) -> Value {
    json!(std::str::from_utf8(bytes).expect("such texts are UTF-8 in all vectors"))
}

fn value(value: Option<&[u8]>) -> Value {
    value.map_or(Value::Null, |bytes| json!(hex(bytes)))
}

fn values(values: Values<'_>) -> Value {
    values.map(value).collect()
}

fn formats(formats: Formats<'_>) -> Value {
    formats.map(|format| json!(format.0)).collect()
}

fn oids(oids: Oids<'_>) -> Value {
    oids.map(|oid| json!(oid)).collect()
}

fn version(version: ProtocolVersion) -> Value {
    json!([version.major, version.minor])
}

fn report(kind: &str, fields: ErrorFields<'_>) -> Value {
    let fields: Value =
        fields.iter().map(|(field, text)| json!([char::from(field).to_string(), utf8(text)])).collect();
    json!({"type": kind, "fields": fields})
}

fn authentication(message: &Authentication<'_>) -> Value {
    let data =
        |kind: &str, data: &[u8]| json!({"type": format!("Authentication{kind}"), "data_hex": hex(data)});
    match message {
        Authentication::Ok => json!({"type": "AuthenticationOk"}),
        Authentication::KerberosV5 => json!({"type": "AuthenticationKerberosV5"}),
        Authentication::CleartextPassword => json!({"type": "AuthenticationCleartextPassword"}),
        Authentication::Md5Password { salt } => {
            json!({"type": "AuthenticationMD5Password", "salt_hex": hex(salt)})
        }
        Authentication::Gss => json!({"type": "AuthenticationGSS"}),
        Authentication::Sspi => json!({"type": "AuthenticationSSPI"}),
        Authentication::Sasl { mechanisms } => {
            json!({"type": "AuthenticationSASL", "mechanisms": mechanisms.map(utf8).collect::<Value>()})
        }
        Authentication::GssContinue { data: token } => data("GSSContinue", token),
        Authentication::SaslContinue { data: challenge } => data("SASLContinue", challenge),
        Authentication::SaslFinal { data: addition } => data("SASLFinal", addition),
        Authentication::Other { code, data } => {
            json!({"type": "Authentication", "code": code, "data_hex": hex(data)})
        }
    }
}

/// The meaning of a server's message.
pub(crate) fn backend(message: &Backend<'_>) -> Value {
    let copy = |kind: &str, format: i16, columns: Formats<'_>| json!({"type": kind, "format": format, "column_formats": formats(columns)});
    match message {
        Backend::Authentication(message) => authentication(message),
        Backend::BackendKeyData(m) => {
            json!({"type": "BackendKeyData", "process_id": m.process_id, "secret_key_hex": hex(m.secret_key)})
        }
        Backend::BindComplete => json!({"type": "BindComplete"}),
        Backend::CloseComplete => json!({"type": "CloseComplete"}),
        Backend::CommandComplete(m) => json!({"type": "CommandComplete", "command_tag": utf8(m.command_tag)}),
        Backend::CopyBothResponse(m) => copy("CopyBothResponse", m.format.0, m.column_formats),
        Backend::CopyInResponse(m) => copy("CopyInResponse", m.format.0, m.column_formats),
        Backend::CopyOutResponse(m) => copy("CopyOutResponse", m.format.0, m.column_formats),
        Backend::CopyData(m) => json!({"type": "CopyData", "data_hex": hex(m.data)}),
        Backend::CopyDone => json!({"type": "CopyDone"}),
        Backend::DataRow(m) => json!({"type": "DataRow", "values_hex": values(m.values)}),
        Backend::EmptyQueryResponse => json!({"type": "EmptyQueryResponse"}),
        Backend::ErrorResponse(m) => report("ErrorResponse", m.fields),
        Backend::NoticeResponse(m) => report("NoticeResponse", m.fields),
        Backend::FunctionCallResponse(m) => {
            json!({"type": "FunctionCallResponse", "value_hex": value(m.value)})
        }
        Backend::NegotiateProtocolVersion(m) => {
            let options: Value = m.unrecognized_options().map(utf8).collect();
            json!({"type": "NegotiateProtocolVersion", "newest": version(m.newest), "unrecognized_options": options})
        }
        Backend::NoData => json!({"type": "NoData"}),
        Backend::NotificationResponse(m) => json!({
            "type": "NotificationResponse",
            "process_id": m.process_id,
            "channel": utf8(m.channel),
            "payload": utf8(m.payload),
        }),
        Backend::ParameterDescription(m) => json!({"type": "ParameterDescription", "types": oids(m.types)}),
        Backend::ParameterStatus(m) => {
            json!({"type": "ParameterStatus", "name": utf8(m.name), "value": utf8(m.value)})
        }
        Backend::ParseComplete => json!({"type": "ParseComplete"}),
        Backend::PortalSuspended => json!({"type": "PortalSuspended"}),
        Backend::ReadyForQuery(m) => {
            json!({"type": "ReadyForQuery", "status": char::from(m.status.as_byte()).to_string()})
        }
        Backend::RowDescription(m) => {
            let columns: Value = m
                .columns
                .map(|column| {
                    json!({
                        "name": utf8(column.name),
                        "table": column.table,
                        "attribute": column.attribute,
                        "type_oid": column.type_oid,
                        "type_size": column.type_size,
                        "type_modifier": column.type_modifier,
                        "format": column.format.0,
                    })
                })
                .collect();
            json!({"type": "RowDescription", "columns": columns})
        }
    }
}

/// The meaning of a client's message.
pub(crate) fn frontend(message: &Frontend<'_>) -> Value {
    let target = |byte: u8| char::from(byte).to_string();
    match message {
        Frontend::Bind(m) => json!({
            "type": "Bind",
            "portal": utf8(m.portal),
            "statement": utf8(m.statement),
            "parameter_formats": formats(m.parameter_formats),
            "values_hex": values(m.values),
            "result_formats": formats(m.result_formats),
        }),
        Frontend::Close(m) => {
            json!({"type": "Close", "target": target(m.target.as_byte()), "name": utf8(m.name)})
        }
        Frontend::Describe(m) => {
            json!({"type": "Describe", "target": target(m.target.as_byte()), "name": utf8(m.name)})
        }
        Frontend::CopyData(m) => json!({"type": "CopyData", "data_hex": hex(m.data)}),
        Frontend::CopyDone => json!({"type": "CopyDone"}),
        Frontend::CopyFail(m) => text(json!({"type": "CopyFail"}), "message", m.message),
        Frontend::Execute(m) => json!({"type": "Execute", "portal": utf8(m.portal), "max_rows": m.max_rows}),
        Frontend::Flush => json!({"type": "Flush"}),
        Frontend::FunctionCall(m) => json!({
            "type": "FunctionCall",
            "function": m.function,
            "argument_formats": formats(m.argument_formats),
            "arguments_hex": values(m.arguments),
            "result_format": m.result_format.0,
        }),
        Frontend::GssResponse(m) => json!({"type": "GSSResponse", "data_hex": hex(m.data)}),
        Frontend::Parse(m) => {
            let message =
                json!({"type": "Parse", "name": utf8(m.name), "parameter_types": oids(m.parameter_types)});
            text(message, "query", m.query)
        }
        Frontend::PasswordMessage(m) => text(json!({"type": "PasswordMessage"}), "password", m.password),
        Frontend::Query(m) => text(json!({"type": "Query"}), "text", m.text),
        Frontend::SaslInitialResponse(m) => {
            json!({"type": "SASLInitialResponse", "mechanism": utf8(m.mechanism), "data_hex": value(m.data)})
        }
        Frontend::SaslResponse(m) => json!({"type": "SASLResponse", "data_hex": hex(m.data)}),
        Frontend::Sync => json!({"type": "Sync"}),
        Frontend::Terminate => json!({"type": "Terminate"}),
    }
}

/// The meaning of a first packet.
pub(crate) fn first(packet: &FirstPacket<'_>) -> Value {
    match packet {
        FirstPacket::Ssl => json!({"type": "SSLRequest"}),
        FirstPacket::GssEnc => json!({"type": "GSSENCRequest"}),
        FirstPacket::Cancel(m) => {
            json!({"type": "CancelRequest", "process_id": m.process_id, "secret_key_hex": hex(m.secret_key)})
        }
        FirstPacket::Startup(m) => {
            let parameters: Value =
                m.parameters().map(|(name, value)| json!([utf8(name), utf8(value)])).collect();
            json!({"type": "StartupMessage", "version": version(m.version), "parameters": parameters})
        }
    }
}
