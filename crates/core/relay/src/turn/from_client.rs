//! Frames from a client to the server connection it is lent.

use trunkline_wire::backend::TransactionStatus;
use trunkline_wire::frame::{self, Header};
use trunkline_wire::frontend::{
    bind, close, copy_data, copy_done, copy_fail, describe, execute, flush, function_call, parse, query,
    sync, terminate,
};

use super::body::{body, parsed_text, query_text};
use super::client_step::{ClientStop, Step};
use super::path::Path;
use super::server_errors::await_early_syncs;
use super::{Expect, Message, Pending, Subject, Undo, inject, portals, prepare};
use crate::client::Client;
use crate::error::ClientMisbehaved;
use crate::keys::ClientKey;
use crate::rest::Rest;
use crate::server::Server;
use crate::text::{Classes, Effects, ParseBudget, Reading};
use crate::wires::Wires;

/// Whether what an idle client sent deserves a server connection: a turn that is complete (or asks for
/// answers by Flush), or more than `gather_max` bytes of one. A client that dribbles holds nobody up.
///
/// `gathered`: how much of the input is known to be whole messages that end no turn. Only what follows is read, so that a
/// header is read once, however little comes at a time.
pub(crate) fn turn_is_ready(first: Header, gathered: &mut u32, input: &[u8], gather_max: usize) -> bool {
    let mut first = (*gathered == 0).then_some(first);
    loop {
        let at = *gathered as usize;
        let next = || frame::header(input.get(at..).unwrap_or_default());
        let header = match first.take().map_or_else(next, |first| Ok(Some(first))) {
            Ok(Some(header)) => header,
            Ok(None) => break,
            // A length that cannot be is for `from_client` to refuse.
            Err(_) => return true,
        };
        let end = at + header.frame_bytes();
        if end > input.len() {
            break;
        }
        let goes_on = [parse::TAG, bind::TAG, describe::TAG, execute::TAG, close::TAG, copy_data::TAG]
            .contains(&header.tag);
        let Some(end) = u32::try_from(end).ok().filter(|_| goes_on) else { return true };
        *gathered = end;
    }
    input.len() >= gather_max
}

/// Whether what came from a client is a turn that may begin a transaction, and others after it, which would then be run
/// outside of one if this turn came to nothing.
pub(crate) fn is_begun_transaction(
    client: &Client,
    input: &[u8],
    classes: &Classes,
    share: &mut ParseBudget,
) -> bool {
    let (mut at, mut begins) = (0, false);
    while let Ok(Some(header)) = frame::header(&input[at..]) {
        let end = at + header.frame_bytes();
        if end > input.len() {
            break;
        }
        let body = body(&input[at..end]);
        // What cannot be parsed now may be anything.
        let mut of_text = |text: &[u8]| {
            let effects = classes.effects(text, || Reading::of(&client.profile), share);
            effects.map_or(true, |effects| effects.is_some_and(|effects| effects.begins_transaction))
        };
        begins |= match header.tag {
            query::TAG => of_text(query_text(body)),
            parse::TAG => parsed_text(body).is_some_and(of_text),
            bind::TAG => prepare::bound_statement(client, &input[at..end])
                .is_some_and(|statement| statement.effects().begins_transaction),
            _ => false,
        };
        at = end;
        if matches!(header.tag, sync::TAG | query::TAG | function_call::TAG) {
            return begins && at < input.len();
        }
    }
    false
}

