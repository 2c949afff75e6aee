//! What one event makes possible for others: a server connection comes free for who waits, an answer for what came
//! after it. It is written down here and done once the event itself has been dealt with, one after the other: the stack
//! does not grow with those who wait.
//!
//! What a client sends is dealt with in shares: one that sends thousands of messages at once does not keep the others of its
//! worker waiting for all of them.

use super::Board;
use super::kept::due::Due;
use crate::client::{Purpose, Stage};
use crate::keys::ClientKey;
use crate::text::ParseBudget;

impl Board {
    /// Every method that reports an event calls this at its end.
    #[inline]
    pub(super) fn do_what_is_due(&mut self) {
        while let Some(due) = self.due.pop_front() {
            match due {
                Due::Inbox(key) => self.deal_inbox_now(key),
                Due::Begin(key) => self.begin(key),
                Due::Login(key) => self.login_goes_on(key),
                Due::CancelAnswered(key) => self.client_left(key),
                Due::TurnsLost(server) => {
                    self.fail_turns(None, server, &Self::lost_body("the server connection was closed"));
                }
                Due::Free(key) => self.give_back(key),
                Due::GiveOn(key) => self.give_on(key),
            }
        }
    }

    /// Queues what a client sent earlier: it is dealt with after the event.
    pub(super) fn deal_inbox(&mut self, key: ClientKey) {
        if self.clients.get(key).is_some_and(|client| !client.inbox.is_empty()) {
            self.due.push_back(Due::Inbox(key));
        }
    }

    /// The client's share of the round is used up: the others get theirs first.
    pub(super) fn rest(&mut self, key: ClientKey) {
        let Some(client) = self.clients.get_mut(key) else { return };
        client.resting = true;
        self.resting.push(key);
    }

    /// Whether clients wait for the next round to go on: the shell must not sleep before [`Board::next_round`].
    #[must_use]
    pub fn is_round_due(&self) -> bool {
        !self.resting.is_empty()
    }

    /// Every client has had its share of the round: those that used theirs up go on. Call it once a round, when all that
    /// had happened is dealt with.
    pub fn next_round(&mut self) {
        self.parses = ParseBudget::of(&self.directory.limits);
        for key in std::mem::take(&mut self.resting) {
            if let Some(client) = self.clients.get_mut(key) {
                client.resting = false;
                self.deal_inbox_now(key);
            }
        }
        self.do_what_is_due();
    }

    fn begin(&mut self, key: ClientKey) {
        match self.clients.get(key).map(|client| &client.stage) {
            Some(&Stage::Linked(server, Purpose::Probe | Purpose::Session)) => self.probe(key, server),
            Some(&Stage::Linked(server, Purpose::AuthQuery)) => self.ask_for_secret(key, server),
            _ => {}
        }
    }
}
