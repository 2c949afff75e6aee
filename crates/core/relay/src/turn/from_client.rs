//! Passes a client's frames on to its server connection.

use trunkline_wire::backend::TransactionStatus;
use trunkline_wire::frame::{self, Header};
use trunkline_wire::frontend::{
    bind, close, copy_data, copy_done, copy_fail, describe, execute, flush, function_call, parse, query,
    sync, terminate,
};

use super::body::{body, parsed_text, query_text};
use super::client_step::{ClientStop, Step};
use super::context::Context;
use super::server_errors::await_early_syncs;
use super::{Expect, Message, Pending, Subject, Undo, inject, portals, prepare};
use crate::client::Client;
use crate::direct_send::DirectSend;
use crate::error::ClientMisbehaved;
use crate::keys::ClientKey;
use crate::rest::Rest;
use crate::server::Server;
use crate::text::{Classes, Effects, ParseBudget, QuotingSettings};

/// Whether an idle client has sent enough to get a server connection: a complete turn, a turn that asks for answers by
/// Flush, or `gather_max` bytes of a turn. So a client that sends slowly does not keep other clients from the connection.
///
/// `gathered` is the number of input bytes that are known to be whole messages which end no turn. Only what follows is read,
/// so each header is read once, however few bytes come at a time.
pub(crate) fn turn_is_ready(first: Header, gathered: &mut u32, input: &[u8], gather_max: usize) -> bool {
    let mut first = (*gathered == 0).then_some(first);
    loop {
        let at = *gathered as usize;
        let next = || frame::header(input.get(at..).unwrap_or_default());
        let header = match first.take().map_or_else(next, |first| Ok(Some(first))) {
            Ok(Some(header)) => header,
            Ok(None) => break,
            // `from_client` will refuse the impossible length.
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

/// Whether a client has sent a turn that may begin a transaction, and more messages after it. If the first turn were lost,
/// these messages would run outside a transaction.
pub(crate) fn begins_transaction_before_other_turns(
    client: &Client,
    input: &[u8],
    classes: &Classes,
    budget: &mut ParseBudget,
) -> bool {
    let (mut at, mut begins) = (0, false);
    while let Ok(Some(header)) = frame::header(&input[at..]) {
        let end = at + header.frame_bytes();
        if end > input.len() {
            break;
        }
        let body = body(&input[at..end]);
        // A text that we cannot parse in this round may do anything.
        let mut of_text = |text: &[u8]| {
            let effects = classes.effects(text, || QuotingSettings::of(&client.profile), budget);
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

/// Passes the client's messages on. Returns how many bytes were consumed, and why it stopped.
pub(crate) fn from_client<W: DirectSend>(
    context: &mut Context<'_, W>,
    client: &mut Client,
    server: &mut Server,
    input: &[u8],
) -> (usize, ClientStop) {
    let Some(key) = context.client else { return (0, ClientStop::More) };
    let (passed, dropped) = client.rest.take(input.len());
    // `run` is the beginning of the bytes that must be passed on and were not passed on yet.
    let (mut at, mut run) = (passed + dropped, dropped);
    server.awaits_answers = false;
    let stop = loop {
        let header = match next_message(context, &input[at..]) {
            Ok(header) => header,
            Err(stop) => break stop,
        };
        let frame_bytes = header.frame_bytes();
        let received = &input[at..input.len().min(at + frame_bytes)];
        let whole = received.len() == frame_bytes;
        if !server.turns.has_turn_of(key) {
            begin_turns(context, key, client, server);
        }
        if awaits_reset(client, server) {
            break ClientStop::More;
        }
        if begins_turn(header.tag, server) {
            if must_yield(context, server) {
                break ClientStop::Yield;
            }
            server.turns.begin(key);
        }
        // The step may write to the server itself, so the bytes before this frame must go first.
        if needs_order(header.tag, client) || server.copy.early_syncs > 0 {
            context.pass_server(server, &input[run..at]);
            run = at;
        }
        let next = input.get(at + frame_bytes).copied();
        let step = match step(context, client, server, header.tag, received, frame_bytes, next) {
            Ok(step) => step,
            Err(fault) => break ClientStop::Fault(fault),
        };
        let passed_from = match step {
            Step::Pass => 0,
            Step::Replaced(bytes) => bytes,
            Step::Drop => {
                context.pass_server(server, &input[run..at]);
                client.rest = Rest::of(frame_bytes - received.len(), false);
                record(context, server, header.tag, received, whole, true);
                at += received.len();
                run = at;
                continue;
            }
            Step::Wait => break ClientStop::More,
            Step::ParseBudgetUsed => break ClientStop::ParseBudgetUsed,
            Step::Terminate => break ClientStop::Terminate,
        };
        record(context, server, header.tag, received, whole, false);
        if passed_from > 0 {
            run = at + passed_from;
        }
        at += received.len();
        client.rest = Rest::of(frame_bytes - received.len(), true);
    };
    context.finish_server(server, &input[run.min(at)..at], at < input.len());
    (at, stop)
}

/// The header of the next message, if it has come and the client has not used up its share of the round.
#[inline]
fn next_message<W>(context: &mut Context<'_, W>, rest: &[u8]) -> Result<Header, ClientStop> {
    let fault = |fault| Err(ClientStop::Fault(fault));
    let header = match frame::header(rest) {
        Ok(Some(header)) => header,
        Ok(None) => return Err(ClientStop::More),
        Err(error) => return fault(ClientMisbehaved::Frame(error)),
    };
    if let Err(over) = context.limits.check(header) {
        return fault(ClientMisbehaved::TooLarge(over));
    }
    context.messages_left = context.messages_left.checked_sub(1).ok_or(ClientStop::RoundShareUsed)?;
    Ok(header)
}

/// A client that has no unanswered turn on the connection begins its next one.
fn begin_turns<W>(context: &mut Context<'_, W>, key: ClientKey, client: &mut Client, server: &mut Server) {
    // In a transaction the portal of an earlier turn still exists.
    let may_deallocate = server.pending.may_deallocate && server.status != TransactionStatus::Idle;
    server.pending = Pending { may_deallocate, redefines: server.pending.redefines, ..Pending::default() };
    server.shape_asked = None;
    client.unnamed_portal = None;
    client.parse_completes_sent = 0;
    if server.status == TransactionStatus::Idle {
        client.forget_portals();
    }
    if !context.replaying {
        client.replay_parses_answered = 0;
    }
    let is_recorded = client.tracked && context.limits.replay_bytes_max > 0 && !context.replaying;
    server.turns.begin(key);
    if is_recorded {
        server.turns.start_record(std::mem::take(&mut server.replay_buffer));
    }
    // In a failed transaction we cannot prepare a statement.
    if server.status != TransactionStatus::Failed
        && let Some(statement) =
            server.prepare_again.take().and_then(|outdated| server.statements.get(outdated))
    {
        // Its result type has changed, or the server has lost it. It is prepared again when the client uses it.
        inject::inject_close(server, statement);
    }
    if server.turns.is_settled() {
        server.last_change = context.now;
    }
}

/// Notes what a command with these effects may change in the session. We know it only when the command is answered.
fn note_effects(client: &mut Client, server: &mut Server, effects: Option<&Effects>) {
    let Some(effects) = effects else { return };
    if effects.may_set {
        server.pending.settings.changed();
    }
    server.pending.redefines |= effects.may_define;
    server.pending.begins |= effects.begins_transaction;
    client.add_resets(effects);
}

/// Whether the client's next message must wait until its reset is answered, because its start-up values come back first.
fn awaits_reset(client: &Client, server: &mut Server) -> bool {
    // But if the turn has begun a COPY after the reset, the server waits for the client's data.
    let waits = client.resets.is_some() && server.turns.turns() > 0 && !server.copy.takes_data;
    server.awaits_answers |= waits;
    waits
}

/// Whether a message of this type gets an answer of its own. Sync, Flush and the messages of a COPY do not count.
#[inline]
pub(crate) fn is_answered(tag: u8) -> bool {
    matches!(
        tag,
        query::TAG | parse::TAG | bind::TAG | describe::TAG | execute::TAG | close::TAG | function_call::TAG
    )
}

/// Whether this message is the first one of a turn.
#[inline]
fn begins_turn(tag: u8, server: &Server) -> bool {
    let begins = tag == sync::TAG || is_answered(tag);
    begins && !server.turns.is_unsynced() && !server.copy.takes_data
}

/// Whether the client must give the server connection back because other clients wait and it has sent enough turns. A
/// client that always sends before the last answer comes would keep the connection for ever. If all turns are answered and
/// the client still has the connection, it is in a transaction and goes on.
fn must_yield<W>(context: &Context<'_, W>, server: &mut Server) -> bool {
    if server.lent_turns >= context.limits.lent_turns_max && context.others_wait {
        if server.turns.turns() > 0 {
            server.awaits_answers = true;
            return true;
        }
        server.lent_turns = 0;
    }
    server.lent_turns += 1;
    false
}

/// Whether the step for this message may write to the server's outbox itself.
fn needs_order(tag: u8, client: &Client) -> bool {
    match tag {
        parse::TAG | query::TAG => true,
        bind::TAG | describe::TAG | close::TAG => client.tracked,
        execute::TAG => !client.portals().is_empty(),
        _ => false,
    }
}

/// Records the messages of a turn, so that we can repeat it, as long as that is possible.
fn record<W>(
    context: &Context<'_, W>,
    server: &mut Server,
    tag: u8,
    received: &[u8],
    whole: bool,
    dropped: bool,
) {
    // Parse messages count only if we answered them: a statement that the server has just parsed is not outdated.
    let is_kept = match tag {
        parse::TAG => dropped,
        sync::TAG => true,
        bind::TAG | describe::TAG | execute::TAG | flush::TAG => !server.turns.last_is_sent(),
        _ => false,
    };
    server.turns.record((whole && is_kept).then_some(received), context.limits.replay_bytes_max);
}

// tidy: long because it is one table: a row for each message
fn step<W: DirectSend>(
    context: &mut Context<'_, W>,
    client: &mut Client,
    server: &mut Server,
    tag: u8,
    received: &[u8],
    frame_bytes: usize,
    next: Option<u8>,
) -> Result<Step, ClientMisbehaved> {
    let whole = received.len() == frame_bytes;
    if server.turns.is_skipping() && !matches!(tag, sync::TAG | terminate::TAG) {
        // The server would skip the message, so we do not send it.
        return match tag {
            flush::TAG | copy_data::TAG | copy_done::TAG | copy_fail::TAG => Ok(Step::Drop),
            tag if is_answered(tag) => Ok(Step::Drop),
            tag => Err(ClientMisbehaved::UnknownMessage(tag)),
        };
    }
    match tag {
        sync::TAG => {
            if server.copy.takes_data {
                server.copy.held_syncs = context.limits.outstanding_turns_max.min(server.copy.held_syncs + 1);
                return Ok(Step::Drop);
            }
            server.turns.append(Expect::forward(Message::Sync, Undo::Nothing));
            server.pending.settings.turn_sent();
            if server.copy.early_syncs > 0 {
                sync::encode(server.outbox.buffer());
                await_early_syncs(server);
                return Ok(Step::Replaced(received.len()));
            }
        }
        query::TAG => {
            if whole {
                let text = query_text(body(received));
                let Ok(effects) = context.effects(client, text) else { return Ok(Step::ParseBudgetUsed) };
                if !server.turns.is_empty() && effects.as_ref().is_some_and(|effects| effects.has_resets()) {
                    // Which values the reset brings back depends on the earlier turns.
                    return Ok(prepare::await_answers(server));
                }
                context.runs_text(client, server, text, effects.as_deref());
                note_effects(client, server, effects.as_deref());
            } else if frame_bytes <= context.limits.client_buffer_bytes {
                return Ok(Step::Wait);
            } else {
                // A long Query is passed on as it comes. We do not read its text, so it may do anything.
                server.pending.settings.changed();
                server.pending.begins = true;
                context.runs_anything(client, server);
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
                if server.turns.turns() > 0 && portals::runs_reset(client, received) {
                    // Which values the reset brings back depends on the earlier turns.
                    return Ok(prepare::await_answers(server));
                }
                portals::executed(client, server, received);
            }
            extended(server, Message::Execute);
        }
        parse::TAG | bind::TAG | describe::TAG | close::TAG if client.tracked => {
            let step = prepare::step(context, client, server, tag, received, whole, next)?;
            if !matches!(step, Step::Wait) {
                server.turns.leave_unsynced();
            }
            return Ok(step);
        }
        parse::TAG if !whole && frame_bytes <= context.limits.client_buffer_bytes => return Ok(Step::Wait),
        parse::TAG => {
            let text = parsed_text(body(received)).filter(|_| whole);
            let Ok(effects) = text.map_or(Ok(None), |text| context.effects(client, text)) else {
                return Ok(Step::ParseBudgetUsed);
            };
            if server.turns.turns() > 0 && effects.as_ref().is_some_and(|effects| effects.has_resets()) {
                return Ok(prepare::await_answers(server));
            }
            note_effects(client, server, effects.as_deref());
            extended(server, Message::Parse(Subject::Untracked));
        }
        bind::TAG => {
            server.pending.begins = true;
            context.runs_anything(client, server);
            extended(server, Message::Bind(Subject::Untracked));
        }
        describe::TAG => extended(server, Message::Describe(Subject::Untracked)),
        close::TAG => extended(server, Message::Close),
        function_call::TAG => {
            context.runs_anything(client, server);
            // The function may be set_config().
            server.pending.settings.changed();
            server.pending.settings.turn_sent();
            server.turns.append(Expect::forward(Message::FunctionCall, Undo::Nothing));
        }
        flush::TAG => client.output_held = false,
        copy_data::TAG if server.copy.takes_data => {}
        copy_done::TAG | copy_fail::TAG if server.copy.takes_data => server.copy.end_sent(),
        copy_data::TAG | copy_done::TAG | copy_fail::TAG => {
            // It belongs to a COPY that has failed, or of which we do not know yet that it has begun.
            if !server.turns.may_run() {
                return Ok(Step::Drop);
            }
            if tag != copy_data::TAG {
                server.turns.append(Expect::answer_locally(Message::CopyEnd, Undo::Nothing));
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
