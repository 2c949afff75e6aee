//! The faults of a configuration, for the person who must correct it: file, line, column, excerpt, and what is allowed.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use super::setting::Refusal;
use super::upstream::UpstreamError;

/// A configuration that cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file could not be read.
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file was read and refused.
    Refused {
        /// All reasons, in the order of the file; never empty.
        problems: Vec<Problem>,
    },
    /// The `--upstream` URL or the `--listen` address was refused.
    Upstream(UpstreamError),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { file, source } => {
                write!(f, "cannot read the configuration {}: {source}", file.display())
            }
            Self::Refused { problems } => {
                for (index, problem) in problems.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "\n\n" };
                    write!(f, "{separator}{problem}")?;
                }
                Ok(())
            }
            Self::Upstream(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable { source, .. } => Some(source),
            Self::Upstream(error) => Some(error),
            Self::Refused { .. } => None,
        }
    }
}

/// One reason for refusing a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file's name, as it was given.
    pub file: String,
    /// Line, from 1; 0 if the problem has no place (something is missing).
    pub line: usize,
    /// Column in characters, from 1; 0 where `line` is 0.
    pub column: usize,
    /// What is wrong and what is allowed.
    pub message: String,
    /// What was likely meant.
    pub hint: Option<String>,
    /// The line with carets below the fault; secrets are left out.
    excerpt: Option<Excerpt>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Excerpt {
    text: String,
    caret_column: usize,
    caret_width: usize,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}", self.message)?;
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        if let Some(Excerpt { text, caret_column, caret_width }) = &self.excerpt {
            let carets = "^".repeat(*caret_width);
            write!(f, "\n {number} | {text}\n {margin} | {:caret_column$}{carets}", "")?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\n {margin} = {hint}"),
            None => Ok(()),
        }
    }
}

/// How much of the file an excerpt may show.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    /// The whole line, unless it looks as if it held a secret; then only the place itself.
    Line,
    /// Only the place itself: beside an unknown key there could be a secret, whose key is misspelt.
    Place,
    /// Nothing: the place itself is a secret.
    Nothing,
}

/// Collects problems while a file is read. It remembers where each setting stands, for the checks that follow.
pub(super) struct Findings<'t> {
    file: &'t str,
    text: &'t str,
    /// Where each line begins.
    lines: Vec<usize>,
    problems: Vec<(usize, Problem)>,
    places: std::collections::HashMap<String, Range<usize>>,
}

impl<'t> Findings<'t> {
    pub(super) fn new(file: &'t str, text: &'t str) -> Self {
        let lines =
            std::iter::once(0).chain(text.match_indices('\n').map(|(newline, _)| newline + 1)).collect();
        Self { file, text, lines, problems: Vec::new(), places: std::collections::HashMap::new() }
    }

    /// Remembers where the setting `path` (`databases.app.port`) stands.
    pub(super) fn remember(&mut self, path: String, span: Range<usize>) {
        self.places.insert(path, span);
    }

    /// Whether the file says anything about `path`.
    pub(super) fn mentions(&self, path: &str) -> bool {
        self.places.contains_key(path)
    }

    /// Adds the refusal of a value.
    pub(super) fn add_refusal(&mut self, path: &str, value: Range<usize>, refusal: Refusal) {
        let quote = if refusal.secret { Quote::Nothing } else { Quote::Line };
        let message = format!("`{path}`: {}", refusal.message);
        self.add(Some(refusal.place.unwrap_or(value)), message, None, quote);
    }

    /// Adds a problem at the setting `path`, or at the nearest table around it that the file has.
    pub(super) fn add_at(&mut self, path: &str, message: impl Into<String>) {
        let mut place = path;
        let span = loop {
            match (self.places.get(place), place.rsplit_once('.')) {
                (Some(span), _) => break Some(span.clone()),
                (None, Some((parent, _))) => place = parent,
                (None, None) => break None,
            }
        };
        let quote = if is_secret_key(place) { Quote::Nothing } else { Quote::Line };
        self.add(span, message.into(), None, quote);
    }

