//! Fields of errors and notices.

use trunkline_probes::testkit::Frame;

/// Which fields of an ErrorResponse are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errors {
    /// All fields that [`comparable`] keeps.
    Whole,
    /// Severity and SQLSTATE only: for a search for other faults while error texts are known to differ.
    Codes,
}

/// Makes an ErrorResponse or NoticeResponse comparable.
///
/// The fields with the line and the routine of the server's source (`L`, `R`) stay, but without their values. The reason: if a
/// server connection lacks a statement, the proxy prepares it just before its Bind. In a failed transaction, "current transaction is
/// aborted" then comes from the server's code for Parse, and on a direct connection from its code for Bind.
pub(super) fn comparable(frame: &mut Frame, errors: Errors) {
    if !matches!(frame.tag, b'E' | b'N') {
        return;
    }
    let fields = frame.body.split(|byte| *byte == 0).filter(|field| !field.is_empty());
    let mut body = Vec::new();
    for field in fields {
        match field[0] {
            b'S' | b'V' | b'C' => body.extend(field),
            _ if frame.tag == b'E' && errors == Errors::Codes => continue,
            b'L' | b'R' => body.push(field[0]),
            _ => body.extend(field),
        }
        body.push(0);
    }
    body.push(0);
    frame.body = body;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_routines_lose_their_values_and_nothing_else_does() {
        let frame = |body: &[u8]| Frame { tag: b'E', body: body.to_vec() };
        let error = b"SERROR\0VERROR\0C25P02\0Mgone\0P7\0Fpostgres.c\0L1691\0Rexec\0\0";
        let mut whole = frame(error);
        comparable(&mut whole, Errors::Whole);
        assert_eq!(whole, frame(b"SERROR\0VERROR\0C25P02\0Mgone\0P7\0Fpostgres.c\0L\0R\0\0"));
        let mut codes = frame(error);
        comparable(&mut codes, Errors::Codes);
        assert_eq!(codes, frame(b"SERROR\0VERROR\0C25P02\0\0"));
    }
}
