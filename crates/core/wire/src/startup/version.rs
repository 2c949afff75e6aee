//! Versions of the protocol.

use std::fmt;

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProtocolVersion {
    /// 3 in every version that is in use today.
    pub major: u16,
    /// 0 or 2. There is no 3.1. Clients send 9999 to find out whether a server negotiates.
    pub minor: u16,
}

impl ProtocolVersion {
    /// 3.0, which every server and client since PostgreSQL 7.4 speaks.
    pub const V3_0: ProtocolVersion = ProtocolVersion { major: 3, minor: 0 };
    /// 3.2, which PostgreSQL 18 introduced: cancel keys may be longer.
    pub const V3_2: ProtocolVersion = ProtocolVersion { major: 3, minor: 2 };

    /// From the integer on the wire.
    #[must_use]
    pub const fn from_wire(code: u32) -> ProtocolVersion {
        let [a, b, c, d] = code.to_be_bytes();
        ProtocolVersion { major: u16::from_be_bytes([a, b]), minor: u16::from_be_bytes([c, d]) }
    }

    /// To the integer on the wire.
    #[must_use]
    pub const fn to_wire(self) -> u32 {
        ((self.major as u32) << 16) | self.minor as u32
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_and_go_to_the_wire_and_back() {
        assert!(ProtocolVersion::V3_0 < ProtocolVersion::V3_2);
        for (version, code, text) in [
            (ProtocolVersion::V3_0, 196_608, "3.0"),
            (ProtocolVersion { major: 3, minor: 9999 }, 0x3270f, "3.9999"),
        ] {
            assert_eq!(version.to_wire(), code);
            assert_eq!(ProtocolVersion::from_wire(code), version);
            assert_eq!(version.to_string(), text);
        }
    }
}
