//! Advice about settings that are allowed, but that the operator may not have meant.

use trunkline_session::authentication::Secret as StoredSecret;

use super::Config;
use super::address::ListenAddress;
use super::database::FALLBACK;
use super::modes::{AuthType, PoolMode, SslMode};

impl Config {
    /// Things that an operator should know about this configuration. None of them is an error.
    pub fn advice(&self) -> Vec<String> {
        let mut advice = Vec::new();
        let general = &self.general;
        let reachable: Vec<String> = general
            .listen
            .iter()
            .filter(|address| !address.is_loopback())
            .map(ListenAddress::to_string)
            .collect();
        let auth = self.auth.r#type;
        if !reachable.is_empty() && matches!(auth, AuthType::Trust | AuthType::Any) {
            advice.push(format!(
                "auth type \"{auth}\" asks for no password, and other machines can reach {}",
                reachable.join(", ")
            ));
        }
        if !reachable.is_empty() && auth == AuthType::Password && self.auth.cleartext_without_tls {
            advice.push("passwords may travel in the clear: auth.cleartext_without_tls is on".to_owned());
        }
        if auth == AuthType::Password
            && !self.auth.cleartext_without_tls
            && self.tls.client.mode == SslMode::Disable
        {
            advice.push(
                "auth type \"password\" needs TLS, and tls.client.mode is \"disable\": no client can log in over TCP"
                    .to_owned(),
            );
        }
        let modes = self.databases.values().map(|database| database.pool_mode.unwrap_or(general.pool_mode));
        if modes.into_iter().any(|mode| mode == PoolMode::Session) && self.pool.server_reset_query.is_empty()
        {
            advice.push(
                "pool_mode \"session\" without server_reset_query: a client gets the session settings of the client before it"
                    .to_owned(),
            );
        }
        if self.limits.max_prepared_statements == 0 && general.pool_mode != PoolMode::Session {
            advice.push(
                "max_prepared_statements is 0: prepared statements do not work outside session mode"
                    .to_owned(),
            );
        }
        advice.extend(self.auth_query_advice());
        advice.extend(self.md5_advice());
        advice.extend(self.userlist.advice());
        advice
    }

    /// Warns when clients that have not logged in can choose the database that is asked for their password.
    fn auth_query_advice(&self) -> Option<String> {
        let fallback = self.databases.get(FALLBACK)?;
        let is_asked = fallback.auth_user.is_some() || self.auth.user.is_some();
        let has_fixed_database = fallback.auth_dbname.is_some() || self.auth.dbname.is_some();
        let needs_password = !matches!(self.auth.r#type, AuthType::Trust | AuthType::Any);
        (is_asked && !has_fixed_database && needs_password).then(|| {
            format!(
                "[databases.\"{FALLBACK}\"] lets a client that has not logged in choose the database where auth.query runs: \
                 set auth.dbname to the database where it shall run"
            )
        })
    }

    /// Warns about an md5 hash with `auth.type = "scram-sha-256"`: SCRAM cannot check a password against an md5 hash.
    fn md5_advice(&self) -> Option<String> {
        if self.auth.r#type != AuthType::ScramSha256 {
            return None;
        }
        let names = self.users.keys().map(String::as_str).chain(self.userlist.names());
        let has_md5 = |user: &&str| matches!(self.password_of(user), Some(StoredSecret::Md5(_)));
        let user = names.into_iter().find(has_md5)?;
        Some(format!(
            "auth.type is \"scram-sha-256\", but the password of \"{user}\" is stored as an md5 hash, so this user cannot log in; \
             use auth.type \"md5\": users with SCRAM verifiers still log in by SCRAM then"
        ))
    }
}
