//! ErrorResponse: which changes it undoes, who gets it, and whether we repeat its turn.

use trunkline_wire::backend::{ErrorResponse, TransactionStatus, error_response};
use trunkline_wire::sqlstate::SqlState;

use super::body::body;
use super::context::Context;
use super::own_names::with_own_name;
use super::server_step::{ServerStop, Step, unexpected};
use super::undo::undo_failed;
use super::{Chore, Expect, Message, Owner, Record, Subject, Turn};
use crate::carried::prepared::StatementId;
use crate::client::Client;
use crate::direct_send::DirectSend;
use crate::error::ServerMisbehaved;
use crate::server::{ChoreAnswer, Server};

/// Handles an ErrorResponse. `received` is all of it, or the beginning of one that is too long to be read.
pub(super) fn error<W: DirectSend>(
    context: &mut Context<'_, W>,
    mut client: Option<&mut Client>,
    server: &mut Server,
    received: &[u8],
) -> Result<Step, ServerMisbehaved> {
    // An incomplete one does not decode. It is passed on without a look at its fields.
    let response = ErrorResponse::decode(body(received)).ok();
    let severity = response.and_then(|response| response.severity());
    if matches!(severity, Some(b"FATAL" | b"PANIC")) {
        return Ok(Step::StopAfter(false, ServerStop::Fatal(body(received).to_vec())));
    }
    let code = response.and_then(|response| response.code());
    let Some(head) = server.turns.head() else { return Err(unexpected(error_response::TAG, "nothing")) };
    if server.turns.owner() == Some(Owner::Chore(Chore::Settle)) {
        // An empty query cannot fail, so the error answers a message that we believed the server to have skipped.
        return Err(unexpected(error_response::TAG, "the end of an empty query"));
    }
    let is_chore = !matches!(server.turns.owner(), Some(Owner::Client(_)));
    if is_chore {
        if repeats_error(&head.expect, server) {
            return Ok(Step::StopAfter(false, ServerStop::Fatal(body(received).to_vec())));
        }
        server.chore_answer = Some(ChoreAnswer::Error(received.to_vec()));
    } else {
        context.counters.server_errors += 1;
    }
    server.copy.takes_data = false;
    server.described = Box::default();
    let parses_answered = client.as_deref().map_or(0, |client| client.parse_completes_sent);
    if !is_chore && let Some(resets) = client.as_deref_mut().and_then(|client| client.resets.as_mut()) {
        resets.roll_back();
    }
    let broken = broken_statement(
        &head.expect,
        code,
        response.and_then(|response| response.field(b'R')),
        parses_answered,
    );
    let ours = instead(&head.expect, code, received);
    let simple = matches!(head.expect.message, Message::Query | Message::FunctionCall);
    let ours = with_notices(server, ours, received);
    server.release_copy_syncs();
    if simple {
        // The Syncs of a COPY that a Query began are answered after the Query's own ReadyForQuery.
        server.copy.early_syncs = 0;
        return Ok(if is_chore { Step::Drop } else { Step::Pass });
    }
    server.copy.expect_early_syncs();
    let heal = client.is_some() && broken.is_some() && can_heal(server);
    undo_failed(client, server);
    await_early_syncs(server);
    if let Some(broken) = broken {
        note_broken(server, broken, parses_answered);
    }
    if heal {
        server.turns.heal();
    }
    if heal || is_chore {
        return Ok(Step::Drop);
    }
    Ok(ours.map_or(Step::Pass, Step::Replace))
}

/// Whether the server has failed a query of a chore before. If it cannot convert a parameter that it reports to the client's
/// encoding, it repeats the error for ever (guc.c, ReportChangedGUCOptions), and is never ready again.
fn repeats_error(expect: &Expect, server: &Server) -> bool {
    matches!((&expect.message, &server.chore_answer), (Message::Query, Some(ChoreAnswer::Error(_))))
}

/// Notes a statement that is outdated or lost, so that it is prepared again.
fn note_broken(server: &mut Server, broken: StatementId, parses_answered: u32) {
    // Even if we do not repeat this turn, the next turn prepares the statement again.
    server.prepare_again = Some(broken);
    if parses_answered > 0
        && let Some(statement) = server.statements.get(broken)
    {
        statement.mark_outdated();
    }
}

