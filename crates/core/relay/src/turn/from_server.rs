//! Passes a server's frames on to the client that waits for them.

use std::sync::Arc;

use trunkline_wire::backend::{
    ParameterStatus, bind_complete, close_complete, command_complete, copy_both_response, copy_data,
    copy_done, copy_in_response, copy_out_response, data_row, empty_query_response, error_response,
    function_call_response, no_data, notice_response, notification_response, parameter_description,
    parameter_status, parse_complete, portal_suspended, ready_for_query, row_description,
};
use trunkline_wire::{Limits, frame};

use super::body::body;
use super::context::Context;
use super::ready::ready;
use super::server_errors::error;
use super::server_step::{ServerStop, Step, unexpected};
use super::{Chore, Expect, Fate, Message, Owner, Reply, Subject, Undo, parse_settings};
use crate::carried::parameters::canonical_name;
use crate::carried::prepared::{Shape, changes_definitions};
use crate::client::Client;
use crate::direct_send::DirectSend;
use crate::error::ServerMisbehaved;
use crate::rest::Rest;
use crate::server::{ChoreAnswer, Server};

/// The ParameterDescription of a statement without rows is kept up to this size.
const DESCRIPTION_KEPT_BYTES: usize = 256;

/// The notices for a Parse of our own are kept up to this size, until we know whether the Parse fails.
const NOTICES_KEPT_BYTES: usize = 4 << 10;

/// A longer ErrorResponse is passed on as it comes; we do not read its fields.
const LOOKED_INTO_BYTES: usize = 64 << 10;

// tidy: long because it is the one loop over a server's bytes, and its cursors belong together
/// Processes what a server has sent. Returns how many bytes were consumed. Unless the result is [`ServerStop::More`], call
/// again with the rest.
pub(crate) fn from_server<W: DirectSend>(
    context: &mut Context<'_, W>,
    mut client: Option<&mut Client>,
    server: &mut Server,
    input: &[u8],
) -> (usize, ServerStop) {
    let relayed = client.is_some();
    let (passed, dropped) = server.rest.take(input.len());
    let mut at = passed + dropped;
    // Where the bytes begin that are to be passed on and have not been.
    let mut run = if relayed { dropped } else { at };
    if local_answer_is_due(context, server) {
        if let Some(client) = client.as_deref_mut() {
            context.pass_client(client, &input[run..at]);
        }
        run = at;
        send_due_answers(context, client.as_deref_mut(), server);
    }
    let stop = loop {
        let header = match frame::header(&input[at..]) {
            Ok(Some(header)) => header,
            Ok(None) => break ServerStop::More,
            Err(error) => break ServerStop::Fault(ServerMisbehaved::Frame(error)),
        };
        let frame_bytes = header.frame_bytes();
        let received = &input[at..input.len().min(at + frame_bytes)];
        let whole = received.len() == frame_bytes;
        if relayed && matches!(header.tag, data_row::TAG | copy_data::TAG) && whole && client_is_next(server)
        {
            // Most messages are rows. They change no state, so they take this short way.
            at = skip_rows(input, at + frame_bytes);
            begin_reply(client.as_deref_mut(), server);
            continue;
        }
        // If a message is too long for its type, the peer is no PostgreSQL server, or we read at the wrong place.
        if let Err(over) = Limits::default().check_server_after_auth(header) {
            break ServerStop::Fault(ServerMisbehaved::TooLarge(over));
        }
        let step =
            match step(context, client.as_deref_mut(), server, header.tag, received, whole, frame_bytes) {
                Ok(step) => step,
                Err(fault) => break ServerStop::Fault(fault),
            };
        let (pass, stop, instead) = match step {
            Step::Pass => (true, None, None),
            Step::Drop => (false, None, None),
            Step::StopAfter(pass, stop) => (pass, Some(stop), None),
            Step::Replace(bytes) => (false, None, Some(bytes)),
            Step::Wait => break ServerStop::More,
            Step::StopBefore(stop) => break stop,
        };
        let passed = pass && relayed;
        if !passed
            && run < at
            && let Some(client) = client.as_deref_mut()
        {
            context.pass_client(client, &input[run..at]);
        }
        at += received.len();
        server.rest = Rest::of(frame_bytes - received.len(), passed);
        if passed {
            begin_reply(client.as_deref_mut(), server);
        } else {
            run = at;
        }
        if let (Some(bytes), Some(client)) = (instead, client.as_deref_mut()) {
            context.pass_client(client, &bytes);
            begin_reply(Some(client), server);
        }
        // A client that we disconnect gets nothing more.
        if local_answer_is_due(context, server) && !matches!(stop, Some(ServerStop::TransactionOpen)) {
            if let Some(client) = client.as_deref_mut() {
                context.pass_client(client, &input[run..at]);
            }
            run = at;
            send_due_answers(context, client.as_deref_mut(), server);
        }
        if let Some(stop) = stop {
            break stop;
        }
        if server.awaits_shape && !server.turns.awaits_shape() {
            server.awaits_shape = false;
            break ServerStop::ClientCanContinue;
        }
        // A message of the client waited for turns that the server has skipped after an error.
        if server.awaits_answers && server.turns.turns() == 0 {
            break ServerStop::ClientCanContinue;
        }
    };
    if let Some(client) = client {
        context.finish_client(client, &input[run.min(at)..at], at < input.len());
    }
    (at, stop)
}

