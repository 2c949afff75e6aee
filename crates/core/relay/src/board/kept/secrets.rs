//! A cache of the answers of `auth_query`: the stored passwords of users, and that a user does not exist.

use std::sync::Arc;
use std::time::Duration;

use hashlink::LinkedHashMap;
use trunkline_pool::Micros;
use trunkline_session::authentication::Secret;

/// The memory of an answer without its key and its secret: an entry of the table, its links, and unused room in the table.
const ENTRY_BYTES: usize = 192;

/// The key of an answer: which `auth_query`, in which database, and about which user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AnswerKey(Arc<str>);

impl AnswerKey {
    /// `entry` is the name of the database entry that has the `auth_query`, `database` the database in which it runs.
    pub(crate) fn new(entry: &str, database: &str, user: &str) -> Self {
        // A zero byte separates the names: no name can contain one, because the protocol ends strings with it.
        Self(format!("{entry}\0{database}\0{user}").into())
    }
}

struct Answer {
    secret: Option<Secret>,
    since: Micros,
    bytes: usize,
}

/// The cache. It is bounded in time and in bytes; the oldest answers are dropped first.
#[derive(Default)]
pub(in crate::board) struct Secrets {
    /// The oldest answer first.
    answers: LinkedHashMap<AnswerKey, Answer>,
    bytes: usize,
}

fn bytes_of(key: &AnswerKey, secret: Option<&Secret>) -> usize {
    let secret = match secret {
        Some(Secret::Plain(password)) => password.expose().len(),
        Some(Secret::Scram(scram)) => scram.salt().len(),
        Some(Secret::Md5(_)) | None => 0,
    };
    ENTRY_BYTES + key.0.len() + secret
}

fn is_old(since: Micros, now: Micros, ttl: Duration) -> bool {
    u128::from(now.saturating_sub(since)) >= ttl.as_micros()
}

impl Secrets {
    /// The answer, if it is younger than `ttl`. `Some(None)` means that the user does not exist or has no password.
    pub(in crate::board) fn get(
        &self,
        key: &AnswerKey,
        now: Micros,
        ttl: Duration,
    ) -> Option<Option<Secret>> {
        let answer = self.answers.get(key).filter(|answer| !is_old(answer.since, now, ttl))?;
        Some(answer.secret.clone())
    }

    /// Keeps an answer, and drops the oldest answers above `bytes_max`. Returns whether there was not enough room: an old
    /// answer was dropped, or this one was too large to be kept.
    pub(in crate::board) fn insert(
        &mut self,
        key: AnswerKey,
        secret: Option<Secret>,
        now: Micros,
        bytes_max: usize,
    ) -> bool {
        let bytes = bytes_of(&key, secret.as_ref());
        if bytes > bytes_max {
            return true;
        }
        if let Some(before) = self.answers.insert(key, Answer { secret, since: now, bytes }) {
            self.bytes -= before.bytes;
        }
        self.bytes += bytes;
        let mut full = false;
        while self.bytes > bytes_max && self.forget_oldest() {
            full = true;
        }
        full
    }

    /// Drops the answers that are older than `ttl`.
    pub(in crate::board) fn expire(&mut self, now: Micros, ttl: Duration) {
        while self.answers.front().is_some_and(|(_, answer)| is_old(answer.since, now, ttl)) {
            self.forget_oldest();
        }
    }

    /// Drops all answers.
    pub(in crate::board) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The memory of all answers, in bytes.
    pub(in crate::board) fn bytes(&self) -> usize {
        self.bytes
    }

    fn forget_oldest(&mut self) -> bool {
        let Some((_, answer)) = self.answers.pop_front() else { return false };
        self.bytes -= answer.bytes;
        if self.answers.is_empty() {
            // Free the memory that a burst of answers has left.
            self.answers = LinkedHashMap::new();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use trunkline_session::authentication::Password;

    use super::*;

    const TTL: Duration = Duration::from_micros(100);

    fn plain(password: &str) -> Option<Secret> {
        Some(Secret::Plain(Password::new(password)))
    }

    #[test]
    fn an_answer_is_used_until_its_ttl_and_dropped_afterwards() {
        let mut secrets = Secrets::default();
        let (here, elsewhere) = (AnswerKey::new("d", "d", "u"), AnswerKey::new("d", "e", "u"));
        secrets.insert(here.clone(), plain("x"), 10, 1 << 20);
        secrets.insert(elsewhere.clone(), None, 20, 1 << 20);
        assert!(matches!(secrets.get(&here, 109, TTL), Some(Some(_))));
        assert!(secrets.get(&here, 110, TTL).is_none());
        assert!(
            matches!(secrets.get(&elsewhere, 110, TTL), Some(None)),
            "that the user does not exist is kept too"
        );
        secrets.expire(110, TTL);
        assert!(secrets.bytes() > 0 && secrets.answers.len() == 1);
        secrets.expire(120, TTL);
        assert_eq!((secrets.bytes(), secrets.answers.capacity()), (0, 0));
    }

    #[test]
    fn a_new_answer_replaces_the_old_one() {
        let mut secrets = Secrets::default();
        let key = AnswerKey::new("d", "d", "u");
        secrets.insert(key.clone(), plain("old"), 10, 1 << 20);
        secrets.insert(key.clone(), None, 90, 1 << 20);
        secrets.expire(150, TTL);
        assert!(matches!(secrets.get(&key, 150, TTL), Some(None)));
        assert_eq!(secrets.bytes(), bytes_of(&key, None));
        for number in 150..2_000 {
            secrets.insert(key.clone(), None, number, 1 << 20);
        }
        assert_eq!(secrets.answers.len(), 1, "old answers were kept");
    }

    #[test]
    fn made_up_names_use_no_more_memory_than_is_allowed() {
        let mut secrets = Secrets::default();
        let long = "x".repeat(9_000);
        for number in 0..10_000 {
            secrets.insert(AnswerKey::new("*", &format!("{long}{number}"), "u"), None, number, 100_000);
            assert!(secrets.bytes() <= 100_000 && secrets.answers.len() <= 11);
        }
        let last = AnswerKey::new("*", &format!("{long}9999"), "u");
        assert!(secrets.get(&last, 9_999, TTL).is_some(), "the oldest are dropped first");
        assert!(secrets.insert(AnswerKey::new("*", "d", "u"), plain(&"p".repeat(200_000)), 10_000, 100_000));
        assert!(secrets.get(&last, 10_000, TTL).is_some(), "an answer that is too large drops no other");
    }
}
