//! The first packet of a client: it has a length and a code, but no type.
//!
//! ```text
//!   length (counts itself)   code or version         fields
//!  +-----------------------+-----------------------+----- ... -----+
//!  | 0   0   0   8         | 1234       5679       |               |   SSLRequest
//!  +-----------------------+-----------------------+----- ... -----+
//! ```
//!
//! A client may also begin TLS without any packet before it ([`TLS_HANDSHAKE_BYTE`], [`ALPN`]).

mod version;

use std::fmt;

use crate::limits::{self, Limits};
use crate::list::Strings;
use crate::read::{Malformed, Problem, Reader};
use crate::redact::{Name, Redacted};
use crate::write;

pub use version::ProtocolVersion;

/// The code of a CancelRequest: 1234 and 5678.
pub const CANCEL_REQUEST_CODE: u32 = (1234 << 16) | 5678;
/// The code of an SSLRequest: 1234 and 5679.
pub const SSL_REQUEST_CODE: u32 = (1234 << 16) | 5679;
/// The code of a GSSENCRequest: 1234 and 5680.
pub const GSSENC_REQUEST_CODE: u32 = (1234 << 16) | 5680;

/// A complete SSLRequest.
pub const SSL_REQUEST: [u8; 8] = request(SSL_REQUEST_CODE);
/// A complete GSSENCRequest.
pub const GSSENC_REQUEST: [u8; 8] = request(GSSENC_REQUEST_CODE);

/// The answer to an SSLRequest after which TLS begins.
pub const SSL_ACCEPTED: u8 = b'S';
/// The answer to a GSSENCRequest after which GSSAPI encryption begins.
pub const GSSENC_ACCEPTED: u8 = b'G';
/// The answer to either request after which the connection stays unencrypted.
pub const ENCRYPTION_REFUSED: u8 = b'N';

/// The first byte of a TLS connection that begins without an SSLRequest. As the first byte of a length it would
/// mean more than 350 MB, so no packet begins with it.
pub const TLS_HANDSHAKE_BYTE: u8 = 0x16;

/// The application protocol that both sides must agree on (ALPN) when TLS begins without an SSLRequest.
pub const ALPN: &[u8] = b"postgresql";

/// The prefix of the names of protocol options.
pub const PROTOCOL_OPTION_PREFIX: &[u8] = b"_pq_.";

const fn request(code: u32) -> [u8; 8] {
    let [a, b, c, d] = code.to_be_bytes();
    [0, 0, 0, 8, a, b, c, d]
}

/// A first packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstPacket<'a> {
    /// The client asks for TLS.
    Ssl,
    /// The client asks for GSSAPI encryption.
    GssEnc,
    /// The client asks the server to cancel the query of another connection, and expects no answer.
    Cancel(CancelRequest<'a>),
    /// The client asks for a session.
    Startup(StartupMessage<'a>),
}

impl<'a> FirstPacket<'a> {
    /// Decodes a whole packet, its length included.
    ///
    /// # Errors
    /// [`StartupError`] when the length field is not the length of `packet`, when the code means a protocol other than
    /// 3, or when the fields do not have the right form.
    pub fn decode(packet: &'a [u8]) -> Result<FirstPacket<'a>, StartupError> {
        let mut reader = Reader::new(packet);
        let length = reader.u32("length")?;
        if u32::try_from(packet.len()) != Ok(length) {
            return Err(StartupError::Length { length });
        }
        let code = reader.u32("protocol version")?;
        match code {
            SSL_REQUEST_CODE => reader.finish().map(|()| FirstPacket::Ssl).map_err(StartupError::from),
            GSSENC_REQUEST_CODE => reader.finish().map(|()| FirstPacket::GssEnc).map_err(StartupError::from),
            CANCEL_REQUEST_CODE => Ok(FirstPacket::Cancel(CancelRequest::read(reader)?)),
            _ => match ProtocolVersion::from_wire(code) {
                version @ ProtocolVersion { major: 3, .. } => {
                    Ok(FirstPacket::Startup(StartupMessage::read(version, reader)?))
                }
                version => Err(StartupError::UnsupportedVersion(version)),
            },
        }
    }

    /// Appends the packet to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            FirstPacket::Ssl => out.extend_from_slice(&SSL_REQUEST),
            FirstPacket::GssEnc => out.extend_from_slice(&GSSENC_REQUEST),
            FirstPacket::Cancel(cancel) => cancel.encode(out),
            FirstPacket::Startup(startup) => startup.encode(out),
        }
    }
}

