//! Encodes a message from its meaning in the vectors, with the functions that callers use.

use serde_json::Value;
use trunkline_wire::backend::{self, Authentication, ReadyForQuery, TransactionStatus};
use trunkline_wire::frontend;
use trunkline_wire::frontend::target::Target;
use trunkline_wire::startup::{CancelRequest, GSSENC_REQUEST, ProtocolVersion, SSL_REQUEST, StartupMessage};
use trunkline_wire::{Format, write};

use crate::file::{list, unhex};

/// The fields of a message.
struct Fields<'v>(&'v Value);

impl<'v> Fields<'v> {
    fn kind(&self) -> &'v str {
        self.0["type"].as_str().expect("a type")
    }

    /// The text under `key`, or the bytes under `key` with `_hex` after it.
    fn text(&self, key: &str) -> Vec<u8> {
        match self.0[key].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => self.hex(&format!("{key}_hex")),
        }
    }

    fn hex(&self, key: &str) -> Vec<u8> {
        unhex(self.0[key].as_str().unwrap_or_else(|| panic!("{} has no '{key}'", self.0)))
    }

    fn value(&self, key: &str) -> Option<Vec<u8>> {
        self.0[key].as_str().map(unhex)
    }

    fn number<N: TryFrom<i64>>(&self, key: &str) -> N {
        number(&self.0[key])
    }

    fn numbers<N: TryFrom<i64>>(&self, key: &str) -> Vec<N> {
        list(&self.0[key]).iter().map(number).collect()
    }

    fn formats(&self, key: &str) -> Vec<Format> {
        self.numbers(key).into_iter().map(Format).collect()
    }

    fn values(&self, key: &str) -> Vec<Option<Vec<u8>>> {
        list(&self.0[key]).iter().map(|value| value.as_str().map(unhex)).collect()
    }

    fn strings(&self, key: &str) -> Vec<&'v str> {
        list(&self.0[key]).iter().map(|value| value.as_str().expect("a text")).collect()
    }

    fn target(&self) -> Target {
        if self.0["target"] == "S" { Target::Statement } else { Target::Portal }
    }

    fn version(&self, key: &str) -> ProtocolVersion {
        let [major, minor] = self.numbers(key)[..] else { panic!("a version has two numbers") };
        ProtocolVersion { major, minor }
    }
}

fn number<N: TryFrom<i64>>(value: &Value) -> N {
    let number = value.as_i64().unwrap_or_else(|| panic!("{value} is not a number"));
    N::try_from(number).unwrap_or_else(|_| panic!("{value} is out of range"))
}

fn borrowed(values: &[Option<Vec<u8>>]) -> Vec<Option<&[u8]>> {
    values.iter().map(Option::as_deref).collect()
}

/// Appends the message.
pub(crate) fn message(message: &Value, out: &mut Vec<u8>) {
    let fields = Fields(message);
    if !(authentication(&fields, out)
        || first(&fields, out)
        || backend(&fields, out)
        || frontend(&fields, out))
    {
        panic!("no message is called {}", fields.kind());
    }
}

fn authentication(fields: &Fields<'_>, out: &mut Vec<u8>) -> bool {
    let data;
    let message = match fields.kind() {
        "AuthenticationSASL" => {
            backend::authentication::write_sasl(out, &fields.strings("mechanisms"));
            return true;
        }
        "AuthenticationOk" => Authentication::Ok,
        "AuthenticationKerberosV5" => Authentication::KerberosV5,
        "AuthenticationCleartextPassword" => Authentication::CleartextPassword,
        "AuthenticationMD5Password" => {
            Authentication::Md5Password { salt: fields.hex("salt_hex").try_into().expect("four bytes") }
        }
        "AuthenticationGSS" => Authentication::Gss,
        "AuthenticationSSPI" => Authentication::Sspi,
        kind => {
            data = fields.value("data_hex").unwrap_or_default();
            match kind {
                "AuthenticationGSSContinue" => Authentication::GssContinue { data: &data },
                "AuthenticationSASLContinue" => Authentication::SaslContinue { data: &data },
                "AuthenticationSASLFinal" => Authentication::SaslFinal { data: &data },
                "Authentication" => Authentication::Other { code: fields.number("code"), data: &data },
                _ => return false,
            }
        }
    };
    message.encode(out);
    true
}

fn first(fields: &Fields<'_>, out: &mut Vec<u8>) -> bool {
    match fields.kind() {
        "SSLRequest" => out.extend_from_slice(&SSL_REQUEST),
        "GSSENCRequest" => out.extend_from_slice(&GSSENC_REQUEST),
        "CancelRequest" => {
            let secret_key = &fields.hex("secret_key_hex");
            CancelRequest { process_id: fields.number("process_id"), secret_key }.encode(out);
        }
        "StartupMessage" => {
            let parameters = list(&fields.0["parameters"]).iter().map(|pair| {
                let [name, value] = list(pair) else { panic!("a parameter is a pair") };
                (name.as_str().expect("a name").as_bytes(), value.as_str().expect("a value").as_bytes())
            });
            StartupMessage::write(out, fields.version("version"), parameters);
        }
        _ => return false,
    }
    true
}

/// ErrorResponse or NoticeResponse with any fields. `ErrorReport`, which we use for our own, has its own tests.
fn report(fields: &Fields<'_>, tag: u8, out: &mut Vec<u8>) {
    let mark = write::begin(out, tag);
    for pair in list(&fields.0["fields"]) {
        let [kind, text] = list(pair) else { panic!("a field is a pair") };
        write::bytes(out, kind.as_str().expect("a letter").as_bytes());
        write::cstr(out, text.as_str().expect("a text").as_bytes());
    }
    write::u8(out, 0);
    write::end(out, mark);
}

