//! Messages as bytes.

/// One complete message, and how exactly a client can predict it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) bytes: Vec<u8>,
    pub(crate) kind: Kind,
}

/// How exactly a client can predict an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// To the byte.
    Exact,
    /// By its SQLSTATE. The proxy may use other words.
    Code,
    /// A number that may be larger when earlier answers were lost.
    Sequence(u64),
    /// Columns and rows of a table whose schema changes.
    Schema,
}

pub(crate) fn frame(tag: u8, body: &[u8]) -> Frame {
    let mut bytes = vec![tag];
    let length = u32::try_from(body.len() + 4).expect("a short message");
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(body);
    Frame { bytes, kind: Kind::Exact }
}

pub(crate) fn text(tag: u8, text: &str) -> Frame {
    frame(tag, &[text.as_bytes(), b"\0"].concat())
}

pub(crate) fn parameter_status(name: &str, value: &str) -> Frame {
    frame(b'S', format!("{name}\0{value}\0").as_bytes())
}

pub(crate) fn row(values: &[&[u8]]) -> Frame {
    let mut body = u16::try_from(values.len()).expect("few columns").to_be_bytes().to_vec();
    for value in values {
        body.extend_from_slice(&u32::try_from(value.len()).expect("short").to_be_bytes());
        body.extend_from_slice(value);
    }
    frame(b'D', &body)
}

pub(crate) fn row_description(names: &[&str]) -> Frame {
    let mut body = u16::try_from(names.len()).expect("few columns").to_be_bytes().to_vec();
    for name in names {
        body.extend_from_slice(name.as_bytes());
        body.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 255, 255, 255, 255, 255, 255, 0, 0]);
    }
    frame(b'T', &body)
}

/// ErrorResponse or NoticeResponse.
pub(crate) fn report(tag: u8, severity: &str, code: &str, message: &str, routine: &str) -> Frame {
    let body = format!("S{severity}\0V{severity}\0C{code}\0M{message}\0R{routine}\0\0");
    frame(tag, body.as_bytes())
}

/// A field of an ErrorResponse's frame.
pub(crate) fn field(error: &[u8], kind: u8) -> String {
    let fields = error.get(5..).unwrap_or_default().split(|byte| *byte == 0);
    let found = fields.into_iter().find(|field| field.first() == Some(&kind));
    String::from_utf8_lossy(found.map_or(&[], |field| &field[1..])).into_owned()
}

/// Removes the first complete message from a stream, and returns it.
pub(crate) fn take(stream: &mut Vec<u8>) -> Option<Vec<u8>> {
    let length = stream.get(1..5)?;
    let length = u32::from_be_bytes(length.try_into().ok()?) as usize + 1;
    (stream.len() >= length).then(|| stream.drain(..length).collect())
}

/// For the trace: the message's type, size and beginning.
pub(crate) fn show(bytes: &[u8]) -> String {
    let body = bytes.get(5..).unwrap_or_default();
    let tag = char::from(bytes.first().copied().unwrap_or(b'?'));
    format!("{tag}({}) {}", body.len(), body[..body.len().min(90)].escape_ascii())
}