/// An answer goes to the client. From now on we cannot repeat the turn without the client's noticing.
#[inline]
fn begin_reply(client: Option<&mut Client>, server: &mut Server) {
    if let Some(client) = client {
        client.output_held = false;
        server.turns.answered();
    }
}

/// The end of the complete rows that follow in `input` from `at` on.
#[inline]
fn skip_rows(input: &[u8], mut at: usize) -> usize {
    while let Ok(Some(header)) = frame::header(&input[at..]) {
        let end = at + header.frame_bytes();
        if !matches!(header.tag, data_row::TAG | copy_data::TAG) || end > input.len() {
            break;
        }
        at = end;
    }
    at
}

#[inline]
fn client_is_next(server: &Server) -> bool {
    server.turns.head().is_some_and(|head| head.expect.fate == Fate::Forward)
}

#[inline]
fn local_answer_is_due<W>(context: &Context<'_, W>, server: &Server) -> bool {
    let owner = server.turns.owner().and_then(Owner::client);
    local_answer_is_next(server) && owner.is_none_or(|client| context.client == Some(client))
}

#[inline]
fn local_answer_is_next(server: &Server) -> bool {
    server.turns.head().is_some_and(|head| head.expect.fate == Fate::AnswerLocally)
}

/// Removes the local answer at the head, and returns its frame. There is none for the end of a COPY.
fn pop_local_answer(server: &mut Server) -> Option<&'static [u8]> {
    match server.turns.pop()?.0.message {
        Message::Parse(_) => Some(&parse_complete::FRAME),
        Message::Close => Some(&close_complete::FRAME),
        _ => None,
    }
}

/// Sends the local answers at the head of the queue to the client, whose turn is now the first.
pub(crate) fn send_local_answers(client: &mut Client, server: &mut Server) {
    while local_answer_is_next(server) {
        if let Some(frame) = pop_local_answer(server) {
            client.outbox.push(frame);
            client.output_held = false;
        }
    }
}

/// Sends the local answers at the head of the queue to the client.
fn send_due_answers<W: DirectSend>(
    context: &mut Context<'_, W>,
    mut client: Option<&mut Client>,
    server: &mut Server,
) {
    if !server.rest.is_none() {
        // The message before them is not complete yet.
        return;
    }
    while local_answer_is_due(context, server) {
        if let (Some(frame), Some(client)) = (pop_local_answer(server), client.as_deref_mut()) {
            context.pass_client(client, frame);
        }
    }
}

