//! Bytes between clients and the server connections they are lent.

use trunkline_pool::{Micros, PoolMode};
use trunkline_wire::backend::{ReadyForQuery, TransactionStatus};
use trunkline_wire::frame;
use trunkline_wire::frontend::{
    copy_data, copy_done, copy_fail, flush, function_call, parse, query, sync, terminate,
};
use trunkline_wire::sqlstate::SqlState;

use super::Board;
use super::refusal::Refusal;
use crate::carried::{Bond, bond};
use crate::client::{AfterError, Client, Purpose, Stage};
use crate::error::ClientMisbehaved;
use crate::keys::{ClientKey, ServerKey};
use crate::rest::Rest;
use crate::server::ServerStage;
use crate::text::ParseBudget;
use crate::turn::{ClientStop, Path, ServerStop, from_client, from_server, is_answered, turn_is_ready};
use crate::wires::Wires;

/// For bytes that lie in an inbox: they are few, and the code that deals with them has no sockets at hand.
pub(super) struct NoWires;

impl Wires for NoWires {
    fn send_client(&mut self, _: ClientKey, _: &[u8]) -> usize {
        0
    }
    fn send_server(&mut self, _: ServerKey, _: &[u8]) -> usize {
        0
    }
}

impl Board {
    /// A client sent `input`.
    pub fn client_bytes<W: Wires>(&mut self, key: ClientKey, input: &[u8], wires: &mut W) {
        let now = self.now;
        let Some(client) = self.clients.get_mut(key) else { return };
        if !matches!(client.stage, Stage::Waiting(_)) {
            client.since = now;
        }
        if client.inbox.is_empty() {
            let consumed = self.deal(key, input, wires);
            if let Some(client) = self.clients.get_mut(key)
                && consumed < input.len()
            {
                client.inbox.push(&input[consumed..]);
            }
            self.restrain_client(key);
        } else {
            client.inbox.push(input);
            self.deal_inbox_now(key);
        }
        self.do_what_is_due();
    }

    /// Deals with what a client sent earlier.
    pub(super) fn deal_inbox_now(&mut self, key: ClientKey) {
        let Some(client) = self.clients.get_mut(key) else { return };
        if client.inbox.is_empty() {
            return;
        }
        let mut inbox = std::mem::take(&mut client.inbox);
        let consumed = self.deal(key, inbox.waiting(), &mut NoWires);
        if let Some(client) = self.clients.get_mut(key) {
            inbox.advance(consumed);
            client.inbox = inbox;
        }
        self.restrain_client(key);
    }

    /// Stops reading a client that sends more than can be passed on, or starts again.
    pub(super) fn restrain_client(&mut self, key: ClientKey) {
        let Some(client) = self.clients.get_mut(key) else { return };
        let limits = &self.directory.limits;
        let server = client.server().and_then(|server| self.servers.get(server));
        let unsent = server.map_or(0, |server| server.outbox.pending().len());
        // Once held back it waits until half are answered: one turn for each answer would be a round trip for each.
        let most = match client.paused {
            true => limits.outstanding_turns_max.div_ceil(2),
            false => limits.outstanding_turns_max,
        };
        // Data of a COPY, or the rest of a message, is what the server waits for.
        let owes = client.rest.is_none()
            && server.is_some_and(|server| {
                server.turns.len() >= most && server.turns.turns() >= most && !server.copy.takes_data
            });
        // A message that is gathered whole (a Parse) may need more room than what just waits.
        let relayed = matches!(client.stage, Stage::Linked(_, Purpose::Turn | Purpose::Session));
        let is_parse = client.tracked && client.inbox.waiting().first() == Some(&parse::TAG);
        let gathered =
            if relayed && is_parse { limits.statement_bytes_max } else { limits.client_buffer_bytes };
        // A client that waits for its login need not send anything.
        let early = client.login.is_some()
            && !client.inbox.is_empty()
            && matches!(client.stage, Stage::Waiting(_) | Stage::Linked(..));
        let much = unsent > limits.client_buffer_bytes
            || client.inbox.len() >= gathered + limits.client_buffer_bytes;
        let full = early || much || client.resting || owes;
        if client.paused && !full {
            self.actions.push_back(super::Action::ResumeClient(key));
        }
        if !client.paused && much {
            self.shared.hit("client_buffer_bytes");
        }
        if !client.paused && owes {
            self.shared.hit("outstanding_turns_max");
        }
        client.paused = full;
    }

