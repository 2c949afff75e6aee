//! What the code of a turn needs beside the two connections, and how it sends bytes: many at once directly to the
//! socket, few by the outbox.

use std::sync::Arc;

use trunkline_parser::classify::Class;
use trunkline_pool::Micros;
use trunkline_session::Entropy;

use crate::carried::Pins;
use crate::carried::pins::Pin;
use crate::carried::prepared::{Registry, Schema, Statement};
use crate::client::Client;
use crate::counters::Counters;
use crate::direct_send::DirectSend;
use crate::keys::{ClientKey, ServerKey};
use crate::limits::TurnLimits;
use crate::outbox::Outbox;
use crate::server::Server;
use crate::text::{Classes, Effects, ParseBudget, ParseBudgetUsed, QuotingSettings, is_only_rows};

/// From this size on, bytes are sent without a copy. For fewer bytes, copying them costs less than a system call.
const DIRECT_BYTES: usize = 16 << 10;

/// What the code of a turn needs beside the two connections.
pub(crate) struct Context<'a, W> {
    pub(crate) sockets: &'a mut W,
    pub(crate) registry: &'a Registry,
    pub(crate) classes: &'a Classes,
    /// How many bytes of SQL texts may still be parsed in this round.
    pub(crate) parses: &'a mut ParseBudget,
    pub(crate) limits: &'a TurnLimits,
    pub(crate) counters: &'a mut Counters,
    pub(crate) entropy: &'a mut (dyn Entropy + Send),
    /// The version of the database's definitions, by which the server parses statements.
    pub(crate) schema: &'a Arc<Schema>,
    /// The client that sends, or that gets the next answer.
    pub(crate) client: Option<ClientKey>,
    pub(crate) server: ServerKey,
    /// How many more messages of the client may be processed in this round.
    pub(crate) messages_left: usize,
    /// Whether the client's messages are a recorded turn that is repeated.
    pub(crate) replaying: bool,
    /// Whether a client may pass its server connection on before its answers have come. Then the class of each SQL text
    /// counts.
    pub(crate) early_release: bool,
    /// Whether a text that leaves something in its session binds its client to the connection (`auto` mode). Then the class of
    /// each SQL text counts.
    pub(crate) pins: bool,
    /// Whether other clients wait for the server connection.
    pub(crate) others_wait: bool,
    /// A turn must not leave a transaction open (statement mode).
    pub(crate) no_transactions: bool,
    pub(crate) now: Micros,
}

impl<W> Context<'_, W> {
    /// What a client's SQL text changes in its session.
    #[inline]
    pub(crate) fn effects(
        &mut self,
        client: &Client,
        text: &[u8],
    ) -> Result<Option<Arc<Effects>>, ParseBudgetUsed> {
        self.classes.effects(text, || QuotingSettings::of(&client.profile), self.parses)
    }

    /// The class of a client's SQL text.
    pub(crate) fn class(&mut self, client: &Client, text: &[u8]) -> Result<Class, ParseBudgetUsed> {
        self.classes.class(text, QuotingSettings::of(&client.profile), self.parses)
    }

    /// Notes that a client's SQL text is sent to be run: whether another client may follow it on the connection, and whether its
    /// own client must keep the connection.
    pub(crate) fn runs_text(
        &mut self,
        client: &mut Client,
        server: &mut Server,
        text: &[u8],
        effects: Option<&Effects>,
    ) {
        if !self.early_release && !self.pins {
            server.pending.not_only_rows = true;
            return;
        }
        match self.class(client, text) {
            Ok(class) => self.runs(client, server, class, effects),
            // To wait for the next round's budget could take for ever: its effects may use that up again.
            Err(ParseBudgetUsed) => self.runs_anything(client, server),
        }
    }

    /// The same for a portal of a statement.
    pub(crate) fn runs_statement(&mut self, client: &mut Client, server: &mut Server, statement: &Statement) {
        if !self.early_release && !self.pins {
            server.pending.not_only_rows = true;
            return;
        }
        let class = statement.class(self.classes, self.parses).unwrap_or(Class::UNKNOWN);
        self.runs(client, server, class, Some(statement.effects()));
    }

    /// The same for something of which we know nothing.
    pub(crate) fn runs_anything(&self, client: &mut Client, server: &mut Server) {
        server.pending.not_only_rows = true;
        if self.pins {
            client.pins |= Pins::one(Pin::Unread);
        }
    }

    fn runs(&self, client: &mut Client, server: &mut Server, class: Class, effects: Option<&Effects>) {
        server.pending.not_only_rows |= !is_only_rows(class);
        if self.pins {
            let welcome = server.welcome.as_ref();
            client.pins |=
                Pins::of(class, effects, |name| welcome.is_some_and(|welcome| welcome.reports(name)));
        }
    }
}

impl<W: DirectSend> Context<'_, W> {
    #[inline]
    pub(crate) fn pass_server(&mut self, server: &mut Server, run: &[u8]) {
        self.finish_server(server, run, true);
    }

    #[inline]
    pub(crate) fn pass_client(&mut self, client: &mut Client, run: &[u8]) {
        self.finish_client(client, run, true);
    }

    /// Sends the last piece of what was read. It goes directly to the socket if the outbox is empty and no `more` follows.
    #[inline]
    pub(crate) fn finish_server(&mut self, server: &mut Server, run: &[u8], more: bool) {
        self.counters.client_bytes += run.len() as u64;
        deliver(&mut server.outbox, run, more, |bytes| self.sockets.send_server(self.server, bytes));
    }

    /// The same, for a client.
    #[inline]
    pub(crate) fn finish_client(&mut self, client: &mut Client, run: &[u8], more: bool) {
        self.counters.server_bytes += run.len() as u64;
        let sockets = &mut *self.sockets;
        let send = |bytes: &[u8]| self.client.map_or(0, |key| sockets.send_client(key, bytes));
        deliver(&mut client.outbox, run, more, send);
    }
}

/// Sends a piece directly, after the outbox, if it is long, or if the outbox is empty and no more follows. The outbox keeps
/// what was not sent.
#[inline]
fn deliver(outbox: &mut Outbox, run: &[u8], more: bool, mut send: impl FnMut(&[u8]) -> usize) {
    let alone = !more && !run.is_empty() && outbox.is_empty();
    let mut rest = run;
    if alone || run.len() >= DIRECT_BYTES {
        if !outbox.is_empty() {
            let sent = send(outbox.pending());
            outbox.advance(sent);
        }
        if outbox.is_empty() {
            rest = &run[send(run).min(run.len())..];
        }
    }
    if !rest.is_empty() {
        outbox.push(rest);
    }
}