    pub(super) fn add(
        &mut self,
        span: Option<Range<usize>>,
        message: String,
        hint: Option<String>,
        quote: Quote,
    ) {
        let file = self.file.to_owned();
        let Some(span) = span else {
            let problem = Problem { file, line: 0, column: 0, message, hint, excerpt: None };
            self.problems.push((usize::MAX, problem));
            return;
        };
        let start = floor_char_boundary(self.text, span.start);
        let line = self.lines.partition_point(|line_start| *line_start <= start);
        let line_start = self.lines[line - 1];
        let problem = Problem {
            file,
            line,
            column: self.text[line_start..start].chars().count() + 1,
            message,
            hint,
            excerpt: excerpt(self.text, line_start, start..span.end, quote),
        };
        self.problems.push((start, problem));
    }

    /// `Err` with all problems in the order of the file, or `Ok` if there is none.
    pub(super) fn finish(mut self) -> Result<(), ConfigError> {
        self.problems.sort_by_key(|(place, _)| *place);
        let problems: Vec<Problem> = self.problems.into_iter().map(|(_, problem)| problem).collect();
        if problems.is_empty() { Ok(()) } else { Err(ConfigError::Refused { problems }) }
    }
}

/// Whether the value of this key is never shown.
pub(super) fn is_secret_key(path: &str) -> bool {
    matches!(path.rsplit('.').next(), Some("password" | "upstream"))
}

fn floor_char_boundary(text: &str, index: usize) -> usize {
    (0..=index.min(text.len())).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0)
}

/// The longest line quoted in full.
const EXCERPT_CHARS_MAX: usize = 160;

fn excerpt(text: &str, line_start: usize, span: Range<usize>, quote: Quote) -> Option<Excerpt> {
    let line = text[line_start..].lines().next().unwrap_or("");
    let line_end = line_start + line.len();
    let start = span.start.min(line_end);
    let end = floor_char_boundary(text, span.end).clamp(start, line_end);
    let place = &text[start..end];
    let plain = |text: &str| text.replace(|c: char| c.is_control(), " ");
    let width = place.chars().count().max(1);
    match quote {
        Quote::Nothing => None,
        Quote::Line if !may_hold_secret(line) && line.chars().count() <= EXCERPT_CHARS_MAX => Some(Excerpt {
            text: plain(line),
            caret_column: text[line_start..start].chars().count(),
            caret_width: width,
        }),
        // A syntax error may have no width, and beside a secret only the place itself may be shown.
        _ if place.is_empty() || (quote == Quote::Line && may_hold_secret(place)) => None,
        _ if width > EXCERPT_CHARS_MAX => None,
        _ => {
            let before = if text[line_start..start].trim().is_empty() { "" } else { "... " };
            let after = if text[end..line_end].trim().is_empty() { "" } else { " ..." };
            let text = format!("{before}{}{after}", plain(place));
            Some(Excerpt { text, caret_column: before.len(), caret_width: width })
        }
    }
}

/// Whether a line may hold a password (under its right key or a misspelt one), or may be a line of a multi-line string.
fn may_hold_secret(line: &str) -> bool {
    let line = line.to_lowercase();
    let words = ["pas", "pw", "secret", "upstream", "://", "scram-sha-256$", "md5", "\"\"\"", "'''"];
    words.iter().any(|word| line.contains(word))
        || !(line.contains('=') || line.trim_start().starts_with(['[', '"', '#']))
}

/// The candidate that is most similar to `word`, if one is similar enough.
pub(super) fn nearest<'c>(word: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let likeness = |candidate: &str| strsim::jaro_winkler(&word.to_lowercase(), &candidate.to_lowercase());
    candidates
        .map(|candidate| (likeness(candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}
