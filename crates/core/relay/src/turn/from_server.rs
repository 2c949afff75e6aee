//! Frames from a server connection to the client that waits for them.

use std::sync::Arc;

use trunkline_wire::backend::{
    ParameterStatus, bind_complete, close_complete, command_complete, copy_both_response, copy_data,
    copy_done, copy_in_response, copy_out_response, data_row, empty_query_response, error_response,
    function_call_response, no_data, notice_response, notification_response, parameter_description,
    parameter_status, parse_complete, portal_suspended, ready_for_query, row_description,
};
use trunkline_wire::{Limits, frame};

use super::body::body;
use super::path::Path;
use super::ready::ready;
use super::server_errors::error;
use super::server_step::{ServerStop, Step, unexpected};
use super::{Chore, Expect, Fate, Message, Owner, Reply, Subject, Undo, reading};
use crate::carried::parameters::canonical_name;
use crate::carried::prepared::{Shape, changes_definitions};
use crate::client::Client;
use crate::error::ServerMisbehaved;
use crate::rest::Rest;
use crate::server::{ChoreAnswer, Server};
use crate::wires::Wires;

/// A ParameterDescription up to this is remembered of a statement that gives no rows.
const DESCRIPTION_KEPT_BYTES: usize = 256;

/// Notices up to this are kept of a Parse of ours until it is known whether it fails.
const NOTICES_KEPT_BYTES: usize = 4 << 10;

/// An ErrorResponse above this is not looked into but streamed.
const LOOKED_INTO_BYTES: usize = 64 << 10;

// tidy: long because it is the one loop over a server's bytes, and its cursors belong together
/// Deals with what a server sent. Returns how much was consumed; call again with the rest unless it says
/// [`ServerStop::More`].
pub(crate) fn from_server<W: Wires>(
    path: &mut Path<'_, W>,
    mut client: Option<&mut Client>,
    server: &mut Server,
    input: &[u8],
) -> (usize, ServerStop) {
    let relayed = client.is_some();
    let (passed, dropped) = server.rest.take(input.len());
    let mut at = passed + dropped;
    // Where the bytes begin that are to be passed on and have not been.
    let mut run = if relayed { dropped } else { at };
    if local_is_next(path, server) {
        if let Some(client) = client.as_deref_mut() {
            path.pass_client(client, &input[run..at]);
        }
        run = at;
        settle(path, client.as_deref_mut(), server);
    }
    let stop = loop {
        let header = match frame::header(&input[at..]) {
            Ok(Some(header)) => header,
            Ok(None) => break ServerStop::More,
            Err(error) => break ServerStop::Fault(ServerMisbehaved::Frame(error)),
        };
        let frame_bytes = header.frame_bytes();
        let there = &input[at..input.len().min(at + frame_bytes)];
        let whole = there.len() == frame_bytes;
        if relayed && matches!(header.tag, data_row::TAG | copy_data::TAG) && whole && client_is_next(server)
        {
            // Rows are most of what there is: nothing about them changes any state.
            at = skip_rows(input, at + frame_bytes);
            begin_reply(client.as_deref_mut(), server);
            continue;
        }
        // A long message of a type that is always short: the server is no server, or out of step.
        if let Err(over) = Limits::default().check_server_after_auth(header) {
            break ServerStop::Fault(ServerMisbehaved::TooLarge(over));
        }
        let step = match step(path, client.as_deref_mut(), server, header.tag, there, whole, frame_bytes) {
            Ok(step) => step,
            Err(fault) => break ServerStop::Fault(fault),
        };
        let (pass, stop, instead) = match step {
            Step::Pass => (true, None, None),
            Step::Drop => (false, None, None),
            Step::Stop(pass, stop) => (pass, Some(stop), None),
            Step::Replace(bytes) => (false, None, Some(bytes)),
            Step::Wait => break ServerStop::More,
            Step::Before(stop) => break stop,
        };
        let passed = pass && relayed;
        if !passed
            && run < at
            && let Some(client) = client.as_deref_mut()
        {
            path.pass_client(client, &input[run..at]);
        }
        at += there.len();
        server.rest = Rest::of(frame_bytes - there.len(), passed);
        if passed {
            begin_reply(client.as_deref_mut(), server);
        } else {
            run = at;
        }
        if let (Some(bytes), Some(client)) = (instead, client.as_deref_mut()) {
            path.pass_client(client, &bytes);
            begin_reply(Some(client), server);
        }
        // A client that is sent away hears nothing after that.
        if local_is_next(path, server) && !matches!(stop, Some(ServerStop::TransactionOpen)) {
            if let Some(client) = client.as_deref_mut() {
                path.pass_client(client, &input[run..at]);
            }
            run = at;
            settle(path, client.as_deref_mut(), server);
        }
        if let Some(stop) = stop {
            break stop;
        }
        if server.awaits_shape && !server.turns.awaits_shape() {
            server.awaits_shape = false;
            break ServerStop::Decided;
        }
        // An error has made the server skip the turns that a message of the client waited for.
        if server.undecided && server.turns.turns() == 0 {
            break ServerStop::Decided;
        }
    };
    if let Some(client) = client {
        path.finish_client(client, &input[run.min(at)..at], at < input.len());
    }
    (at, stop)
}