/// Passes on what the client sent. Returns how much was consumed.
pub(crate) fn from_client<W: Wires>(
    path: &mut Path<'_, W>,
    client: &mut Client,
    server: &mut Server,
    input: &[u8],
) -> (usize, ClientStop) {
    let Some(key) = path.client else { return (0, ClientStop::More) };
    let (passed, dropped) = client.rest.take(input.len());
    // Where the bytes begin that are to be passed on and have not been.
    let (mut at, mut run) = (passed + dropped, dropped);
    server.undecided = false;
    let stop = loop {
        let header = match next_message(path, &input[at..]) {
            Ok(header) => header,
            Err(stop) => break stop,
        };
        let frame_bytes = header.frame_bytes();
        let there = &input[at..input.len().min(at + frame_bytes)];
        let whole = there.len() == frame_bytes;
        if !server.turns.has_of(key) {
            begin_turns(path, key, client, server);
        }
        if awaits_reset(client, server) {
            break ClientStop::More;
        }
        if begins_turn(header.tag, server) {
            if must_yield(path, server) {
                break ClientStop::Yield;
            }
            server.turns.begin(key);
        }
        // A frame that is replaced is written by the step itself: what stands before it goes first.
        if needs_order(header.tag, client) || server.copy.early_syncs > 0 {
            path.pass_server(server, &input[run..at]);
            run = at;
        }
        let next = input.get(at + frame_bytes).copied();
        let step = match step(path, client, server, header.tag, there, frame_bytes, next) {
            Ok(step) => step,
            Err(fault) => break ClientStop::Fault(fault),
        };
        let passed_from = match step {
            Step::Pass => 0,
            Step::Replaced(bytes) => bytes,
            Step::Drop => {
                path.pass_server(server, &input[run..at]);
                client.rest = Rest::of(frame_bytes - there.len(), false);
                record(path, server, header.tag, there, whole, true);
                at += there.len();
                run = at;
                continue;
            }
            Step::Wait => break ClientStop::More,
            Step::Later => break ClientStop::Later,
            Step::Terminate => break ClientStop::Terminate,
        };
        record(path, server, header.tag, there, whole, false);
        if passed_from > 0 {
            run = at + passed_from;
        }
        at += there.len();
        client.rest = Rest::of(frame_bytes - there.len(), true);
    };
    path.finish_server(server, &input[run.min(at)..at], at < input.len());
    (at, stop)
}

/// The header of the message that is to be dealt with next, if there is one and the client's share of the round is not
/// used up.
#[inline]
fn next_message<W>(path: &mut Path<'_, W>, rest: &[u8]) -> Result<Header, ClientStop> {
    let fault = |fault| Err(ClientStop::Fault(fault));
    let header = match frame::header(rest) {
        Ok(Some(header)) => header,
        Ok(None) => return Err(ClientStop::More),
        Err(error) => return fault(ClientMisbehaved::Frame(error)),
    };
    if let Err(over) = path.limits.check(header) {
        return fault(ClientMisbehaved::TooLarge(over));
    }
    path.messages_left = path.messages_left.checked_sub(1).ok_or(ClientStop::Share)?;
    Ok(header)
}

/// The first of the client's turns that the server gets at a time begins.
fn begin_turns<W>(path: &mut Path<'_, W>, key: ClientKey, client: &mut Client, server: &mut Server) {
    // A portal of an earlier turn lives on in a transaction.
    let forgets = server.pending.forgets && server.status != TransactionStatus::Idle;
    server.pending = Pending { forgets, redefines: server.pending.redefines, ..Pending::default() };
    server.shape_asked = None;
    client.bound = None;
    client.parse_completes_sent = 0;
    if server.status == TransactionStatus::Idle {
        client.forget_portals();
    }
    if !path.replaying {
        client.replay_parses_answered = 0;
    }
    let is_recorded = client.tracked && path.limits.replay_bytes_max > 0 && !path.replaying;
    server.turns.begin(key);
    if is_recorded {
        server.turns.start_record(std::mem::take(&mut server.replay_buffer));
    }
    // In a failed transaction nothing can be prepared.
    if server.status != TransactionStatus::Failed
        && let Some(statement) = server.heal.take().and_then(|outdated| server.statements.get(outdated))
    {
        // Its result type changed, or the server has lost it: it is prepared again when it is used again.
        inject::inject_close(server, statement);
    }
    if server.turns.is_settled() {
        server.since = path.now;
    }
}

/// A command with these effects is sent: what it changes of the session is not known before it is answered.
fn note_effects(client: &mut Client, server: &mut Server, effects: Option<&Effects>) {
    let Some(effects) = effects else { return };
    if effects.may_set {
        server.pending.settings.changed();
    }
    server.pending.redefines |= effects.may_define;
    server.pending.begins |= effects.begins_transaction;
    client.add_resets(effects);
}

/// Whether what the client sends now has to wait until its reset is answered: what it set at start-up comes back first.
fn awaits_reset(client: &Client, server: &mut Server) -> bool {
    // A COPY that the turn begins after its reset waits for the client's data.
    let waits = client.resets.is_some() && server.turns.turns() > 0 && !server.copy.takes_data;
    server.undecided |= waits;
    waits
}

