//! Moves bytes between clients and the server connections that are lent to them.

use trunkline_pool::{Micros, PoolMode};
use trunkline_wire::backend::{ReadyForQuery, TransactionStatus};
use trunkline_wire::frame;
use trunkline_wire::frontend::{
    copy_data, copy_done, copy_fail, flush, function_call, parse, query, sync, terminate,
};
use trunkline_wire::sqlstate::SqlState;

use super::Board;
use super::refusal::Refusal;
use crate::carried::{KeepReason, keep_reason};
use crate::client::{AfterError, Client, Purpose, Stage};
use crate::direct_send::DirectSend;
use crate::error::ClientMisbehaved;
use crate::keys::{ClientKey, ServerKey};
use crate::rest::Rest;
use crate::server::ServerStage;
use crate::text::ParseBudget;
use crate::turn::{ClientStop, Context, ServerStop, from_client, from_server, is_answered, turn_is_ready};

/// Sends nothing directly: for bytes from an inbox, which are few, and which are processed where no sockets are at hand.
pub(super) struct NoDirectSend;

impl DirectSend for NoDirectSend {
    fn send_client(&mut self, _: ClientKey, _: &[u8]) -> usize {
        0
    }
    fn send_server(&mut self, _: ServerKey, _: &[u8]) -> usize {
        0
    }
}

impl Board {
    /// A client has sent `input`.
    pub fn client_bytes<W: DirectSend>(&mut self, key: ClientKey, input: &[u8], sockets: &mut W) {
        let now = self.now;
        let Some(client) = self.clients.get_mut(key) else { return };
        if !matches!(client.stage, Stage::Waiting(_)) {
            client.last_active = now;
        }
        if client.inbox.is_empty() {
            let consumed = self.process_input(key, input, sockets);
            if let Some(client) = self.clients.get_mut(key)
                && consumed < input.len()
            {
                client.inbox.push(&input[consumed..]);
            }
            self.update_client_pause(key);
        } else {
            client.inbox.push(input);
            self.process_inbox(key);
        }
        self.run_due_tasks();
    }

    /// Processes the bytes in a client's inbox.
    pub(super) fn process_inbox(&mut self, key: ClientKey) {
        let Some(client) = self.clients.get_mut(key) else { return };
        if client.inbox.is_empty() {
            return;
        }
        let mut inbox = std::mem::take(&mut client.inbox);
        let consumed = self.process_input(key, inbox.waiting(), &mut NoDirectSend);
        if let Some(client) = self.clients.get_mut(key) {
            inbox.advance(consumed);
            client.inbox = inbox;
        }
        self.update_client_pause(key);
    }

    /// Decides whether the shell must stop reading from a client that sends more than we can pass on, or may read again.
    pub(super) fn update_client_pause(&mut self, key: ClientKey) {
        let Some(client) = self.clients.get_mut(key) else { return };
        let limits = &self.directory.limits;
        let server = client.server().and_then(|server| self.servers.get(server));
        let unsent = server.map_or(0, |server| server.outbox.pending().len());
        // A client that was paused stays so until half of its turns are answered. If it could send one turn for each answer,
        // each turn would cost a round trip.
        let turns_max = match client.paused {
            true => limits.outstanding_turns_max.div_ceil(2),
            false => limits.outstanding_turns_max,
        };
        // If a COPY takes data, or a message is incomplete, the server waits for the client: then it is read.
        let has_too_many_turns = client.rest.is_none()
            && server.is_some_and(|server| {
                server.turns.len() >= turns_max
                    && server.turns.turns() >= turns_max
                    && !server.copy.takes_data
            });
        // A Parse waits in the inbox until it is complete, and may be longer than other bytes that wait there.
        let runs_turns = matches!(client.stage, Stage::Linked(_, Purpose::Turn | Purpose::Session));
        let is_parse = client.tracked && client.inbox.waiting().first() == Some(&parse::TAG);
        let message_max =
            if runs_turns && is_parse { limits.statement_bytes_max } else { limits.client_buffer_bytes };
        // A client whose login waits for a server need not send anything.
        let sends_too_early = client.login.is_some()
            && !client.inbox.is_empty()
            && matches!(client.stage, Stage::Waiting(_) | Stage::Linked(..));
        let has_too_many_bytes = unsent > limits.client_buffer_bytes
            || client.inbox.len() >= message_max + limits.client_buffer_bytes;
        let must_pause =
            sends_too_early || has_too_many_bytes || client.round_share_used || has_too_many_turns;
        if client.paused && !must_pause {
            self.actions.push_back(super::Action::ResumeClient(key));
        }
        if !client.paused && has_too_many_bytes {
            self.shared.count_limit_hit("client_buffer_bytes");
        }
        if !client.paused && has_too_many_turns {
            self.shared.count_limit_hit("outstanding_turns_max");
        }
        client.paused = must_pause;
    }

