//! Starts chores, which are commands of our own on server connections, and handles their results.

use std::sync::Arc;

use trunkline_wire::backend::TransactionStatus;

use super::kept::due::Due;
use super::links::NoDirectSend;
use super::{Board, servers};
use crate::keys::ServerKey;
use crate::server::{Cancel, ChoreAnswer, Condition, ServerStage};
use crate::turn::{Chore, Expect, Message, Owner, Undo};

impl Board {
    /// Sends a Query of our own on a server connection that no client has.
    pub(super) fn start_query(&mut self, key: ServerKey, sql: &str, chore: Chore) {
        let now = self.now;
        let Some(server) = self.servers.get_mut(key) else { return };
        server.query(sql.as_bytes(), chore);
        server.chore_answer = None;
        server.stage = ServerStage::Chore(chore);
        server.last_change = now;
        self.list_unsent_server(key);
    }

    /// Checks whether an idle connection still works. It must have been taken off the idle list.
    pub(super) fn start_check(&mut self, key: ServerKey) {
        let directory = Arc::clone(&self.directory);
        if !directory.check_query.is_empty() {
            return self.start_query(key, &directory.check_query, Chore::Check);
        }
        let now = self.now;
        let Some(server) = self.servers.get_mut(key) else { return };
        trunkline_wire::frontend::sync::encode(server.outbox.buffer());
        server.turns.push(Expect::discard(Message::Sync, Undo::Nothing), Owner::Chore(Chore::Check));
        server.stage = ServerStage::Chore(Chore::Check);
        server.last_change = now;
        self.list_unsent_server(key);
    }

    /// The server has answered a chore completely (ReadyForQuery).
    pub(super) fn finish_chore(&mut self, key: ServerKey, chore: Chore) {
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
                // The client's turn runs without the client's parameters, so the client must not get its answers.
                let Some(ChoreAnswer::Error(error)) = answer else { return };
                self.server_lost(key, servers::body_of(&error));
            }
            (Chore::Parameters, Some(client)) => {
                self.send_local_answers_to_first(key);
                self.resume_after_answers(key, Some(client));
            }
            (Chore::Probe, Some(client)) => self.finish_probe(client, key, answer),
            (Chore::AuthQuery, Some(client)) => self.look_up_answered(client, answer, key),
            // The turn of a client that had passed on the connection and has left.
            (Chore::Abandoned, Some(_)) => self.next_turn_comes_first(key, None),
            (Chore::Abandoned, _) if server.turns.has_clients() => {}
            (Chore::Abandoned, _) if !server.is_settled() => {
                // The client that is gone has another turn here. It is cancelled like the one before.
                if !matches!(server.stage, ServerStage::Finishing) {
                    self.cancel_server(key);
                }
            }
            (Chore::Settle, Some(client)) => self.finish_settle(client, key),
            (Chore::Settle | Chore::Abandoned | Chore::Parameters | Chore::Probe | Chore::AuthQuery, _) => {
                // If setting a parameter has failed, others may have been set before.
                server.condemn_if(matches!(chore, Chore::Parameters | Chore::Probe) && failed);
                if server.is_settled() {
                    self.free_server(key);
                }
            }
            (Chore::Connect, _) => self.finish_connect_query(key, answer),
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
                self.due.push_back(Due::LendOrIdle(key));
            }
        }
    }

    fn finish_connect_query(&mut self, key: ServerKey, answer: Option<ChoreAnswer>) {
        if let Some(ChoreAnswer::Error(error)) = answer {
            let text = format!("connect_query failed: {}", servers::error_text(&error));
            return self.server_lost(key, &Self::connection_failure_body(&text));
        }
        self.server_opened(key);
    }

    /// The Syncs that a client has sent during a COPY, which failed, are answered.
    fn finish_settle(&mut self, client_key: crate::keys::ClientKey, key: ServerKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        if server.is_settled() {
            server.turns.drop_begun();
            self.turns_of_client_over(key);
        } else if server.awaits_answers {
            self.schedule_inbox(client_key);
        }
    }

    /// Repeats a client's turn, of which the server has done nothing.
    pub(super) fn replay(&mut self, client_key: crate::keys::ClientKey, key: ServerKey, turn: &[u8]) {
        let Some(client) = self.clients.get_mut(client_key) else { return };
        if client.output_held {
            // The outbox has only answers that we have given to the turn's Parse messages. They are made again.
            client.outbox = crate::outbox::Outbox::default();
            client.output_held = false;
            client.parse_completes_sent = 0;
        }
        client.replay_parses_answered = client.parse_completes_sent;
        if let Some(server) = self.servers.get(key)
            && let Some(local) = self.local_pools.get_mut(server.pool).and_then(Option::as_deref_mut)
        {
            local.counters.replays += 1;
        }
        let mut all = usize::MAX;
        let (consumed, _) = self.pass_to_server(client_key, key, turn, &mut NoDirectSend, true, &mut all);
        if let Some(client) = self.clients.get_mut(client_key) {
            // A part of the turn may wait for an answer of the server. It comes before what the client has sent after the turn.
            client.inbox.put_back(&turn[consumed..]);
        }
        self.schedule_inbox(client_key);
    }

    /// Whether a turn on this connection has failed and will be repeated when the server is ready.
    pub(super) fn is_healing(&self, key: ServerKey) -> bool {
        self.servers.get(key).is_some_and(|server| server.turns.is_healing())
    }
}
