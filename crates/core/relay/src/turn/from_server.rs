//! Frames from a server connection to the client that waits for them.

use std::sync::Arc;

use trunkline_wire::backend::{
    ParameterStatus, TransactionStatus, bind_complete, close_complete, command_complete, copy_both_response,
    copy_data, copy_done, copy_in_response, copy_out_response, data_row, empty_query_response,
    error_response, function_call_response, no_data, notice_response, notification_response,
    parameter_description, parameter_status, parse_complete, portal_suspended, ready_for_query,
    row_description,
};
use trunkline_wire::{Limits, frame};

use super::from_client::body;
use super::server_errors::{await_early_syncs, error};
use super::server_step::{ServerStop, Step, unexpected};
use super::{Chore, Expect, Owner, Reply, Subject, reading};
use crate::client::Client;
use crate::error::ServerMisbehaved;
use crate::parameters::canonical_name;
use crate::prepared::{Shape, changes_definitions};
use crate::server::{ChoreAnswer, Server};
use crate::wires::{Path, Wires};

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
    let mut at = server.frame_left.min(input.len());
    // Where the bytes begin that are to be passed on and have not been.
    let mut run = if server.frame_dropped || !relayed { at } else { 0 };
    server.frame_left -= at;
    if at > 0 && local_is_next(server) {
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
        server.frame_left = frame_bytes - there.len();
        server.frame_dropped = !passed;
        if passed {
            begin_reply(client.as_deref_mut(), server);
        } else {
            run = at;
        }
        if let (Some(bytes), Some(client)) = (instead, client.as_deref_mut()) {
            path.pass_client(client, &bytes);
            begin_reply(Some(client), server);
        }
        // Who is sent away hears of nothing behind that.
        if local_is_next(server) && !matches!(stop, Some(ServerStop::TransactionOpen)) {
            if let Some(client) = client.as_deref_mut() {
                path.pass_client(client, &input[run..at]);
            }
            run = at;
            settle(path, client.as_deref_mut(), server);
        }
        if let Some(stop) = stop {
            break stop;
        }
        if server.awaits_shape && !server.replies.awaits_shape() {
            server.awaits_shape = false;
            break ServerStop::Decided;
        }
        // An error has made the server skip the turns that a message of the client waited for.
        if server.undecided && server.replies.turns() == 0 {
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
        server.turn_replied = true;
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
    matches!(
        server.replies.head(),
        Some(Reply { owner: Owner::Client, expect, .. }) if !matches!(expect, Expect::Skipped(_) | Expect::Reading(_))
    )
}

#[inline]
fn local_is_next(server: &Server) -> bool {
    server.replies.head().is_some_and(|head| head.expect.is_ours_to_give())
}

/// Gives the answers that are ours once they are next.
fn settle<W: Wires>(path: &mut Path<'_, W>, mut client: Option<&mut Client>, server: &mut Server) {
    if server.frame_left > 0 {
        // The message before is not whole yet.
        return;
    }
    while local_is_next(server) {
        let reply = server.replies.pop();
        let frame = match reply.map(|reply| reply.expect) {
            Some(Expect::ParseLocal(_)) => parse_complete::FRAME,
            Some(Expect::CloseLocal(..)) => close_complete::FRAME,
            _ => continue,
        };
        if let Some(client) = client.as_deref_mut() {
            path.pass_client(client, &frame);
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
            let chore = matches!(server.replies.head(), Some(Reply { owner: Owner::Chore(_), .. }));
            return Ok(if client.is_some() && !chore { Step::Pass } else { Step::Drop });
        }
        notice_response::TAG => return Ok(notice(client.is_some(), server, there, frame_bytes)),
        _ => {}
    }
    server.early_syncs = 0;
    let Some(head) = server.replies.head() else { return Err(unexpected(tag, "nothing")) };
    let owner = head.owner;
    if owner == Owner::Chore(Chore::Settle) && tag != empty_query_response::TAG {
        // It is of something that was believed to be skipped.
        return Err(unexpected(tag, "the end of an empty query"));
    }
    let ours = matches!(owner, Owner::Chore(_));
    let in_query = matches!(head.expect, Expect::Query(..));
    let pass = if ours { Step::Drop } else { Step::Pass };
    match tag {
        data_row::TAG if ours => {
            if head.owner == Owner::Chore(Chore::AuthQuery) && server.chore_answer.is_none() {
                if !whole {
                    return Ok(Step::Wait);
                }
                server.chore_answer = Some(ChoreAnswer::Row(body(there).to_vec()));
            }
        }
        data_row::TAG
        | parse_complete::TAG
        | bind_complete::TAG
        | close_complete::TAG
        | command_complete::TAG
            if matches!(head.expect, Expect::Skipped(_)) =>
        {
            return skipped(server, tag);
        }
        data_row::TAG | command_complete::TAG if matches!(head.expect, Expect::Reading(_)) => {
            return Ok(if whole { reading::was_read(client, server, tag, body(there)) } else { Step::Wait });
        }
        data_row::TAG | copy_data::TAG | copy_done::TAG | copy_out_response::TAG => {}
        row_description::TAG if in_query => {}
        row_description::TAG | no_data::TAG
            if matches!(head.expect, Expect::Describe(_) | Expect::DescribeInjected(_)) =>
        {
            let digested = !matches!(head.expect, Expect::Describe(Subject::Untracked | Subject::Unnamed(_)));
            if digested && !whole {
                return Ok(Step::Wait);
            }
            return Ok(described(server, (tag == row_description::TAG).then(|| body(there)), pass));
        }
        parameter_description::TAG if matches!(head.expect, Expect::Describe(_)) => {
            let kept = whole && frame_bytes <= DESCRIPTION_KEPT_BYTES;
            server.described = if kept { there.into() } else { Box::default() };
        }
        parameter_description::TAG if matches!(head.expect, Expect::DescribeInjected(_)) => {
            return Ok(Step::Drop);
        }
        parse_complete::TAG => return parsed(server),
        bind_complete::TAG if matches!(head.expect, Expect::Bind(_)) => drop(server.replies.pop()),
        close_complete::TAG => return closed(server),
        command_complete::TAG | empty_query_response::TAG | portal_suspended::TAG
            if in_query || matches!(head.expect, Expect::Execute) =>
        {
            if !in_query {
                server.replies.pop();
            }
            (server.copy_in, server.copy_syncs, server.copy_synced) = (false, 0, 0);
            return Ok(if tag == command_complete::TAG {
                completed(path, client, server, owner, body(there), pass)
            } else {
                pass
            });
        }
        copy_in_response::TAG | copy_both_response::TAG
            if in_query || matches!(head.expect, Expect::Execute) =>
        {
            let copy = server.replies.copy_in_began();
            (server.copy_in, server.copy_synced) = (copy.end_to_come, copy.ignores_syncs);
            // A Sync that is ignored has ended nothing.
            server.unsynced |= copy.ignores_syncs > 0 && !server.replies.ends_with_turn();
            if (server.copy_in || server.unsynced) && server.undecided {
                // The server waits for the client, if only for another Sync: what the client sent next is what it gets.
                let step = if ours { Step::Drop } else { Step::Stop(true, ServerStop::Decided) };
                return Ok(step);
            }
        }
        function_call_response::TAG if matches!(head.expect, Expect::FunctionCall) => {}
        _ => return Err(unexpected(tag, "another answer")),
    }
    Ok(pass)
}

fn parsed(server: &mut Server) -> Result<Step, ServerMisbehaved> {
    match server.replies.head().map(|head| &head.expect) {
        Some(
            Expect::Parse { .. }
            | Expect::ParseUnnamed { .. }
            | Expect::ParseUntracked
            | Expect::ParseDuplicate { .. },
        ) => {
            let reply = server.replies.pop();
            if let Some(Reply { expect: Expect::Parse { statement, .. }, .. }) = &reply {
                statement.parsed();
            }
            let ours = matches!(reply, Some(Reply { owner: Owner::Chore(_), .. }));
            Ok(if ours { Step::Drop } else { Step::Pass })
        }
        Some(Expect::ParseInjected(_) | Expect::UnnamedInjected(_)) => {
            server.replies.pop();
            server.withheld = Vec::new();
            Ok(Step::Drop)
        }
        _ => Err(unexpected(parse_complete::TAG, "another answer")),
    }
}

fn closed(server: &mut Server) -> Result<Step, ServerMisbehaved> {
    match server.replies.head().map(|head| &head.expect) {
        Some(Expect::Close | Expect::CloseUnnamed(..)) => {
            let ours = matches!(server.replies.pop(), Some(Reply { owner: Owner::Chore(_), .. }));
            Ok(if ours { Step::Drop } else { Step::Pass })
        }
        Some(Expect::CloseInjected(_) | Expect::UnnamedCloseInjected(_)) => {
            server.replies.pop();
            Ok(Step::Drop)
        }
        _ => Err(unexpected(close_complete::TAG, "another answer")),
    }
}

/// An answer to a message of ours that goes round a Parse.
fn skipped(server: &mut Server, tag: u8) -> Result<Step, ServerMisbehaved> {
    match server.replies.head() {
        Some(Reply { expect: Expect::Skipped(command_complete::TAG), .. }) if tag == data_row::TAG => {}
        Some(Reply { expect: Expect::Skipped(expected), .. }) if *expected == tag => {
            drop(server.replies.pop());
        }
        _ => return Err(unexpected(tag, "another answer")),
    }
    Ok(Step::Drop)
}

/// What the server has to say beside its answers.
fn notice(relayed: bool, server: &mut Server, there: &[u8], frame_bytes: usize) -> Step {
    let Some(head) = server.replies.head() else {
        return if relayed { Step::Pass } else { Step::Drop };
    };
    if let Expect::Parse { statement, .. } = &head.expect {
        statement.warned();
    }
    if relayed
        && matches!(head.expect, Expect::ParseInjected(_))
        && server.withheld.len() + frame_bytes <= NOTICES_KEPT_BYTES
    {
        if there.len() < frame_bytes {
            return Step::Wait;
        }
        server.withheld.extend_from_slice(there);
    }
    if relayed && !head.is_ours() { Step::Pass } else { Step::Drop }
}

/// The server says what a statement's result is.
fn described(server: &mut Server, description: Option<&[u8]>, pass: Step) -> Step {
    // It belongs to this one answer, if it is of a statement.
    let parameters = std::mem::take(&mut server.described);
    match server.replies.pop().map(|reply| reply.expect) {
        Some(Expect::Describe(Subject::Named(named))) => {
            let shape = Shape::of(description);
            server.statements.describe(named.statement.id, shape);
            named.describe(shape);
            if description.is_none() && !parameters.is_empty() {
                named.statement.gives_no_rows(parameters);
            }
            pass
        }
        Some(Expect::DescribeInjected(id)) => {
            server.statements.describe(id, Shape::of(description));
            Step::Drop
        }
        _ => pass,
    }
}

/// Some commands change what a connection remembers, or what statements mean.
fn completed<W>(
    path: &mut Path<'_, W>,
    mut client: Option<&mut Client>,
    server: &mut Server,
    owner: Owner,
    tag: &[u8],
    pass: Step,
) -> Step {
    if changes_definitions(tag) {
        // Seen by others when its transaction is over, and by those who ask within it at once.
        path.schema.changed();
        server.redefines = true;
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
        is_reset = client.resets.is_some();
    }
    // Of a client's that has gone too, but not what sets parameters for us: that is known.
    match (tag, pass, owner) {
        (b"DISCARD ALL\0" | b"RESET\0", Step::Pass, _) if is_reset => Step::Pass,
        (b"DISCARD ALL\0" | b"RESET\0", pass, _) if !server.knows_parameters() => pass,
        (b"DISCARD ALL\0" | b"RESET\0", Step::Pass, _) => Step::Stop(true, ServerStop::ParametersUnknown),
        (b"DISCARD ALL\0" | b"RESET\0", _, Owner::Chore(Chore::Abandoned)) => {
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
    for expect in server.replies.naming() {
        let kept = match expect {
            Expect::Parse { statement, name } => Some((name, Arc::clone(statement))),
            Expect::ParseLocal(name) => before.remove(name).map(|statement| (name, statement)),
            Expect::ParseInjected(statement) => {
                server.statements.insert(Arc::clone(statement));
                None
            }
            _ => None,
        };
        let Some((name, statement)) = kept else { continue };
        if matches!(expect, Expect::Parse { .. }) {
            server.statements.insert(Arc::clone(&statement));
        }
        if let Some(names) = names.as_mut() {
            names.insert(name, statement);
        }
    }
}

fn ready<W>(
    path: &mut Path<'_, W>,
    client: Option<&Client>,
    server: &mut Server,
    there: &[u8],
) -> Result<Step, ServerMisbehaved> {
    let status = body(there).first().copied().and_then(TransactionStatus::from_byte);
    let (Some(status), 1) = (status, body(there).len()) else {
        return Err(ServerMisbehaved::Malformed("ReadyForQuery"));
    };
    let is_sync = matches!(server.replies.head(), Some(Reply { expect: Expect::Sync, .. }));
    if server.early_syncs > 0 && !is_sync {
        // It answers a Sync that was taken for one within the COPY.
        server.early_syncs -= 1;
        if !server.replies.is_empty() {
            server.status = status;
            return Ok(if client.is_some() { Step::Pass } else { Step::Drop });
        }
        let owner = client.map_or(Owner::Chore(Chore::Abandoned), |_| Owner::Client);
        server.replies.push(Expect::Sync, owner);
        (server.unsynced, server.skipping) = (false, false);
        // More may come, or not: nobody else must get them.
        server.condemned |= server.early_syncs > 0;
    }
    let Some(head) = server.replies.head() else { return Err(unexpected(ready_for_query::TAG, "nothing")) };
    if !head.expect.ends_turn() {
        return Err(unexpected(ready_for_query::TAG, "an answer before the end of the turn"));
    }
    if head.owner == Owner::Client && client.is_some_and(|client| client.resets.is_some()) {
        return Ok(Step::Before(ServerStop::Resets(status)));
    }
    let Some(reply) = server.replies.pop() else { return Err(unexpected(ready_for_query::TAG, "nothing")) };
    if matches!(reply.expect, Expect::Query(..)) {
        server.early_syncs = std::mem::take(&mut server.copy_synced);
        await_early_syncs(server);
    }
    if server.redefines {
        path.schema.changed();
        // Of a pipeline it may be any turn.
        server.redefines = status != TransactionStatus::Idle || !server.replies.is_empty();
    }
    server.status = status;
    server.misread.clear();
    server.copy_in = false;
    // The end of a COPY that never began.
    while matches!(server.replies.head(), Some(Reply { expect: Expect::CopyEnd, .. })) {
        server.replies.pop();
    }
    if let Owner::Chore(chore) = reply.owner {
        return Ok(Step::Stop(false, ServerStop::ChoreOver(chore)));
    }
    path.counters.turns += 1;
    if path.no_transactions && status != TransactionStatus::Idle {
        return Ok(Step::Stop(false, ServerStop::TransactionOpen));
    }
    path.counters.transactions += u64::from(status == TransactionStatus::Idle);
    path.counters.turn_us += path.now.saturating_sub(server.since);
    // Each turn of a pipeline has its time from the end of the one before.
    server.since = path.now;
    if server.replies.is_empty() && !server.unsynced {
        server.turn_open = false;
        return Ok(Step::Stop(true, ServerStop::TurnOver));
    }
    if server.undecided {
        return Ok(Step::Stop(true, ServerStop::Decided));
    }
    Ok(Step::Pass)
}

fn parameter(client: Option<&Client>, server: &Server, there: &[u8]) -> Result<Step, ServerMisbehaved> {
    let status =
        ParameterStatus::decode(body(there)).map_err(|_| ServerMisbehaved::Malformed("ParameterStatus"))?;
    let Ok(name) = std::str::from_utf8(status.name) else { return Ok(Step::Pass) };
    let name = canonical_name(name);
    let ours = server.replies.head().is_some_and(Reply::is_ours);
    if !server.profile.has_room_for(&name, status.value.len()) {
        return Err(ServerMisbehaved::TooManyParameters);
    }
    // After a reset the client is told its own start-up value in place of the server's.
    let pass = !ours && !client.is_some_and(|client| client.is_masked(&name, status.value, server));
    Ok(Step::Stop(pass, ServerStop::Parameter(name.into(), status.value.into())))
}
