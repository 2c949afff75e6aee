//! Splits a script into the texts that psql sends. They end at semicolons outside of quotes, comments, parentheses and
//! `BEGIN ATOMIC` bodies. Backslash commands are executed if they affect the texts. The data of a COPY from standard input is left out,
//! because it is not SQL.

use super::Found;
use super::variables::{Meaning, Variables, arguments, name};

/// Commands whose argument is the whole rest of the line.
const WHOLE_LINE: [&str; 10] = ["copy", "!", "ef", "ev", "sf", "sv", "h", "help", "?", "."];

/// Commands that send the buffer's text, like a semicolon.
const SENDING: [&str; 9] =
    ["g", "gx", "gset", "gexec", "gdesc", "crosstabview", "watch", "parse", "sendpipeline"];

/// The texts that psql sends, in their order.
pub(super) fn statements(script: &str) -> Vec<Found> {
    let mut splitter = Splitter {
        script,
        at: 0,
        line: 1,
        line_counted_to: 0,
        hidden: None,
        statement: Pending::default(),
        standard_strings: true,
        variables: Variables::new(),
        found: Vec::new(),
    };
    while splitter.step() {}
    splitter.send();
    splitter.found
}

struct Splitter<'a> {
    script: &'a str,
    /// The position up to which the script was read.
    at: usize,
    /// The line of `line_counted_to`.
    line: u32,
    line_counted_to: usize,
    /// The place of a COPY's data: from the end of the COPY's line to the end of the data.
    hidden: Option<(usize, usize)>,
    statement: Pending,
    /// The server's `standard_conforming_strings`, which psql follows.
    standard_strings: bool,
    variables: Variables,
    found: Vec<Found>,
}

/// The statement that is being read.
#[derive(Default)]
struct Pending {
    sql: String,
    line: u32,
    has_variables: bool,
    parentheses: u32,
    brackets: u32,
    /// The number of open BEGINs of a function's body, and of CASEs in it, which also end with END.
    blocks: u32,
    /// The first words in lower case: enough to find `create or replace function`.
    head: Vec<String>,
    last_word: String,
    /// How many `COPY ... FROM STDIN` it has: `\;` joins several statements to one text.
    copies: u32,
}

impl Pending {
    fn makes_routine(&self) -> bool {
        let head: Vec<&str> = self.head.iter().map(String::as_str).collect();
        matches!(
            head.as_slice(),
            ["create", "function" | "procedure", ..]
                | ["create", "or", "replace", "function" | "procedure", ..]
        )
    }

    fn word(&mut self, word: &str) {
        let word = word.to_ascii_lowercase();
        if self.head.len() < 4 {
            self.head.push(word.clone());
        }
        if self.parentheses == 0 && self.makes_routine() {
            match word.as_str() {
                "begin" => self.blocks += 1,
                "case" if self.blocks > 0 => self.blocks += 1,
                "end" => self.blocks = self.blocks.saturating_sub(1),
                _ => {}
            }
        }
        let copies = self.head.first().is_some_and(|first| first == "copy");
        // PostgreSQL also accepts `from stdout`, with the same meaning.
        if copies && self.last_word == "from" && (word == "stdin" || word == "stdout") {
            self.copies += 1;
        }
        self.last_word = word;
    }
}

