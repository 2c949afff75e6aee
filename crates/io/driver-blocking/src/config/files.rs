//! The password file and the service file.

use std::path::Path;

use super::error::ConfigError;
use super::settings::Settings;

/// Files longer than this are none of these.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The text of a file; `None` when there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    let failed = |reason: String| ConfigError::File { path: path.to_owned(), reason };
    match std::fs::metadata(path) {
        Ok(found) if found.len() > FILE_BYTES_MAX => Err(failed("it is larger than 1 MiB".to_owned())),
        Ok(_) => std::fs::read_to_string(path).map(Some).map_err(|error| failed(error.to_string())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// Whether a password file may be used: nobody else may read it. libpq ignores others, too.
pub(super) fn is_private(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o077 == 0)
    }
    #[cfg(not(unix))]
    {
        path.is_file()
    }
}

/// The password that a password file's text (`host:port:database:user:password` lines) has for this server. A unix socket's
/// host is `localhost` there, unless it is asked for by its directory.
pub(super) fn password(text: &str, host: &str, port: u16, database: &str, user: &str) -> Option<String> {
    let port = port.to_string();
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut rest = line;
        for wanted in [host, &port, database, user] {
            let (field, after) = field(rest)?;
            if field != "*" && unescape(field) != wanted {
                return None;
            }
            rest = after;
        }
        Some(unescape(rest)).filter(|password| !password.is_empty())
    })
}

/// The text up to the next `:` that no `\` is before, and what follows it.
fn field(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    for (at, char) in text.char_indices() {
        match char {
            ':' if !escaped => return Some((text.get(..at)?, text.get(at + 1..)?)),
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    None
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        out.extend(if char == '\\' { chars.next() } else { Some(char) });
    }
    out
}

/// The settings of `[service]` in a service file's text; `None` when it has no such service.
pub(super) fn service(text: &str, service: &str, path: &Path) -> Result<Option<Settings>, ConfigError> {
    let mut found: Option<Settings> = None;
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            inside = name == service && found.is_none();
            if inside {
                found = Some(Settings::default());
            }
        } else if let (true, Some(settings)) = (inside, &mut found) {
            let malformed = || ConfigError::ServiceLine { path: path.to_owned(), line: number + 1 };
            let (name, value) = line.split_once('=').ok_or_else(malformed)?;
            if matches!(name, "service" | "servicefile") {
                return Err(malformed());
            }
            settings.set(name, value)?;
        }
    }
    Ok(found)
}
