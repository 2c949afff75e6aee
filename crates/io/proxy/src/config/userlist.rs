//! PgBouncer's `userlist.txt`: `"name" "password"` a line, `""` inside quotes for a quote, `;` before a comment.

use std::collections::BTreeMap;

use super::secret::Secret;

/// The largest file read.
pub(super) const USERLIST_BYTES_MAX: u64 = 64 << 20;

/// A line that is not `"name" "password"`. The line itself is not kept: it may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserlistError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl std::fmt::Display for UserlistError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}; expected \"name\" \"password\"", self.line, self.reason)
    }
}

impl std::error::Error for UserlistError {}

/// Reads a userlist. The first entry of a name counts, as in PgBouncer. What follows the password is ignored, as there.
pub fn parse_userlist(text: &str) -> Result<BTreeMap<String, Secret>, UserlistError> {
    let mut users = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let refuse = |reason| UserlistError { line: index + 1, reason };
        let line = line.trim_start();
        if line.is_empty() || line.starts_with(';') {
            continue;
        }
        let (name, rest) = quoted(line).map_err(refuse)?;
        let (password, _) = quoted(rest.trim_start()).map_err(refuse)?;
        if name.is_empty() {
            return Err(refuse("the name is empty"));
        }
        users.entry(name).or_insert_with(|| Secret::new(password));
    }
    Ok(users)
}

/// Reads one quoted text; gives it and what follows.
fn quoted(text: &str) -> Result<(String, &str), &'static str> {
    let mut rest = text.strip_prefix('"').ok_or("a quote is missing")?;
    let mut read = String::new();
    loop {
        let (part, after) = rest.split_once('"').ok_or("a closing quote is missing")?;
        read.push_str(part);
        match after.strip_prefix('"') {
            Some(next) => {
                read.push('"');
                rest = next;
            }
            None if read.contains('\0') => return Err("a zero byte is not allowed"),
            None => return Ok((read, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_passwords_with_quotes_and_comments() {
        let text = "; users\n\"app\" \"se\"\"cret\" ignored\n\n  \"b\" \"\"\n\"app\" \"later\"\n";
        let users = parse_userlist(text).expect("valid");
        let read: Vec<_> = users.iter().map(|(name, secret)| (name.as_str(), secret.expose())).collect();
        assert_eq!(read, [("app", "se\"cret"), ("b", "")]);
    }

    #[test]
    fn errors_name_the_line_and_never_the_password() {
        for (text, line) in [
            ("app hunter2", 1),
            ("\"a\" \"b\"\n\"app\" hunter2", 2),
            ("\"app\" \"hunter2", 1),
            ("\"\" \"x\"", 1),
        ] {
            let error = parse_userlist(text).expect_err("refused");
            assert_eq!(error.line, line);
            assert!(!error.to_string().contains("hunter2"));
        }
    }
}
