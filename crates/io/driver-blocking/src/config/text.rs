//! Connection strings: URIs, and `setting=value` pairs.

use percent_encoding::percent_decode_str;

use super::error::ConfigError;
use super::settings::Settings;

/// Reads either form, told apart as libpq does.
pub(super) fn parse(text: &str) -> Result<Settings, ConfigError> {
    let scheme = ["postgresql://", "postgres://"].into_iter().find_map(|scheme| text.strip_prefix(scheme));
    match scheme {
        Some(rest) => uri(rest),
        None => pairs(text),
    }
}

/// `[user[:password]@][host[:port],...][/dbname][?setting=value&...]`, after the scheme.
fn uri(rest: &str) -> Result<Settings, ConfigError> {
    let mut settings = Settings::default();
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (login, hosts) =
        authority.rsplit_once('@').map_or((None, authority), |(login, hosts)| (Some(login), hosts));
    if let Some(login) = login {
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        put(&mut settings, "user", user)?;
        put(&mut settings, "password", password)?;
    }
    let (mut names, mut ports) = (Vec::new(), Vec::new());
    for place in hosts.split(',') {
        let (host, port) = split_port(place)?;
        names.push(decode(host)?);
        ports.push(port);
    }
    if names.iter().any(|name| !name.is_empty()) {
        settings.set("host", names.join(","))?;
    }
    if ports.iter().any(|port| !port.is_empty()) {
        settings.set("port", ports.join(","))?;
    }
    put(&mut settings, "dbname", path)?;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) =
            pair.split_once('=').ok_or(ConfigError::Text("a parameter of the URI has no `=`"))?;
        settings.set(&decode(name)?, decode(value)?)?;
    }
    Ok(settings)
}

fn put(settings: &mut Settings, name: &str, text: &str) -> Result<(), ConfigError> {
    if text.is_empty() { Ok(()) } else { settings.set(name, decode(text)?) }
}

fn decode(text: &str) -> Result<String, ConfigError> {
    let text = percent_decode_str(text).decode_utf8().map_err(|_| ConfigError::Text("it is not UTF-8"))?;
    if text.contains('\0') {
        return Err(ConfigError::Text("it has a zero byte"));
    }
    Ok(text.into_owned())
}

/// Splits `host:port`, `[::1]:port` or either without a port.
fn split_port(place: &str) -> Result<(&str, &str), ConfigError> {
    if let Some(rest) = place.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or(ConfigError::Text("a `]` is missing"))?;
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, port)),
            None if rest.is_empty() => Ok((host, "")),
            None => Err(ConfigError::Text("something other than a port follows the `]`")),
        };
    }
    Ok(place.rsplit_once(':').unwrap_or((place, "")))
}

/// `setting = value` pairs; values may be in single quotes, and `\` takes the next character as it is.
fn pairs(text: &str) -> Result<Settings, ConfigError> {
    let mut settings = Settings::default();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (name, value) = rest.split_once('=').ok_or(ConfigError::Text("a setting has no `=`"))?;
        let name = name.trim_end();
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(ConfigError::Text("a setting has no `=`"));
        }
        let (value, after) = value_of(value.trim_start())?;
        settings.set(name, value)?;
        rest = after.trim_start();
    }
    Ok(settings)
}

/// The value at the beginning, and what follows it.
fn value_of(text: &str) -> Result<(String, &str), ConfigError> {
    let (quoted, text) = text.strip_prefix('\'').map_or((false, text), |rest| (true, rest));
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        let rest = || text.get(at + char.len_utf8()..).unwrap_or_default();
        match char {
            '\\' => value.push(chars.next().ok_or(ConfigError::Text("it ends with a `\\`"))?.1),
            '\'' if quoted => return Ok((value, rest())),
            '\0' => return Err(ConfigError::Text("it has a zero byte")),
            char if !quoted && char.is_whitespace() => return Ok((value, rest())),
            char => value.push(char),
        }
    }
    if quoted { Err(ConfigError::Text("a quote is not closed")) } else { Ok((value, "")) }
}
