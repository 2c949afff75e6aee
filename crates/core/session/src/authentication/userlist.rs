//! PgBouncer's `auth_file` (userlist.txt): each line is `"user" "password"`.
//!
//! The rules are PgBouncer's: a quote inside quotes is written twice, a line that begins with `;` is a comment, and
//! everything after the second field is ignored. The second field may be a plain password, an md5 hash or a SCRAM
//! secret. If it is empty, the user has no password.

use std::collections::BTreeMap;
use std::str::CharIndices;

use zeroize::Zeroizing;

use super::secret::{Secret, SecretError};

/// The largest file that is read. It has room for 600,000 users with SCRAM secrets, about a hundred bytes each.
pub const USERLIST_BYTES_MAX: usize = 64 << 20;
/// The longest user name, as in PgBouncer. PostgreSQL's user names have at most 63 bytes, unless it was built
/// otherwise.
pub const USER_NAME_BYTES_MAX: usize = 127;

/// The users of a file.
#[derive(Debug, Default)]
pub struct Userlist {
    /// The secret of each user. `None` if the password is empty: then no password is correct.
    pub users: BTreeMap<String, Option<Secret>>,
    /// Users with more than one line. The last line counts; the caller should warn about it.
    pub overridden: Vec<Overridden>,
}

/// A user whose line replaced an earlier line of the same user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overridden {
    /// The user.
    pub user: String,
    /// The later line, which counts; lines are counted from 1.
    pub line: usize,
}

/// An error in a file, and its place. It holds no part of a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {kind}")]
pub struct UserlistError {
    /// The line, counted from 1.
    pub line: usize,
    /// The character in the line, counted from 1.
    pub column: usize,
    /// What is wrong at that place.
    pub kind: UserlistErrorKind,
}

