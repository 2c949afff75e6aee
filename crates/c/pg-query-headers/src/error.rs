//! Why the source could not be found or read.

use std::fmt;
use std::path::{Path, PathBuf};

/// A failure of the build, told to the person who runs it: what, where, and what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// libpg_query's source lies in none of the places that were searched.
    NotFound {
        /// Every folder that was looked at.
        searched: Vec<PathBuf>,
        /// Why fetching it did not help, if that was tried.
        fetch: Option<String>,
    },
    /// A folder was named by the environment, and it is not libpg_query's source.
    NotASource {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file could not be read.
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A header holds C that this reader does not know.
    Syntax {
        /// The header.
        path: PathBuf,
        /// The line, from 1.
        line: u32,
        /// What was found, and what was expected.
        reason: String,
    },
    /// The headers were read, but do not fit together.
    Model(String),
}

impl Error {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_path_buf(), source }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { searched, fetch } => {
                write!(
                    f,
                    "the source of the crate pg_query {0} was not found; run `cargo info pg_query@{0}` once with a \
                     network, or set {1} to its folder `libpg_query`. Searched:",
                    crate::VERSION,
                    crate::SOURCE_VARIABLE
                )?;
                for path in searched {
                    write!(f, "\n  {}", path.display())?;
                }
                match fetch {
                    Some(reason) => write!(f, "\nFetching it failed: {reason}"),
                    None => Ok(()),
                }
            }
            Self::NotASource { path, reason } => {
                write!(f, "{} is not the source of libpg_query: {reason}", path.display())
            }
            Self::Io { path, source } => write!(f, "reading {} failed: {source}", path.display()),
            Self::Syntax { path, line, reason } => write!(f, "{}:{line}: {reason}", path.display()),
            Self::Model(reason) => write!(f, "PostgreSQL's headers do not fit together: {reason}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
