//! A fault that a check has found.

use std::fmt;
use std::path::{Path, PathBuf};

/// The place of a fault, what is wrong, and what to do.
///
/// Findings are sorted by place, so that a check's output does not depend on the order in which it reads files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// The file, relative to the repository's root.
    pub(crate) file: PathBuf,
    /// The line, counted from 1; 1 if the whole file is meant.
    pub(crate) line: usize,
    /// What is wrong.
    pub(crate) what: String,
    /// What to do about it.
    pub(crate) remedy: String,
}

impl Finding {
    /// A finding at a line of a file.
    pub(crate) fn new(file: &Path, line: usize, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { file: file.to_path_buf(), line: line.max(1), what: what.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}, {}", self.file.display(), self.line, self.what, self.remedy)
    }
}