/// Something of the turn goes to its client: it can no longer be played again unseen.
#[inline]
fn begin_reply(client: Option<&mut Client>, server: &mut Server) {
    if let Some(client) = client {
        client.held = false;
        server.turns.answered();
    }
}

/// The end of the rows that lie whole in `input` from `at` on.
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
fn local_is_next<W>(path: &Path<'_, W>, server: &Server) -> bool {
    is_given(server)
        && server.turns.owner().and_then(Owner::client).is_none_or(|client| path.client == Some(client))
}

#[inline]
fn is_given(server: &Server) -> bool {
    server.turns.head().is_some_and(|head| head.expect.fate == Fate::Give)
}

/// Takes what is ours to answer; there is nothing to say to the end of a COPY.
fn take_given(server: &mut Server) -> Option<&'static [u8]> {
    match server.turns.pop()?.0.message {
        Message::Parse(_) => Some(&parse_complete::FRAME),
        Message::Close => Some(&close_complete::FRAME),
        _ => None,
    }
}

/// Gives the answers that are ours to the client whose turn has come first, where the server has nothing to say before.
pub(crate) fn give_first(client: &mut Client, server: &mut Server) {
    while is_given(server) {
        if let Some(frame) = take_given(server) {
            client.outbox.push(frame);
            client.held = false;
        }
    }
}

/// Gives the answers that are ours once they are next.
fn settle<W: Wires>(path: &mut Path<'_, W>, mut client: Option<&mut Client>, server: &mut Server) {
    if !server.rest.is_none() {
        // The message before is not whole yet.
        return;
    }
    while local_is_next(path, server) {
        if let (Some(frame), Some(client)) = (take_given(server), client.as_deref_mut()) {
            path.pass_client(client, frame);
        }
    }
}

