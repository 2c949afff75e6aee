//! A client's messages, encoded without the proxy's code.

/// Protocol version 3.0 as a start-up packet carries it.
const PROTOCOL_3_0: u32 = 3 << 16;
const SSL_REQUEST: u32 = 80_877_103;
const CANCEL_REQUEST: u32 = 80_877_102;

/// A start-up packet for protocol 3.0 with the given parameters.
pub fn startup(parameters: &[(&str, &str)]) -> Vec<u8> {
    startup_with_version(PROTOCOL_3_0, parameters)
}

/// A start-up packet that asks for the given protocol version.
pub(crate) fn startup_with_version(version: u32, parameters: &[(&str, &str)]) -> Vec<u8> {
    let mut body = version.to_be_bytes().to_vec();
    for (name, value) in parameters {
        body.extend(zero_ended(name));
        body.extend(zero_ended(value));
    }
    body.push(0);
    untagged(&body)
}

/// The request for TLS.
pub fn ssl_request() -> Vec<u8> {
    untagged(&SSL_REQUEST.to_be_bytes())
}

/// The request to cancel the query of backend `pid`, which has `secret`.
pub fn cancel_request(pid: u32, secret: &[u8]) -> Vec<u8> {
    let mut body = CANCEL_REQUEST.to_be_bytes().to_vec();
    body.extend(pid.to_be_bytes());
    body.extend(secret);
    untagged(&body)
}

/// A sequence of messages, sent in one piece.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Messages {
    bytes: Vec<u8>,
}

impl Messages {
    /// An empty sequence.
    pub fn new() -> Self {
        Self::default()
    }

    /// The bytes to send.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Any message.
    #[must_use]
    pub fn message(mut self, tag: u8, body: &[u8]) -> Self {
        self.bytes.push(tag);
        self.bytes.extend(untagged(body));
        self
    }

    /// Query: SQL to run by the simple protocol.
    #[must_use]
    pub fn query(self, sql: &str) -> Self {
        self.message(b'Q', &zero_ended(sql))
    }

    /// Parse: `types` are OIDs; for 0, the server chooses the type.
    #[must_use]
    pub fn parse(self, statement: &str, sql: &str, types: &[u32]) -> Self {
        let mut body = zero_ended(statement);
        body.extend(zero_ended(sql));
        body.extend(count(types.len()));
        body.extend(types.iter().flat_map(|oid| oid.to_be_bytes()));
        self.message(b'P', &body)
    }

    /// Bind, all values and results as text.
    #[must_use]
    pub fn bind(self, portal: &str, statement: &str, values: &[Option<&str>]) -> Self {
        let mut body = zero_ended(portal);
        body.extend(zero_ended(statement));
        body.extend(count(0));
        body.extend(count(values.len()));
        for value in values {
            match value {
                Some(text) => {
                    body.extend(u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes());
                    body.extend(text.as_bytes());
                }
                None => body.extend((-1_i32).to_be_bytes()),
            }
        }
        body.extend(count(0));
        self.message(b'B', &body)
    }

    /// Describe: `kind` is `b'S'` for a statement, `b'P'` for a portal.
    #[must_use]
    pub fn describe(self, kind: u8, name: &str) -> Self {
        let mut body = vec![kind];
        body.extend(zero_ended(name));
        self.message(b'D', &body)
    }

    /// Close: `kind` as in [`Messages::describe`].
    #[must_use]
    pub fn close(self, kind: u8, name: &str) -> Self {
        let mut body = vec![kind];
        body.extend(zero_ended(name));
        self.message(b'C', &body)
    }

    /// Execute: at most `rows` rows, 0 for all.
    #[must_use]
    pub fn execute(self, portal: &str, rows: u32) -> Self {
        let mut body = zero_ended(portal);
        body.extend(rows.to_be_bytes());
        self.message(b'E', &body)
    }

    /// Sync: the end of a turn.
    #[must_use]
    pub fn sync(self) -> Self {
        self.message(b'S', &[])
    }

    /// Flush: asks the server to send the answers so far.
    #[must_use]
    pub fn flush(self) -> Self {
        self.message(b'H', &[])
    }

    /// Parse, Bind, Describe, Execute and Sync of an unnamed statement.
    #[must_use]
    pub fn extended(self, sql: &str, values: &[Option<&str>]) -> Self {
        self.parse("", sql, &[]).bind("", "", values).describe(b'P', "").execute("", 0).sync()
    }

    /// CopyData.
    #[must_use]
    pub fn copy_data(self, data: &[u8]) -> Self {
        self.message(b'd', data)
    }

    /// CopyDone.
    #[must_use]
    pub fn copy_done(self) -> Self {
        self.message(b'c', &[])
    }

    /// CopyFail with a reason.
    #[must_use]
    pub fn copy_fail(self, reason: &str) -> Self {
        self.message(b'f', &zero_ended(reason))
    }

    /// PasswordMessage with a text.
    #[must_use]
    pub fn password(self, text: &str) -> Self {
        self.message(b'p', &zero_ended(text))
    }

    /// Terminate.
    #[must_use]
    pub fn terminate(self) -> Self {
        self.message(b'X', &[])
    }
}

fn untagged(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap_or(u32::MAX);
    let mut bytes = length.to_be_bytes().to_vec();
    bytes.extend(body);
    bytes
}

fn zero_ended(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes
}

/// A 16-bit count; PostgreSQL allows up to 65,535 parameters.
fn count(number: usize) -> [u8; 2] {
    u16::try_from(number).unwrap_or(u16::MAX).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_bytes_of_the_manual() {
        assert_eq!(Messages::new().query("x").sync().bytes(), b"Q\0\0\0\x06x\0S\0\0\0\x04");
        assert_eq!(
            Messages::new().bind("", "s", &[Some("7"), None]).bytes(),
            b"B\0\0\0\x16\0s\0\0\0\0\x02\0\0\0\x017\xff\xff\xff\xff\0\0"
        );
        assert_eq!(startup(&[("user", "a")]), b"\0\0\0\x10\0\x03\0\0user\0a\0\0");
        assert_eq!(ssl_request(), [0, 0, 0, 8, 4, 210, 22, 47]);
    }
}
