//! Our own messages before a client's message: they prepare the client's statements that this server connection lacks.

use std::sync::Arc;

use trunkline_wire::frontend::{self, Close, Describe, Target};

use super::context::Context;
use super::parse_settings::{restore_parse_settings, set_parse_settings};
use super::{Expect, Message, Subject, Undo};
use crate::carried::prepared::{Statement, StatementId};
use crate::client::Client;
use crate::server::Server;

/// Prepares the statement if the server does not have it, so that the server has it when it reads the next message.
pub(super) fn ensure<W>(context: &mut Context<'_, W>, server: &mut Server, statement: &Arc<Statement>) {
    if server.statements.touch(statement.id) {
        return;
    }
    server.misses += 1;
    context.counters.prepare_cache_miss += 1;
    make_room(context, server);
    server.statements.insert(Arc::clone(statement));
    let back = set_parse_settings(context, server, statement);
    frontend::parse::write_renamed(server.outbox.buffer(), statement.name(), statement.body());
    let parse = Message::Parse(Subject::Untracked);
    server.turns.append(Expect::discard(parse, Undo::Prepared(Arc::clone(statement))));
    restore_parse_settings(context, server, back);
}

/// Makes the client's unnamed statement the server's, before the server reads the next message. If the client has none,
/// the server's is closed. Returns the statement's id.
pub(super) fn ensure_unnamed<W>(
    context: &mut Context<'_, W>,
    client: &Client,
    server: &mut Server,
) -> Option<StatementId> {
    let before = server.statements.unnamed;
    let unnamed = client.unnamed.as_ref().filter(|unnamed| Some(unnamed.id) == before || unnamed.has_text());
    let wanted = unnamed.map(|unnamed| unnamed.id);
    server.statements.unnamed = wanted;
    if before == wanted {
        return wanted;
    }
    match unnamed {
        Some(unnamed) => {
            let back = set_parse_settings(context, server, unnamed);
            frontend::parse::write_renamed(server.outbox.buffer(), b"", unnamed.body());
            let parse = Message::Parse(Subject::Untracked);
            server.turns.append(Expect::discard(parse, Undo::ServerUnnamed(before)));
            restore_parse_settings(context, server, back);
        }
        None => {
            write_close(server.outbox.buffer(), b"");
            server.turns.append(Expect::discard(Message::Close, Undo::ServerUnnamed(before)));
        }
    }
    wanted
}

/// Closes statements on the server until one more fits.
pub(super) fn make_room<W>(context: &mut Context<'_, W>, server: &mut Server) {
    while let Some(evicted) = server.statements.evict(context.limits.prepared_max) {
        context.counters.prepared_evicted += 1;
        write_close(server.outbox.buffer(), evicted.name());
        server.turns.append(Expect::discard(Message::Close, Undo::Closed(evicted)));
    }
}

/// Closes a statement on the server. The client does not get the answer.
pub(crate) fn inject_close(server: &mut Server, statement: Arc<Statement>) {
    write_close(server.outbox.buffer(), statement.name());
    server.statements.remove(statement.id);
    server.turns.append(Expect::discard(Message::Close, Undo::Closed(statement)));
}

pub(super) fn write_describe(out: &mut Vec<u8>, name: &[u8]) {
    Describe { target: Target::Statement, name }.encode(out);
}

pub(super) fn write_close(out: &mut Vec<u8>, name: &[u8]) {
    Close { target: Target::Statement, name }.encode(out);
}