/// The number of bytes of the first packet, which is at the beginning of `input`, with its length field. PostgreSQL's
/// limit applies. `Ok(None)` means that `input` has fewer than four bytes.
///
/// # Errors
/// As [`first_packet_bytes_within`].
pub fn first_packet_bytes(input: &[u8]) -> Result<Option<usize>, StartupError> {
    first_packet_bytes_within(input, limits::STARTUP_PACKET_BYTES)
}

/// As [`first_packet_bytes`], but the caller gives the limit ([`Limits::startup_packet_bytes`]).
///
/// # Errors
/// [`StartupError::Length`] when the packet has no room for a code, or more than `max` bytes after its length field.
pub fn first_packet_bytes_within(input: &[u8], max: u32) -> Result<Option<usize>, StartupError> {
    let Some(length) = input.first_chunk::<4>().map(|bytes| u32::from_be_bytes(*bytes)) else {
        return Ok(None);
    };
    if (8..=max.saturating_add(4)).contains(&length) {
        Ok(Some(length as usize))
    } else {
        Err(StartupError::Length { length })
    }
}

impl Limits {
    /// As [`first_packet_bytes`], but these limits apply.
    ///
    /// # Errors
    /// As [`first_packet_bytes_within`].
    pub fn first_packet_bytes(&self, input: &[u8]) -> Result<Option<usize>, StartupError> {
        first_packet_bytes_within(input, self.startup_packet_bytes)
    }
}

/// CancelRequest: which connection's query to cancel, and the key that proves the right to do so.
///
/// `Debug` does not show the key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CancelRequest<'a> {
    /// The process id from the connection's BackendKeyData.
    pub process_id: i32,
    /// The key from the same message: 4 bytes in protocol 3.0, up to 256 in 3.2.
    pub secret_key: &'a [u8],
}

impl<'a> CancelRequest<'a> {
    fn read(mut reader: Reader<'a>) -> Result<CancelRequest<'a>, Malformed> {
        let process_id = reader.i32("process id")?;
        Ok(CancelRequest { process_id, secret_key: read_secret_key(reader)? })
    }

    /// Appends the packet to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin_untagged(out);
        write::u32(out, CANCEL_REQUEST_CODE);
        write::i32(out, self.process_id);
        write::bytes(out, self.secret_key);
        write::end(out, mark);
    }
}

impl fmt::Debug for CancelRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelRequest")
            .field("process_id", &self.process_id)
            .field("secret_key", &Redacted(self.secret_key.len()))
            .finish()
    }
}

/// Reads a cancel key, which extends to the end of its message.
pub(crate) fn read_secret_key(mut reader: Reader<'_>) -> Result<&[u8], Malformed> {
    let start = reader;
    let key = reader.rest();
    match key.len() {
        limits::SECRET_KEY_BYTES_MIN..=limits::SECRET_KEY_BYTES_MAX => Ok(key),
        0..limits::SECRET_KEY_BYTES_MIN => Err(start.malformed("secret key", Problem::Truncated)),
        _ => Err(start.malformed("secret key", Problem::Value)),
    }
}

/// StartupMessage: the protocol version that the client wants, and its parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StartupMessage<'a> {
    /// The version that the client asks for: 3 and any minor version.
    pub version: ProtocolVersion,
    /// Names and values, alternating.
    strings: Strings<'a>,
}

