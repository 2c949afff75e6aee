//! Derives the SCRAM keys of clear-text passwords, once for all logins.
//!
//! A derivation takes one or two milliseconds of CPU. In each login, it would be most of the login's cost, and the time
//! would show whether a user exists.

use std::collections::HashMap;
use std::num::NonZero;

use trunkline_relay::User;
use trunkline_session::authentication::{Password, Secret};
use trunkline_session::backend::LoginSettings;

/// With this many clear-text passwords or more, the log says why the start takes long.
const SLOW_START_PASSWORDS: usize = 1000;

/// Users by name.
pub(super) type Users = HashMap<String, User>;

/// Gives each user with a clear-text password the SCRAM keys that check the user's logins. If the password in `before` is
/// the same, its keys are copied; `settings` must then have the same mock key as before.
pub(super) fn derive(users: &mut Users, settings: &LoginSettings, before: Option<&Users>) {
    let mut missing = Vec::new();
    for (name, user) in users {
        let Some(password) = clear_text_password(user) else { continue };
        let previous = before.and_then(|before| before.get(name)).filter(|previous| {
            clear_text_password(previous).is_some_and(|previous| previous.matches(password.expose()))
        });
        match previous.and_then(|previous| previous.login_secret.clone()) {
            Some(secret) => user.login_secret = Some(secret),
            None => missing.push((name.as_str(), user)),
        }
    }
    if missing.len() >= SLOW_START_PASSWORDS {
        tracing::info!(
            "deriving SCRAM keys for {} clear-text passwords, which takes time; SCRAM verifiers in the configuration avoid this",
            missing.len()
        );
    }
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let chunk = missing.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        for chunk in missing.chunks_mut(chunk) {
            scope.spawn(move || {
                for (name, user) in chunk {
                    let keys = clear_text_password(user)
                        .map(|password| settings.scram_keys(name, password.expose()));
                    user.login_secret = keys.map(|keys| Secret::Scram(keys.to_secret()));
                }
            });
        }
    });
}

fn clear_text_password(user: &User) -> Option<&Password> {
    match &user.secret {
        Some(Secret::Plain(password)) => Some(password),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(passwords: &[(&str, &str)]) -> Users {
        let user = |secret: &str| User { secret: Secret::parse(secret.as_bytes()).ok(), ..User::default() };
        passwords.iter().map(|(name, secret)| ((*name).to_owned(), user(secret))).collect()
    }

    fn stored(users: &Users, name: &str) -> String {
        match &users[name].login_secret {
            Some(Secret::Scram(secret)) => secret.to_stored_form().to_string(),
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn only_clear_text_passwords_get_keys() {
        let settings = LoginSettings::new([7; 32]);
        let mut known = users(&[("alice", "wonder"), ("bob", "md50123456789abcdef0123456789abcdef")]);
        derive(&mut known, &settings, None);
        let expected = settings.scram_keys("alice", b"wonder").to_secret().to_stored_form().to_string();
        assert_eq!(stored(&known, "alice"), expected);
        assert!(known["bob"].login_secret.is_none());
    }

    #[test]
    fn a_reload_derives_only_what_changed() {
        let settings = LoginSettings::new([7; 32]);
        let mut before = users(&[("alice", "wonder"), ("bob", "builder")]);
        // Keys that no derivation gives: the test recognizes them if they are copied.
        let marked = Secret::Scram(settings.scram_keys("mark", b"mark").to_secret());
        before.values_mut().for_each(|user| user.login_secret = Some(marked.clone()));
        let mark = stored(&before, "alice");

        let mut after = users(&[("alice", "wonder"), ("bob", "changed"), ("carol", "new")]);
        derive(&mut after, &settings, Some(&before));
        assert_eq!(stored(&after, "alice"), mark);
        assert_ne!(stored(&after, "bob"), mark);
        assert_ne!(stored(&after, "carol"), mark);
    }
}