    /// Whether the shell must not read from a client now. [`Action::ResumeClient`](super::Action::ResumeClient) says when it may
    /// read again.
    #[must_use]
    pub fn client_paused(&self, key: ClientKey) -> bool {
        self.clients.get(key).is_none_or(|client| client.paused)
    }

    /// Processes `input` as far as possible, within the client's share of the round. Returns how many bytes were consumed.
    fn process_input<W: DirectSend>(&mut self, key: ClientKey, input: &[u8], sockets: &mut W) -> usize {
        let mut at = 0;
        let mut share = self.directory.limits.round_messages_max;
        while let Some(client) = self.clients.get(key) {
            let rest = &input[at..];
            if client.round_share_used {
                return at;
            }
            if share == 0 && !rest.is_empty() {
                self.shared.count_limit_hit("round_messages_max");
                self.defer_to_next_round(key);
                return at;
            }
            let (consumed, can_continue) = match client.stage {
                Stage::Login => self.login_bytes(key, rest),
                Stage::Idle => {
                    share = share.saturating_sub(1);
                    self.idle_bytes(key, rest)
                }
                // Messages after a turn that is being repeated wait until it is done.
                Stage::Linked(server, Purpose::Turn) if self.is_healing(server) => (0, false),
                Stage::Linked(server, Purpose::Turn | Purpose::Session) => {
                    self.relay_client(key, server, rest, sockets, &mut share)
                }
                Stage::Waiting(_) | Stage::Linked(..) | Stage::Owed(_) => (0, false),
                Stage::Cancelling => (rest.len(), false),
            };
            at += consumed;
            if !can_continue {
                return at;
            }
        }
        input.len()
    }