impl<'a> StartupMessage<'a> {
    fn read(version: ProtocolVersion, mut reader: Reader<'a>) -> Result<StartupMessage<'a>, Malformed> {
        let body = reader.peek();
        while !reader.cstr("parameter name")?.is_empty() {
            reader.cstr("parameter value")?;
        }
        reader.finish()?;
        // All bytes except the empty name that ends the list.
        let bytes = body.split_last().map_or(body, |(_, bytes)| bytes);
        Ok(StartupMessage { version, strings: Strings::new(bytes) })
    }

    /// The parameters in the order in which they came. Protocol options are among them; a name may occur twice.
    #[must_use]
    pub fn parameters(&self) -> Parameters<'a> {
        Parameters { strings: self.strings }
    }

    /// The value of a parameter. If several have the same name, the last one counts, as in PostgreSQL.
    #[must_use]
    pub fn get(&self, name: &[u8]) -> Option<&'a [u8]> {
        self.parameters().filter(|(found, _)| *found == name).last().map(|(_, value)| value)
    }

    /// The parameters whose names begin with `_pq_.`: protocol options. A server that does not know them answers with
    /// NegotiateProtocolVersion. The names are returned with the prefix.
    pub fn protocol_options(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        self.parameters().filter(|(name, _)| name.starts_with(PROTOCOL_OPTION_PREFIX))
    }

    /// Appends the packet to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin_untagged(out);
        write::u32(out, self.version.to_wire());
        write::bytes(out, self.strings.as_bytes());
        write::u8(out, 0);
        write::end(out, mark);
    }

    /// Appends a StartupMessage with these parameters to `out`. A parameter without a name is left out, because an
    /// empty name ends the list.
    ///
    /// # Panics
    /// When the parameters take more than 2^31 - 1 bytes.
    pub fn write<'p>(
        out: &mut Vec<u8>,
        version: ProtocolVersion,
        parameters: impl IntoIterator<Item = (&'p [u8], &'p [u8])>,
    ) {
        let mark = write::begin_untagged(out);
        write::u32(out, version.to_wire());
        for (name, value) in parameters {
            if !matches!(name, [] | [0, ..]) {
                write::cstr(out, name);
                write::cstr(out, value);
            }
        }
        write::u8(out, 0);
        write::end(out, mark);
    }
}

/// `Debug` shows only the sizes of the parameters' values, because `options` may hold anything.
impl fmt::Debug for StartupMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        map.entry(&"version", &self.version);
        for (name, value) in self.parameters() {
            map.entry(&Name(name), &Redacted(value.len()));
        }
        map.finish()
    }
}

/// Pairs of name and value.
#[derive(Clone, Copy, Debug)]
pub struct Parameters<'a> {
    strings: Strings<'a>,
}

impl<'a> Iterator for Parameters<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        Some((self.strings.next()?, self.strings.next()?))
    }
}

/// A first packet that must be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartupError {
    /// The length field is too small for a code, larger than the limit, or not the length of the packet.
    Length {
        /// The value of the length field, read as an unsigned number.
        length: u32,
    },
    /// A version other than 3.x.
    UnsupportedVersion(ProtocolVersion),
    /// The fields do not have the right form.
    Malformed(Malformed),
}

impl From<Malformed> for StartupError {
    fn from(error: Malformed) -> StartupError {
        StartupError::Malformed(error)
    }
}

impl fmt::Display for StartupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartupError::Length { length } => write!(f, "invalid length of startup packet: {length} bytes"),
            StartupError::UnsupportedVersion(version) => {
                write!(f, "unsupported frontend protocol {version}: this server speaks 3.0 to 3.2")
            }
            StartupError::Malformed(error) => write!(f, "invalid startup packet: {error}"),
        }
    }
}