// tidy: long because it is one table: a row for each message
#[allow(clippy::too_many_arguments)]
fn step<W: DirectSend>(
    context: &mut Context<'_, W>,
    client: Option<&mut Client>,
    server: &mut Server,
    tag: u8,
    received: &[u8],
    whole: bool,
    frame_bytes: usize,
) -> Result<Step, ServerMisbehaved> {
    let looked_into = matches!(tag, parameter_status::TAG | command_complete::TAG | ready_for_query::TAG)
        || (tag == error_response::TAG && frame_bytes <= LOOKED_INTO_BYTES);
    if looked_into && !whole {
        return Ok(Step::Wait);
    }
    match tag {
        ready_for_query::TAG => return ready(context, client.as_deref(), server, received),
        error_response::TAG => return error(context, client, server, received),
        parameter_status::TAG => return parameter(client.as_deref(), server, received),
        notification_response::TAG => {
            // Only the client that has the connection can have run LISTEN, so only that client gets it.
            let owner = server.turns.owner();
            let has_it = server.turns.is_empty() || owner.and_then(Owner::client) == context.client;
            let pass = client.is_some() && has_it && server.lent_to() == context.client;
            return Ok(if pass { Step::Pass } else { Step::Drop });
        }
        notice_response::TAG => return Ok(notice(client.is_some(), server, received, frame_bytes)),
        _ => {}
    }
    server.copy.early_syncs = 0;
    let Some(head) = server.turns.head() else { return Err(unexpected(tag, "nothing")) };
    let owner = server.turns.owner();
    if owner == Some(Owner::Chore(Chore::Settle)) && tag != empty_query_response::TAG {
        // The server answers a message that we believed it to have skipped.
        return Err(unexpected(tag, "the end of an empty query"));
    }
    let message = &head.expect.message;
    let in_query = matches!(message, Message::Query);
    let ours = head.is_ours();
    let pass = if ours { Step::Drop } else { Step::Pass };
    match tag {
        data_row::TAG | command_complete::TAG if matches!(message, Message::Select(_)) => {
            return Ok(if whole {
                parse_settings::answer(client, server, tag, body(received))
            } else {
                Step::Wait
            });
        }
        data_row::TAG if owner == Some(Owner::Chore(Chore::AuthQuery)) && server.chore_answer.is_none() => {
            if !whole {
                return Ok(Step::Wait);
            }
            server.chore_answer = Some(ChoreAnswer::Row(body(received).to_vec()));
        }
        data_row::TAG | copy_data::TAG | copy_done::TAG | copy_out_response::TAG => {}
        row_description::TAG if in_query => {}
        row_description::TAG | no_data::TAG if let Message::Describe(subject) = message => {
            let digested = ours || matches!(subject, Subject::Named(_) | Subject::Renamed(_));
            if digested && !whole {
                return Ok(Step::Wait);
            }
            described(server, (tag == row_description::TAG).then(|| body(received)));
        }
        parameter_description::TAG if matches!(message, Message::Describe(_)) => {
            let kept = whole && !ours && frame_bytes <= DESCRIPTION_KEPT_BYTES;
            server.described = if kept { received.into() } else { Box::default() };
        }
        parse_complete::TAG if matches!(message, Message::Parse(_)) => parsed(server),
        bind_complete::TAG if matches!(message, Message::Bind(_)) => drop(server.turns.pop()),
        close_complete::TAG if matches!(message, Message::Close) => drop(server.turns.pop()),
        command_complete::TAG | empty_query_response::TAG | portal_suspended::TAG
            if in_query || matches!(message, Message::Execute) =>
        {
            if !in_query {
                server.turns.pop();
            }
            server.copy.ended();
            return Ok(if tag == command_complete::TAG {
                completed(context, client, server, owner, body(received), pass)
            } else {
                pass
            });
        }
        copy_in_response::TAG | copy_both_response::TAG
            if (in_query || matches!(message, Message::Execute)) && !server.turns.is_shared() =>
        {
            let copy = server.turns.copy_in_began();
            (server.copy.takes_data, server.copy.ignored_syncs) = (copy.end_to_come, copy.ignores_syncs);
            if (server.copy.takes_data || server.turns.is_unsynced()) && server.awaits_answers {
                // The server waits for the client's next message, so that message need not wait any longer.
                let step =
                    if ours { Step::Drop } else { Step::StopAfter(true, ServerStop::ClientCanContinue) };
                return Ok(step);
            }
        }
        function_call_response::TAG if matches!(message, Message::FunctionCall) => {}
        _ => return Err(unexpected(tag, "another answer")),
    }
    Ok(pass)
}

fn parsed(server: &mut Server) {
    match server.turns.pop().map(|(expect, _)| expect.undo) {
        Some(Undo::PreparedAs(statement, _)) => statement.note_parsed(),
        _ => server.withheld_notices = Vec::new(),
    }
}

/// Handles a NoticeResponse.
fn notice(relayed: bool, server: &mut Server, received: &[u8], frame_bytes: usize) -> Step {
    let Some(head) = server.turns.head() else {
        return if relayed { Step::Pass } else { Step::Drop };
    };
    if let Undo::PreparedAs(statement, _) = &head.expect.undo {
        statement.note_notice();
    }
    if relayed
        && matches!(head.expect.undo, Undo::Prepared(_))
        && server.withheld_notices.len() + frame_bytes <= NOTICES_KEPT_BYTES
    {
        if received.len() < frame_bytes {
            return Step::Wait;
        }
        server.withheld_notices.extend_from_slice(received);
    }
    if relayed && !head.is_ours() { Step::Pass } else { Step::Drop }
}

