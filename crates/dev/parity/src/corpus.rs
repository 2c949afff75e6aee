//! The statements of PostgreSQL's own regression scripts.
//!
//! `scripts/fetch-regression` fetches the scripts (they are PostgreSQL's, and never committed). They are written for psql, so
//! [`psql`] splits them as psql does. The isolation tester's scripts have another form: [`isolation`] finds their blocks, and each block
//! is sent to the server as one text.

mod isolation;
mod psql;
mod variables;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The environment variable with a folder of PostgreSQL's source that is used instead of the fetched one.
const FOLDER_VARIABLE: &str = "TRUNKLINE_REGRESSION";

/// The least number of statements. If there are fewer, the folder is wrong: PostgreSQL 18 has over 50,000.
const STATEMENTS_MIN: usize = 20_000;

/// One text that a client would send: mostly one statement with its semicolon, or several statements if the script says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The script's path below the source's root (`src/test/regress/sql/select.sql`).
    pub file: Arc<str>,
    /// The line in which the text begins, counted from 1.
    pub line: u32,
    /// The text, as psql would send it. No NUL bytes.
    pub sql: String,
}

/// The numbers of scripts and statements that were read and left out.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Totals {
    /// Scripts read.
    pub files: usize,
    /// Scripts that were left out because they are not UTF-8 (the tests of other encodings).
    pub files_not_utf8: usize,
    /// Statements that were found, including repeated ones.
    pub statements: usize,
    /// Statements left out because the same text came before.
    pub repeated: usize,
    /// Statements left out because they contain a psql variable whose value comes from a server (`\gset`).
    pub with_variables: usize,
}

struct Corpus {
    statements: Vec<Statement>,
    totals: Totals,
}

/// All statements, each text once, in the order of the file names.
///
/// # Panics
/// If the scripts are missing: a test that cannot run has failed. The message says which command to run.
#[must_use]
pub fn corpus() -> &'static [Statement] {
    &read().statements
}

/// The totals of [`corpus`].
///
/// # Panics
/// As [`corpus`] does.
#[must_use]
pub fn totals() -> &'static Totals {
    &read().totals
}

fn read() -> &'static Corpus {
    static CORPUS: OnceLock<Corpus> = OnceLock::new();
    CORPUS.get_or_init(|| {
        let root = folder();
        let corpus = Corpus::read(&root);
        let found = corpus.statements.len();
        assert!(
            found >= STATEMENTS_MIN,
            "{} has {found} statements, and should have {STATEMENTS_MIN} at least: run FORCE=1 scripts/fetch-regression, \
             or let {FOLDER_VARIABLE} name a folder with PostgreSQL's source",
            root.display()
        );
        corpus
    })
}

/// A file of PostgreSQL's source that is fetched together with the scripts, by its path below the source's root.
///
/// # Panics
/// If the file is missing. The message says which command to run.
#[must_use]
pub fn source(path: &str) -> String {
    let path = folder().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!("cannot read {}: {error}: run FORCE=1 scripts/fetch-regression", path.display())
    })
}

/// The folder of PostgreSQL's source.
fn folder() -> PathBuf {
    let folder = std::env::var_os(FOLDER_VARIABLE).map_or_else(
        || {
            let here = Path::new(env!("CARGO_MANIFEST_DIR"));
            here.ancestors().nth(3).unwrap_or(here).join(".trunkline/regression/current")
        },
        PathBuf::from,
    );
    assert!(
        folder.join("src/test/regress/sql").is_dir(),
        "PostgreSQL's regression scripts are not in {}: run scripts/fetch-regression, or let {FOLDER_VARIABLE} name a \
         folder with PostgreSQL's source",
        folder.display()
    );
    folder
}

impl Corpus {
    fn read(root: &Path) -> Self {
        let mut paths = Vec::new();
        find_scripts(root, &mut paths);
        paths.sort();

        let mut corpus = Self { statements: Vec::new(), totals: Totals::default() };
        let mut seen = HashSet::new();
        for path in paths {
            let bytes =
                fs::read(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
            let Ok(text) = String::from_utf8(bytes) else {
                corpus.totals.files_not_utf8 += 1;
                continue;
            };
            corpus.totals.files += 1;
            let file: Arc<str> = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into();
            let found = if path.extension().is_some_and(|extension| extension == "spec") {
                isolation::blocks(&text)
            } else {
                psql::statements(&text)
            };
            corpus.totals.statements += found.len();
            for Found { line, sql, has_variables } in found {
                if has_variables {
                    corpus.totals.with_variables += 1;
                } else if seen.insert(sql.clone()) {
                    corpus.statements.push(Statement { file: file.clone(), line, sql });
                } else {
                    corpus.totals.repeated += 1;
                }
            }
        }
        corpus
    }
}

/// A text of a script, without the script's path.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    line: u32,
    sql: String,
    /// Whether it contains a variable whose value is not known.
    has_variables: bool,
}

/// All files under `folder` that end in `.sql` or `.spec`. Links are not followed.
fn find_scripts(folder: &Path, paths: &mut Vec<PathBuf>) {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
    for entry in entries {
        let entry = entry.unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
        let path = entry.path();
        let kind =
            entry.file_type().unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        if kind.is_dir() && entry.file_name() != "expected" {
            find_scripts(&path, paths);
        } else if kind.is_file()
            && path.extension().is_some_and(|extension| extension == "sql" || extension == "spec")
        {
            paths.push(path);
        }
    }
}
