//! `password`, `password_file` and `password_env`: three ways to give one secret.

use std::path::{Path, PathBuf};

use super::file::read_text;
use super::problem::Findings;
use super::secret::Secret;

/// The longest password file read: PostgreSQL's own bound on a password message is 65,535 bytes.
const PASSWORD_BYTES_MAX: usize = 65_535;

/// What a configuration may take from outside its own text.
pub(super) struct Surroundings<'e> {
    /// Where relative paths start: the directory of the file.
    pub(super) directory: &'e Path,
    /// The environment.
    pub(super) environment: &'e dyn Fn(&str) -> Option<String>,
}

impl Surroundings<'_> {
    /// `path` as seen from the configuration's directory.
    pub(super) fn resolve(&self, path: &Path) -> PathBuf {
        self.directory.join(path)
    }
}

/// The three keys of one table.
pub(super) struct PasswordKeys {
    pub(super) inline: Option<Secret>,
    pub(super) file: Option<PathBuf>,
    pub(super) environment: Option<String>,
}

impl PasswordKeys {
    /// The secret, or what is wrong with the table `path`.
    pub(super) fn read(
        self,
        path: &str,
        from: &Surroundings<'_>,
        findings: &mut Findings<'_>,
    ) -> Option<Secret> {
        let given = [self.inline.is_some(), self.file.is_some(), self.environment.is_some()];
        if given.into_iter().filter(|given| *given).count() > 1 {
            let message = format!(
                "[{path}] has more than one of `password`, `password_file` and `password_env`: keep one"
            );
            findings.at(path, message);
            return None;
        }
        if let Some(name) = self.environment {
            let value = (from.environment)(&name).filter(|value| !value.is_empty());
            if value.is_none() {
                let key = format!("{path}.password_env");
                findings.at(&key, format!("`{key}`: the environment variable {name} is not set"));
            }
            return value.map(Secret::new);
        }
        if let Some(file) = self.file {
            let file = from.resolve(&file);
            return match read_password(&file) {
                Ok(secret) => Some(secret),
                Err(why) => {
                    let key = format!("{path}.password_file");
                    findings.at(&key, format!("`{key}`: cannot use {}: {why}", file.display()));
                    None
                }
            };
        }
        self.inline
    }
}

/// The first line of a file, as secrets mounted into containers are written.
fn read_password(file: &Path) -> Result<Secret, String> {
    let text = read_text(file, PASSWORD_BYTES_MAX).map_err(|error| error.to_string())?;
    match text.lines().next() {
        Some(line) if line.contains('\0') => Err("it has a zero byte".to_owned()),
        Some(line) if !line.is_empty() => Ok(Secret::new(line)),
        _ => Err("its first line is empty".to_owned()),
    }
}