/// Whether the server answers a message of this type by itself: all but a Sync, which ends what others have asked, and
/// what belongs to a COPY.
#[inline]
pub(crate) fn is_answered(tag: u8) -> bool {
    matches!(
        tag,
        query::TAG | parse::TAG | bind::TAG | describe::TAG | execute::TAG | close::TAG | function_call::TAG
    )
}

/// Whether nothing before this message belongs to its turn.
#[inline]
fn begins_turn(tag: u8, server: &Server) -> bool {
    let begins = tag == sync::TAG || is_answered(tag);
    begins && !server.turns.is_unsynced() && !server.copy.takes_data
}

/// Whether the client has used the server connection long enough, with others waiting for it: a pipeline that never runs
/// empty would keep it. A client that is found in a transaction when all is answered goes on.
fn must_yield<W>(path: &Path<'_, W>, server: &mut Server) -> bool {
    if server.lent_turns >= path.limits.lent_turns_max && path.wanted {
        if server.turns.turns() > 0 {
            server.undecided = true;
            return true;
        }
        server.lent_turns = 0;
    }
    server.lent_turns += 1;
    false
}

/// Whether the step for this message may write to the server itself.
fn needs_order(tag: u8, client: &Client) -> bool {
    match tag {
        parse::TAG | query::TAG => true,
        bind::TAG | describe::TAG | close::TAG => client.tracked,
        execute::TAG => !client.portals().is_empty(),
        _ => false,
    }
}

/// Keeps what a turn consists of, so that it can be played again, for as long as it can.
fn record<W>(path: &Path<'_, W>, server: &mut Server, tag: u8, there: &[u8], whole: bool, dropped: bool) {
    // Of Parse messages only those that we have answered: one that reached the server is not outdated.
    let is_kept = match tag {
        parse::TAG => dropped,
        sync::TAG => true,
        bind::TAG | describe::TAG | execute::TAG | flush::TAG => !server.turns.last_is_sent(),
        _ => false,
    };
    server.turns.record((whole && is_kept).then_some(there), path.limits.replay_bytes_max);
}