impl std::error::Error for StartupError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StartupError::Malformed(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn startup(packet: &[u8]) -> StartupMessage<'_> {
        match FirstPacket::decode(packet) {
            Ok(FirstPacket::Startup(startup)) => startup,
            other => panic!("{other:?} is not a StartupMessage"),
        }
    }

    #[test]
    fn the_last_of_two_parameters_with_one_name_counts() {
        let mut packet = Vec::new();
        let parameters: [(&[u8], &[u8]); 3] = [(b"user", b"a"), (b"user", b"b"), (b"options", b"")];
        StartupMessage::write(&mut packet, ProtocolVersion::V3_2, parameters);
        let startup = startup(&packet);
        assert_eq!(startup.get(b"user"), Some(&b"b"[..]));
        assert_eq!(startup.get(b"options"), Some(&b""[..]));
        assert_eq!(startup.get(b"database"), None);
        assert_eq!(startup.get(b"a"), None, "a value is not a name");
        assert_eq!(startup.parameters().count(), 3);
    }

    #[test]
    fn a_parameter_without_a_name_is_not_sent() {
        let mut packet = Vec::new();
        let parameters: [(&[u8], &[u8]); 3] = [(b"", b"lost"), (b"\0x", b"lost"), (b"user", b"a")];
        StartupMessage::write(&mut packet, ProtocolVersion::V3_0, parameters);
        assert_eq!(startup(&packet).parameters().collect::<Vec<_>>(), [(&b"user"[..], &b"a"[..])]);
    }

    #[test]
    fn protocol_options_are_found_among_parameters() {
        let mut packet = Vec::new();
        let parameters: [(&[u8], &[u8]); 3] = [(b"user", b"a"), (b"_pq_.x", b"1"), (b"_pq_", b"no")];
        StartupMessage::write(&mut packet, ProtocolVersion { major: 3, minor: 9999 }, parameters);
        let options: Vec<_> = startup(&packet).protocol_options().collect();
        assert_eq!(options, [(&b"_pq_.x"[..], &b"1"[..])]);
    }

    #[test]
    fn another_major_version_is_an_error_that_names_it() {
        let packet = [0, 0, 0, 9, 0, 2, 0, 0, 0];
        let version = ProtocolVersion { major: 2, minor: 0 };
        assert_eq!(FirstPacket::decode(&packet), Err(StartupError::UnsupportedVersion(version)));
    }

    #[test]
    fn a_length_is_checked_before_the_packet_has_arrived() {
        let length = |length: u32| first_packet_bytes(&length.to_be_bytes());
        assert_eq!(length(8), Ok(Some(8)));
        assert_eq!(length(10_004), Ok(Some(10_004)));
        for refused in [0, 7, 10_005, 400 << 20, 1 << 31, u32::MAX] {
            assert_eq!(length(refused), Err(StartupError::Length { length: refused }));
        }
        assert_eq!(first_packet_bytes(&[0, 0, 0]), Ok(None));
        let limits = Limits { startup_packet_bytes: 100, ..Limits::default() };
        assert_eq!(limits.first_packet_bytes(&104u32.to_be_bytes()), Ok(Some(104)));
        assert!(limits.first_packet_bytes(&105u32.to_be_bytes()).is_err());
        assert!(first_packet_bytes_within(&u32::MAX.to_be_bytes(), u32::MAX).is_ok(), "no limit overflows");
    }

    #[test]
    fn no_packet_begins_like_tls() {
        assert!(first_packet_bytes(&[TLS_HANDSHAKE_BYTE, 3, 1, 0]).is_err());
    }

    #[test]
    fn debug_shows_neither_keys_nor_values() {
        let mut packet = Vec::new();
        StartupMessage::write(&mut packet, ProtocolVersion::V3_0, [(&b"options"[..], &b"hidden"[..])]);
        assert!(!format!("{:?}", FirstPacket::decode(&packet)).contains("hidden"));
        let cancel = CancelRequest { process_id: 7, secret_key: b"hidden" };
        assert_eq!(format!("{cancel:?}"), "CancelRequest { process_id: 7, secret_key: <6 bytes> }");
    }
}
