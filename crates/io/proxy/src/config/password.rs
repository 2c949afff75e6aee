//! `password`, `password_file` and `password_env`: three ways to set one password.

use std::path::{Path, PathBuf};

use super::file::read_text;
use super::problem::Findings;
use super::secret::Secret;

/// The longest password file read: PostgreSQL's own bound on a password message is 65,535 bytes.
const PASSWORD_BYTES_MAX: usize = 65_535;

/// What reading a configuration uses beside the text of the file.
pub(super) struct ReadContext<'e> {
    /// The directory of the file, where relative paths start.
    pub(super) directory: &'e Path,
    /// Returns the value of an environment variable.
    pub(super) environment: &'e dyn Fn(&str) -> Option<String>,
}

impl ReadContext<'_> {
    /// `path`, relative to the directory of the file.
    pub(super) fn resolve(&self, path: &Path) -> PathBuf {
        self.directory.join(path)
    }
}

/// The three password keys of one table.
pub(super) struct PasswordKeys {
    pub(super) inline: Option<Secret>,
    pub(super) file: Option<PathBuf>,
    pub(super) environment: Option<String>,
}

impl PasswordKeys {
    /// The password that the keys of the table `path` give. A fault goes into `findings`.
    pub(super) fn read(
        self,
        path: &str,
        context: &ReadContext<'_>,
        findings: &mut Findings<'_>,
    ) -> Option<Secret> {
        let given = [self.inline.is_some(), self.file.is_some(), self.environment.is_some()];
        if given.into_iter().filter(|given| *given).count() > 1 {
            let message = format!(
                "[{path}] has more than one of `password`, `password_file` and `password_env`: keep one"
            );
            findings.add_at(path, message);
            return None;
        }
        if let Some(name) = self.environment {
            let value = (context.environment)(&name).filter(|value| !value.is_empty());
            if value.is_none() {
                let key = format!("{path}.password_env");
                findings.add_at(&key, format!("`{key}`: the environment variable {name} is not set"));
            }
            return value.map(Secret::new);
        }
        if let Some(file) = self.file {
            let file = context.resolve(&file);
            return match read_password(&file) {
                Ok(secret) => Some(secret),
                Err(why) => {
                    let key = format!("{path}.password_file");
                    findings.add_at(&key, format!("`{key}`: cannot use {}: {why}", file.display()));
                    None
                }
            };
        }
        self.inline
    }
}

/// The first line of a file: secrets that are mounted into containers often end with a newline.
fn read_password(file: &Path) -> Result<Secret, String> {
    let text = read_text(file, PASSWORD_BYTES_MAX).map_err(|error| error.to_string())?;
    match text.lines().next() {
        Some(line) if line.contains('\0') => Err("it has a zero byte".to_owned()),
        Some(line) if !line.is_empty() => Ok(Secret::new(line)),
        _ => Err("its first line is empty".to_owned()),
    }
}
