//! Words of C: names, numbers, characters, punctuation. Comments go, preprocessor lines too.

/// A word and the line it stands on, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: WordText,
    pub(crate) line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WordText {
    /// A name or a C keyword.
    Name(String),
    /// An integer, or a character's code.
    Number(i64),
    /// The text of a string literal, escapes as written.
    Text(String),
    /// Any other character.
    Mark(char),
}

/// A header in words.
#[derive(Debug, Default)]
pub(crate) struct Words {
    pub(crate) words: Vec<Word>,
    /// `#define NAME value` where the value is one number.
    pub(crate) defines: Vec<(String, i64)>,
}

/// Cuts a header into words.
///
/// # Errors
/// The line and the reason, where a comment or literal does not end or a number is too large.
pub(crate) fn words(text: &str) -> Result<Words, (u32, String)> {
    let mut reader = Reader { rest: text, line: 1 };
    let mut found = Words::default();
    let mut at_line_start = true;
    while let Some(next) = reader.peek() {
        let line = reader.line;
        match next {
            '\n' => {
                at_line_start = true;
                reader.take();
                continue;
            }
            c if c.is_whitespace() => {
                reader.take();
                continue;
            }
            '/' if reader.rest.starts_with("/*") => {
                reader.comment()?;
                continue;
            }
            '/' if reader.rest.starts_with("//") => {
                reader.take_while(|c| c != '\n');
                continue;
            }
            '#' if at_line_start => {
                let directive = reader.directive();
                found.defines.extend(numeric_define(&directive));
                continue;
            }
            _ => {}
        }
        at_line_start = false;
        let text = reader.word(next)?;
        found.words.push(Word { text, line });
    }
    Ok(found)
}

/// `define NAME 12` or `define NAME 0x01`, a comment after it allowed.
fn numeric_define(directive: &str) -> Option<(String, i64)> {
    let rest = directive.trim_start_matches('#').trim_start().strip_prefix("define")?;
    let value_ends = rest.find("/*").unwrap_or(rest.len());
    let mut parts = rest.get(..value_ends)?.split_whitespace();
    let (name, value) = (parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    Some((name.to_owned(), number(value)?))
}

/// A decimal or hexadecimal integer.
fn number(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16).ok(),
        None => digits.parse().ok(),
    }
}

struct Reader<'a> {
    rest: &'a str,
    line: u32,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let taken = chars.next()?;
        self.rest = chars.as_str();
        if taken == '\n' {
            self.line += 1;
        }
        Some(taken)
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let start = self.rest;
        while self.peek().is_some_and(&wanted) {
            self.take();
        }
        start.get(..start.len() - self.rest.len()).unwrap_or("")
    }

    fn comment(&mut self) -> Result<(), (u32, String)> {
        let start = self.line;
        while !self.rest.starts_with("*/") {
            if self.take().is_none() {
                return Err((start, "this comment does not end".to_owned()));
            }
        }
        self.take();
        self.take();
        Ok(())
    }

    /// A preprocessor line with its continuations; a comment that begins on it stays in the text.
    fn directive(&mut self) -> String {
        let mut text = String::new();
        let mut in_comment = false;
        while let Some(c) = self.peek() {
            if c == '\n' && !in_comment && !text.ends_with('\\') {
                break;
            }
            if self.rest.starts_with("/*") {
                in_comment = true;
            }
            if text.ends_with('*') && c == '/' {
                in_comment = false;
            }
            text.push(c);
            self.take();
        }
        text
    }

    fn word(&mut self, first: char) -> Result<WordText, (u32, String)> {
        let line = self.line;
        if first.is_ascii_digit() {
            let digits = self.take_while(|c| c.is_ascii_alphanumeric());
            return match number(digits) {
                Some(value) => Ok(WordText::Number(value)),
                None => Err((line, format!("{digits} is no integer this reader knows"))),
            };
        }
        if first.is_ascii_alphabetic() || first == '_' {
            let name = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
            return Ok(WordText::Name(name.to_owned()));
        }
        self.take();
        match first {
            '\'' => {
                let code = self.take().map(|c| i64::from(u32::from(c)));
                let closed = self.take() == Some('\'');
                match code {
                    Some(code) if closed => Ok(WordText::Number(code)),
                    _ => Err((line, "this character literal is not of one character".to_owned())),
                }
            }
            '"' => {
                let mut text = String::new();
                loop {
                    match self.take() {
                        Some('"') => return Ok(WordText::Text(text)),
                        Some('\\') => text.extend(['\\'].into_iter().chain(self.take())),
                        Some(other) => text.push(other),
                        None => return Err((line, "this string does not end".to_owned())),
                    }
                }
            }
            other => Ok(WordText::Mark(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<WordText> {
        let words = words(source).map(|found| found.words).unwrap_or_default();
        words.into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn comments_and_directives_leave_no_word() {
        let source =
            "#define A(x) \\\n  x + 1\n/* one\n two */ int a; // end\n#define B 0x1f /* of\n two lines */\nb";
        let name = |text: &str| WordText::Name(text.to_owned());
        assert_eq!(texts(source), [name("int"), name("a"), WordText::Mark(';'), name("b")]);
        let found = words(source).map(|found| found.defines).unwrap_or_default();
        assert_eq!(found, [("B".to_owned(), 31)]);
    }

    #[test]
    fn characters_are_numbers() {
        assert_eq!(texts("'l' 12 0x10"), [WordText::Number(108), WordText::Number(12), WordText::Number(16)]);
    }

    #[test]
    fn what_does_not_end_is_named_with_its_line() {
        assert_eq!(words("a\n/* b\n").err().map(|(line, _)| line), Some(2));
        assert_eq!(words("a\n\n\"b\n").err().map(|(line, _)| line), Some(3));
    }
}
