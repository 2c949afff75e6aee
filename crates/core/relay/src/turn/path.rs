//! What a step of a turn works with, and where bytes go: straight to a socket when they are many, to the outbox when they are
//! few.

use std::sync::Arc;

use trunkline_parser::classify::Class;
use trunkline_pool::Micros;
use trunkline_session::Entropy;

use crate::carried::Pins;
use crate::carried::pins::Pin;
use crate::carried::prepared::{Registry, Schema, Statement};
use crate::client::Client;
use crate::counters::Counters;
use crate::keys::{ClientKey, ServerKey};
use crate::limits::TurnLimits;
use crate::outbox::Outbox;
use crate::server::Server;
use crate::text::{Classes, Effects, Later, ParseBudget, Reading, is_only_rows};
use crate::wires::Wires;

/// Runs of bytes from here on are sent where they lie. Below, a copy costs less than a system call.
const DIRECT_BYTES: usize = 16 << 10;

/// What a step of a turn works with beside the two connections.
pub(crate) struct Path<'a, W> {
    pub(crate) wires: &'a mut W,
    pub(crate) registry: &'a Registry,
    pub(crate) classes: &'a Classes,
    /// What may still be parsed in this round.
    pub(crate) parses: &'a mut ParseBudget,
    pub(crate) limits: &'a TurnLimits,
    pub(crate) counters: &'a mut Counters,
    pub(crate) entropy: &'a mut (dyn Entropy + Send),
    /// The definitions that the server reads statements by.
    pub(crate) schema: &'a Arc<Schema>,
    /// The client that sends, or that gets the next answer.
    pub(crate) client: Option<ClientKey>,
    pub(crate) server: ServerKey,
    /// How many more messages of the client are dealt with in this round.
    pub(crate) messages_left: usize,
    pub(crate) replaying: bool,
    /// A server connection is given on before it has answered: what texts are is asked.
    pub(crate) shares: bool,
    /// What a text leaves in its session pins its client to the connection (`auto` mode): what texts are is asked.
    pub(crate) pins: bool,
    /// Others wait for the server connection.
    pub(crate) wanted: bool,
    /// A turn must not leave a transaction open (statement mode).
    pub(crate) no_transactions: bool,
    pub(crate) now: Micros,
}

impl<W> Path<'_, W> {
    /// What a client's text changes of its session.
    #[inline]
    pub(crate) fn effects(&mut self, client: &Client, text: &[u8]) -> Result<Option<Arc<Effects>>, Later> {
        self.classes.effects(text, || Reading::of(&client.profile), self.parses)
    }

    /// A client's text is sent to be run: whether the connection can be given on after it, and whether its client must keep
    /// the connection, are known from now on.
    pub(crate) fn runs_text(
        &mut self,
        client: &mut Client,
        server: &mut Server,
        text: &[u8],
        effects: Option<&Effects>,
    ) -> Result<(), Later> {
        if !self.shares && !self.pins {
            server.pending.beyond_rows = true;
            return Ok(());
        }
        match self.class(client, text) {
            Ok(class) => self.runs(client, server, class, effects),
            Err(Later) if self.pins => return Err(Later),
            Err(Later) => server.pending.beyond_rows = true,
        }
        Ok(())
    }

    /// What a client's text is.
    pub(crate) fn class(&mut self, client: &Client, text: &[u8]) -> Result<Class, Later> {
        self.classes.class(text, Reading::of(&client.profile), self.parses)
    }

    /// The same, of a portal of the statement.
    pub(crate) fn runs_statement(&mut self, client: &mut Client, server: &mut Server, statement: &Statement) {
        if !self.shares && !self.pins {
            server.pending.beyond_rows = true;
            return;
        }
        let class = statement.class(self.classes, self.parses).unwrap_or(Class::UNKNOWN);
        self.runs(client, server, class, Some(statement.effects()));
    }

    /// Something is sent to be run of which nothing is known.
    pub(crate) fn runs_anything(&self, client: &mut Client, server: &mut Server) {
        server.pending.beyond_rows = true;
        if self.pins {
            client.pins |= Pins::one(Pin::Unread);
        }
    }

    fn runs(&self, client: &mut Client, server: &mut Server, class: Class, effects: Option<&Effects>) {
        server.pending.beyond_rows |= !is_only_rows(class);
        if self.pins {
            let welcome = server.welcome.as_ref();
            client.pins |=
                Pins::of(class, effects, |name| welcome.is_some_and(|welcome| welcome.reports(name)));
        }
    }
}

impl<W: Wires> Path<'_, W> {
    #[inline]
    pub(crate) fn pass_server(&mut self, server: &mut Server, run: &[u8]) {
        self.finish_server(server, run, true);
    }

    #[inline]
    pub(crate) fn pass_client(&mut self, client: &mut Client, run: &[u8]) {
        self.finish_client(client, run, true);
    }

    /// The last run of what was read. When `more` cannot follow at once it needs no outbox, if it is alone.
    #[inline]
    pub(crate) fn finish_server(&mut self, server: &mut Server, run: &[u8], more: bool) {
        self.counters.client_bytes += run.len() as u64;
        deliver(&mut server.outbox, run, more, |bytes| self.wires.send_server(self.server, bytes));
    }

    /// The same, for a client.
    #[inline]
    pub(crate) fn finish_client(&mut self, client: &mut Client, run: &[u8], more: bool) {
        self.counters.server_bytes += run.len() as u64;
        let wires = &mut *self.wires;
        let send = |bytes: &[u8]| self.client.map_or(0, |key| wires.send_client(key, bytes));
        deliver(&mut client.outbox, run, more, send);
    }
}

/// Sends a run after what waits in the outbox if it is long, or if it is alone and no more follows; what is not sent is
/// kept in the outbox.
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