impl<'a> Splitter<'a> {
    fn rest(&self) -> &'a str {
        self.script.get(self.at..).unwrap_or_default()
    }

    /// Moves `bytes` of the script to the statement.
    fn take(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.script.len());
        let text = self.script.get(self.at..end).unwrap_or_default();
        if self.statement.sql.is_empty() {
            let before = self.script.get(self.line_counted_to..self.at).unwrap_or_default();
            self.line += newlines(before);
            self.line_counted_to = self.at;
            self.statement.line = self.line;
        }
        self.statement.sql.push_str(text);
        self.at = end;
    }

    /// Skips white space or a `--` comment. It is sent only inside a statement.
    fn take_blank(&mut self, bytes: usize) {
        if self.statement.sql.is_empty() {
            self.at += bytes;
        } else {
            self.take(bytes);
        }
    }

    /// Reads one token. False at the end of the script.
    fn step(&mut self) -> bool {
        if let Some((_, end)) = self.hidden.filter(|&(start, _)| self.at >= start) {
            self.at = end;
            self.hidden = None;
        }
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return false };
        match first {
            '\'' => self.take_string(!self.standard_strings),
            '"' => self.take(closed_by(rest, 1, "\"")),
            '$' => self.take(dollar(rest)),
            '-' if rest.starts_with("--") => self.take_blank(rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => self.take(comment(rest)),
            ';' => self.semicolon(),
            '\\' => self.backslash(),
            ':' => self.colon(),
            _ if first.is_ascii_whitespace() => self.take_blank(1),
            _ if starts_word(first) => self.word(),
            _ if first.is_ascii_digit() => self.take(word(rest).len()),
            _ => {
                match first {
                    '(' => self.statement.parentheses += 1,
                    ')' => self.statement.parentheses = self.statement.parentheses.saturating_sub(1),
                    '[' => self.statement.brackets += 1,
                    ']' => self.statement.brackets = self.statement.brackets.saturating_sub(1),
                    _ => {}
                }
                self.take(1);
            }
        }
        true
    }

    fn word(&mut self) {
        let word = word(self.rest());
        let escapes = word.eq_ignore_ascii_case("e");
        let length = word.len();
        self.statement.word(word);
        self.take(length);
        if escapes && self.rest().starts_with('\'') {
            self.take_string(true);
        }
    }

    /// Reads a string in single quotes with its continuations on the next lines. Backslashes have the same meaning in all parts.
    fn take_string(&mut self, escapes: bool) {
        loop {
            let length = string(self.rest(), escapes);
            self.take(length);
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            let continues = rest.get(..blank).is_some_and(|blank| blank.contains('\n'))
                && rest.trim_start().starts_with('\'');
            if !(escapes && continues) {
                return;
            }
            self.take(blank);
        }
    }

    fn semicolon(&mut self) {
        self.take(1);
        if self.statement.parentheses == 0 && self.statement.blocks == 0 {
            self.send();
        }
    }

    fn colon(&mut self) {
        let rest = self.rest();
        if rest.starts_with("::") || rest.starts_with(":=") {
            return self.take(2);
        }
        let after = rest.get(1..).unwrap_or_default();
        if after.starts_with("{?") {
            let length = closed_by(rest, 1, "}");
            return self.substitute(length, "TRUE");
        }
        for quote in ['\'', '"'] {
            if let Some(name) = after.strip_prefix(quote).map(name).filter(|name| !name.is_empty()) {
                let length = name.len() + 3;
                let value = match self.variables.meaning(name) {
                    Meaning::Value(value) => value,
                    Meaning::Unknown => name,
                    Meaning::Text => return self.take(1),
                };
                let doubled = value.replace(quote, &format!("{quote}{quote}"));
                return self.substitute(length, &format!("{quote}{doubled}{quote}"));
            }
        }
        let name = name(after);
        let length = name.len() + 1;
        match self.variables.meaning(name) {
            Meaning::Value(value) => {
                // psql would go on reading in the value. Semicolons and quotes in a value are not handled here.
                let plain = !value.contains([';', '\'', '"', '\\', '$']);
                let value = value.to_owned();
                self.statement.has_variables |= !plain;
                self.substitute(length, &value);
            }
            // A slice of an array (`a[1:n]`) also has a colon.
            Meaning::Unknown if self.statement.brackets == 0 && !name.is_empty() => {
                self.statement.has_variables = true;
                self.take(length);
            }
            Meaning::Unknown | Meaning::Text => self.take(1),
        }
    }

    /// Replaces `length` bytes of the script by `text`.
    fn substitute(&mut self, length: usize, text: &str) {
        self.take(0);
        self.statement.sql.push_str(text);
        self.at = (self.at + length).min(self.script.len());
    }

    fn backslash(&mut self) {
        let after = self.rest().get(1..).unwrap_or_default();
        if after.starts_with([';', ':']) {
            if after.starts_with(';') {
                self.statement.head.clear();
            }
            self.at += 1;
            return self.take(1);
        }
        let letters = after.find(|c: char| !c.is_ascii_alphabetic() && c != '_').unwrap_or(after.len());
        // The names of `\!`, `\?`, `\.` and of the separator `\\` are one character that is not a letter.
        let length = if letters == 0 { after.chars().next().map_or(0, char::len_utf8) } else { letters };
        let (command, rest) = after.split_at_checked(length).unwrap_or((after, ""));
        // psql's commands are mostly in lower case, but scripts have a `\COPY`.
        let command = command.to_ascii_lowercase();
        if command == "\\" || command == "\n" || command.is_empty() {
            self.at += 1 + usize::from(command == "\\");
            return;
        }
        if WHOLE_LINE.contains(&command.as_str()) {
            let line =
                rest.get(..rest.find('\n').unwrap_or(rest.len())).unwrap_or_default().to_ascii_lowercase();
            self.at += 1 + length + line.len();
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            if command == "copy"
                && words.windows(2).any(|pair| pair == ["from", "stdin"] || pair == ["from", "pstdin"])
            {
                self.hide_copy_data();
            }
            return;
        }
        let (arguments, taken) = arguments(rest, &self.variables);
        self.at += 1 + length + taken;
        self.variables.apply(&command, &arguments);
        if command == "r" || command == "reset" {
            self.statement = Pending::default();
        }
        if SENDING.contains(&command.as_str()) {
            self.send();
        }
    }

    fn send(&mut self) {
        let Pending { sql, line, has_variables, copies, .. } = std::mem::take(&mut self.statement);
        if sql.is_empty() || sql == ";" {
            return;
        }
        let lower = sql.to_ascii_lowercase();
        if lower.contains("standard_conforming_strings")
            && (lower.starts_with("set") || lower.starts_with("reset"))
        {
            self.standard_strings = !lower.contains("off");
        }
        self.found.push(Found { line, sql, has_variables });
        for _ in 0..copies {
            self.hide_copy_data();
        }
    }

    /// Skips the lines up to `\.`. If another COPY comes before that line, this COPY fails, and the script has no data for it.
    fn hide_copy_data(&mut self) {
        let start = match self.hidden {
            Some((_, end)) => end,
            None => self.at + self.rest().find('\n').map_or(self.rest().len(), |end| end + 1),
        };
        let mut end = start;
        for line in self.script.get(start..).unwrap_or_default().split_inclusive('\n') {
            end += line.len();
            if line.trim_end() == "\\." {
                let from = self.hidden.map_or(start, |(from, _)| from);
                self.hidden = Some((from, end));
                return;
            }
            if line.to_ascii_lowercase().contains("from stdin") {
                return;
            }
        }
    }
}

