//! Parse, Bind, Describe and Close of clients whose statements are tracked.
//!
//! A client's name is its own; the server knows the statement by its global name. What the server lacks
//! is prepared just before it is needed, and those answers reach nobody.

use std::borrow::Cow;
use std::sync::Arc;

use trunkline_wire::backend::{TransactionStatus, close_complete, no_data, parse_complete};
use trunkline_wire::frame::HEADER_BYTES;
use trunkline_wire::frontend::{self, Target};

use super::body::{body, cstr, parsed_text};
use super::client_step::Step;
use super::fitness::{Fitness, fitness, shape_told};
use super::inject::{ensure, ensure_unnamed, inject_close, make_room, write_close, write_describe};
use super::path::Path;
use super::portals::bound;
use super::reading::{self, known, read_as, read_as_before};
use super::unshared::{self, is_usable};
use super::{Expect, Message, Subject, Undo};
use crate::carried::prepared::{NAME_PREFIX, Parsed, Shape, Statement, significant};
use crate::client::Client;
use crate::error::ClientMisbehaved;
use crate::server::Server;
use crate::text::{Effects, Literals};
use crate::wires::Wires;

pub(super) fn step<W: Wires>(
    path: &mut Path<'_, W>,
    client: &mut Client,
    server: &mut Server,
    tag: u8,
    there: &[u8],
    whole: bool,
    next: Option<u8>,
) -> Result<Step, ClientMisbehaved> {
    if tag == frontend::bind::TAG {
        if is_undecided(path, client, server, tag, there, None) {
            return Ok(await_answers(server));
        }
        if resets(client, there) && server.turns.turns() > 0 {
            // What comes back depends on the turns before it.
            return Ok(await_answers(server));
        }
        return bind(path, client, server, there, whole, next == Some(frontend::describe::TAG));
    }
    let unshared = tag == frontend::parse::TAG && unshared::is_too_long(path.limits, there);
    if !whole && !unshared {
        // The others are short: their length was checked.
        return Ok(Step::Wait);
    }
    let text = parsed_text(body(there)).filter(|_| tag == frontend::parse::TAG && !unshared);
    let Ok(effects) = text.map_or(Ok(None), |text| path.effects(client, text)) else {
        return Ok(Step::Later);
    };
    let effects = effects.as_ref();
    if path.pins && text.is_some_and(|text| path.class(client, text).is_err()) {
        return Ok(Step::Later);
    }
    if let Some(text) = text.filter(|_| may_be_misread(server, there))
        && Literals::of(text).are_read_by_any()
    {
        if server.turns.turns() > 0 {
            return Ok(await_answers(server));
        }
        server.pending.settings.changed();
    }
    if is_undecided(path, client, server, tag, there, effects) {
        return Ok(await_answers(server));
    }
    match tag {
        frontend::parse::TAG if unshared => unshared::parse(path, client, server, there),
        frontend::parse::TAG => parse(path, client, server, there, effects),
        frontend::describe::TAG => describe(path, client, server, there),
        _ => close(client, server, there, path),
    }
}

/// Whether something is run before this Parse of a named statement, which others may share. A function, a trigger or a rule
/// may set how the text is read, and no text shows that.
fn may_be_misread(server: &Server, there: &[u8]) -> bool {
    let is_named = body(there).first().is_some_and(|first| *first != 0);
    is_named && !server.copy.takes_data && server.turns.client_may_run()
}

/// The statement that a Bind is of.
pub(super) fn bound_statement<'a>(client: &'a Client, there: &[u8]) -> Option<&'a Arc<Statement>> {
    let (name, _) = cstr(body(there)).and_then(|(_, rest)| cstr(rest))?;
    match name {
        b"" => client.unnamed.as_ref(),
        name => client.statements.as_ref().and_then(|names| names.named(name)),
    }
}

/// Whether a Bind is of a statement that resets parameters.
fn resets(client: &Client, there: &[u8]) -> bool {
    bound_statement(client, there).is_some_and(|statement| statement.effects().has_resets())
}

/// The message waits for answers to those before it, which the server is made to give when no Sync does.
pub(super) fn await_answers(server: &mut Server) -> Step {
    server.undecided = true;
    if server.turns.replies().take_unflushed() {
        frontend::flush::encode(server.outbox.buffer());
    }
    Step::Wait
}