/// Handles the description of a statement's result columns; `None`: the statement gives no rows.
fn described(server: &mut Server, description: Option<&[u8]>) {
    // The ParameterDescription before it, if a statement was described.
    let parameters = std::mem::take(&mut server.described);
    let Some((Expect { message: Message::Describe(subject), fate, .. }, _)) = server.turns.pop() else {
        return;
    };
    let shape = Shape::of_description(description);
    match subject {
        Subject::Named(named) => {
            server.statements.set_shape(named.statement.id, shape);
            if fate == Fate::Forward {
                named.set_shape(shape);
            }
            if description.is_none() && !parameters.is_empty() {
                named.statement.set_parameters_without_rows(parameters);
            }
        }
        Subject::Numbered(id) if fate == Fate::Discard => server.statements.set_shape(id, shape),
        _ => {}
    }
}

/// Handles CommandComplete. Some commands change what the connection has prepared, its parameters, or the definitions
/// by which statements are parsed.
fn completed<W>(
    context: &mut Context<'_, W>,
    mut client: Option<&mut Client>,
    server: &mut Server,
    owner: Option<Owner>,
    tag: &[u8],
    pass: Step,
) -> Step {
    if changes_definitions(tag) {
        // Other clients see the change when the transaction ends, this client at once.
        context.schema.changed();
        server.pending.redefines = true;
    }
    if matches!(tag, b"DEALLOCATE ALL\0" | b"DISCARD ALL\0") {
        forget_statements(client.as_deref_mut(), server);
    }
    let mut is_reset = false;
    if let (Some(client), Step::Pass) = (client, &pass) {
        match (tag, &mut client.resets) {
            (b"COMMIT\0" | b"PREPARE TRANSACTION\0", Some(resets)) => resets.transaction_ended(true),
            (b"ROLLBACK\0", Some(resets)) => resets.transaction_ended(false),
            (b"DISCARD ALL\0", resets) => resets.get_or_insert_default().discard_all_done(),
            _ => {}
        }
        // What was sent after it may have left something again.
        let in_query = server.turns.head().is_some_and(|head| matches!(head.expect.message, Message::Query));
        if tag == b"DISCARD ALL\0" && in_query && server.turns.turns() == 1 {
            client.pins = client.pins.discarded();
        }
        is_reset = client.resets.is_some();
    }
    // A command of an abandoned turn counts too. Queries of our own do not, because we know what they set.
    match (tag, pass, owner) {
        (b"DISCARD ALL\0" | b"RESET\0", Step::Pass, _) if is_reset => Step::Pass,
        (b"DISCARD ALL\0" | b"RESET\0", pass, _) if !server.has_unreported_parameters() => pass,
        (b"DISCARD ALL\0" | b"RESET\0", Step::Pass, _) => {
            Step::StopAfter(true, ServerStop::ParametersUnknown)
        }
        (b"DISCARD ALL\0" | b"RESET\0", _, Some(Owner::Chore(Chore::Abandoned))) => {
            Step::StopAfter(false, ServerStop::ParametersUnknown)
        }
        (_, pass, _) => pass,
    }
}

/// DEALLOCATE ALL was run: the server and the client have no named statements any more, except those of messages that were
/// sent after it.
fn forget_statements(client: Option<&mut Client>, server: &mut Server) {
    server.statements.clear();
    let mut names = client.and_then(|client| client.statements.as_mut());
    let mut before = names.as_mut().map(|names| std::mem::take(&mut ***names)).unwrap_or_default();
    for expect in server.turns.replies().creating() {
        if let Undo::PreparedAs(statement, _) | Undo::Prepared(statement) = &expect.undo {
            server.statements.insert(Arc::clone(statement));
        }
        let kept = match &expect.undo {
            Undo::PreparedAs(statement, name) => Some((name, Arc::clone(statement))),
            Undo::NameAdded(name) => before.remove(name).map(|statement| (name, statement)),
            _ => None,
        };
        if let (Some((name, statement)), Some(names)) = (kept, names.as_mut()) {
            names.insert(name, statement);
        }
    }
}

fn parameter(client: Option<&Client>, server: &Server, received: &[u8]) -> Result<Step, ServerMisbehaved> {
    let status = ParameterStatus::decode(body(received))
        .map_err(|_| ServerMisbehaved::Malformed("ParameterStatus"))?;
    let Ok(name) = std::str::from_utf8(status.name) else { return Ok(Step::Pass) };
    let name = canonical_name(name);
    let ours = server.turns.head().is_some_and(Reply::is_ours);
    if !server.profile.has_room_for(&name, status.value.len()) {
        return Err(ServerMisbehaved::TooManyParameters);
    }
    // After a reset the client is told its own start-up value instead of the server's.
    let pass = !ours && !client.is_some_and(|client| client.is_hidden_by_reset(&name, status.value, server));
    Ok(Step::StopAfter(pass, ServerStop::Parameter(name.into(), status.value.into())))
}