fn newlines(text: &str) -> u32 {
    text.bytes().map(|byte| u32::from(byte == b'\n')).sum()
}

fn starts_word(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_' || !character.is_ascii()
}

/// The word at the beginning of `text`. A dollar sign inside is part of it.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(starts_word(c) || c.is_ascii_digit() || c == '$')).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// The length of `text` up to and including the first `end` after `from`.
fn closed_by(text: &str, from: usize, end: &str) -> usize {
    let inside = text.get(from..).unwrap_or_default();
    inside.find(end).map_or(text.len(), |at| from + at + end.len())
}

/// The length of the string at the beginning of `text`, with its quotes.
fn string(text: &str, escapes: bool) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1).peekable();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if escapes => {
                bytes.next();
            }
            b'\'' if bytes.next_if(|&(_, next)| next == b'\'').is_none() => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of the dollar-quoted string at the beginning of `text`, or else of the parameter or the dollar sign.
fn dollar(text: &str) -> usize {
    let inside = text.get(1..).unwrap_or_default();
    let tag = inside.find(|c: char| !(starts_word(c) || c.is_ascii_digit())).unwrap_or(inside.len());
    let opens = inside.get(tag..).is_some_and(|after| after.starts_with('$'));
    if !opens || inside.starts_with(|c: char| c.is_ascii_digit()) {
        return 1 + inside.find(|c: char| !c.is_ascii_digit()).unwrap_or(inside.len());
    }
    let tag = text.get(..tag + 2).unwrap_or_default();
    closed_by(text, tag.len(), tag)
}

/// The length of the comment at the beginning of `text`. Comments can be nested.
fn comment(text: &str) -> usize {
    let mut depth = 0_u32;
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let Some(sign) = rest.find(['/', '*']) else { break };
        at += sign;
        let two = text.as_bytes().get(at..at + 2).unwrap_or_default();
        match two {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
#[path = "psql_tests.rs"]
mod tests;