/// Whether the message names something that an unanswered turn before it may still change, or a DEALLOCATE or DISCARD
/// that is under way in its own. The answer is awaited then.
fn is_undecided<W>(
    path: &mut Path<'_, W>,
    client: &Client,
    server: &mut Server,
    tag: u8,
    there: &[u8],
    effects: Option<&Arc<Effects>>,
) -> bool {
    if server.copy.takes_data {
        // The server waits for the end of a COPY: no answer comes before the client sends something.
        return false;
    }
    let turns = server.turns.turns() > 0;
    if !turns {
        server.pending.settings.turns_answered();
    }
    let forgets = server.pending.forgets && (turns || server.turns.may_execute());
    if !turns && !forgets {
        return false;
    }
    if tag == frontend::parse::TAG && server.pending.settings.in_turn() && server.turns.turns_of_client() > 0
    {
        // How the server reads it is asked after it, which must wait until the turns before are answered.
        return true;
    }
    let body = body(there);
    let from_name = match tag {
        frontend::bind::TAG => cstr(body).map(|(_, rest)| rest),
        frontend::parse::TAG => Some(body),
        _ => {
            body.split_first().filter(|(kind, _)| **kind == Target::Statement.as_byte()).map(|(_, rest)| rest)
        }
    };
    let Some((name, rest)) = from_name.and_then(cstr) else { return false };
    if name.is_empty() {
        let here =
            client.unnamed.as_ref().is_none_or(|unnamed| Some(unnamed.id) == server.statements.unnamed);
        return matches!(tag, frontend::bind::TAG | frontend::describe::TAG)
            && (server.turns.is_unnamed_undecided() || (server.pending.settings.before() && !here));
    }
    if forgets {
        return true;
    }
    let name = significant(name);
    let (id, here) = match tag {
        frontend::parse::TAG if unshared::is_too_long(path.limits, there) => (None, true),
        // Which statement it is depends on the settings; and what is read there under others must wait for them too.
        frontend::parse::TAG if server.pending.settings.before() => return true,
        frontend::parse::TAG => (Some(intern(path, client, rest, effects).id), true),
        _ => {
            let known = client.statements.as_ref().and_then(|names| names.named(name));
            known.map_or((None, true), |known| (Some(known.id), server.statements.touch(known.id)))
        }
    };
    (server.pending.settings.before() && !here) || server.turns.replies().is_undecided(name, id)
}

/// The statement of a Parse message, shared with all who read it alike.
fn intern<W>(
    path: &mut Path<'_, W>,
    client: &Client,
    body: &[u8],
    effects: Option<&Arc<Effects>>,
) -> Arc<Statement> {
    let parsed = Parsed { effects, ..Parsed::new(body, &client.profile, path.schema, path.now) };
    path.registry.intern(parsed, path.limits.statement_lifetime, path.entropy)
}

