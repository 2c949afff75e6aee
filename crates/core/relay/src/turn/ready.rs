//! ReadyForQuery: the end of a turn.

use trunkline_wire::backend::{TransactionStatus, ready_for_query};

use super::body::body;
use super::path::Path;
use super::server_errors::await_early_syncs;
use super::server_step::{ServerStop, Step, unexpected};
use super::{Chore, Expect, Message, Owner, Record, Turn, Undo};
use crate::client::Client;
use crate::error::ServerMisbehaved;
use crate::server::Server;

/// Deals with ReadyForQuery, all of it `there`.
pub(super) fn ready<W>(
    path: &mut Path<'_, W>,
    client: Option<&Client>,
    server: &mut Server,
    there: &[u8],
) -> Result<Step, ServerMisbehaved> {
    let status = body(there).first().copied().and_then(TransactionStatus::from_byte);
    let (Some(status), 1) = (status, body(there).len()) else {
        return Err(ServerMisbehaved::Malformed("ReadyForQuery"));
    };
    let is_sync = server.turns.head().is_some_and(|head| matches!(head.expect.message, Message::Sync));
    if server.copy.early_syncs > 0 && !is_sync {
        // It answers a Sync that was taken for one within the COPY.
        server.copy.early_syncs -= 1;
        if !server.turns.is_empty() {
            server.status = status;
            return Ok(if client.is_some() { Step::Pass } else { Step::Drop });
        }
        let owner = client.and(path.client).map_or(Owner::Chore(Chore::Abandoned), Owner::Client);
        server.turns.push(Expect::forward(Message::Sync, Undo::Nothing), owner);
        // More may come, or not: nobody else must get them.
        server.condemn_if(server.copy.early_syncs > 0);
    }
    let Some(head) = server.turns.head() else { return Err(unexpected(ready_for_query::TAG, "nothing")) };
    if !head.expect.ends_turn() {
        return Err(unexpected(ready_for_query::TAG, "an answer before the end of the turn"));
    }
    let of_client = matches!(server.turns.owner(), Some(Owner::Client(_))) && !server.turns.is_healing();
    if of_client && client.is_some_and(|client| client.resets.is_some()) {
        return Ok(Step::Before(ServerStop::Resets(status)));
    }
    if of_client && status != TransactionStatus::Idle && server.lent_to() != path.client {
        // What others have sent since stands in it: nothing of that may be committed.
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
        path.schema.changed();
        // Of a pipeline it may be any turn.
        server.pending.redefines = status != TransactionStatus::Idle || !server.turns.is_empty();
    }
    server.status = status;
    server.maybe_misdecoded.clear();
    server.copy.takes_data = false;
    // The end of a COPY that never began.
    while server.turns.head().is_some_and(|head| matches!(head.expect.message, Message::CopyEnd)) {
        server.turns.pop();
    }
    Ok(match turn {
        Turn { owner: Owner::Chore(chore), .. } => Step::Stop(false, ServerStop::ChoreOver(chore)),
        Turn { record: Record::Healing(sent), .. } => Step::Stop(false, ServerStop::Replay(sent)),
        Turn { record, .. } => {
            if let Record::Kept(mut sent) = record {
                // Idle clients hold none.
                sent.clear();
                server.replay_buffer = sent;
            }
            clients_turn_over(path, server)
        }
    })
}

/// A client's turn is answered.
fn clients_turn_over<W>(path: &mut Path<'_, W>, server: &mut Server) -> Step {
    let status = server.status;
    // Its own chores may come after it.
    let is_last = path.client.is_some_and(|client| !server.turns.last_is_not_of(client));
    let others_have_it = !is_last || server.lent_to() != path.client;
    let is_owed = path.client.is_some_and(|client| server.turns.owes(client));
    let others_follow = others_have_it && !server.turns.is_settled() && !is_owed;
    path.counters.turns += 1;
    if path.no_transactions && status != TransactionStatus::Idle {
        return Step::Stop(false, ServerStop::TransactionOpen);
    }
    path.counters.transactions += u64::from(status == TransactionStatus::Idle);
    path.counters.turn_us += path.now.saturating_sub(server.since);
    // Each turn of a pipeline has its time from the end of the one before.
    server.since = path.now;
    if server.turns.is_settled() {
        server.turns.drop_begun();
        return Step::Stop(true, ServerStop::TurnOver);
    }
    if others_follow {
        return Step::Stop(true, ServerStop::NextOwner);
    }
    if server.undecided {
        return Step::Stop(true, ServerStop::Decided);
    }
    Step::Pass
}
