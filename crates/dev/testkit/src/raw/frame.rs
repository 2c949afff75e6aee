//! One protocol message: its tag and its body.

use std::io::Read;

use anyhow::{Context, Result, ensure};

/// The longest message that a raw peer accepts. No test sends a longer one.
const BODY_BYTES_MAX: usize = 1 << 30;

/// A message with a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The message's type, such as `b'Z'`.
    pub tag: u8,
    /// The bytes after the length.
    pub body: Vec<u8>,
}

impl Frame {
    /// The text of one field of an ErrorResponse or NoticeResponse: `b'C'` is the SQLSTATE.
    pub fn field(&self, code: u8) -> Option<String> {
        let fields = self.body.split(|byte| *byte == 0);
        let found = fields.into_iter().find(|field| field.first() == Some(&code))?;
        Some(String::from_utf8_lossy(found.get(1..)?).into_owned())
    }

    /// The SQLSTATE, if this is an ErrorResponse.
    pub fn sqlstate(&self) -> Option<String> {
        if self.tag == b'E' { self.field(b'C') } else { None }
    }

    /// The column values of a DataRow.
    ///
    /// # Errors
    /// When the message is no DataRow, or its lengths do not fit.
    pub fn columns(&self) -> Result<Vec<Option<Vec<u8>>>> {
        ensure!(self.tag == b'D', "{:?} is no DataRow", char::from(self.tag));
        let mut rest = self.body.as_slice();
        let count = u16::from_be_bytes(take::<2>(&mut rest)?);
        let mut columns = Vec::new();
        for _ in 0..count {
            let length = i32::from_be_bytes(take::<4>(&mut rest)?);
            let Ok(length) = usize::try_from(length) else {
                columns.push(None);
                continue;
            };
            let (value, after) = rest.split_at_checked(length).context("a column is cut short")?;
            columns.push(Some(value.to_vec()));
            rest = after;
        }
        ensure!(rest.is_empty(), "{} bytes after the last column", rest.len());
        Ok(columns)
    }

    /// The body up to its first zero byte, as text: a CommandComplete's tag, a parameter's name.
    pub fn text(&self) -> String {
        let end = self.body.iter().position(|byte| *byte == 0).unwrap_or(self.body.len());
        String::from_utf8_lossy(self.body.get(..end).unwrap_or_default()).into_owned()
    }

    /// The frame as bytes for the wire.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.tag];
        let length = u32::try_from(self.body.len() + 4).unwrap_or(u32::MAX);
        bytes.extend(length.to_be_bytes());
        bytes.extend(&self.body);
        bytes
    }
}

/// Reads the next frame.
///
/// # Errors
/// At the end of the stream, when the deadline of the stream passes, and for an impossible length.
pub fn read_frame(stream: &mut impl Read) -> Result<Frame> {
    let mut header = [0_u8; 5];
    stream.read_exact(&mut header).context("no further message")?;
    let [tag, length @ ..] = header;
    let length = usize::try_from(u32::from_be_bytes(length))?;
    ensure!((4..=BODY_BYTES_MAX).contains(&length), "message {:?} of length {length}", char::from(tag));
    let mut body = vec![0; length - 4];
    stream.read_exact(&mut body).with_context(|| format!("message {:?} is cut short", char::from(tag)))?;
    Ok(Frame { tag, body })
}

/// Takes `N` bytes off the front of `rest`.
fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N]> {
    let (value, after) = rest.split_first_chunk::<N>().context("a message is cut short")?;
    *rest = after;
    Ok(*value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_a_round_trip() {
        let frame = Frame { tag: b'E', body: b"SERROR\0C42P01\0Mgone\0\0".to_vec() };
        let read = read_frame(&mut frame.to_bytes().as_slice()).expect("a frame");
        assert_eq!(read, frame);
        assert_eq!(read.sqlstate().as_deref(), Some("42P01"));
        assert_eq!(read.field(b'M').as_deref(), Some("gone"));
    }

    #[test]
    fn rows_are_read_with_their_nulls() {
        let body = b"\0\x02\0\0\0\x02hi\xff\xff\xff\xff".to_vec();
        let row = Frame { tag: b'D', body: body.clone() };
        assert_eq!(row.columns().expect("columns"), vec![Some(b"hi".to_vec()), None]);
        for end in 0..body.len() {
            let cut = Frame { tag: b'D', body: body[..end].to_vec() };
            assert!(cut.columns().is_err(), "cut at {end}");
        }
    }
}