fn parse<W: Wires>(
    path: &mut Path<'_, W>,
    client: &mut Client,
    server: &mut Server,
    there: &[u8],
    effects: Option<&Arc<Effects>>,
) -> Result<Step, ClientMisbehaved> {
    let (name, rest) = cstr(body(there)).ok_or(ClientMisbehaved::Malformed("Parse"))?;
    if name.is_empty() {
        return Ok(parse_unnamed(path, client, server, there, effects));
    }
    if path.limits.prepared_max == 0 {
        server.turns.append(forward(Message::Parse(Subject::Untracked)));
        return Ok(Step::Pass);
    }
    let name = significant(name);
    let again = path.replaying && forget_outdated(client, name, rest);
    let statement = statement_of(path, client, server, rest, effects);
    server.pending.prepared(statement.effects());
    if client.statements().named(name).is_some() {
        // The server itself refuses it: it knows whether something else is wrong with it before.
        ensure(path, server, &statement);
        frontend::parse::write_renamed(server.outbox.buffer(), statement.name(), statement.body());
        let parse = Message::Parse(Subject::foreign(name, statement.name()));
        server.turns.append(forward(parse));
        return Ok(Step::Replaced(there.len()));
    }
    claim(path, client, name, &statement)?;
    if server.statements.touch(statement.id) {
        if !may_be_failed(server) && !statement.may_warn() {
            server.hits += 1;
            path.counters.prepare_cache_hit += 1;
            client.parse_completes_sent += 1;
            if server.owes_nothing() {
                answer_at_once(path, client, &parse_complete::FRAME);
            } else {
                let parse = Message::Parse(Subject::Untracked);
                server.turns.append(Expect::give(parse, Undo::Claimed(name.into())));
            }
            return Ok(Step::Drop);
        }
        // In a failed transaction Parse must fail too, unless it is of what ends the transaction; and what the server has
        // to say of the text is for each client.
        inject_close(server, Arc::clone(&statement));
    } else {
        make_room(path, server);
    }
    server.misses += 1;
    path.counters.prepare_cache_miss += 1;
    server.statements.insert(Arc::clone(&statement));
    let back = read_as(path, server, &statement);
    frontend::parse::write_renamed(server.outbox.buffer(), statement.name(), statement.body());
    let statement_is_unread = statement.reading().is_none();
    let message = Message::Parse(Subject::Untracked);
    let expect = match again {
        true => Expect::skip(message, Undo::Prepared(Arc::clone(&statement))),
        false => Expect::forward(message, Undo::Named(Arc::clone(&statement), name.into())),
    };
    server.turns.append(expect);
    read_as_before(path, server, back);
    if statement_is_unread {
        reading::ask(path, server, &statement);
    }
    Ok(Step::Replaced(there.len()))
}

/// The client has the name for the statement, if it may have another.
fn claim<W>(
    path: &Path<'_, W>,
    client: &mut Client,
    name: &[u8],
    statement: &Arc<Statement>,
) -> Result<(), ClientMisbehaved> {
    let names = client.statements();
    if names.len() >= path.limits.client_statements_max {
        return Err(ClientMisbehaved::TooManyStatements { limit: path.limits.client_statements_max });
    }
    if names.bytes() + statement.bytes() > path.limits.client_statements_bytes_max {
        return Err(ClientMisbehaved::StatementsTooLarge { limit: path.limits.client_statements_bytes_max });
    }
    names.insert(name, Arc::clone(statement));
    Ok(())
}

/// The statement that a Parse of a named one makes: shared, unless its own turn may have changed how it is read.
fn statement_of<W>(
    path: &mut Path<'_, W>,
    client: &mut Client,
    server: &Server,
    body: &[u8],
    effects: Option<&Arc<Effects>>,
) -> Arc<Statement> {
    if !server.pending.settings.in_turn() {
        return intern(path, client, body, effects);
    }
    let parsed = Parsed { effects, ..Parsed::new(body, &client.profile, path.schema, path.now) };
    let statement = path.registry.private(parsed, path.entropy);
    client.leftovers().unread.push(Arc::clone(&statement));
    statement
}

fn parse_unnamed<W: Wires>(
    path: &mut Path<'_, W>,
    client: &mut Client,
    server: &mut Server,
    there: &[u8],
    effects: Option<&Arc<Effects>>,
) -> Step {
    // After the name, which is empty.
    let body = &body(there)[1..];
    let parsed = Parsed { effects, ..Parsed::new(body, &client.profile, path.schema, path.now) };
    let reading = known(server.pending.settings, &client.profile);
    let (statement, is_read) = (path.registry.unnamed(parsed, reading), reading.is_some());
    if !is_read {
        client.leftovers().unread.push(Arc::clone(&statement));
    }
    server.pending.prepared(statement.effects());
    let id = statement.id;
    let previous = client.unnamed.replace(Arc::clone(&statement));
    let on_server = server.statements.unnamed.replace(id);
    let parse = Message::Parse(Subject::Untracked);
    let expect = Expect::forward(parse, Undo::BothUnnamed(on_server, previous));
    if is_read {
        server.turns.append(expect);
        return Step::Pass;
    }
    frontend::parse::write_renamed(server.outbox.buffer(), b"", body);
    server.turns.append(expect);
    reading::ask(path, server, &statement);
    Step::Replaced(there.len())
}

