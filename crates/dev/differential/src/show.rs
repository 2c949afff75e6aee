//! Shows scripts and answers to people.

use std::fmt::{self, Write};

use trunkline_probes::testkit::Frame;

use crate::script::{Action, Message, Script, Step};

/// Values longer than this are cut in reports.
const SHOWN_BYTES_MAX: usize = 300;

/// Bytes as text. Bytes that are not printable ASCII become `\xNN`.
#[must_use]
pub fn text(bytes: &[u8]) -> String {
    let (shown, more) = bytes.split_at(bytes.len().min(SHOWN_BYTES_MAX));
    let mut text = String::new();
    for byte in shown {
        match byte {
            b' '..=b'~' => text.push(char::from(*byte)),
            b'\n' => text.push_str("\\n"),
            other => _ = write!(text, "\\x{other:02x}"),
        }
    }
    if !more.is_empty() {
        _ = write!(text, "... ({} bytes)", bytes.len());
    }
    text
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query(statements) => write!(f, "Query [{}]", text(&statements.join(&b"; "[..]))),
            Self::Parse { name, sql, types } => {
                write!(f, "Parse {:?} [{}] {types:?}", text(name), text(sql))
            }
            Self::Bind { portal, name, formats, values, results } => {
                let show = |value: &Option<Vec<u8>>| value.as_deref().map_or("null".into(), text);
                let values: Vec<String> = values.iter().map(show).collect();
                let (portal, name) = (text(portal), text(name));
                write!(f, "Bind {portal:?} {name:?} {formats:?} {values:?} {results:?}")
            }
            Self::Describe(kind, name) => write!(f, "Describe {} {:?}", char::from(*kind), text(name)),
            Self::Execute(portal, rows) => write!(f, "Execute {:?} {rows}", text(portal)),
            Self::Close(kind, name) => write!(f, "Close {} {:?}", char::from(*kind), text(name)),
            Self::Sync => f.write_str("Sync"),
            Self::Flush => f.write_str("Flush"),
            Self::CopyData(data) => write!(f, "CopyData [{}]", text(data)),
            Self::CopyDone => f.write_str("CopyDone"),
            Self::CopyFail(reason) => write!(f, "CopyFail [{}]", text(reason)),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "client {}: ", self.actor)?;
        match &self.action {
            Action::Login(startup) => {
                let shown = startup.iter().map(|(name, value)| format!("{name}={}", text(value)));
                write!(f, "login [{}]", shown.collect::<Vec<_>>().join("] ["))
            }
            Action::Turns(turns) | Action::Change(turns) => {
                let messages: Vec<String> = turns.iter().flatten().map(Message::to_string).collect();
                f.write_str(&messages.join(", "))
            }
            Action::Leave => f.write_str("Terminate"),
            Action::Past(sql) => write!(f, "(past the proxy) {sql}"),
        }
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "pool_size {}, max_prepared_statements {}", self.pool.size, self.pool.prepared)?;
        self.steps.iter().enumerate().try_for_each(|(index, step)| writeln!(f, "{index:4}  {step}"))
    }
}

/// An answer on one line.
#[must_use]
pub fn frame(frame: &Frame) -> String {
    let strings = || frame.body.split(|byte| *byte == 0).map(text).filter(|part| !part.is_empty());
    match frame.tag {
        b'E' | b'N' => {
            let kind = if frame.tag == b'E' { "ErrorResponse" } else { "NoticeResponse" };
            format!("{kind} {}", strings().collect::<Vec<_>>().join(" | "))
        }
        b'S' => format!("ParameterStatus {}", strings().collect::<Vec<_>>().join("=")),
        b'C' => format!("CommandComplete {}", strings().collect::<String>()),
        b'Z' => format!("ReadyForQuery {}", text(&frame.body)),
        b'D' => {
            let columns = frame.columns().unwrap_or_default();
            let show = |value: &Option<Vec<u8>>| value.as_deref().map_or("null".into(), text);
            format!("DataRow [{}]", columns.iter().map(show).collect::<Vec<_>>().join("] ["))
        }
        b'1' => "ParseComplete".into(),
        b'2' => "BindComplete".into(),
        b'3' => "CloseComplete".into(),
        b'T' => format!("RowDescription {}", text(&frame.body)),
        b't' => format!("ParameterDescription {}", text(&frame.body)),
        b'n' => "NoData".into(),
        b'I' => "EmptyQueryResponse".into(),
        b's' => "PortalSuspended".into(),
        b'G' => "CopyInResponse".into(),
        b'H' => "CopyOutResponse".into(),
        b'd' => format!("CopyData {}", text(&frame.body)),
        b'c' => "CopyDone".into(),
        tag => format!("{:?} {}", char::from(tag), text(&frame.body)),
    }
}
