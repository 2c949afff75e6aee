//! CommandComplete: a command has succeeded.

use crate::read::{Malformed, Reader};
use crate::redact::Name;
use crate::write;

/// The type byte of CommandComplete.
pub const TAG: u8 = b'C';

/// CommandComplete.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CommandComplete<'a> {
    /// The name of the command, and for some commands the number of rows: `INSERT 0 3`.
    pub command_tag: &'a [u8],
}

impl<'a> CommandComplete<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when it is not exactly one string.
    pub fn decode(body: &'a [u8]) -> Result<CommandComplete<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let command_tag = reader.cstr("command tag")?;
        reader.finish()?;
        Ok(CommandComplete { command_tag })
    }

    /// The number of rows at the end of the command tag, if the tag has one.
    #[must_use]
    pub fn rows(&self) -> Option<u64> {
        let space = self.command_tag.iter().rposition(|byte| *byte == b' ')?;
        let digits = self.command_tag.get(space + 1..)?;
        if !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        std::str::from_utf8(digits).ok()?.parse().ok()
    }

    /// Appends the message to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        write::cstr(out, self.command_tag);
        write::end(out, mark);
    }
}

impl std::fmt::Debug for CommandComplete<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("CommandComplete").field(&Name(self.command_tag)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_the_last_number() {
        let rows = |command_tag| CommandComplete { command_tag }.rows();
        assert_eq!(rows(b"SELECT 12"), Some(12));
        assert_eq!(rows(b"INSERT 0 3"), Some(3));
        assert_eq!(rows(b"CREATE TABLE"), None);
        assert_eq!(rows(b"BEGIN"), None);
        assert_eq!(rows(b"SELECT "), None);
        assert_eq!(rows(b"SELECT +1"), None);
        assert_eq!(rows(b"SELECT 99999999999999999999"), None);
    }
}
