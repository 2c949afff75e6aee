//! Tasks that one event causes for other connections: a waiting client can get the server connection that became free, or a
//! message can be processed because an answer has come. Each task is put into a list, and is run when the event is handled
//! completely. So the stack does not grow with the number of waiting clients.
//!
//! This file also keeps clients to their share of a round: a client that sends thousands of messages at once must not make
//! the worker's other clients wait for all of them.

use super::Board;
use super::kept::due::Due;
use crate::client::{Purpose, Stage};
use crate::keys::ClientKey;
use crate::text::ParseBudget;

impl Board {
    /// Runs all tasks. Every method by which the shell reports an event calls this at its end.
    #[inline]
    pub(super) fn run_due_tasks(&mut self) {
        while let Some(due) = self.due.pop_front() {
            match due {
                Due::ProcessInbox(key) => self.process_inbox(key),
                Due::UseServer(key) => self.use_server(key),
                Due::ContinueLogin(key) => self.continue_login(key),
                Due::CloseCanceller(key) => self.client_left(key),
                Due::FailTurns(server) => {
                    self.fail_turns(
                        None,
                        server,
                        &Self::connection_failure_body("the server connection was closed"),
                    );
                }
                Due::Reclaim(key) => self.reclaim_server(key),
                Due::LendOrIdle(key) => self.lend_or_idle(key),
            }
        }
    }

    /// Lets the bytes in a client's inbox be processed after the event.
    pub(super) fn schedule_inbox(&mut self, key: ClientKey) {
        if self.clients.get(key).is_some_and(|client| !client.inbox.is_empty()) {
            self.due.push_back(Due::ProcessInbox(key));
        }
    }

    /// The client has used up its share of the round. It continues in the next round.
    pub(super) fn defer_to_next_round(&mut self, key: ClientKey) {
        let Some(client) = self.clients.get_mut(key) else { return };
        client.round_share_used = true;
        self.waiting_for_next_round.push(key);
    }

    /// Whether clients wait for the next round. Then the shell must call [`Board::next_round`] before it sleeps.
    #[must_use]
    pub fn is_round_due(&self) -> bool {
        !self.waiting_for_next_round.is_empty()
    }

    /// Begins the next round: clients that had used up their share continue. The shell calls this once in each round, when it
    /// has handled all events.
    pub fn next_round(&mut self) {
        self.parse_budget = ParseBudget::of(&self.directory.limits);
        for key in std::mem::take(&mut self.waiting_for_next_round) {
            if let Some(client) = self.clients.get_mut(key) {
                client.round_share_used = false;
                self.process_inbox(key);
            }
        }
        self.run_due_tasks();
    }

    fn use_server(&mut self, key: ClientKey) {
        match self.clients.get(key).map(|client| &client.stage) {
            Some(&Stage::Linked(server, Purpose::Probe | Purpose::Session)) => self.start_probe(key, server),
            Some(&Stage::Linked(server, Purpose::AuthQuery)) => self.send_auth_query(key, server),
            _ => {}
        }
    }
}
