//! The messages that a client gets after it has proved its identity.

use std::fmt;

use trunkline_wire::backend::{
    Authentication, BackendKeyData, ParameterStatus, ReadyForQuery, TransactionStatus,
};
use trunkline_wire::startup::ProtocolVersion;

/// The number of bytes of a cancel key in protocol 3.0.
pub const KEY_BYTES_3_0: usize = 4;
/// The number of bytes of a cancel key since protocol 3.2, as in PostgreSQL 18.
pub const KEY_BYTES_3_2: usize = 32;

/// The key with which a client may cancel a query. `Debug` does not show it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CancelKey {
    bytes: [u8; KEY_BYTES_3_2],
    length: u8,
}

impl CancelKey {
    /// Makes a key from the first bytes of `random`, with the length that `version` prescribes.
    pub fn new(version: ProtocolVersion, random: [u8; KEY_BYTES_3_2]) -> Self {
        let length = if version >= ProtocolVersion::V3_2 { KEY_BYTES_3_2 } else { KEY_BYTES_3_0 };
        let mut bytes = [0; KEY_BYTES_3_2];
        for (byte, random) in bytes.iter_mut().zip(random).take(length) {
            *byte = random;
        }
        Self { bytes, length: u8::try_from(length).unwrap_or(u8::MAX) }
    }

    /// The key's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length.into()).unwrap_or_default()
    }

    /// Whether `presented`, the key in a CancelRequest, is this key. Takes constant time.
    pub fn matches(&self, presented: &[u8]) -> bool {
        subtle::ConstantTimeEq::ct_eq(self.as_bytes(), presented).into()
    }
}

impl fmt::Debug for CancelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CancelKey(..)")
    }
}

/// Appends AuthenticationOk, a ParameterStatus for each of `parameters`, BackendKeyData and ReadyForQuery.
///
/// The client sends `process_id` and `secret_key` back in a CancelRequest. [`CancelKey`] makes our keys; in session
/// mode they may also be the server's. A client with protocol 3.0 must get a key of 4 bytes.
pub fn welcome<'a>(
    out: &mut Vec<u8>,
    parameters: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
    process_id: i32,
    secret_key: &[u8],
    status: TransactionStatus,
) {
    Authentication::Ok.encode(out);
    for (name, value) in parameters {
        ParameterStatus { name, value }.encode(out);
    }
    BackendKeyData { process_id, secret_key }.encode(out);
    ReadyForQuery { status }.encode(out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_protocol_version_decides_the_length_of_a_key() {
        let random = std::array::from_fn(|index| index as u8 + 1);
        assert_eq!(CancelKey::new(ProtocolVersion::V3_0, random).as_bytes(), [1, 2, 3, 4]);
        assert_eq!(CancelKey::new(ProtocolVersion { major: 3, minor: 1 }, random).as_bytes().len(), 4);
        let long = CancelKey::new(ProtocolVersion::V3_2, random);
        assert_eq!(long.as_bytes(), random);
        assert!(long.matches(&random));
        assert!(!long.matches(&random[..31]) && !long.matches(&[0; 32]) && !long.matches(b""));
        assert_eq!(format!("{long:?}"), "CancelKey(..)");
    }

    #[test]
    fn the_messages_come_in_the_order_of_postgresql() {
        let mut out = Vec::new();
        let parameters: [(&[u8], &[u8]); 1] = [(b"TimeZone", b"UTC")];
        welcome(&mut out, parameters, 7, &[1, 2, 3, 4], TransactionStatus::Idle);
        let expected: &[u8] =
            b"R\0\0\0\x08\0\0\0\0S\0\0\0\x11TimeZone\0UTC\0K\0\0\0\x0c\0\0\0\x07\x01\x02\x03\x04Z\0\0\0\x05I";
        assert_eq!(out, expected);
    }
}