// tidy: long because it is one table: a row for each message
fn step<W: Wires>(
    path: &mut Path<'_, W>,
    client: &mut Client,
    server: &mut Server,
    tag: u8,
    there: &[u8],
    frame_bytes: usize,
    next: Option<u8>,
) -> Result<Step, ClientMisbehaved> {
    let whole = there.len() == frame_bytes;
    if server.turns.is_skipping() && !matches!(tag, sync::TAG | terminate::TAG) {
        // The server would skip it; it costs nothing to spare it that.
        return match tag {
            flush::TAG | copy_data::TAG | copy_done::TAG | copy_fail::TAG => Ok(Step::Drop),
            tag if is_answered(tag) => Ok(Step::Drop),
            tag => Err(ClientMisbehaved::UnknownMessage(tag)),
        };
    }
    match tag {
        sync::TAG => {
            if server.copy.takes_data {
                server.copy.held_syncs = path.limits.outstanding_turns_max.min(server.copy.held_syncs + 1);
                return Ok(Step::Drop);
            }
            server.turns.append(Expect::forward(Message::Sync, Undo::Nothing));
            server.pending.settings.turn_sent();
            if server.copy.early_syncs > 0 {
                sync::encode(server.outbox.buffer());
                await_early_syncs(server);
                return Ok(Step::Replaced(there.len()));
            }
        }
        query::TAG => {
            if whole {
                let text = query_text(body(there));
                let Ok(effects) = path.effects(client, text) else { return Ok(Step::Later) };
                if !server.turns.is_empty() && effects.as_ref().is_some_and(|effects| effects.has_resets()) {
                    // What comes back depends on the turns before it.
                    return Ok(prepare::await_answers(server));
                }
                if path.runs_text(client, server, text, effects.as_deref()).is_err() {
                    return Ok(Step::Later);
                }
                note_effects(client, server, effects.as_deref());
            } else if frame_bytes <= path.limits.client_buffer_bytes {
                return Ok(Step::Wait);
            } else {
                // A long one is passed on as it comes: it may do anything.
                server.pending.settings.changed();
                server.pending.begins = true;
                path.runs_anything(client, server);
            }
            server.pending.settings.turn_sent();
            let unnamed = if client.tracked { client.unnamed.take() } else { None };
            let on_server = std::mem::take(&mut server.statements.unnamed);
            let before = Undo::BothUnnamed(on_server, unnamed);
            server.turns.append(Expect::forward(Message::Query, before));
        }
        execute::TAG => {
            if !client.portals().is_empty() {
                if !whole {
                    return Ok(Step::Wait);
                }
                if server.turns.turns() > 0 && portals::runs_reset(client, there) {
                    // What comes back depends on the turns before it.
                    return Ok(prepare::await_answers(server));
                }
                portals::executed(client, server, there);
            }
            extended(server, Message::Execute);
        }
        parse::TAG | bind::TAG | describe::TAG | close::TAG if client.tracked => {
            let step = prepare::step(path, client, server, tag, there, whole, next)?;
            if !matches!(step, Step::Wait) {
                server.turns.leave_unsynced();
            }
            return Ok(step);
        }
        parse::TAG if !whole && frame_bytes <= path.limits.client_buffer_bytes => return Ok(Step::Wait),
        parse::TAG => {
            let text = parsed_text(body(there)).filter(|_| whole);
            let Ok(effects) = text.map_or(Ok(None), |text| path.effects(client, text)) else {
                return Ok(Step::Later);
            };
            if server.turns.turns() > 0 && effects.as_ref().is_some_and(|effects| effects.has_resets()) {
                return Ok(prepare::await_answers(server));
            }
            note_effects(client, server, effects.as_deref());
            extended(server, Message::Parse(Subject::Untracked));
        }
        bind::TAG => {
            server.pending.begins = true;
            path.runs_anything(client, server);
            extended(server, Message::Bind(Subject::Untracked));
        }
        describe::TAG => extended(server, Message::Describe(Subject::Untracked)),
        close::TAG => extended(server, Message::Close),
        function_call::TAG => {
            path.runs_anything(client, server);
            // The function may be set_config().
            server.pending.settings.changed();
            server.pending.settings.turn_sent();
            server.turns.append(Expect::forward(Message::FunctionCall, Undo::Nothing));
        }
        flush::TAG => client.held = false,
        copy_data::TAG if server.copy.takes_data => {}
        copy_done::TAG | copy_fail::TAG if server.copy.takes_data => server.copy.end_sent(),
        copy_data::TAG | copy_done::TAG | copy_fail::TAG => {
            // The end of a COPY that has not begun yet as far as we know, or of one that has failed.
            if !server.turns.may_run() {
                return Ok(Step::Drop);
            }
            if tag != copy_data::TAG {
                server.turns.append(Expect::give(Message::CopyEnd, Undo::Nothing));
            }
        }
        terminate::TAG => return Ok(Step::Terminate),
        _ => return Err(ClientMisbehaved::UnknownMessage(tag)),
    }
    Ok(Step::Pass)
}

fn extended(server: &mut Server, message: Message) {
    server.turns.append(Expect::forward(message, Undo::Nothing));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However a turn is cut, it is ready at the same byte, and no header is read twice.
    #[test]
    fn a_turn_that_comes_in_pieces_is_gathered_from_where_it_was_left() {
        let mut turn = Vec::new();
        for tag in [parse::TAG, bind::TAG, execute::TAG, copy_data::TAG] {
            turn.extend_from_slice(&[tag, 0, 0, 0, 6, 1, 2]);
        }
        let whole_messages = turn.len() as u32;
        turn.extend_from_slice(&sync::FRAME);
        for piece in 1..turn.len() {
            let mut gathered = 0;
            let ends = (piece..turn.len()).step_by(piece).chain([turn.len()]);
            for end in ends.filter(|end| *end >= frame::HEADER_BYTES) {
                let first = frame::header(&turn).expect("a length").expect("a header");
                let is_ready = turn_is_ready(first, &mut gathered, &turn[..end], 1 << 16);
                assert_eq!(is_ready, end == turn.len(), "{end}");
                assert_eq!(gathered, (end as u32 / 7 * 7).min(whole_messages), "{end}");
                assert!(
                    turn_is_ready(first, &mut gathered.clone(), &turn[..end], end),
                    "as much as may be gathered"
                );
            }
        }
    }
}