/// A turn is played again because its statement was outdated: its Parse gives the name to a new one. True when the client
/// has been told of the first one already, and so must not be told again.
fn forget_outdated(client: &mut Client, name: &[u8], body: &[u8]) -> bool {
    if client.statements().named(name).is_none_or(|known| *known.body() != *body) {
        return false;
    }
    client.statements().remove(name);
    let told = client.replay_parses_answered > 0;
    client.replay_parses_answered = client.replay_parses_answered.saturating_sub(1);
    told
}

/// Whether the message comes to a failed transaction, as far as can be known before the turns before it are answered.
fn may_be_failed(server: &Server) -> bool {
    match server.status {
        TransactionStatus::Failed => true,
        TransactionStatus::InTransaction => server.turns.turns() > 0,
        TransactionStatus::Idle => server.turns.turns() > 0 && server.turns.may_run(),
    }
}

/// An answer of ours with nothing before it unanswered. It can wait for the server's next answer, or a Flush.
fn answer_at_once<W: Wires>(path: &mut Path<'_, W>, client: &mut Client, frame: &[u8]) {
    client.held |= client.outbox.is_empty();
    path.pass_client(client, frame);
}

fn bind<W: Wires>(
    path: &mut Path<'_, W>,
    client: &mut Client,
    server: &mut Server,
    there: &[u8],
    whole: bool,
    described: bool,
) -> Result<Step, ClientMisbehaved> {
    let names = cstr(body(there)).and_then(|(portal, rest)| Some((portal, cstr(rest)?)));
    let Some((portal, (name, _))) = names else {
        return match whole {
            true => Err(ClientMisbehaved::Malformed("Bind")),
            false if there.len() > path.limits.statement_bytes_max => {
                Err(ClientMisbehaved::Malformed("Bind"))
            }
            false => Ok(Step::Wait),
        };
    };
    if name.is_empty() {
        bind_unnamed(path, client, server, portal);
        return Ok(Step::Pass);
    }
    let known = client.statements.as_ref().and_then(|names| names.entry(name)).cloned();
    let known = known.filter(|named| is_usable(server, &named.statement));
    let outdated;
    let on_server = match &known {
        Some(named) => {
            let told = if described { Shape::UNKNOWN } else { shape_told(client, named) };
            match fitness(path, server, &named.statement, told) {
                Fitness::Fits => {
                    ensure(path, server, &named.statement);
                    Cow::Borrowed(named.statement.name())
                }
                Fitness::Asked => return Ok(Step::Wait),
                Fitness::Outdated => {
                    // The server has no such statement, and says so.
                    outdated = path.registry.secret_name(path.entropy);
                    Cow::Borrowed(&*outdated)
                }
            }
        }
        // The server does not have it either, and says so.
        None => foreign_name(name),
    };
    let subject = match &known {
        Some(named) if *on_server != *named.statement.name() => Subject::Outdated,
        Some(named) => {
            bound(path, client, server, portal, &named.statement);
            Subject::Named(Arc::clone(named))
        }
        None => {
            path.runs_anything(client, server);
            unknown(name, &on_server)
        }
    };
    let [_, a, b, c, d, ..] = *there else { return Ok(Step::Wait) };
    let length = u64::from(u32::from_be_bytes([a, b, c, d])) + on_server.len() as u64 - name.len() as u64;
    let length = u32::try_from(length).map_err(|_| ClientMisbehaved::Malformed("Bind"))?;
    frontend::bind::encode_prefix(server.outbox.buffer(), length, portal, &on_server);
    server.turns.append(forward(Message::Bind(subject)));
    client.bound = known.filter(|_| portal.is_empty());
    Ok(Step::Replaced(HEADER_BYTES + portal.len() + name.len() + 2))
}

fn bind_unnamed<W>(path: &mut Path<'_, W>, client: &mut Client, server: &mut Server, portal: &[u8]) {
    let id = ensure_unnamed(path, client, server);
    match client.unnamed.clone() {
        Some(unnamed) => bound(path, client, server, portal, &unnamed),
        None => path.runs_anything(client, server),
    }
    server.turns.append(forward(Message::Bind(Subject::numbered(id))));
    if portal.is_empty() {
        client.bound = None;
    }
}