// tidy: long because it is one table: a row for each message
#[allow(clippy::too_many_arguments)]
fn step<W: Wires>(
    path: &mut Path<'_, W>,
    client: Option<&mut Client>,
    server: &mut Server,
    tag: u8,
    there: &[u8],
    whole: bool,
    frame_bytes: usize,
) -> Result<Step, ServerMisbehaved> {
    let looked_into = matches!(tag, parameter_status::TAG | command_complete::TAG | ready_for_query::TAG)
        || (tag == error_response::TAG && frame_bytes <= LOOKED_INTO_BYTES);
    if looked_into && !whole {
        return Ok(Step::Wait);
    }
    match tag {
        ready_for_query::TAG => return ready(path, client.as_deref(), server, there),
        error_response::TAG => return error(path, client, server, there),
        parameter_status::TAG => return parameter(client.as_deref(), server, there),
        notification_response::TAG => {
            // It is for who has the connection: no other client's turn has asked for any.
            let owner = server.turns.owner();
            let has_it = server.turns.is_empty() || owner.and_then(Owner::client) == path.client;
            let pass = client.is_some() && has_it && server.lent_to() == path.client;
            return Ok(if pass { Step::Pass } else { Step::Drop });
        }
        notice_response::TAG => return Ok(notice(client.is_some(), server, there, frame_bytes)),
        _ => {}
    }
    server.copy.early_syncs = 0;
    let Some(head) = server.turns.head() else { return Err(unexpected(tag, "nothing")) };
    let owner = server.turns.owner();
    if owner == Some(Owner::Chore(Chore::Settle)) && tag != empty_query_response::TAG {
        // It is of something that was believed to be skipped.
        return Err(unexpected(tag, "the end of an empty query"));
    }
    let message = &head.expect.message;
    let in_query = matches!(message, Message::Query);
    let ours = head.is_ours();
    let pass = if ours { Step::Drop } else { Step::Pass };
    match tag {
        data_row::TAG | command_complete::TAG if matches!(message, Message::Select(_)) => {
            return Ok(if whole { reading::was_read(client, server, tag, body(there)) } else { Step::Wait });
        }
        data_row::TAG if owner == Some(Owner::Chore(Chore::AuthQuery)) && server.chore_answer.is_none() => {
            if !whole {
                return Ok(Step::Wait);
            }
            server.chore_answer = Some(ChoreAnswer::Row(body(there).to_vec()));
        }
        data_row::TAG | copy_data::TAG | copy_done::TAG | copy_out_response::TAG => {}
        row_description::TAG if in_query => {}
        row_description::TAG | no_data::TAG if let Message::Describe(subject) = message => {
            let digested = ours || matches!(subject, Subject::Named(_) | Subject::Foreign(_));
            if digested && !whole {
                return Ok(Step::Wait);
            }
            described(server, (tag == row_description::TAG).then(|| body(there)));
        }
        parameter_description::TAG if matches!(message, Message::Describe(_)) => {
            let kept = whole && !ours && frame_bytes <= DESCRIPTION_KEPT_BYTES;
            server.described = if kept { there.into() } else { Box::default() };
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
                completed(path, client, server, owner, body(there), pass)
            } else {
                pass
            });
        }
        copy_in_response::TAG | copy_both_response::TAG
            if (in_query || matches!(message, Message::Execute)) && !server.turns.is_shared() =>
        {
            let copy = server.turns.copy_in_began();
            (server.copy.takes_data, server.copy.ignored_syncs) = (copy.end_to_come, copy.ignores_syncs);
            if (server.copy.takes_data || server.turns.is_unsynced()) && server.undecided {
                // The server waits for the client, if only for another Sync: what the client sent next is what it gets.
                let step = if ours { Step::Drop } else { Step::Stop(true, ServerStop::Decided) };
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
        Some(Undo::Named(statement, _)) => statement.parsed(),
        _ => server.withheld_notices = Vec::new(),
    }
}

/// What the server has to say beside its answers.
fn notice(relayed: bool, server: &mut Server, there: &[u8], frame_bytes: usize) -> Step {
    let Some(head) = server.turns.head() else {
        return if relayed { Step::Pass } else { Step::Drop };
    };
    if let Undo::Named(statement, _) = &head.expect.undo {
        statement.warned();
    }
    if relayed
        && matches!(head.expect.undo, Undo::Prepared(_))
        && server.withheld_notices.len() + frame_bytes <= NOTICES_KEPT_BYTES
    {
        if there.len() < frame_bytes {
            return Step::Wait;
        }
        server.withheld_notices.extend_from_slice(there);
    }
    if relayed && !head.is_ours() { Step::Pass } else { Step::Drop }
}

