//! Connection settings as texts, by libpq's names, from any number of sources.

use std::collections::BTreeMap;

use super::error::ConfigError;

/// A setting that can be given, and the variable of the environment that gives it.
struct Known {
    name: &'static str,
    variable: Option<&'static str>,
}

const fn known(name: &'static str, variable: &'static str) -> Known {
    Known { name, variable: Some(variable) }
}

const fn plain(name: &'static str) -> Known {
    Known { name, variable: None }
}

/// As in the manual's "Parameter Key Words" and "Environment Variables"; `statement_cache` is ours.
const KNOWN: [Known; 33] = [
    known("application_name", "PGAPPNAME"),
    known("channel_binding", "PGCHANNELBINDING"),
    known("client_encoding", "PGCLIENTENCODING"),
    known("connect_timeout", "PGCONNECT_TIMEOUT"),
    known("datestyle", "PGDATESTYLE"),
    known("dbname", "PGDATABASE"),
    plain("fallback_application_name"),
    known("geqo", "PGGEQO"),
    known("gssencmode", "PGGSSENCMODE"),
    known("host", "PGHOST"),
    known("hostaddr", "PGHOSTADDR"),
    plain("keepalives"),
    plain("keepalives_count"),
    plain("keepalives_idle"),
    plain("keepalives_interval"),
    known("load_balance_hosts", "PGLOADBALANCEHOSTS"),
    known("max_protocol_version", "PGMAXPROTOCOLVERSION"),
    known("options", "PGOPTIONS"),
    known("passfile", "PGPASSFILE"),
    known("password", "PGPASSWORD"),
    known("port", "PGPORT"),
    known("service", "PGSERVICE"),
    known("servicefile", "PGSERVICEFILE"),
    known("sslcert", "PGSSLCERT"),
    known("sslkey", "PGSSLKEY"),
    known("sslmode", "PGSSLMODE"),
    known("sslnegotiation", "PGSSLNEGOTIATION"),
    known("sslrootcert", "PGSSLROOTCERT"),
    plain("statement_cache"),
    known("target_session_attrs", "PGTARGETSESSIONATTRS"),
    plain("tcp_user_timeout"),
    known("timezone", "PGTZ"),
    known("user", "PGUSER"),
];

/// Set in the environment or given otherwise, these are refused: a user who sets them relies on them.
const UNSUPPORTED: [Known; 7] = [
    known("require_auth", "PGREQUIREAUTH"),
    known("requirepeer", "PGREQUIREPEER"),
    known("ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION"),
    known("ssl_min_protocol_version", "PGSSLMINPROTOCOLVERSION"),
    known("sslcrl", "PGSSLCRL"),
    known("sslcrldir", "PGSSLCRLDIR"),
    known("sslpassword", "PGSSLPASSWORD"),
];

/// These change nothing here, or cannot be switched off without harm: taken and not looked at.
const WITHOUT_EFFECT: [&str; 5] = ["gssdelegation", "gsslib", "krbsrvname", "sslcompression", "sslsni"];

/// Settings by name.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Settings(BTreeMap<&'static str, String>);

impl Settings {
    /// Sets by name; the last value counts.
    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) -> Result<(), ConfigError> {
        // JDBC's word for a common setting, which libpq takes in URIs too.
        let (name, value) = match (name, value.into()) {
            ("ssl", value) if value == "true" => ("sslmode", "require".to_owned()),
            (name, value) => (name, value),
        };
        if let Some(known) = KNOWN.iter().find(|known| known.name == name) {
            self.0.insert(known.name, value);
            return Ok(());
        }
        if let Some(unsupported) = UNSUPPORTED.iter().find(|known| known.name == name) {
            return Err(ConfigError::UnsupportedSetting(unsupported.name));
        }
        if WITHOUT_EFFECT.contains(&name) {
            return Ok(());
        }
        // A name that is no word may be a part of a password gone astray.
        let shown = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && name.len() <= 40;
        Err(ConfigError::UnknownSetting(if shown { name.to_owned() } else { "?".to_owned() }))
    }

    /// Takes settings of the environment for those that are not set.
    pub(super) fn fill_from(&mut self, variable: &dyn Fn(&str) -> Option<String>) -> Result<(), ConfigError> {
        let get = |known: &Known| variable(known.variable?).filter(|value| !value.is_empty());
        if let Some(unsupported) = UNSUPPORTED.iter().find(|known| get(known).is_some()) {
            return Err(ConfigError::UnsupportedSetting(unsupported.name));
        }
        for known in &KNOWN {
            if let (false, Some(value)) = (self.0.contains_key(known.name), get(known)) {
                self.0.insert(known.name, value);
            }
        }
        Ok(())
    }

    /// Takes another's settings for those that are not set.
    pub(super) fn fill(&mut self, others: Self) {
        for (name, value) in others.0 {
            self.0.entry(name).or_insert(value);
        }
    }

    /// A setting's value; an empty one counts as not set.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A setting's value read as something else.
    pub(super) fn parse<T>(
        &self,
        name: &'static str,
        expected: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ConfigError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        read(value).map(Some).ok_or(ConfigError::Value { name, expected })
    }
}