fn describe<W: Wires>(
    path: &mut Path<'_, W>,
    client: &mut Client,
    server: &mut Server,
    there: &[u8],
) -> Result<Step, ClientMisbehaved> {
    let (kind, rest) = body(there).split_first().ok_or(ClientMisbehaved::Malformed("Describe"))?;
    let (name, _) = cstr(rest).ok_or(ClientMisbehaved::Malformed("Describe"))?;
    if *kind != Target::Statement.as_byte() {
        let subject = match &client.bound {
            Some(named) if name.is_empty() => Subject::Named(Arc::clone(named)),
            _ => Subject::Untracked,
        };
        server.turns.append(forward(Message::Describe(subject)));
        return Ok(Step::Pass);
    }
    if name.is_empty() {
        let id = ensure_unnamed(path, client, server);
        server.turns.append(forward(Message::Describe(Subject::numbered(id))));
        return Ok(Step::Pass);
    }
    let named = client.statements.as_ref().and_then(|names| names.entry(name));
    let Some(named) = named.filter(|named| is_usable(server, &named.statement)) else {
        let sent = foreign_name(name);
        write_describe(server.outbox.buffer(), &sent);
        server.turns.append(forward(Message::Describe(unknown(name, &sent))));
        return Ok(Step::Replaced(there.len()));
    };
    if server.status == TransactionStatus::Failed
        && server.owes_nothing()
        && !server.statements.touch(named.statement.id)
        && let Some(parameters) = named.statement.parameters_without_rows()
    {
        // The server cannot be given the statement now; on a direct connection it has it, and describes it all the same.
        let answer = [parameters, &no_data::FRAME].concat();
        answer_at_once(path, client, &answer);
        return Ok(Step::Drop);
    }
    ensure(path, server, &named.statement);
    write_describe(server.outbox.buffer(), named.statement.name());
    let subject = Subject::Named(Arc::clone(named));
    server.turns.append(forward(Message::Describe(subject)));
    Ok(Step::Replaced(there.len()))
}

fn close<W: Wires>(
    client: &mut Client,
    server: &mut Server,
    there: &[u8],
    path: &mut Path<'_, W>,
) -> Result<Step, ClientMisbehaved> {
    let (kind, rest) = body(there).split_first().ok_or(ClientMisbehaved::Malformed("Close"))?;
    let (name, _) = cstr(rest).ok_or(ClientMisbehaved::Malformed("Close"))?;
    if *kind != Target::Statement.as_byte() {
        server.turns.append(forward(Message::Close));
        return Ok(Step::Pass);
    }
    if name.is_empty() {
        let on_server = std::mem::take(&mut server.statements.unnamed);
        let before = Undo::BothUnnamed(on_server, client.unnamed.take());
        server.turns.append(Expect::forward(Message::Close, before));
        return Ok(Step::Pass);
    }
    // In the midst of a COPY it is an error, which the server reports.
    let names = client.statements.as_mut().filter(|_| !server.copy.takes_data);
    let Some(statement) = names.and_then(|names| names.remove(name)) else {
        // Closing what is not there is no error; it may be there by SQL's PREPARE.
        write_close(server.outbox.buffer(), &foreign_name(name));
        server.turns.append(forward(Message::Close));
        return Ok(Step::Replaced(there.len()));
    };
    if server.owes_nothing() {
        answer_at_once(path, client, &close_complete::FRAME);
    } else {
        let before = Undo::Released(name.into(), statement);
        server.turns.append(Expect::give(Message::Close, before));
    }
    Ok(Step::Drop)
}

/// A client's name for a statement that is not tracked, as the server gets it: never one of our own names, behind
/// which other clients' statements are.
fn foreign_name(name: &[u8]) -> Cow<'_, [u8]> {
    match name.starts_with(NAME_PREFIX) {
        true => Cow::Owned([NAME_PREFIX, name].concat()),
        false => Cow::Borrowed(name),
    }
}

/// A statement that is not tracked.
fn unknown(own: &[u8], sent: &[u8]) -> Subject {
    if own == sent { Subject::Untracked } else { Subject::foreign(own, sent) }
}

/// A message that changes nothing of what is prepared.
fn forward(message: Message) -> Expect {
    Expect::forward(message, Undo::Nothing)
}