    /// Whether the shell should not read from a client now; `ResumeClient` says when it may.
    #[must_use]
    pub fn client_paused(&self, key: ClientKey) -> bool {
        self.clients.get(key).is_none_or(|client| client.paused)
    }

    /// Deals with `input` as far as it can, and as the client's share of the round goes; returns how much was consumed.
    fn deal<W: Wires>(&mut self, key: ClientKey, input: &[u8], wires: &mut W) -> usize {
        let mut at = 0;
        let mut share = self.directory.limits.round_messages_max;
        while let Some(client) = self.clients.get(key) {
            let rest = &input[at..];
            if client.resting {
                return at;
            }
            if share == 0 && !rest.is_empty() {
                self.shared.hit("round_messages_max");
                self.rest(key);
                return at;
            }
            let (consumed, go_on) = match client.stage {
                Stage::Login => self.login_bytes(key, rest),
                Stage::Idle => {
                    share = share.saturating_sub(1);
                    self.idle_bytes(key, rest)
                }
                // Messages after a turn that is played again wait until that is done.
                Stage::Linked(server, Purpose::Turn) if self.is_healing(server) => (0, false),
                Stage::Linked(server, Purpose::Turn | Purpose::Session) => {
                    self.relay_client(key, server, rest, wires, &mut share)
                }
                Stage::Waiting(_) | Stage::Linked(..) | Stage::Owed(_) => (0, false),
                Stage::Cancelling => (rest.len(), false),
            };
            at += consumed;
            if !go_on {
                return at;
            }
        }
        input.len()
    }

    /// One step with an idle client's input: how much was consumed, and whether there is more to do.
    fn idle_bytes(&mut self, key: ClientKey, input: &[u8]) -> (usize, bool) {
        let Some(client) = self.clients.get_mut(key) else { return (input.len(), false) };
        if !client.rest.is_none() {
            let (passed, dropped) = client.rest.take(input.len());
            return (passed + dropped, passed + dropped > 0);
        }
        let header = match frame::header(input) {
            Ok(Some(header)) => header,
            Ok(None) => return (0, false),
            Err(error) => return self.misbehaved(key, &ClientMisbehaved::Frame(error), input.len()),
        };
        if let Err(over) = self.directory.limits.check(header) {
            return self.misbehaved(key, &ClientMisbehaved::TooLarge(over), input.len());
        }
        let there = header.frame_bytes().min(input.len());
        let mut gathered = std::mem::take(&mut client.gathered);
        match header.tag {
            terminate::TAG => {
                self.client_left(key);
                return (input.len(), false);
            }
            sync::TAG => {
                client.after_error = AfterError::Nothing;
                ReadyForQuery { status: TransactionStatus::Idle }.encode(client.outbox.buffer());
                client.held = false;
                self.list_client(key);
            }
            // Left over from a COPY that failed, or nothing to flush.
            copy_data::TAG | copy_done::TAG | copy_fail::TAG | flush::TAG => {}
            tag if is_answered(tag) && client.after_error == AfterError::SkipToSync => {}
            query::TAG | function_call::TAG if client.after_error == AfterError::SkipNextTurn => {
                client.after_error = AfterError::Nothing;
                ReadyForQuery { status: TransactionStatus::Idle }.encode(client.outbox.buffer());
                self.list_client(key);
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
                let goes_on = |client: &Client| {
                    client.after_error == AfterError::SkipNextTurn || client.server().is_some()
                };
                return (0, self.clients.get(key).is_some_and(goes_on));
            }
            tag => return self.misbehaved(key, &ClientMisbehaved::UnknownMessage(tag), input.len()),
        }
        if let Some(client) = self.clients.get_mut(key) {
            client.rest = Rest::of(header.frame_bytes() - there, false);
        }
        (there, true)
    }

