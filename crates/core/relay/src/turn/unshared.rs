//! Parse messages above `prepared_statement_bytes_max`.
//!
//! They are passed on as they come. We keep no copy of them and no other client shares them: only the server has the text.
//! The client can use such a statement only on this server connection: as long as it keeps the connection, or when it gets
//! the same connection again.

use std::sync::Arc;

use trunkline_wire::frame::{self, HEADER_BYTES};
use trunkline_wire::frontend::parse;

use super::body::{body, cstr};
use super::client_step::Step;
use super::context::Context;
use super::inject::{ensure, make_room};
use super::{Expect, Message, Subject, Undo};
use crate::carried::prepared::{ParseRequest, Statement, truncate_name};
use crate::client::Client;
use crate::direct_send::DirectSend;
use crate::error::ClientMisbehaved;
use crate::limits::TurnLimits;
use crate::server::Server;

/// Whether a Parse message is too long to be kept.
pub(super) fn is_too_long(limits: &TurnLimits, received: &[u8]) -> bool {
    let header = frame::header(received).ok().flatten();
    header.is_some_and(|header| header.frame_bytes() > limits.statement_bytes_max)
}

/// Whether the server has the statement, or we can prepare it there.
pub(super) fn is_usable(server: &mut Server, statement: &Statement) -> bool {
    statement.has_text() || server.statements.touch(statement.id)
}

pub(super) fn parse<W: DirectSend>(
    context: &mut Context<'_, W>,
    client: &mut Client,
    server: &mut Server,
    received: &[u8],
) -> Result<Step, ClientMisbehaved> {
    let Some((name, _)) = cstr(body(received)) else {
        return match received.len() > context.limits.statement_bytes_max {
            true => Err(ClientMisbehaved::Malformed("Parse")),
            false => Ok(Step::Wait),
        };
    };
    // We do not read its text, so it may do anything to the session.
    server.pending.may_deallocate = true;
    server.pending.begins = true;
    context.runs_anything(client, server);
    server.pending.settings.changed();
    let parsed = ParseRequest::new(b"", &client.profile, context.schema, context.now);
    if name.is_empty() {
        let unnamed = context.registry.unnamed(parsed, None);
        let id = unnamed.id;
        let previous = client.unnamed.replace(unnamed);
        let on_server = server.statements.unnamed.replace(id);
        let before = Undo::BothUnnamed(on_server, previous);
        server.turns.append(Expect::forward(Message::Parse(Subject::Untracked), before));
        return Ok(Step::Pass);
    }
    if context.limits.prepared_max == 0 {
        let parse = Message::Parse(Subject::Untracked);
        server.turns.append(Expect::forward(parse, Undo::Nothing));
        return Ok(Step::Pass);
    }
    let statement = context.registry.without_text(parsed, context.entropy);
    let own = truncate_name(name);
    let known = client.statements().named(own).cloned();
    if let Some(known) = known.as_ref().filter(|known| is_usable(server, known)) {
        // The name is in use, so the Parse must fail. The server refuses it, because other errors may come first.
        ensure(context, server, known);
        let step = renamed(server, received, name, known.name());
        let parse = Message::Parse(Subject::renamed(own, known.name()));
        server.turns.append(Expect::forward(parse, Undo::Nothing));
        return step;
    }
    if known.is_none() && client.statements().len() >= context.limits.client_statements_max {
        return Err(ClientMisbehaved::TooManyStatements { limit: context.limits.client_statements_max });
    }
    client.statements().insert(own, Arc::clone(&statement));
    server.misses += 1;
    context.counters.prepare_cache_miss += 1;
    make_room(context, server);
    server.statements.insert(Arc::clone(&statement));
    let step = renamed(server, received, name, statement.name());
    let undo = Undo::PreparedAs(statement, own.into());
    server.turns.append(Expect::forward(Message::Parse(Subject::Untracked), undo));
    step
}

/// Writes the beginning of the Parse message with the name `instead` in place of `name`.
fn renamed(
    server: &mut Server,
    received: &[u8],
    name: &[u8],
    instead: &[u8],
) -> Result<Step, ClientMisbehaved> {
    let [_, a, b, c, d, ..] = *received else { return Ok(Step::Wait) };
    let length = u64::from(u32::from_be_bytes([a, b, c, d])) + instead.len() as u64 - name.len() as u64;
    let length = u32::try_from(length).map_err(|_| ClientMisbehaved::Malformed("Parse"))?;
    parse::encode_prefix(server.outbox.buffer(), length, instead);
    Ok(Step::Replaced(HEADER_BYTES + name.len() + 1))
}