/// The server says what a statement's result is.
fn described(server: &mut Server, description: Option<&[u8]>) {
    // It belongs to this one answer, if it is of a statement.
    let parameters = std::mem::take(&mut server.described);
    let Some((Expect { message: Message::Describe(subject), fate, .. }, _)) = server.turns.pop() else {
        return;
    };
    let shape = Shape::of(description);
    match subject {
        Subject::Named(named) => {
            server.statements.describe(named.statement.id, shape);
            if fate == Fate::Forward {
                named.describe(shape);
            }
            if description.is_none() && !parameters.is_empty() {
                named.statement.gives_no_rows(parameters);
            }
        }
        Subject::Numbered(id) if fate == Fate::Skip => server.statements.describe(id, shape),
        _ => {}
    }
}

/// Some commands change what a connection remembers, or what statements mean.
fn completed<W>(
    path: &mut Path<'_, W>,
    mut client: Option<&mut Client>,
    server: &mut Server,
    owner: Option<Owner>,
    tag: &[u8],
    pass: Step,
) -> Step {
    if changes_definitions(tag) {
        // Seen by others when its transaction is over, and by those who ask within it at once.
        path.schema.changed();
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
            (b"DISCARD ALL\0", resets) => resets.get_or_insert_default().discarded(),
            _ => {}
        }
        // What was sent after it may have left something again.
        let in_query = server.turns.head().is_some_and(|head| matches!(head.expect.message, Message::Query));
        if tag == b"DISCARD ALL\0" && in_query && server.turns.turns() == 1 {
            client.pins = client.pins.discarded();
        }
        is_reset = client.resets.is_some();
    }
    // Of a client's that has gone too, but not what sets parameters for us: that is known.
    match (tag, pass, owner) {
        (b"DISCARD ALL\0" | b"RESET\0", Step::Pass, _) if is_reset => Step::Pass,
        (b"DISCARD ALL\0" | b"RESET\0", pass, _) if !server.knows_parameters() => pass,
        (b"DISCARD ALL\0" | b"RESET\0", Step::Pass, _) => Step::Stop(true, ServerStop::ParametersUnknown),
        (b"DISCARD ALL\0" | b"RESET\0", _, Some(Owner::Chore(Chore::Abandoned))) => {
            Step::Stop(false, ServerStop::ParametersUnknown)
        }
        (_, pass, _) => pass,
    }
}

/// DEALLOCATE ALL: the server has no named statement any more, and the client has none but those that it has
/// asked for since.
fn forget_statements(client: Option<&mut Client>, server: &mut Server) {
    server.statements.clear();
    let mut names = client.and_then(|client| client.statements.as_mut());
    let mut before = names.as_mut().map(|names| std::mem::take(&mut ***names)).unwrap_or_default();
    for expect in server.turns.replies().naming() {
        if let Undo::Named(statement, _) | Undo::Prepared(statement) = &expect.undo {
            server.statements.insert(Arc::clone(statement));
        }
        let kept = match &expect.undo {
            Undo::Named(statement, name) => Some((name, Arc::clone(statement))),
            Undo::Claimed(name) => before.remove(name).map(|statement| (name, statement)),
            _ => None,
        };
        if let (Some((name, statement)), Some(names)) = (kept, names.as_mut()) {
            names.insert(name, statement);
        }
    }
}

fn parameter(client: Option<&Client>, server: &Server, there: &[u8]) -> Result<Step, ServerMisbehaved> {
    let status =
        ParameterStatus::decode(body(there)).map_err(|_| ServerMisbehaved::Malformed("ParameterStatus"))?;
    let Ok(name) = std::str::from_utf8(status.name) else { return Ok(Step::Pass) };
    let name = canonical_name(name);
    let ours = server.turns.head().is_some_and(Reply::is_ours);
    if !server.profile.has_room_for(&name, status.value.len()) {
        return Err(ServerMisbehaved::TooManyParameters);
    }
    // After a reset the client is told its own start-up value in place of the server's.
    let pass = !ours && !client.is_some_and(|client| client.is_masked(&name, status.value, server));
    Ok(Step::Stop(pass, ServerStop::Parameter(name.into(), status.value.into())))
}
