//! SCRAM keys of plain passwords, derived once for all logins.
//!
//! A derivation takes a millisecond or two of a core: done in each login, it would be most of what a login costs, and
//! an unknown user would be told from a known one by the time.

use std::collections::HashMap;
use std::num::NonZero;

use trunkline_relay::User;
use trunkline_session::authentication::{Password, Secret};
use trunkline_session::backend::LoginSettings;

/// With this many passwords or more, the operator is told why the start takes long.
const MANY: usize = 1000;

/// Users by name.
pub(super) type Users = HashMap<String, User>;

/// Gives each user with a plain password the keys that its logins are checked against. Keys of `before` are taken over
/// where the password is the same; `settings` must have the same mock key then.
pub(super) fn derive(users: &mut Users, settings: &LoginSettings, before: Option<&Users>) {
    let mut missing = Vec::new();
    for (name, user) in users {
        let Some(password) = plain(user) else { continue };
        let known = before
            .and_then(|before| before.get(name))
            .filter(|known| plain(known).is_some_and(|known| known.matches(password.expose())));
        match known.and_then(|known| known.login_secret.clone()) {
            Some(secret) => user.login_secret = Some(secret),
            None => missing.push((name.as_str(), user)),
        }
    }
    if missing.len() >= MANY {
        tracing::info!(
            "deriving SCRAM keys for {} plain passwords; SCRAM verifiers in their place would spare that",
            missing.len()
        );
    }
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = missing.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        for share in missing.chunks_mut(share) {
            scope.spawn(move || {
                for (name, user) in share {
                    let keys = plain(user).map(|password| settings.scram_keys(name, password.expose()));
                    user.login_secret = keys.map(|keys| Secret::Scram(keys.to_secret()));
                }
            });
        }
    });
}

fn plain(user: &User) -> Option<&Password> {
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
    fn plain_passwords_get_keys_and_others_none() {
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
        // Marked, to be known again: these are not what would be derived.
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
