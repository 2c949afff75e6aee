//! What `auth_query` said, remembered for a while: of users that are there, and of those that are not.

use std::sync::Arc;
use std::time::Duration;

use hashlink::LinkedHashMap;
use trunkline_pool::Micros;
use trunkline_session::authentication::Secret;

/// What an answer takes beside its names and its secret: an entry of the table with its links, and their slack.
const ENTRY_BYTES: usize = 192;

/// Whom an answer is about: who was asked, where, and about which user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Asked(Arc<str>);

impl Asked {
    /// `entry`: whose `auth_query`; `there`: the database that it is asked in.
    pub(crate) fn new(entry: &str, there: &str, user: &str) -> Self {
        // No name has a zero byte: it could not be sent.
        Self(format!("{entry}\0{there}\0{user}").into())
    }
}

struct Answer {
    secret: Option<Secret>,
    since: Micros,
    bytes: usize,
}

/// Bounded in time and in bytes: the oldest go first.
#[derive(Default)]
pub(in crate::board) struct Secrets {
    /// The oldest first.
    answers: LinkedHashMap<Asked, Answer>,
    bytes: usize,
}

fn bytes_of(asked: &Asked, secret: Option<&Secret>) -> usize {
    let secret = match secret {
        Some(Secret::Plain(password)) => password.expose().len(),
        Some(Secret::Scram(scram)) => scram.salt().len(),
        Some(Secret::Md5(_)) | None => 0,
    };
    ENTRY_BYTES + asked.0.len() + secret
}

fn is_old(since: Micros, now: Micros, ttl: Duration) -> bool {
    u128::from(now.saturating_sub(since)) >= ttl.as_micros()
}

impl Secrets {
    /// What was said less than `ttl` ago; `Some(None)`: that there is no such user, or none with a password.
    pub(in crate::board) fn get(&self, asked: &Asked, now: Micros, ttl: Duration) -> Option<Option<Secret>> {
        let answer = self.answers.get(asked).filter(|answer| !is_old(answer.since, now, ttl))?;
        Some(answer.secret.clone())
    }

    /// Remembers an answer, and forgets the oldest above `bytes_max`: whether there were any.
    pub(in crate::board) fn insert(
        &mut self,
        asked: Asked,
        secret: Option<Secret>,
        now: Micros,
        bytes_max: usize,
    ) -> bool {
        let bytes = bytes_of(&asked, secret.as_ref());
        if bytes > bytes_max {
            return true;
        }
        if let Some(before) = self.answers.insert(asked, Answer { secret, since: now, bytes }) {
            self.bytes -= before.bytes;
        }
        self.bytes += bytes;
        let mut full = false;
        while self.bytes > bytes_max && self.forget_oldest() {
            full = true;
        }
        full
    }

    /// Forgets what is older than `ttl`.
    pub(in crate::board) fn expire(&mut self, now: Micros, ttl: Duration) {
        while self.answers.front().is_some_and(|(_, answer)| is_old(answer.since, now, ttl)) {
            self.forget_oldest();
        }
    }

    /// Forgets everything.
    pub(in crate::board) fn clear(&mut self) {
        *self = Self::default();
    }

    /// What they take.
    pub(in crate::board) fn bytes(&self) -> usize {
        self.bytes
    }

    fn forget_oldest(&mut self) -> bool {
        let Some((_, answer)) = self.answers.pop_front() else { return false };
        self.bytes -= answer.bytes;
        if self.answers.is_empty() {
            // What a burst has taken goes back.
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
    fn an_answer_is_believed_for_its_time_and_then_gone() {
        let mut secrets = Secrets::default();
        let (here, elsewhere) = (Asked::new("d", "d", "u"), Asked::new("d", "e", "u"));
        secrets.insert(here.clone(), plain("x"), 10, 1 << 20);
        secrets.insert(elsewhere.clone(), None, 20, 1 << 20);
        assert!(matches!(secrets.get(&here, 109, TTL), Some(Some(_))));
        assert!(secrets.get(&here, 110, TTL).is_none());
        assert!(matches!(secrets.get(&elsewhere, 110, TTL), Some(None)), "that there is nobody is an answer");
        secrets.expire(110, TTL);
        assert!(secrets.bytes() > 0 && secrets.answers.len() == 1);
        secrets.expire(120, TTL);
        assert_eq!((secrets.bytes(), secrets.answers.capacity()), (0, 0));
    }

    #[test]
    fn an_answer_that_is_given_again_takes_the_place_of_the_first() {
        let mut secrets = Secrets::default();
        let asked = Asked::new("d", "d", "u");
        secrets.insert(asked.clone(), plain("old"), 10, 1 << 20);
        secrets.insert(asked.clone(), None, 90, 1 << 20);
        secrets.expire(150, TTL);
        assert!(matches!(secrets.get(&asked, 150, TTL), Some(None)));
        assert_eq!(secrets.bytes(), bytes_of(&asked, None));
        for number in 150..2_000 {
            secrets.insert(asked.clone(), None, number, 1 << 20);
        }
        assert_eq!(secrets.answers.len(), 1, "each was kept");
    }

    #[test]
    fn made_up_names_take_no_more_than_is_allowed() {
        let mut secrets = Secrets::default();
        let long = "x".repeat(9_000);
        for number in 0..10_000 {
            secrets.insert(Asked::new("*", &format!("{long}{number}"), "u"), None, number, 100_000);
            assert!(secrets.bytes() <= 100_000 && secrets.answers.len() <= 11);
        }
        let last = Asked::new("*", &format!("{long}9999"), "u");
        assert!(secrets.get(&last, 9_999, TTL).is_some(), "the oldest go first");
        assert!(secrets.insert(Asked::new("*", "d", "u"), plain(&"p".repeat(200_000)), 10_000, 100_000));
        assert!(secrets.get(&last, 10_000, TTL).is_some(), "one that has no room turns nobody out");
    }
}