/// A COPY has failed, and the server may answer Syncs that were sent during it. Sends an empty query: when its answer
/// comes, we know how many of the Syncs were answered. It can be sent neither within a turn nor while the server skips
/// messages.
pub(super) fn await_early_syncs(server: &mut Server) {
    let ends = server.turns.is_empty() || server.turns.ends_with_turn();
    // If another COPY may have begun, the server would treat the query as a message within that COPY. Then we wait: the
    // answers to the unanswered commands will tell.
    if server.copy.early_syncs > 0 && !server.turns.is_unsynced() && ends && !server.turns.may_run() {
        server.query(b"", Chore::Settle);
    }
}

/// The error that the client gets in place of `received`, if it must get another one: it names the statement as the client
/// does, or says that the statement is outdated.
fn instead(expect: &Expect, code: Option<SqlState>, received: &[u8]) -> Option<Vec<u8>> {
    match &expect.message {
        Message::Bind(Subject::Outdated) if code == Some(SqlState::INVALID_SQL_STATEMENT_NAME) => {
            Some(outdated_error())
        }
        _ => expect.names().and_then(|(sent, own)| with_own_name(received, sent, own)),
    }
}

/// The bytes that the client gets in place of the error `received`, with the withheld notices before it. If our own Parse
/// fails and the client's Parse of the same text follows it, the client must get the notices that its Parse would have got.
fn with_notices(server: &mut Server, instead: Option<Vec<u8>>, received: &[u8]) -> Option<Vec<u8>> {
    let notices = std::mem::take(&mut server.withheld_notices);
    // The next answer is that of a client's Parse with a name that is in use.
    let parse_of_renamed = |expect: &Expect| matches!(expect.message, Message::Parse(Subject::Renamed(_)));
    let parsed_again = server.turns.iter().nth(1).is_some_and(parse_of_renamed);
    match notices.is_empty() || !parsed_again {
        true => instead,
        false => Some([&notices, instead.as_deref().unwrap_or(received)].concat()),
    }
}

/// The statement that may have caused this error because it is outdated: the server has lost it, or it no longer fits its
/// tables. `parses_answered`: how many Parse messages of the turn we have answered ourselves. Then the statement may be
/// older than its Parse, and may have caused any error about the values.
fn broken_statement(
    expect: &Expect,
    code: Option<SqlState>,
    routine: Option<&[u8]>,
    parses_answered: u32,
) -> Option<StatementId> {
    let (Message::Bind(subject) | Message::Describe(subject)) = &expect.message else { return None };
    let (id, code) = (subject.id()?, code?);
    // The message may be translated, but the name of the routine that raised it is not.
    let changed = code == SqlState::FEATURE_NOT_SUPPORTED && routine == Some(b"RevalidateCachedQuery");
    let lost = code == SqlState::INVALID_SQL_STATEMENT_NAME;
    // An object that the statement names was dropped, and perhaps created again.
    let gone = matches!(code.as_str(), "XX000" | "42703" | "42704" | "42883" | "42P01");
    let doubtful = parses_answered > 0 && matches!(code.as_str().get(..2), Some("22" | "42" | "0A"));
    (changed || lost || gone || doubtful).then_some(id)
}

/// Whether we can repeat the turn without the client's noticing.
fn can_heal(server: &Server) -> bool {
    let kept = |turn: &Turn| matches!(turn.record, Record::Kept(_)) && !turn.is_open() && !turn.answered;
    server.turns.first().is_some_and(kept)
        && server.status == TransactionStatus::Idle
        && server.turns.turns() == 1
}

/// PostgreSQL's own message with the name of its routine. Drivers recognize these, and prepare the statement again.
fn outdated_error() -> Vec<u8> {
    let mut out = Vec::new();
    ErrorResponse::error(SqlState::FEATURE_NOT_SUPPORTED, "cached plan must not change result type")
        .field(b'R', "RevalidateCachedQuery")
        .encode(&mut out);
    out
}
