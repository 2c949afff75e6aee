//! Messages of ours ahead of a client's: what it has prepared and this server connection lacks.

use std::sync::Arc;

use trunkline_wire::frontend::{self, Close, Describe, Target};

use super::path::Path;
use super::reading::{read_as, read_as_before};
use super::{Expect, Message, Subject, Undo};
use crate::carried::prepared::{Statement, StatementId};
use crate::client::Client;
use crate::server::Server;

/// The server has the statement once it reads what follows.
pub(super) fn ensure<W>(path: &mut Path<'_, W>, server: &mut Server, statement: &Arc<Statement>) {
    if server.statements.touch(statement.id) {
        return;
    }
    server.misses += 1;
    path.counters.prepare_cache_miss += 1;
    make_room(path, server);
    server.statements.insert(Arc::clone(statement));
    let back = read_as(path, server, statement);
    frontend::parse::write_renamed(server.outbox.buffer(), statement.name(), statement.body());
    let parse = Message::Parse(Subject::Untracked);
    server.turns.append(Expect::skip(parse, Undo::Prepared(Arc::clone(statement))));
    read_as_before(path, server, back);
}

/// The server's unnamed statement is the client's once it reads what follows; when the client has none,
/// the server has none either.
pub(super) fn ensure_unnamed<W>(
    path: &mut Path<'_, W>,
    client: &Client,
    server: &mut Server,
) -> Option<StatementId> {
    let before = server.statements.unnamed;
    let unnamed = client.unnamed.as_ref().filter(|unnamed| Some(unnamed.id) == before || unnamed.is_kept());
    let wanted = unnamed.map(|unnamed| unnamed.id);
    server.statements.unnamed = wanted;
    if before == wanted {
        return wanted;
    }
    match unnamed {
        Some(unnamed) => {
            let back = read_as(path, server, unnamed);
            frontend::parse::write_renamed(server.outbox.buffer(), b"", unnamed.body());
            let parse = Message::Parse(Subject::Untracked);
            server.turns.append(Expect::skip(parse, Undo::Unnamed(before)));
            read_as_before(path, server, back);
        }
        None => {
            write_close(server.outbox.buffer(), b"");
            server.turns.append(Expect::skip(Message::Close, Undo::Unnamed(before)));
        }
    }
    wanted
}

pub(super) fn make_room<W>(path: &mut Path<'_, W>, server: &mut Server) {
    while let Some(evicted) = server.statements.evict(path.limits.prepared_max) {
        path.counters.prepared_evicted += 1;
        write_close(server.outbox.buffer(), evicted.name());
        server.turns.append(Expect::skip(Message::Close, Undo::Closed(evicted)));
    }
}

/// Closes a statement on the server; nobody hears of it.
pub(crate) fn inject_close(server: &mut Server, statement: Arc<Statement>) {
    write_close(server.outbox.buffer(), statement.name());
    server.statements.remove(statement.id);
    server.turns.append(Expect::skip(Message::Close, Undo::Closed(statement)));
}

pub(super) fn write_describe(out: &mut Vec<u8>, name: &[u8]) {
    Describe { target: Target::Statement, name }.encode(out);
}

pub(super) fn write_close(out: &mut Vec<u8>, name: &[u8]) {
    Close { target: Target::Statement, name }.encode(out);
}