    pub(super) fn misbehaved(
        &mut self,
        key: ClientKey,
        fault: &ClientMisbehaved,
        all: usize,
    ) -> (usize, bool) {
        self.protocol_violations += 1;
        if let Some(bound) = fault.bound() {
            self.shared.hit(bound);
        }
        let text = fault.to_string();
        self.refuse(key, &Refusal::new(fault.code(), text));
        (all, false)
    }

    fn relay_client<W: Wires>(
        &mut self,
        key: ClientKey,
        server_key: ServerKey,
        input: &[u8],
        wires: &mut W,
        share: &mut usize,
    ) -> (usize, bool) {
        let (consumed, stop) = self.pass_to_server(key, server_key, input, wires, false, share);
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
                self.shared.hit("lent_turns_max");
                (consumed, false)
            }
            ClientStop::Share => (consumed, true),
            ClientStop::Later => {
                self.shared.hit("round_parse_bytes_max");
                self.rest(key);
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
            ClientStop::Fault(fault) => self.misbehaved(key, &fault, input.len()),
        }
    }

    /// Passes on at most as many messages as `share` says, and takes them off it.
    pub(super) fn pass_to_server<W: Wires>(
        &mut self,
        key: ClientKey,
        server_key: ServerKey,
        input: &[u8],
        wires: &mut W,
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
        // A turn that is played again is short.
        let mut again = ParseBudget::unbounded(&self.directory.limits);
        let full = server.lent_turns >= self.directory.limits.lent_turns_max;
        let borrowed = matches!(client.stage, Stage::Linked(_, Purpose::Turn));
        let wanted = borrowed && (local.pool.waiting() > 0 || (full && local.pool.is_wanted(self.now)));
        let mut path = Path {
            wires,
            registry: &self.shared.registry,
            classes: &self.shared.classes,
            parses: if replaying { &mut again } else { &mut self.parses },
            shares: self.directory.early_release.is_some(),
            pins: local.pool.settings().mode == PoolMode::Auto,
            limits: &self.directory.limits,
            counters: &mut local.counters,
            entropy: &mut *self.entropy,
            schema: &local.schema,
            client: Some(key),
            server: server_key,
            messages_left: *share,
            wanted,
            replaying,
            no_transactions: false,
            now: self.now,
        };
        let result = from_client(&mut path, client, server, input);
        *share = path.messages_left;
        self.list_server(server_key);
        self.list_client(key);
        result
    }

    /// A server sent `input`.
    pub fn server_bytes<W: Wires>(&mut self, key: ServerKey, input: &[u8], wires: &mut W) {
        let Some(server) = self.servers.get_mut(key) else { return };
        if server.inbox.is_empty() {
            let consumed = self.deal_server(key, input, wires);
            if let Some(server) = self.servers.get_mut(key)
                && consumed < input.len()
            {
                server.inbox.push(&input[consumed..]);
            }
        } else {
            let mut inbox = std::mem::take(&mut server.inbox);
            inbox.push(input);
            let consumed = self.deal_server(key, inbox.waiting(), wires);
            if let Some(server) = self.servers.get_mut(key) {
                inbox.advance(consumed);
                server.inbox = inbox;
            }
        }
        self.restrain_server(key);
        self.do_what_is_due();
    }

    fn restrain_server(&mut self, key: ServerKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        if server.turns.is_shared() {
            // Clients whose answers come later do not wait for a slow reader.
            return self.cut_off_slow(key);
        }
        if let Some(client) = server.speaks_to().and_then(|client| self.clients.get(client)) {
            let full = client.outbox.pending().len() > self.directory.limits.server_buffer_bytes;
            if full && !server.paused {
                self.shared.hit("server_buffer_bytes");
            }
            server.paused = full;
        }
    }

    /// Whether the shell should not read from a server now; `ResumeServer` says when it may.
    #[must_use]
    pub fn server_paused(&self, key: ServerKey) -> bool {
        self.servers.get(key).is_none_or(|server| server.paused)
    }

    fn deal_server<W: Wires>(&mut self, key: ServerKey, input: &[u8], wires: &mut W) -> usize {
        let mut at = 0;
        while let Some(server) = self.servers.get(key) {
            let (consumed, go_on) = match server.stage {
                ServerStage::Login(_) => self.server_login_bytes(key, &input[at..]),
                _ => self.relay_server(key, &input[at..], wires),
            };
            at += consumed;
            if !go_on {
                return at;
            }
        }
        input.len()
    }

    fn relay_server<W: Wires>(&mut self, key: ServerKey, input: &[u8], wires: &mut W) -> (usize, bool) {
        let Some(server) = self.servers.get_mut(key) else { return (input.len(), false) };
        let client_key = server.speaks_to();
        let Some(local) = self.local_pools.get_mut(server.pool).and_then(Option::as_deref_mut) else {
            return (input.len(), false);
        };
        let client = client_key.and_then(|client| self.clients.get_mut(client));
        let turns = |client: &Client| matches!(client.stage, Stage::Linked(_, Purpose::Turn));
        let mut path = Path {
            wires,
            registry: &self.shared.registry,
            limits: &self.directory.limits,
            no_transactions: local.pool.settings().mode == PoolMode::Statement
                && client.as_deref().is_some_and(turns),
            counters: &mut local.counters,
            entropy: &mut *self.entropy,
            schema: &local.schema,
            classes: &self.shared.classes,
            parses: &mut self.parses,
            shares: self.directory.early_release.is_some(),
            pins: false,
            client: client_key,
            server: key,
            messages_left: usize::MAX,
            wanted: false,
            replaying: false,
            now: self.now,
        };
        let (consumed, stop) = from_server(&mut path, client, server, input);
        if server.is_abandoned() && (server.copy.takes_data || server.turns.is_unsynced()) {
            // Its COPY has begun, or an error makes it skip up to a Sync, only after its client had gone.
            Self::end_abandoned(server);
        }
        if !server.outbox.is_empty() {
            self.list_server(key);
        }
        if let Some(client) = client_key {
            self.list_client(client);
            if self.clients.get(client).is_some_and(|client| client.paused) {
                self.restrain_client(client);
            }
        }
        if matches!(stop, ServerStop::More) {
            return (consumed, false);
        }
        match self.goes_on_after(key, client_key, stop) {
            true => (consumed, consumed < input.len()),
            false => (input.len(), false),
        }
    }

    /// Does what the server's messages make necessary. False: the connection is lost by it.
    fn goes_on_after(&mut self, key: ServerKey, client_key: Option<ClientKey>, stop: ServerStop) -> bool {
        match stop {
            ServerStop::More => {}
            ServerStop::TurnOver => self.turns_over(key, client_key),
            ServerStop::NextOwner => self.next_owner(key, client_key),
            ServerStop::Decided => client_key.into_iter().for_each(|client| self.deal_inbox(client)),
            ServerStop::TransactionOpen => {
                client_key.into_iter().for_each(|client| self.transaction_refused(client));
            }
            ServerStop::ChoreOver(chore) => self.chore_over(key, chore),
            ServerStop::Replay(turn) => {
                client_key.into_iter().for_each(|client| self.replay(client, key, &turn));
            }
            ServerStop::Parameter(name, value) => self.parameter_changed(key, &name, &value),
            ServerStop::ParametersUnknown => {
                self.parameters_unknown(key);
                // What the client sent after its DISCARD may wait for just that.
                self.deal_undecided(key, client_key);
            }
            ServerStop::Resets(status) => self.apply_resets(key, status),
            ServerStop::Fatal(body) => {
                self.server_lost(key, &body);
                return false;
            }
            ServerStop::Fault(fault) => {
                let text = format!("the server broke the protocol: {fault}");
                self.warn("server_misbehaved", format!("server {key:?}: {text}"));
                self.server_lost(key, &Self::lost_body(&text));
                return false;
            }
        }
        true
    }

    /// What a client sent is dealt with, if it has waited for what its turns before would bring.
    pub(super) fn deal_undecided(&mut self, key: ServerKey, client: Option<ClientKey>) {
        let undecided = self.servers.get(key).is_some_and(|server| server.undecided);
        client.filter(|_| undecided).into_iter().for_each(|client| self.deal_inbox(client));
    }

    /// All turns on this server connection are answered; the last was this client's.
    fn turns_over(&mut self, key: ServerKey, client: Option<ClientKey>) {
        let Some(server) = self.servers.get(key) else { return };
        if client == server.lent_to() {
            return self.turn_over(key);
        }
        let abandoned = server.is_abandoned() && server.is_settled();
        self.next_owner(key, client);
        if abandoned {
            self.free_server(key);
        }
    }

    /// All turns of the client that holds this server connection have ended.
    pub(super) fn turn_over(&mut self, key: ServerKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        let resetting = server.resetting.take();
        let ServerStage::Lent(client_key) = server.stage else { return };
        let (status, undecided) = (server.status, server.undecided);
        let Some(client) = self.clients.get_mut(client_key) else { return };
        client.since = self.now;
        client.turns_answered();
        let bond = bond(client, server);
        let keeps = matches!(bond, Some(Bond::Session | Bond::Pinned | Bond::Transaction));
        if let Some(local_defaults) = resetting.filter(|_| keeps && status != TransactionStatus::Failed) {
            // The client keeps the connection: what it set at start-up has to come back now.
            self.restore_parameters(client_key, key, &local_defaults);
        }
        match bond {
            None => self.unlink(client_key, key),
            Some(_) if undecided => self.deal_inbox(client_key),
            Some(_) => {}
        }
    }

    /// A client of a pool in statement mode has begun a transaction: it hears of that in place of ReadyForQuery.
    fn transaction_refused(&mut self, key: ClientKey) {
        let refusal = Refusal::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "transaction blocks are not allowed in statement pooling mode",
        )
        .hint("use pool_mode = \"transaction\" for this database or user");
        self.refuse(key, &refusal);
    }

    /// The client gives its server connection back; what it sent meanwhile is its next turn.
    pub(super) fn unlink(&mut self, client_key: ClientKey, server_key: ServerKey) {
        if let Some(client) = self.clients.get_mut(client_key) {
            client.stage = Stage::Idle;
        }
        self.free_server(server_key);
        let Some(client) = self.clients.get(client_key) else { return };
        if !client.inbox.is_empty() {
            self.deal_inbox(client_key);
        } else if client.paused {
            self.restrain_client(client_key);
        }
    }

    /// Bytes to be written to a client.
    #[must_use]
    pub fn client_unsent(&self, key: ClientKey) -> &[u8] {
        self.clients.get(key).map_or(&[], |client| client.outbox.pending())
    }

    /// Bytes to be written to a server.
    #[must_use]
    pub fn server_unsent(&self, key: ServerKey) -> &[u8] {
        self.servers.get(key).map_or(&[], |server| server.outbox.pending())
    }

    /// This many of them were written.
    pub fn client_sent(&mut self, key: ClientKey, count: usize) {
        let Some(client) = self.clients.get_mut(key) else { return };
        client.outbox.advance(count);
        let low = client.outbox.pending().len() <= self.directory.limits.server_buffer_bytes / 2;
        if let (true, Stage::Linked(server_key, _) | Stage::Owed(server_key)) = (low, &client.stage)
            && let Some(server) = self.servers.get_mut(*server_key)
            && server.paused
        {
            server.paused = false;
            self.actions.push_back(super::Action::ResumeServer(*server_key));
        }
    }

    /// This many of them were written.
    pub fn server_sent(&mut self, key: ServerKey, count: usize) {
        let Some(server) = self.servers.get_mut(key) else { return };
        server.outbox.advance(count);
        let low = server.outbox.pending().len() <= self.directory.limits.client_buffer_bytes / 2;
        if let (true, ServerStage::Lent(client)) = (low, &server.stage)
            && self.clients.get(*client).is_some_and(|client| client.paused)
        {
            let client = *client;
            self.restrain_client(client);
        }
    }

    /// How long ago `since` is.
    pub(super) fn age(&self, since: Micros) -> Micros {
        self.now.saturating_sub(since)
    }
}