/// What is wrong, for [`UserlistError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UserlistErrorKind {
    /// The file is larger than [`USERLIST_BYTES_MAX`].
    #[error("the file is larger than {USERLIST_BYTES_MAX} bytes")]
    FileTooLarge,
    /// Not UTF-8.
    #[error("not UTF-8 text")]
    NotUtf8,
    /// A field must begin with a double quote.
    #[error(
        "a double quote must begin the {0} (a line reads \"user\" \"password\"; a comment begins with ;)"
    )]
    QuoteExpected(&'static str),
    /// The closing quote is missing on the line.
    #[error("the {0}'s closing double quote is missing (a quote inside is written twice)")]
    Unclosed(&'static str),
    /// A user must have a name.
    #[error("the user name is empty")]
    EmptyUser,
    /// The user name is longer than [`USER_NAME_BYTES_MAX`].
    #[error("the user name has more than {USER_NAME_BYTES_MAX} bytes")]
    UserTooLong,
    /// The password cannot be used.
    #[error(transparent)]
    Secret(SecretError),
}

impl Userlist {
    /// Reads a whole file.
    pub fn parse(file: &[u8]) -> Result<Self, UserlistError> {
        if file.len() > USERLIST_BYTES_MAX {
            return Err(UserlistError { line: 1, column: 1, kind: UserlistErrorKind::FileTooLarge });
        }
        let file = file.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(file);
        let mut list = Self::default();
        for (index, line) in file.split(|byte| *byte == b'\n').enumerate() {
            list.parse_line(line, index + 1)?;
        }
        Ok(list)
    }

    fn parse_line(&mut self, line: &[u8], number: usize) -> Result<(), UserlistError> {
        let at = |column, kind| UserlistError { line: number, column, kind };
        let text = std::str::from_utf8(line).map_err(|error| {
            let before = &line[..error.valid_up_to()];
            at(String::from_utf8_lossy(before).chars().count() + 1, UserlistErrorKind::NotUtf8)
        })?;
        let mut cursor = Cursor { text, characters: text.char_indices(), column: 1 };
        cursor.skip_whitespace();
        if matches!(cursor.peek(), None | Some(';')) {
            return Ok(());
        }
        let user_column = cursor.column;
        let user = cursor.quoted("user name").map_err(|(column, kind)| at(column, kind))?;
        if user.is_empty() {
            return Err(at(user_column, UserlistErrorKind::EmptyUser));
        }
        if user.len() > USER_NAME_BYTES_MAX {
            return Err(at(user_column, UserlistErrorKind::UserTooLong));
        }
        cursor.skip_whitespace();
        let password_column = cursor.column;
        let password = cursor.quoted("password").map_err(|(column, kind)| at(column, kind))?;
        let secret = match Secret::parse(password.as_bytes()) {
            Ok(secret) => Some(secret),
            Err(SecretError::Empty) => None,
            Err(error) => return Err(at(password_column, UserlistErrorKind::Secret(error))),
        };
        if self.users.insert(user.to_string(), secret).is_some() {
            self.overridden.push(Overridden { user: user.to_string(), line: number });
        }
        Ok(())
    }
}

/// Reads a line character by character, and counts columns.
struct Cursor<'a> {
    text: &'a str,
    characters: CharIndices<'a>,
    column: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<char> {
        self.characters.as_str().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let (_, character) = self.characters.next()?;
        self.column += 1;
        Some(character)
    }

    fn skip_whitespace(&mut self) {
        while self.peek().is_some_and(|character| character.is_ascii_whitespace()) {
            self.next();
        }
    }

    /// Reads a field in double quotes. An error comes with the column where it occurred.
    fn quoted(&mut self, what: &'static str) -> Result<Zeroizing<String>, (usize, UserlistErrorKind)> {
        let start = self.column;
        if self.peek() != Some('"') {
            return Err((start, UserlistErrorKind::QuoteExpected(what)));
        }
        self.next();
        // All the memory is allocated at once: a string that grows leaves copies of a password behind that nobody
        // wipes.
        let mut field = Zeroizing::new(String::with_capacity(self.text.len()));
        loop {
            match self.next() {
                None => return Err((start, UserlistErrorKind::Unclosed(what))),
                Some('"') if self.peek() == Some('"') => {
                    self.next();
                    field.push('"');
                }
                Some('"') => return Ok(field),
                Some(character) => field.push(character),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(file: &[u8]) -> UserlistError {
        Userlist::parse(file).expect_err("malformed")
    }

    #[test]
    fn users_comments_and_ignored_line_ends_are_read() {
        let file = b"\xef\xbb\xbf; users\n\n\"alice\" \"sesame\"\r\n  \"bob\"\t\"md50123456789abcdef0123456789abcdef\" \"rest\" x\n\
            \"carol\" \"\"\n\"d\"\"e\" \"p\"\"w\"";
        let list = Userlist::parse(file).expect("well formed");
        assert_eq!(list.users.keys().collect::<Vec<_>>(), ["alice", "bob", "carol", "d\"e"]);
        assert!(matches!(&list.users["alice"], Some(Secret::Plain(password)) if password.matches(b"sesame")));
        assert!(matches!(list.users["bob"], Some(Secret::Md5(_))));
        assert!(list.users["carol"].is_none());
        assert!(matches!(&list.users["d\"e"], Some(Secret::Plain(password)) if password.matches(b"p\"w")));
    }

    #[test]
    fn the_last_line_of_a_user_counts_and_is_reported() {
        let list = Userlist::parse(b"\"a\" \"one\"\n\"b\" \"x\"\n\"a\" \"two\"").expect("well formed");
        assert!(matches!(&list.users["a"], Some(Secret::Plain(password)) if password.matches(b"two")));
        assert_eq!(list.overridden, [Overridden { user: String::from("a"), line: 3 }]);
    }

    #[test]
    fn errors_give_line_and_column() {
        let cases: [(&[u8], usize, usize, UserlistErrorKind); 9] = [
            (b"alice \"x\"", 1, 1, UserlistErrorKind::QuoteExpected("user name")),
            (b"\n \"alice\" x", 2, 10, UserlistErrorKind::QuoteExpected("password")),
            (b"\"alice\"", 1, 8, UserlistErrorKind::QuoteExpected("password")),
            (b"\"alice", 1, 1, UserlistErrorKind::Unclosed("user name")),
            (b"\"alice\" \"x\"\"", 1, 9, UserlistErrorKind::Unclosed("password")),
            (b"\"\" \"x\"", 1, 1, UserlistErrorKind::EmptyUser),
            (b"\n\"\xc3\xa4\xff\" \"x\"", 2, 3, UserlistErrorKind::NotUtf8),
            (
                b"\"a\" \"SCRAM-SHA-256$x\"",
                1,
                5,
                UserlistErrorKind::Secret(SecretError::MalformedScram("second $ missing")),
            ),
            (b"\"a\" \"x\0\"", 1, 5, UserlistErrorKind::Secret(SecretError::ZeroByte)),
        ];
        for (file, line, column, kind) in cases {
            assert_eq!(
                error(file),
                UserlistError { line, column, kind },
                "{}",
                String::from_utf8_lossy(file)
            );
        }
        let long = format!("\"{}\" \"x\"", "a".repeat(USER_NAME_BYTES_MAX + 1));
        assert_eq!(error(long.as_bytes()).kind, UserlistErrorKind::UserTooLong);
    }

    #[test]
    fn no_secret_is_shown() {
        let list = Userlist::parse(b"\"alice\" \"sesame\"").expect("well formed");
        assert!(!format!("{list:?}").contains("sesame"));
        let error = error(b"\"alice\" \"SCRAM-SHA-256$sesame\"");
        assert!(!format!("{error:?} {error}").contains("sesame"));
    }
}