fn copy_response(fields: &Fields<'_>, out: &mut Vec<u8>) {
    let (format, columns) = (Format(fields.number("format")), fields.formats("column_formats"));
    match fields.kind() {
        "CopyInResponse" => backend::CopyInResponse::write(out, format, &columns),
        "CopyOutResponse" => backend::CopyOutResponse::write(out, format, &columns),
        _ => backend::CopyBothResponse::write(out, format, &columns),
    }
    .expect("few columns");
}

fn row_description(fields: &Fields<'_>, out: &mut Vec<u8>) {
    let columns: Vec<_> = list(&fields.0["columns"])
        .iter()
        .map(|column| backend::Column {
            name: column["name"].as_str().expect("a name").as_bytes(),
            table: number(&column["table"]),
            attribute: number(&column["attribute"]),
            type_oid: number(&column["type_oid"]),
            type_size: number(&column["type_size"]),
            type_modifier: number(&column["type_modifier"]),
            format: Format(number(&column["format"])),
        })
        .collect();
    backend::RowDescription::write(out, &columns).expect("few columns");
}

fn backend(fields: &Fields<'_>, out: &mut Vec<u8>) -> bool {
    match fields.kind() {
        "BackendKeyData" => {
            let secret_key = &fields.hex("secret_key_hex");
            backend::BackendKeyData { process_id: fields.number("process_id"), secret_key }.encode(out);
        }
        "BindComplete" => backend::bind_complete::encode(out),
        "CloseComplete" => backend::close_complete::encode(out),
        "CommandComplete" => {
            backend::CommandComplete { command_tag: &fields.text("command_tag") }.encode(out);
        }
        "CopyInResponse" | "CopyOutResponse" | "CopyBothResponse" => copy_response(fields, out),
        "CopyData" => backend::CopyData { data: &fields.hex("data_hex") }.encode(out),
        "CopyDone" => out.extend_from_slice(&backend::copy_done::FRAME),
        "DataRow" => backend::DataRow::write(out, &borrowed(&fields.values("values_hex"))).expect("fits"),
        "EmptyQueryResponse" => backend::empty_query_response::encode(out),
        "ErrorResponse" => report(fields, backend::error_response::TAG, out),
        "NoticeResponse" => report(fields, backend::notice_response::TAG, out),
        "FunctionCallResponse" => {
            let value = fields.value("value_hex");
            backend::FunctionCallResponse { value: value.as_deref() }.encode(out).expect("fits");
        }
        "NegotiateProtocolVersion" => {
            let options = fields.strings("unrecognized_options").into_iter().map(str::as_bytes);
            backend::NegotiateProtocolVersion::write(out, fields.version("newest"), options);
        }
        "NoData" => backend::no_data::encode(out),
        "NotificationResponse" => backend::NotificationResponse {
            process_id: fields.number("process_id"),
            channel: &fields.text("channel"),
            payload: &fields.text("payload"),
        }
        .encode(out),
        "ParameterDescription" => {
            backend::ParameterDescription::write(out, &fields.numbers("types")).expect("few parameters");
        }
        "ParameterStatus" => {
            backend::ParameterStatus { name: &fields.text("name"), value: &fields.text("value") }.encode(out);
        }
        "ParseComplete" => backend::parse_complete::encode(out),
        "PortalSuspended" => backend::portal_suspended::encode(out),
        "ReadyForQuery" => {
            let status = TransactionStatus::from_byte(fields.text("status")[0]).expect("a status");
            ReadyForQuery { status }.encode(out);
        }
        "RowDescription" => row_description(fields, out),
        _ => return false,
    }
    true
}

fn frontend(fields: &Fields<'_>, out: &mut Vec<u8>) -> bool {
    match fields.kind() {
        "Bind" => frontend::Bind::write(
            out,
            &fields.text("portal"),
            &fields.text("statement"),
            &fields.formats("parameter_formats"),
            &borrowed(&fields.values("values_hex")),
            &fields.formats("result_formats"),
        )
        .expect("fits"),
        "Close" => frontend::Close { target: fields.target(), name: &fields.text("name") }.encode(out),
        "Describe" => frontend::Describe { target: fields.target(), name: &fields.text("name") }.encode(out),
        "CopyFail" => frontend::CopyFail { message: &fields.text("message") }.encode(out),
        "Execute" => {
            frontend::Execute { portal: &fields.text("portal"), max_rows: fields.number("max_rows") }
                .encode(out);
        }
        "Flush" => frontend::flush::encode(out),
        "FunctionCall" => frontend::FunctionCall::write(
            out,
            fields.number("function"),
            &fields.formats("argument_formats"),
            &borrowed(&fields.values("arguments_hex")),
            Format(fields.number("result_format")),
        )
        .expect("fits"),
        "GSSResponse" => frontend::GssResponse { data: &fields.hex("data_hex") }.encode(out),
        "Parse" => frontend::Parse::write(
            out,
            &fields.text("name"),
            &fields.text("query"),
            &fields.numbers("parameter_types"),
        )
        .expect("fits"),
        "PasswordMessage" => frontend::PasswordMessage { password: &fields.text("password") }.encode(out),
        "Query" => frontend::Query { text: &fields.text("text") }.encode(out),
        "SASLInitialResponse" => {
            let data = fields.value("data_hex");
            frontend::SaslInitialResponse { mechanism: &fields.text("mechanism"), data: data.as_deref() }
                .encode(out)
                .expect("fits");
        }
        "SASLResponse" => frontend::SaslResponse { data: &fields.hex("data_hex") }.encode(out),
        "Sync" => frontend::sync::encode(out),
        "Terminate" => frontend::terminate::encode(out),
        _ => return false,
    }
    true
}
