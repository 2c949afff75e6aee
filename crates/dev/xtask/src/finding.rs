//! One thing that a check found wrong.

use std::fmt;
use std::path::{Path, PathBuf};

/// Where something is wrong, what it is, and what to do about it.
///
/// Sorted by place, so that a check's output does not depend on the order of its walk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// The file, relative to the repository's root.
    pub(crate) file: PathBuf,
    /// Line in it, from 1; 1 where the whole file is meant.
    pub(crate) line: usize,
    /// What is wrong.
    pub(crate) what: String,
    /// What puts it right.
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
