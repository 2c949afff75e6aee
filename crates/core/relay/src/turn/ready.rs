//! ReadyForQuery: the end of a turn.

use trunkline_wire::backend::{TransactionStatus, ready_for_query};

use super::body::body;
use super::context::Context;
use super::server_errors::await_early_syncs;
use super::server_step::{ServerStop, Step, unexpected};
use super::{Chore, Expect, Message, Owner, Record, Turn, Undo};
use crate::client::Client;
use crate::error::ServerMisbehaved;
use crate::server::Server;

/// Handles ReadyForQuery, which was received completely.
pub(super) fn ready<W>(
    context: &mut Context<'_, W>,
    client: Option<&Client>,
    server: &mut Server,
    received: &[u8],
) -> Result<Step, ServerMisbehaved> {
    let status = body(received).first().copied().and_then(TransactionStatus::from_byte);
    let (Some(status), 1) = (status, body(received).len()) else {
        return Err(ServerMisbehaved::Malformed("ReadyForQuery"));
    };
    let is_sync = server.turns.head().is_some_and(|head| matches!(head.expect.message, Message::Sync));
    if server.copy.early_syncs > 0 && !is_sync {
        // It answers a Sync that we believed the COPY to have ignored.
        server.copy.early_syncs -= 1;
        if !server.turns.is_empty() {
            server.status = status;
            return Ok(if client.is_some() { Step::Pass } else { Step::Drop });
        }
        let owner = client.and(context.client).map_or(Owner::Chore(Chore::Abandoned), Owner::Client);
        server.turns.push(Expect::forward(Message::Sync, Undo::Nothing), owner);
        // More such answers may come or not. No other client must get them.
        server.condemn_if(server.copy.early_syncs > 0);
    }
    let Some(head) = server.turns.head() else { return Err(unexpected(ready_for_query::TAG, "nothing")) };
    if !head.expect.ends_turn() {
        return Err(unexpected(ready_for_query::TAG, "an answer before the end of the turn"));
    }
    let of_client = matches!(server.turns.owner(), Some(Owner::Client(_))) && !server.turns.is_healing();
    if of_client && client.is_some_and(|client| client.resets.is_some()) {
        return Ok(Step::StopBefore(ServerStop::Resets(status)));
    }
    if of_client && status != TransactionStatus::Idle && server.lent_to() != context.client {
        // Messages of other clients follow, and would run in this open transaction. None of them may be committed.
        return Err(ServerMisbehaved::TransactionLeftOpen);
    }
    let Some((expect, Some(turn))) = server.turns.pop() else {
        return Err(unexpected(ready_for_query::TAG, "nothing"));
    };
    if matches!(expect.message, Message::Query) {
        server.copy.expect_early_syncs();
        await_early_syncs(server);
    }
    if server.pending.redefines {
        context.schema.changed();
        // In a pipeline any of its turns may have changed definitions.
        server.pending.redefines = status != TransactionStatus::Idle || !server.turns.is_empty();
    }
    server.status = status;
    server.maybe_misdecoded.clear();
    server.copy.takes_data = false;
    // Drop the entry of a CopyDone or CopyFail whose COPY never began.
    while server.turns.head().is_some_and(|head| matches!(head.expect.message, Message::CopyEnd)) {
        server.turns.pop();
    }
    Ok(match turn {
        Turn { owner: Owner::Chore(chore), .. } => Step::StopAfter(false, ServerStop::ChoreOver(chore)),
        Turn { record: Record::Healing(sent), .. } => Step::StopAfter(false, ServerStop::Replay(sent)),
        Turn { record, .. } => {
            if let Record::Kept(mut sent) = record {
                // The server connection keeps the buffer, so that idle clients hold none.
                sent.clear();
                server.replay_buffer = sent;
            }
            clients_turn_over(context, server)
        }
    })
}

/// A client's turn is completely answered.
fn clients_turn_over<W>(context: &mut Context<'_, W>, server: &mut Server) -> Step {
    let status = server.status;
    // Chores for the same client may follow its turn.
    let is_last = context.client.is_some_and(|client| !server.turns.last_client_is_not(client));
    let others_have_it = !is_last || server.lent_to() != context.client;
    let is_owed = context.client.is_some_and(|client| server.turns.owes(client));
    let others_follow = others_have_it && !server.turns.is_settled() && !is_owed;
    context.counters.turns += 1;
    if context.no_transactions && status != TransactionStatus::Idle {
        return Step::StopAfter(false, ServerStop::TransactionOpen);
    }
    context.counters.transactions += u64::from(status == TransactionStatus::Idle);
    context.counters.turn_us += context.now.saturating_sub(server.last_change);
    // The time of a pipeline's next turn counts from the end of this one.
    server.last_change = context.now;
    if server.turns.is_settled() {
        server.turns.drop_begun();
        return Step::StopAfter(true, ServerStop::TurnOver);
    }
    if others_follow {
        return Step::StopAfter(true, ServerStop::NextOwner);
    }
    if server.awaits_answers {
        return Step::StopAfter(true, ServerStop::ClientCanContinue);
    }
    Step::Pass
}
