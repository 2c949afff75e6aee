//! Work of our own on server connections.

use std::sync::Arc;

use trunkline_wire::backend::TransactionStatus;

use super::kept::due::Due;
use super::links::NoWires;
use super::{Board, servers};
use crate::keys::ServerKey;
use crate::server::{Cancel, ChoreAnswer, Condition, ServerStage};
use crate::turn::{Chore, Expect, Message, Owner, Undo};

impl Board {
    /// Runs a query of ours on a server connection that is nobody's.
    pub(super) fn start_query(&mut self, key: ServerKey, sql: &str, chore: Chore) {
        let now = self.now;
        let Some(server) = self.servers.get_mut(key) else { return };
        server.query(sql.as_bytes(), chore);
        server.chore_answer = None;
        server.stage = ServerStage::Chore(chore);
        server.since = now;
        self.list_server(key);
    }

    /// Asks an idle connection, taken off its list, whether it lives.
    pub(super) fn check(&mut self, key: ServerKey) {
        let directory = Arc::clone(&self.directory);
        if !directory.check_query.is_empty() {
            return self.start_query(key, &directory.check_query, Chore::Check);
        }
        let now = self.now;
        let Some(server) = self.servers.get_mut(key) else { return };
        trunkline_wire::frontend::sync::encode(server.outbox.buffer());
        server.turns.push(Expect::skip(Message::Sync, Undo::Nothing), Owner::Chore(Chore::Check));
        server.stage = ServerStage::Chore(Chore::Check);
        server.since = now;
        self.list_server(key);
    }

    /// ReadyForQuery has come for a chore.
    pub(super) fn chore_over(&mut self, key: ServerKey, chore: Chore) {
        let Some(server) = self.servers.get_mut(key) else { return };
        let answer = server.chore_answer.take();
        let failed = matches!(answer, Some(ChoreAnswer::Error(_)));
        let lent_to = server.lent_to();
        if let (true, Some(ChoreAnswer::Error(error))) =
            (!matches!(chore, Chore::AuthQuery | Chore::Probe | Chore::Connect | Chore::Abandoned), &answer)
        {
            let text = format!("{chore:?} failed on server {key:?}: {}", servers::error_text(error));
            self.actions.push_back(super::Action::Note(super::Note::Warning("chore_failed", text)));
        }
        match (chore, lent_to) {
            (Chore::Parameters, Some(_)) if failed => {
                // The client's turn runs without its parameters: it must not take the answer for a good one.
                let Some(ChoreAnswer::Error(error)) = answer else { return };
                self.server_lost(key, servers::body_of(&error));
            }
            (Chore::Parameters, Some(client)) => {
                self.give_to_first(key);
                self.deal_undecided(key, Some(client));
            }
            (Chore::Probe, Some(client)) => self.probe_over(client, key, answer),
            (Chore::AuthQuery, Some(client)) => self.secret_found(client, answer, key),
            // A turn of a client that was owed it and has gone.
            (Chore::Abandoned, Some(_)) => self.next_owner(key, None),
            (Chore::Abandoned, _) if server.turns.has_clients() => {}
            (Chore::Abandoned, _) if !server.is_settled() => {
                // One more turn of a client that is gone: it is cancelled like the one before.
                if !matches!(server.stage, ServerStage::Finishing) {
                    self.cancel_server(key);
                }
            }
            (Chore::Settle, Some(client)) => self.settled(client, key),
            (Chore::Settle | Chore::Abandoned | Chore::Parameters | Chore::Probe | Chore::AuthQuery, _) => {
                // Some may have been set before the one that failed.
                server.condemn_if(matches!(chore, Chore::Parameters | Chore::Probe) && failed);
                if server.is_settled() {
                    self.free_server(key);
                }
            }
            (Chore::Connect, _) => self.connect_query_over(key, answer),
            (Chore::Check, _) => {
                server.condemn_if(failed);
                self.free_server(key);
            }
            (Chore::Rollback, _) => {
                server.condemn_if(failed || server.status != TransactionStatus::Idle);
                self.free_server(key);
            }
            (Chore::Reset, _) => {
                server.condemn_if(failed);
                if let Some(defaults) = server.welcome.as_ref().map(|welcome| Arc::clone(&welcome.defaults)) {
                    server.profile = defaults;
                }
                if server.condition == Condition::Condemned
                    || server.cancel != Cancel::None
                    || server.status != TransactionStatus::Idle
                {
                    return self.free_server(key);
                }
                self.due.push_back(Due::GiveOn(key));
            }
        }
    }

    fn connect_query_over(&mut self, key: ServerKey, answer: Option<ChoreAnswer>) {
        if let Some(ChoreAnswer::Error(error)) = answer {
            let text = format!("connect_query failed: {}", servers::error_text(&error));
            return self.server_lost(key, &Self::lost_body(&text));
        }
        self.server_opened(key);
    }

    /// All early Syncs of a COPY that failed are answered.
    fn settled(&mut self, client_key: crate::keys::ClientKey, key: ServerKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        if server.is_settled() {
            server.turns.drop_begun();
            self.turn_over(key);
        } else if server.undecided {
            self.deal_inbox(client_key);
        }
    }

    /// Plays a client's turn again: the server had not done anything of it.
    pub(super) fn replay(&mut self, client_key: crate::keys::ClientKey, key: ServerKey, turn: &[u8]) {
        let Some(client) = self.clients.get_mut(client_key) else { return };
        if client.held {
            // Answers of ours to its Parse messages, which nobody has seen yet.
            client.outbox = crate::outbox::Outbox::default();
            client.held = false;
            client.parse_completes_sent = 0;
        }
        client.replay_parses_answered = client.parse_completes_sent;
        if let Some(server) = self.servers.get(key)
            && let Some(local) = self.local_pools.get_mut(server.pool).and_then(Option::as_deref_mut)
        {
            local.counters.replays += 1;
        }
        let mut all = usize::MAX;
        let (consumed, _) = self.pass_to_server(client_key, key, turn, &mut NoWires, true, &mut all);
        if let Some(client) = self.clients.get_mut(client_key) {
            // What waits for an answer of the server comes before what the client sent after the turn.
            client.inbox.put_back(&turn[consumed..]);
        }
        self.deal_inbox(client_key);
    }

    /// Whether the connection's turn has failed and is to be played again once the server is ready.
    pub(super) fn is_healing(&self, key: ServerKey) -> bool {
        self.servers.get(key).is_some_and(|server| server.turns.is_healing())
    }
}