    /// Processes one message of an idle client. Returns how many bytes were consumed, and whether to call it again.
    fn idle_bytes(&mut self, key: ClientKey, input: &[u8]) -> (usize, bool) {
        let Some(client) = self.clients.get_mut(key) else { return (input.len(), false) };
        if !client.rest.is_none() {
            let (passed, dropped) = client.rest.take(input.len());
            return (passed + dropped, passed + dropped > 0);
        }
        let header = match frame::header(input) {
            Ok(Some(header)) => header,
            Ok(None) => return (0, false),
            Err(error) => return self.refuse_misbehaved(key, &ClientMisbehaved::Frame(error), input.len()),
        };
        if let Err(over) = self.directory.limits.check(header) {
            return self.refuse_misbehaved(key, &ClientMisbehaved::TooLarge(over), input.len());
        }
        let received = header.frame_bytes().min(input.len());
        let mut gathered = std::mem::take(&mut client.gathered);
        match header.tag {
            terminate::TAG => {
                self.client_left(key);
                return (input.len(), false);
            }
            sync::TAG => {
                client.after_error = AfterError::Nothing;
                ReadyForQuery { status: TransactionStatus::Idle }.encode(client.outbox.buffer());
                client.output_held = false;
                self.list_unsent_client(key);
            }
            // CopyData, CopyDone and CopyFail are left over from a COPY that failed; for a Flush, there is nothing to send.
            copy_data::TAG | copy_done::TAG | copy_fail::TAG | flush::TAG => {}
            tag if is_answered(tag) && client.after_error == AfterError::SkipToSync => {}
            query::TAG | function_call::TAG if client.after_error == AfterError::SkipNextTurn => {
                client.after_error = AfterError::Nothing;
                ReadyForQuery { status: TransactionStatus::Idle }.encode(client.outbox.buffer());
                self.list_unsent_client(key);
            }
            tag if is_answered(tag) && client.after_error == AfterError::SkipNextTurn => {
                client.after_error = AfterError::SkipToSync;
            }
            tag if is_answered(tag) => {
                if !turn_is_ready(header, &mut gathered, input, self.directory.limits.client_buffer_bytes) {
                    client.gathered = gathered;
                    return (0, false);
                }
                let Some(pool) = client.pool else { return (0, false) };
                self.acquire(key, pool, Purpose::Turn);
                let can_continue = |client: &Client| {
                    client.after_error == AfterError::SkipNextTurn || client.server().is_some()
                };
                return (0, self.clients.get(key).is_some_and(can_continue));
            }
            tag => return self.refuse_misbehaved(key, &ClientMisbehaved::UnknownMessage(tag), input.len()),
        }
        if let Some(client) = self.clients.get_mut(key) {
            client.rest = Rest::of(header.frame_bytes() - received, false);
        }
        (received, true)
    }

    /// Closes a client that has broken the protocol. All its input (`input_bytes`) counts as consumed.
    pub(super) fn refuse_misbehaved(
        &mut self,
        key: ClientKey,
        fault: &ClientMisbehaved,
        input_bytes: usize,
    ) -> (usize, bool) {
        self.protocol_violations += 1;
        if let Some(bound) = fault.bound() {
            self.shared.count_limit_hit(bound);
        }
        let text = fault.to_string();
        self.refuse(key, &Refusal::new(fault.code(), text));
        (input_bytes, false)
    }

    fn relay_client<W: DirectSend>(
        &mut self,
        key: ClientKey,
        server_key: ServerKey,
        input: &[u8],
        sockets: &mut W,
        share: &mut usize,
    ) -> (usize, bool) {
        let (consumed, stop) = self.pass_to_server(key, server_key, input, sockets, false, share);
        match stop {
            ClientStop::More => {
                if self.directory.early_release.is_some()
                    && let Some(pool) = self.servers.get(server_key).map(|server| server.pool)
                {
                    self.share_connections(pool);
                }
                (consumed, false)
            }
            ClientStop::Yield => {
                self.shared.count_limit_hit("lent_turns_max");
                (consumed, false)
            }
            ClientStop::RoundShareUsed => (consumed, true),
            ClientStop::ParseBudgetUsed => {
                self.shared.count_limit_hit("round_parse_bytes_max");
                self.defer_to_next_round(key);
                (consumed, false)
            }
            ClientStop::Terminate => {
                if let Some(server) = self.servers.get_mut(server_key)
                    && !server.turns.is_unsynced()
                    && !server.copy.takes_data
                {
                    server.stage = ServerStage::Finishing;
                }
                self.client_left(key);
                (input.len(), false)
            }
            ClientStop::Fault(fault) => self.refuse_misbehaved(key, &fault, input.len()),
        }
    }

