//! NegotiateProtocolVersion: the newest minor version of the server is older than the client's, or the server does not
//! know some of the client's protocol options. The login continues with what the server knows.

use crate::list::Strings;
use crate::read::{Malformed, Problem, Reader};
use crate::startup::ProtocolVersion;
use crate::write;

/// The type byte of NegotiateProtocolVersion.
pub const TAG: u8 = b'v';

/// NegotiateProtocolVersion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NegotiateProtocolVersion<'a> {
    /// The newest version that the server speaks. The manual says that the message holds only the minor version, but
    /// PostgreSQL sends both. With a server that does what the manual says, the major version is 0 here.
    pub newest: ProtocolVersion,
    /// The number of options that the server does not know.
    count: u32,
    /// Their names.
    options: Strings<'a>,
}

impl<'a> NegotiateProtocolVersion<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when the number of names is not the number that the message gives.
    pub fn decode(body: &'a [u8]) -> Result<NegotiateProtocolVersion<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let newest = ProtocolVersion::from_wire(reader.u32("newest protocol version")?);
        let start = reader;
        let count = u32::try_from(reader.i32("number of options")?)
            .map_err(|_| start.malformed("number of options", Problem::Value))?;
        let options = Strings::read_counted(&mut reader, count, "option name")?;
        reader.finish()?;
        Ok(NegotiateProtocolVersion { newest, count, options })
    }

    /// The newest minor version of protocol 3 that the server speaks, with or without a major version in the message.
    /// `None` when the server named a major version other than 3.
    #[must_use]
    pub fn newest_minor(&self) -> Option<u16> {
        matches!(self.newest.major, 0 | 3).then_some(self.newest.minor)
    }

    /// The names of the protocol options that the server does not know, with their prefix `_pq_.`.
    #[must_use]
    pub fn unrecognized_options(&self) -> Strings<'a> {
        self.options
    }

    /// Appends the message to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        write::u32(out, self.newest.to_wire());
        write::u32(out, self.count);
        write::bytes(out, self.options.as_bytes());
        write::end(out, mark);
    }

    /// Appends a NegotiateProtocolVersion with these options to `out`.
    ///
    /// # Panics
    /// When the names take more than 2^31 - 1 bytes. Names from a client's first packet never do.
    pub fn write<'n>(
        out: &mut Vec<u8>,
        newest: ProtocolVersion,
        unrecognized_options: impl IntoIterator<Item = &'n [u8]>,
    ) {
        let mark = write::begin(out, TAG);
        write::u32(out, newest.to_wire());
        let count_at = out.len();
        write::u32(out, 0);
        let mut count: u32 = 0;
        for name in unrecognized_options {
            write::cstr(out, name);
            count += 1;
        }
        if let Some(field) = out.get_mut(count_at..count_at + 4) {
            field.copy_from_slice(&count.to_be_bytes());
        }
        write::end(out, mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn newest(code: u32) -> Option<u16> {
        let mut body = code.to_be_bytes().to_vec();
        body.extend([0; 4]);
        NegotiateProtocolVersion::decode(&body).expect("well-formed").newest_minor()
    }

    #[test]
    fn the_minor_version_is_found_with_and_without_the_major_one() {
        assert_eq!(newest(0x0003_0002), Some(2));
        assert_eq!(newest(2), Some(2));
        assert_eq!(newest(0x0004_0000), None);
    }
}
