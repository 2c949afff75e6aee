//! ErrorResponse: what it undoes, whom it is for, and whether its turn is played again.

use trunkline_wire::backend::{ErrorResponse, TransactionStatus, error_response};
use trunkline_wire::sqlstate::SqlState;

use super::body::body;
use super::own_names::with_own_name;
use super::path::Path;
use super::server_step::{ServerStop, Step, unexpected};
use super::undo::undo_failed;
use super::{Chore, Expect, Message, Owner, Record, Subject, Turn};
use crate::carried::prepared::StatementId;
use crate::client::Client;
use crate::error::ServerMisbehaved;
use crate::server::{ChoreAnswer, Server};
use crate::wires::Wires;

/// Deals with an ErrorResponse, all of it `there` or too much to be more than passed on.
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
    let Some(head) = server.turns.head() else { return Err(unexpected(error_response::TAG, "nothing")) };
    if server.turns.owner() == Some(Owner::Chore(Chore::Settle)) {
        // It is of something that was believed to be skipped: an empty query cannot fail.
        return Err(unexpected(error_response::TAG, "the end of an empty query"));
    }
    let is_chore = !matches!(server.turns.owner(), Some(Owner::Client(_)));
    if is_chore {
        if matches!(
            (&head.expect.message, &server.chore_answer),
            (Message::Query, Some(ChoreAnswer::Error(_)))
        ) {
            // A server that cannot put what it reports into the client's encoding says so for ever (guc.c,
            // ReportChangedGUCOptions), and is never ready again.
            return Ok(Step::Stop(false, ServerStop::Fatal(body(there).to_vec())));
        }
        server.chore_answer = Some(ChoreAnswer::Error(there.to_vec()));
    } else {
        path.counters.server_errors += 1;
    }
    server.copy.takes_data = false;
    server.described = Box::default();
    let told = client.as_deref().map_or(0, |client| client.parse_completes_sent);
    if !is_chore && let Some(resets) = client.as_deref_mut().and_then(|client| client.resets.as_mut()) {
        resets.roll_back();
    }
    let broken =
        broken_statement(&head.expect, code, response.and_then(|response| response.field(b'R')), told);
    let ours = instead(&head.expect, code, there);
    let simple = matches!(head.expect.message, Message::Query | Message::FunctionCall);
    let ours = with_notices(server, ours, there);
    server.release_copy_syncs();
    if simple {
        // Those of a COPY by Query are answered after its own end.
        server.copy.early_syncs = 0;
        return Ok(if is_chore { Step::Drop } else { Step::Pass });
    }
    server.copy.expect_early_syncs();
    let heal = client.is_some() && broken.is_some() && can_heal(server);
    undo_failed(client, server);
    await_early_syncs(server);
    if let Some(broken) = broken {
        // Whatever happens to this turn, the next one finds it prepared again.
        server.heal = Some(broken);
        if told > 0
            && let Some(statement) = server.statements.get(broken)
        {
            statement.outdate();
        }
    }
    if heal {
        server.turns.heal();
    }
    if heal || is_chore {
        return Ok(Step::Drop);
    }
    Ok(ours.map_or(Step::Pass, Step::Replace))
}

/// Answers to early Syncs of a failed COPY may come: how many is known when the answer to what is sent now comes. It cannot
/// be sent while the server skips, or within a turn.
pub(super) fn await_early_syncs(server: &mut Server) {
    let ends = server.turns.is_empty() || server.turns.ends_with_turn();
    // A COPY that may have begun would take it for its data; and what could begin one is answered in a way that tells.
    if server.copy.early_syncs > 0 && !server.turns.is_unsynced() && ends && !server.turns.may_run() {
        server.query(b"", Chore::Settle);
    }
}

/// What goes to the client in place of the error `there`, which may name its statement as the server does.
fn instead(expect: &Expect, code: Option<SqlState>, there: &[u8]) -> Option<Vec<u8>> {
    match &expect.message {
        Message::Bind(Subject::Outdated) if code == Some(SqlState::INVALID_SQL_STATEMENT_NAME) => {
            Some(outdated_error())
        }
        _ => expect.names().and_then(|(sent, own)| with_own_name(there, sent, own)),
    }
}

/// What goes to the client in place of the error `there`, with the notices before it that were withheld: what the server
/// said of a Parse of ours that fails is what the client would have heard of its own, if that is what follows.
fn with_notices(server: &mut Server, instead: Option<Vec<u8>>, there: &[u8]) -> Option<Vec<u8>> {
    let notices = std::mem::take(&mut server.withheld_notices);
    // It has the name already.
    let parse_of_foreign = |expect: &Expect| matches!(expect.message, Message::Parse(Subject::Foreign(_)));
    let parsed_again = server.turns.iter().nth(1).is_some_and(parse_of_foreign);
    match notices.is_empty() || !parsed_again {
        true => instead,
        false => Some([&notices, instead.as_deref().unwrap_or(there)].concat()),
    }
}

/// The statement that this error may blame on being outdated: the server lost it, or it no longer fits its tables.
/// `told`: how many Parse messages of the turn we have answered. Such a statement may be older than its Parse, and
/// any fault that PostgreSQL finds with the values may be its fault.
fn broken_statement(
    expect: &Expect,
    code: Option<SqlState>,
    routine: Option<&[u8]>,
    told: u32,
) -> Option<StatementId> {
    let (Message::Bind(subject) | Message::Describe(subject)) = &expect.message else { return None };
    let (id, code) = (subject.id()?, code?);
    // The message may be translated; the routine that raised it is not.
    let changed = code == SqlState::FEATURE_NOT_SUPPORTED && routine == Some(b"RevalidateCachedQuery");
    let lost = code == SqlState::INVALID_SQL_STATEMENT_NAME;
    // What it names was dropped, and may have been made again.
    let gone = matches!(code.as_str(), "XX000" | "42703" | "42704" | "42883" | "42P01");
    let doubtful = told > 0 && matches!(code.as_str().get(..2), Some("22" | "42" | "0A"));
    (changed || lost || gone || doubtful).then_some(id)
}

/// Whether the turn can be played again so that its client never knows.
fn can_heal(server: &Server) -> bool {
    let kept = |turn: &Turn| matches!(turn.record, Record::Kept(_)) && !turn.is_open() && !turn.answered;
    server.turns.first().is_some_and(kept)
        && server.status == TransactionStatus::Idle
        && server.turns.turns() == 1
}

/// In PostgreSQL's words and with its routine's name: drivers know it by them, and prepare the statement again.
fn outdated_error() -> Vec<u8> {
    let mut out = Vec::new();
    ErrorResponse::error(SqlState::FEATURE_NOT_SUPPORTED, "cached plan must not change result type")
        .field(b'R', "RevalidateCachedQuery")
        .encode(&mut out);
    out
}