    /// Passes a client's messages on to its server connection, at most as many as `share` says, and subtracts them from `share`.
    /// `replaying`: the messages are those of a turn that is being repeated.
    pub(super) fn pass_to_server<W: DirectSend>(
        &mut self,
        key: ClientKey,
        server_key: ServerKey,
        input: &[u8],
        sockets: &mut W,
        replaying: bool,
        share: &mut usize,
    ) -> (usize, ClientStop) {
        let (Some(client), Some(server)) = (self.clients.get_mut(key), self.servers.get_mut(server_key))
        else {
            return (input.len(), ClientStop::More);
        };
        let Some(local) = self.local_pools.get_mut(server.pool).and_then(Option::as_deref_mut) else {
            return (input.len(), ClientStop::More);
        };
        // A turn that is repeated is short, so it needs no parse budget.
        let mut replay_budget = ParseBudget::unbounded(&self.directory.limits);
        let has_used_lent_turns = server.lent_turns >= self.directory.limits.lent_turns_max;
        let has_it_for_turn = matches!(client.stage, Stage::Linked(_, Purpose::Turn));
        let others_wait = has_it_for_turn
            && (local.pool.waiting() > 0 || (has_used_lent_turns && local.pool.has_demand(self.now)));
        let mut context = Context {
            sockets,
            registry: &self.shared.registry,
            classes: &self.shared.classes,
            parses: if replaying { &mut replay_budget } else { &mut self.parse_budget },
            early_release: self.directory.early_release.is_some(),
            pins: local.pool.settings().mode == PoolMode::Auto,
            limits: &self.directory.limits,
            counters: &mut local.counters,
            entropy: &mut *self.entropy,
            schema: &local.schema,
            client: Some(key),
            server: server_key,
            messages_left: *share,
            others_wait,
            replaying,
            no_transactions: false,
            now: self.now,
        };
        let result = from_client(&mut context, client, server, input);
        *share = context.messages_left;
        self.list_unsent_server(server_key);
        self.list_unsent_client(key);
        result
    }

    /// A server has sent `input`.
    pub fn server_bytes<W: DirectSend>(&mut self, key: ServerKey, input: &[u8], sockets: &mut W) {
        let Some(server) = self.servers.get_mut(key) else { return };
        if server.inbox.is_empty() {
            let consumed = self.process_server_input(key, input, sockets);
            if let Some(server) = self.servers.get_mut(key)
                && consumed < input.len()
            {
                server.inbox.push(&input[consumed..]);
            }
        } else {
            let mut inbox = std::mem::take(&mut server.inbox);
            inbox.push(input);
            let consumed = self.process_server_input(key, inbox.waiting(), sockets);
            if let Some(server) = self.servers.get_mut(key) {
                inbox.advance(consumed);
                server.inbox = inbox;
            }
        }
        self.update_server_pause(key);
        self.run_due_tasks();
    }

    fn update_server_pause(&mut self, key: ServerKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        if server.turns.is_shared() {
            // Clients whose answers come later must not wait for one that reads slowly.
            return self.disconnect_slow_client(key);
        }
        if let Some(client) = server.next_receiver().and_then(|client| self.clients.get(client)) {
            let is_full = client.outbox.pending().len() > self.directory.limits.server_buffer_bytes;
            if is_full && !server.paused {
                self.shared.count_limit_hit("server_buffer_bytes");
            }
            server.paused = is_full;
        }
    }

    /// Whether the shell must not read from a server now. [`Action::ResumeServer`](super::Action::ResumeServer) says when it may
    /// read again.
    #[must_use]
    pub fn server_paused(&self, key: ServerKey) -> bool {
        self.servers.get(key).is_none_or(|server| server.paused)
    }

    fn process_server_input<W: DirectSend>(
        &mut self,
        key: ServerKey,
        input: &[u8],
        sockets: &mut W,
    ) -> usize {
        let mut at = 0;
        while let Some(server) = self.servers.get(key) {
            let (consumed, can_continue) = match server.stage {
                ServerStage::Login(_) => self.server_login_bytes(key, &input[at..]),
                _ => self.relay_server(key, &input[at..], sockets),
            };
            at += consumed;
            if !can_continue {
                return at;
            }
        }
        input.len()
    }

