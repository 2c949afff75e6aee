//! Parse messages above `prepared_statement_bytes_max`.
//!
//! They are passed on as they come, and neither gathered nor shared: only the server has their text. Such a statement can be
//! used for as long as its client keeps the server connection, and after that where it finds the same one again.

use std::sync::Arc;

use trunkline_wire::frame::{self, HEADER_BYTES};
use trunkline_wire::frontend::parse;

use super::body::{body, cstr};
use super::client_step::Step;
use super::inject::{ensure, make_room};
use super::path::Path;
use super::{Expect, Message, Subject, Undo};
use crate::carried::prepared::{Parsed, Statement, significant};
use crate::client::Client;
use crate::error::ClientMisbehaved;
use crate::limits::TurnLimits;
use crate::server::Server;
use crate::wires::Wires;

/// Whether a Parse is longer than what is gathered.
pub(super) fn is_too_long(limits: &TurnLimits, there: &[u8]) -> bool {
    let header = frame::header(there).ok().flatten();
    header.is_some_and(|header| header.frame_bytes() > limits.statement_bytes_max)
}

/// Whether the server can be asked to use the statement: it has it, or can be given it.
pub(super) fn is_usable(server: &mut Server, statement: &Statement) -> bool {
    statement.is_kept() || server.statements.touch(statement.id)
}

pub(super) fn parse<W: Wires>(
    path: &mut Path<'_, W>,
    client: &mut Client,
    server: &mut Server,
    there: &[u8],
) -> Result<Step, ClientMisbehaved> {
    let Some((name, _)) = cstr(body(there)) else {
        return match there.len() > path.limits.statement_bytes_max {
            true => Err(ClientMisbehaved::Malformed("Parse")),
            false => Ok(Step::Wait),
        };
    };
    // What its text says of the session is not known: it may do anything.
    server.pending.forgets = true;
    server.pending.begins = true;
    path.runs_anything(client, server);
    server.pending.settings.changed();
    let parsed = Parsed::new(b"", &client.profile, path.schema, path.now);
    if name.is_empty() {
        let unnamed = path.registry.unnamed(parsed, None);
        let id = unnamed.id;
        let previous = client.unnamed.replace(unnamed);
        let on_server = server.statements.unnamed.replace(id);
        let before = Undo::BothUnnamed(on_server, previous);
        server.turns.append(Expect::forward(Message::Parse(Subject::Untracked), before));
        return Ok(Step::Pass);
    }
    if path.limits.prepared_max == 0 {
        let parse = Message::Parse(Subject::Untracked);
        server.turns.append(Expect::forward(parse, Undo::Nothing));
        return Ok(Step::Pass);
    }
    let statement = path.registry.unkept(parsed, path.entropy);
    let own = significant(name);
    let known = client.statements().named(own).cloned();
    if let Some(known) = known.as_ref().filter(|known| is_usable(server, known)) {
        // The server itself refuses it: it knows whether something else is wrong with it before.
        ensure(path, server, known);
        let step = renamed(server, there, name, known.name());
        let parse = Message::Parse(Subject::foreign(own, known.name()));
        server.turns.append(Expect::forward(parse, Undo::Nothing));
        return step;
    }
    if known.is_none() && client.statements().len() >= path.limits.client_statements_max {
        return Err(ClientMisbehaved::TooManyStatements { limit: path.limits.client_statements_max });
    }
    client.statements().insert(own, Arc::clone(&statement));
    server.misses += 1;
    path.counters.prepare_cache_miss += 1;
    make_room(path, server);
    server.statements.insert(Arc::clone(&statement));
    let step = renamed(server, there, name, statement.name());
    let undo = Undo::Named(statement, own.into());
    server.turns.append(Expect::forward(Message::Parse(Subject::Untracked), undo));
    step
}

/// The beginning of the message, with another name.
fn renamed(server: &mut Server, there: &[u8], name: &[u8], instead: &[u8]) -> Result<Step, ClientMisbehaved> {
    let [_, a, b, c, d, ..] = *there else { return Ok(Step::Wait) };
    let length = u64::from(u32::from_be_bytes([a, b, c, d])) + instead.len() as u64 - name.len() as u64;
    let length = u32::try_from(length).map_err(|_| ClientMisbehaved::Malformed("Parse"))?;
    parse::encode_prefix(server.outbox.buffer(), length, instead);
    Ok(Step::Replaced(HEADER_BYTES + name.len() + 1))
}
