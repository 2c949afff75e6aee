//! ErrorResponse: what it undoes, whom it is for, and whether its turn is played again.

use trunkline_wire::backend::{ErrorResponse, TransactionStatus, error_response};
use trunkline_wire::sqlstate::SqlState;

use super::from_client::body;
use super::own_names::with_own_name;
use super::server_step::{ServerStop, Step, unexpected};
use super::undo::undo_failed;
use super::{Chore, Expect, Owner};
use crate::client::Client;
use crate::error::ServerMisbehaved;
use crate::prepared::StatementId;
use crate::server::{ChoreAnswer, Server};
use crate::wires::{Path, Wires};

/// Deals with an ErrorResponse, all of it `there` or so much that it is only passed on.
pub(super) fn error<W: Wires>(
    path: &mut Path<'_, W>,
    mut client: Option<&mut Client>,
    server: &mut Server,
    there: &[u8],
) -> Result<Step, ServerMisbehaved> {
    // An oversized one is streamed without a look at its fields.
    let response = ErrorResponse::decode(body(there)).ok();
    let severity = response.and_then(|response| response.severity());
    if matches!(severity, Some(b"FATAL" | b"PANIC")) {
        return Ok(Step::Stop(false, ServerStop::Fatal(body(there).to_vec())));
    }
    let code = response.and_then(|response| response.code());
    let Some(head) = server.replies.head() else { return Err(unexpected(error_response::TAG, "nothing")) };
    let owner = head.owner;
    if owner == Owner::Chore(Chore::Settle) {
        // It is of something that was believed to be skipped: an empty query cannot fail.
        return Err(unexpected(error_response::TAG, "the end of an empty query"));
    }
    if let Owner::Chore(_) = owner {
        if matches!((&head.expect, &server.chore_answer), (Expect::Query(..), Some(ChoreAnswer::Error(_)))) {
            // A server that cannot put what it reports into the client's encoding says so for ever (guc.c,
            // ReportChangedGUCOptions), and is never ready again.
            return Ok(Step::Stop(false, ServerStop::Fatal(body(there).to_vec())));
        }
        server.chore_answer = Some(ChoreAnswer::Error(there.to_vec()));
    } else {
        path.counters.server_errors += 1;
    }
    server.copy_in = false;
    server.described = Box::default();
    let told_parsed = client.as_deref().map_or(0, |client| client.told_parsed);
    if owner == Owner::Client
        && let Some(resets) = client.as_deref_mut().and_then(|client| client.resets.as_mut())
    {
        resets.roll_back();
    }
    let broken =
        broken_statement(&head.expect, code, response.and_then(|response| response.field(b'R')), told_parsed);
    let ours = match &head.expect {
        Expect::BindOutdated if code == Some(SqlState::INVALID_SQL_STATEMENT_NAME) => Some(outdated_error()),
        expect => expect.names().and_then(|(sent, own)| with_own_name(there, sent, own)),
    };
    let simple = matches!(head.expect, Expect::Query(..) | Expect::FunctionCall);
    let ours = with_notices(server, ours, there);
    server.release_copy_syncs();
    // Those of a COPY by Query are answered behind its own end.
    server.early_syncs = if simple { 0 } else { std::mem::take(&mut server.copy_synced) };
    if simple {
        return Ok(if matches!(owner, Owner::Chore(_)) { Step::Drop } else { Step::Pass });
    }
    let heal = heal_wanted(client.as_deref(), server, broken.is_some());
    let synced = undo_failed(client, server);
    server.skipping = !synced;
    server.unsynced |= !synced;
    await_early_syncs(server);
    if let Some(broken) = broken {
        // Whatever happens to this turn, the next one finds it prepared anew.
        server.heal = broken;
        if told_parsed > 0
            && let Some(statement) = server.statements.get(broken)
        {
            statement.outdate();
        }
    }
    if heal {
        server.replies.disown_head(Chore::Heal);
        return Ok(Step::Drop);
    }
    if matches!(owner, Owner::Chore(_)) {
        return Ok(Step::Drop);
    }
    Ok(ours.map_or(Step::Pass, Step::Replace))
}

/// Answers to early Syncs of a failed COPY may come: how many is known when the answer to what is sent now comes. It cannot
/// be sent while the server skips, or within a turn.
pub(super) fn await_early_syncs(server: &mut Server) {
    let ends = server.replies.is_empty() || server.replies.ends_with_turn();
    // A COPY that may have begun would take it for its data; and what could begin one is answered in a way that tells.
    if server.early_syncs > 0 && !server.unsynced && ends && !server.replies.may_copy() {
        server.query(b"", Chore::Settle);
    }
}

/// What goes to the client in place of the error `there`, with the notices before it that were withheld: what the server
/// said of a Parse of ours that fails is what the client would have heard of its own, if that is what follows.
fn with_notices(server: &mut Server, instead: Option<Vec<u8>>, there: &[u8]) -> Option<Vec<u8>> {
    let notices = std::mem::take(&mut server.withheld);
    let parsed_again = matches!(server.replies.iter().nth(1), Some(Expect::ParseDuplicate { .. }));
    match notices.is_empty() || !parsed_again {
        true => instead,
        false => Some([&notices, instead.as_deref().unwrap_or(there)].concat()),
    }
}

/// The statement that this error may blame on being outdated: the server lost it, or it no longer fits its tables.
/// `told_parsed`: how many Parse messages of the turn we have answered. Such a statement may be older than its Parse, and
/// any fault that PostgreSQL finds with the values may be its fault.
fn broken_statement(
    expect: &Expect,
    code: Option<SqlState>,
    routine: Option<&[u8]>,
    told_parsed: u32,
) -> Option<StatementId> {
    let id = match expect {
        Expect::Bind(subject) | Expect::Describe(subject) => subject.id(),
        Expect::DescribeInjected(id) => *id,
        _ => return None,
    };
    let code = code?;
    // The message may be translated; the routine that raised it is not.
    let changed = code == SqlState::FEATURE_NOT_SUPPORTED && routine == Some(b"RevalidateCachedQuery");
    let lost = code == SqlState::INVALID_SQL_STATEMENT_NAME;
    // What it names was dropped, and may have been made anew.
    let gone = matches!(code.as_str(), "XX000" | "42703" | "42704" | "42883" | "42P01");
    let doubtful = told_parsed > 0 && matches!(code.as_str().get(..2), Some("22" | "42" | "0A"));
    (id != 0 && (changed || lost || gone || doubtful)).then_some(id)
}

/// Whether the turn can be played again so that its client never knows.
fn heal_wanted(client: Option<&Client>, server: &Server, broken: bool) -> bool {
    let Some(client) = client else { return false };
    broken
        && client.replayable
        && client.replay_complete
        && !client.replayed
        && !server.turn_replied
        && server.status == TransactionStatus::Idle
        && server.replies.turns() == 1
}

/// In PostgreSQL's words and with its routine's name: drivers know it by them, and prepare the statement anew.
fn outdated_error() -> Vec<u8> {
    let mut out = Vec::new();
    ErrorResponse::error(SqlState::FEATURE_NOT_SUPPORTED, "cached plan must not change result type")
        .field(b'R', "RevalidateCachedQuery")
        .encode(&mut out);
    out
}