    fn relay_server<W: DirectSend>(
        &mut self,
        key: ServerKey,
        input: &[u8],
        sockets: &mut W,
    ) -> (usize, bool) {
        let Some(server) = self.servers.get_mut(key) else { return (input.len(), false) };
        let client_key = server.next_receiver();
        let Some(local) = self.local_pools.get_mut(server.pool).and_then(Option::as_deref_mut) else {
            return (input.len(), false);
        };
        let client = client_key.and_then(|client| self.clients.get_mut(client));
        let has_it_for_turn = |client: &Client| matches!(client.stage, Stage::Linked(_, Purpose::Turn));
        let mut context = Context {
            sockets,
            registry: &self.shared.registry,
            limits: &self.directory.limits,
            no_transactions: local.pool.settings().mode == PoolMode::Statement
                && client.as_deref().is_some_and(has_it_for_turn),
            counters: &mut local.counters,
            entropy: &mut *self.entropy,
            schema: &local.schema,
            classes: &self.shared.classes,
            parses: &mut self.parse_budget,
            early_release: self.directory.early_release.is_some(),
            pins: false,
            client: client_key,
            server: key,
            messages_left: usize::MAX,
            others_wait: false,
            replaying: false,
            now: self.now,
        };
        let (consumed, stop) = from_server(&mut context, client, server, input);
        if server.is_abandoned() && (server.copy.takes_data || server.turns.is_unsynced()) {
            // After its client left, a COPY has begun, or an error makes the server skip messages up to a Sync.
            Self::end_unfinished_turn(server);
        }
        if !server.outbox.is_empty() {
            self.list_unsent_server(key);
        }
        if let Some(client) = client_key {
            self.list_unsent_client(client);
            if self.clients.get(client).is_some_and(|client| client.paused) {
                self.update_client_pause(client);
            }
        }
        if matches!(stop, ServerStop::More) {
            return (consumed, false);
        }
        match self.handle_server_stop(key, client_key, stop) {
            true => (consumed, consumed < input.len()),
            false => (input.len(), false),
        }
    }

    /// Does what a server's message requires. False if the connection is lost by that.
    fn handle_server_stop(
        &mut self,
        key: ServerKey,
        client_key: Option<ClientKey>,
        stop: ServerStop,
    ) -> bool {
        match stop {
            ServerStop::More => {}
            ServerStop::TurnOver => self.all_turns_over(key, client_key),
            ServerStop::NextOwner => self.next_turn_comes_first(key, client_key),
            ServerStop::ClientCanContinue => {
                client_key.into_iter().for_each(|client| self.schedule_inbox(client));
            }
            ServerStop::TransactionOpen => {
                client_key.into_iter().for_each(|client| self.refuse_transaction(client));
            }
            ServerStop::ChoreOver(chore) => self.finish_chore(key, chore),
            ServerStop::Replay(turn) => {
                client_key.into_iter().for_each(|client| self.replay(client, key, &turn));
            }
            ServerStop::Parameter(name, value) => self.parameter_changed(key, &name, &value),
            ServerStop::ParametersUnknown => {
                self.forget_unreported_parameters(key);
                // A message that the client has sent after its DISCARD may have waited for this.
                self.resume_after_answers(key, client_key);
            }
            ServerStop::Resets(status) => self.apply_resets(key, status),
            ServerStop::Fatal(body) => {
                self.server_lost(key, &body);
                return false;
            }
            ServerStop::Fault(fault) => {
                let text = format!("the server broke the protocol: {fault}");
                self.warn("server_misbehaved", format!("server {key:?}: {text}"));
                self.server_lost(key, &Self::connection_failure_body(&text));
                return false;
            }
        }
        true
    }

    /// Lets a client's inbox be processed if its next message waited for the answers of earlier turns.
    pub(super) fn resume_after_answers(&mut self, key: ServerKey, client: Option<ClientKey>) {
        let waits = self.servers.get(key).is_some_and(|server| server.awaits_answers);
        client.filter(|_| waits).into_iter().for_each(|client| self.schedule_inbox(client));
    }

    /// All turns on this server connection are answered. `client` is the client of the last turn.
    fn all_turns_over(&mut self, key: ServerKey, client: Option<ClientKey>) {
        let Some(server) = self.servers.get(key) else { return };
        if client == server.lent_to() {
            return self.turns_of_client_over(key);
        }
        let abandoned = server.is_abandoned() && server.is_settled();
        self.next_turn_comes_first(key, client);
        if abandoned {
            self.free_server(key);
        }
    }

    /// All turns of the client that has this server connection are answered.
    pub(super) fn turns_of_client_over(&mut self, key: ServerKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        let resetting = server.resetting.take();
        let ServerStage::Lent(client_key) = server.stage else { return };
        let (status, awaits_answers) = (server.status, server.awaits_answers);
        let Some(client) = self.clients.get_mut(client_key) else { return };
        client.last_active = self.now;
        client.turns_answered();
        let reason = keep_reason(client, server);
        let keeps =
            matches!(reason, Some(KeepReason::Session | KeepReason::Pinned | KeepReason::Transaction));
        if let Some(local_defaults) = resetting.filter(|_| keeps && status != TransactionStatus::Failed) {
            // The client keeps the connection, so its start-up values must come back now.
            self.restore_parameters(client_key, key, &local_defaults);
        }
        match reason {
            None => self.unlink(client_key, key),
            Some(_) if awaits_answers => self.schedule_inbox(client_key),
            Some(_) => {}
        }
    }

    /// A client of a pool in statement mode has begun a transaction: it gets an error instead of ReadyForQuery, and is closed.
    fn refuse_transaction(&mut self, key: ClientKey) {
        let refusal = Refusal::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "transaction blocks are not allowed in statement pooling mode",
        )
        .hint("use pool_mode = \"transaction\" for this database or user");
        self.refuse(key, &refusal);
    }

    /// The client gives its server connection back. Bytes in its inbox belong to its next turn.
    pub(super) fn unlink(&mut self, client_key: ClientKey, server_key: ServerKey) {
        if let Some(client) = self.clients.get_mut(client_key) {
            client.stage = Stage::Idle;
        }
        self.free_server(server_key);
        let Some(client) = self.clients.get(client_key) else { return };
        if !client.inbox.is_empty() {
            self.schedule_inbox(client_key);
        } else if client.paused {
            self.update_client_pause(client_key);
        }
    }

    /// The bytes that the shell must write to a client.
    #[must_use]
    pub fn client_unsent(&self, key: ClientKey) -> &[u8] {
        self.clients.get(key).map_or(&[], |client| client.outbox.pending())
    }

    /// The bytes that the shell must write to a server.
    #[must_use]
    pub fn server_unsent(&self, key: ServerKey) -> &[u8] {
        self.servers.get(key).map_or(&[], |server| server.outbox.pending())
    }

    /// The shell has written `count` bytes to a client.
    pub fn client_sent(&mut self, key: ClientKey, count: usize) {
        let Some(client) = self.clients.get_mut(key) else { return };
        client.outbox.advance(count);
        let is_low = client.outbox.pending().len() <= self.directory.limits.server_buffer_bytes / 2;
        if let (true, Stage::Linked(server_key, _) | Stage::Owed(server_key)) = (is_low, &client.stage)
            && let Some(server) = self.servers.get_mut(*server_key)
            && server.paused
        {
            server.paused = false;
            self.actions.push_back(super::Action::ResumeServer(*server_key));
        }
    }

    /// The shell has written `count` bytes to a server.
    pub fn server_sent(&mut self, key: ServerKey, count: usize) {
        let Some(server) = self.servers.get_mut(key) else { return };
        server.outbox.advance(count);
        let is_low = server.outbox.pending().len() <= self.directory.limits.client_buffer_bytes / 2;
        if let (true, ServerStage::Lent(client)) = (is_low, &server.stage)
            && self.clients.get(*client).is_some_and(|client| client.paused)
        {
            let client = *client;
            self.update_client_pause(client);
        }
    }

    /// The time since `since`.
    pub(super) fn age(&self, since: Micros) -> Micros {
        self.now.saturating_sub(since)
    }
}
