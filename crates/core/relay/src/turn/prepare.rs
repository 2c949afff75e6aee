//! Parse, Bind, Describe and Close of clients whose statements we track.
//!
//! Each client has its own names. The server has the statement under one global name. If the server does not have it,
//! we prepare it just before it is needed, and drop the answers.

use std::borrow::Cow;
use std::sync::Arc;

use trunkline_wire::backend::{TransactionStatus, close_complete, no_data, parse_complete};
use trunkline_wire::frame::HEADER_BYTES;
use trunkline_wire::frontend::{self, Target};

use super::body::{body, cstr, parsed_text};
use super::client_step::Step;
use super::context::Context;
use super::inject::{ensure, ensure_unnamed, inject_close, make_room, write_close, write_describe};
use super::parse_settings::{self, restore_parse_settings, set_parse_settings, settled_profile};
use super::portals::note_bound;
use super::shape_check::{ShapeCheck, check_shape, shape_told};
use super::unshared::{self, is_usable};
use super::{Expect, Message, Subject, Undo};
use crate::carried::prepared::{NAME_PREFIX, ParseRequest, Shape, Statement, truncate_name};
use crate::client::Client;
use crate::direct_send::DirectSend;
use crate::error::ClientMisbehaved;
use crate::server::Server;
use crate::text::{Effects, Literals};

pub(super) fn step<W: DirectSend>(
    context: &mut Context<'_, W>,
    client: &mut Client,
    server: &mut Server,
    tag: u8,
    received: &[u8],
    whole: bool,
    next: Option<u8>,
) -> Result<Step, ClientMisbehaved> {
    if tag == frontend::bind::TAG {
        if is_undecided(context, client, server, tag, received, None) {
            return Ok(await_answers(server));
        }
        if resets(client, received) && server.turns.turns() > 0 {
            // Which values the reset brings back depends on the earlier turns.
            return Ok(await_answers(server));
        }
        return bind(context, client, server, received, whole, next == Some(frontend::describe::TAG));
    }
    let unshared = tag == frontend::parse::TAG && unshared::is_too_long(context.limits, received);
    if !whole && !unshared {
        // These messages are short, because their length was checked.
        return Ok(Step::Wait);
    }
    let text = parsed_text(body(received)).filter(|_| tag == frontend::parse::TAG && !unshared);
    let Ok(effects) = text.map_or(Ok(None), |text| context.effects(client, text)) else {
        return Ok(Step::ParseBudgetUsed);
    };
    let effects = effects.as_ref();
    if let Some(text) = text.filter(|_| may_be_misread(server, received))
        && Literals::of(text).parse_depends_on_any()
    {
        if server.turns.turns() > 0 {
            return Ok(await_answers(server));
        }
        server.pending.settings.changed();
    }
    if is_undecided(context, client, server, tag, received, effects) {
        return Ok(await_answers(server));
    }
    match tag {
        frontend::parse::TAG if unshared => unshared::parse(context, client, server, received),
        frontend::parse::TAG => parse(context, client, server, received, effects),
        frontend::describe::TAG => describe(context, client, server, received),
        _ => close(client, server, received, context),
    }
}

/// Whether a command of the client runs before this Parse of a named statement, which other clients may share. A
/// function, a trigger or a rule of that command may change how the server parses the text, and no SQL text shows that.
fn may_be_misread(server: &Server, received: &[u8]) -> bool {
    let is_named = body(received).first().is_some_and(|first| *first != 0);
    is_named && !server.copy.takes_data && server.turns.client_may_run()
}

/// The statement of a Bind.
pub(super) fn bound_statement<'a>(client: &'a Client, received: &[u8]) -> Option<&'a Arc<Statement>> {
    let (name, _) = cstr(body(received)).and_then(|(_, rest)| cstr(rest))?;
    match name {
        b"" => client.unnamed.as_ref(),
        name => client.statements.as_ref().and_then(|names| names.named(name)),
    }
}

/// Whether a Bind is of a statement that resets parameters.
fn resets(client: &Client, received: &[u8]) -> bool {
    bound_statement(client, received).is_some_and(|statement| statement.effects().has_resets())
}

/// The message waits for the answers to earlier messages. If no Sync follows those, we send a Flush to get the answers.
pub(super) fn await_answers(server: &mut Server) -> Step {
    server.awaits_answers = true;
    if server.turns.replies().take_unflushed() {
        frontend::flush::encode(server.outbox.buffer());
    }
    Step::Wait
}

/// Whether the message must wait for answers: it names a statement that an unanswered earlier turn may change, or that an
/// unanswered DEALLOCATE or DISCARD of its own turn may remove.
fn is_undecided<W>(
    context: &mut Context<'_, W>,
    client: &Client,
    server: &mut Server,
    tag: u8,
    received: &[u8],
    effects: Option<&Arc<Effects>>,
) -> bool {
    if server.copy.takes_data {
        // The server waits for the client's COPY data. It gives no answer before the client sends something.
        return false;
    }
    let turns = server.turns.turns() > 0;
    if !turns {
        server.pending.settings.turns_answered();
    }
    let forgets = server.pending.may_deallocate && (turns || server.turns.may_execute());
    if !turns && !forgets {
        return false;
    }
    if tag == frontend::parse::TAG && server.pending.settings.in_turn() && server.turns.turns_of_client() > 0
    {
        // After the Parse we ask the server for its settings. That is possible only when the earlier turns are answered.
        return true;
    }
    let body = body(received);
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
            && (server.turns.is_unnamed_undecided() || (server.pending.settings.in_earlier_turn() && !here));
    }
    if forgets {
        return true;
    }
    let name = truncate_name(name);
    let (id, here) = match tag {
        frontend::parse::TAG if unshared::is_too_long(context.limits, received) => (None, true),
        // Which shared statement this is depends on the settings.
        frontend::parse::TAG if server.pending.settings.in_earlier_turn() => return true,
        frontend::parse::TAG => (Some(intern(context, client, rest, effects).id), true),
        _ => {
            let known = client.statements.as_ref().and_then(|names| names.named(name));
            known.map_or((None, true), |known| (Some(known.id), server.statements.touch(known.id)))
        }
    };
    (server.pending.settings.in_earlier_turn() && !here) || server.turns.replies().is_undecided(name, id)
}

/// The statement of a Parse message. Clients whose settings give the text the same meaning share it.
fn intern<W>(
    context: &mut Context<'_, W>,
    client: &Client,
    body: &[u8],
    effects: Option<&Arc<Effects>>,
) -> Arc<Statement> {
    let parsed =
        ParseRequest { effects, ..ParseRequest::new(body, &client.profile, context.schema, context.now) };
    context.registry.intern(parsed, context.limits.statement_lifetime, context.entropy)
}

fn parse<W: DirectSend>(
    context: &mut Context<'_, W>,
    client: &mut Client,
    server: &mut Server,
    received: &[u8],
    effects: Option<&Arc<Effects>>,
) -> Result<Step, ClientMisbehaved> {
    let (name, rest) = cstr(body(received)).ok_or(ClientMisbehaved::Malformed("Parse"))?;
    if name.is_empty() {
        return Ok(parse_unnamed(context, client, server, received, effects));
    }
    if context.limits.prepared_max == 0 {
        server.turns.append(forward(Message::Parse(Subject::Untracked)));
        return Ok(Step::Pass);
    }
    let name = truncate_name(name);
    let again = context.replaying && forget_outdated(client, name, rest);
    let statement = statement_of(context, client, server, rest, effects);
    server.pending.prepared(statement.effects());
    if client.statements().named(name).is_some() {
        // The name is in use, so the Parse must fail. The server refuses it, because other errors may come first.
        ensure(context, server, &statement);
        frontend::parse::write_renamed(server.outbox.buffer(), statement.name(), statement.body());
        let parse = Message::Parse(Subject::renamed(name, statement.name()));
        server.turns.append(forward(parse));
        return Ok(Step::Replaced(received.len()));
    }
    add_name(context, client, name, &statement)?;
    if server.statements.touch(statement.id) {
        if !may_be_failed(server) && !statement.may_have_notice() {
            server.hits += 1;
            context.counters.prepare_cache_hit += 1;
            client.parse_completes_sent += 1;
            if server.owes_nothing() {
                answer_at_once(context, client, &parse_complete::FRAME);
            } else {
                let parse = Message::Parse(Subject::Untracked);
                server.turns.append(Expect::answer_locally(parse, Undo::NameAdded(name.into())));
            }
            return Ok(Step::Drop);
        }
        // In a failed transaction the Parse must fail too, unless its text ends the transaction. And each client must get
        // the server's warnings about the text. So the server parses it again.
        inject_close(server, Arc::clone(&statement));
    } else {
        make_room(context, server);
    }
    server.misses += 1;
    context.counters.prepare_cache_miss += 1;
    server.statements.insert(Arc::clone(&statement));
    let back = set_parse_settings(context, server, &statement);
    frontend::parse::write_renamed(server.outbox.buffer(), statement.name(), statement.body());
    let statement_is_unread = statement.parse_settings().is_none();
    let message = Message::Parse(Subject::Untracked);
    let expect = match again {
        true => Expect::discard(message, Undo::Prepared(Arc::clone(&statement))),
        false => Expect::forward(message, Undo::PreparedAs(Arc::clone(&statement), name.into())),
    };
    server.turns.append(expect);
    restore_parse_settings(context, server, back);
    if statement_is_unread {
        parse_settings::ask(context, server, &statement);
    }
    Ok(Step::Replaced(received.len()))
}

/// Gives the client the name for the statement. Fails if the client has too many statements.
fn add_name<W>(
    context: &Context<'_, W>,
    client: &mut Client,
    name: &[u8],
    statement: &Arc<Statement>,
) -> Result<(), ClientMisbehaved> {
    let names = client.statements();
    if names.len() >= context.limits.client_statements_max {
        return Err(ClientMisbehaved::TooManyStatements { limit: context.limits.client_statements_max });
    }
    if names.bytes() + statement.bytes() > context.limits.client_statements_bytes_max {
        return Err(ClientMisbehaved::StatementsTooLarge {
            limit: context.limits.client_statements_bytes_max,
        });
    }
    names.insert(name, Arc::clone(statement));
    Ok(())
}

/// The statement that a Parse with a name makes. It is shared, unless the same turn may have changed the settings.
fn statement_of<W>(
    context: &mut Context<'_, W>,
    client: &mut Client,
    server: &Server,
    body: &[u8],
    effects: Option<&Arc<Effects>>,
) -> Arc<Statement> {
    if !server.pending.settings.in_turn() {
        return intern(context, client, body, effects);
    }
    let parsed =
        ParseRequest { effects, ..ParseRequest::new(body, &client.profile, context.schema, context.now) };
    let statement = context.registry.private(parsed, context.entropy);
    client.leftovers().without_parse_settings.push(Arc::clone(&statement));
    statement
}

fn parse_unnamed<W: DirectSend>(
    context: &mut Context<'_, W>,
    client: &mut Client,
    server: &mut Server,
    received: &[u8],
    effects: Option<&Arc<Effects>>,
) -> Step {
    // The body after the zero byte of the empty name.
    let body = &body(received)[1..];
    let parsed =
        ParseRequest { effects, ..ParseRequest::new(body, &client.profile, context.schema, context.now) };
    let settled = settled_profile(server.pending.settings, &client.profile);
    let (statement, is_settled) = (context.registry.unnamed(parsed, settled), settled.is_some());
    if !is_settled {
        client.leftovers().without_parse_settings.push(Arc::clone(&statement));
    }
    server.pending.prepared(statement.effects());
    let id = statement.id;
    let previous = client.unnamed.replace(Arc::clone(&statement));
    let on_server = server.statements.unnamed.replace(id);
    let parse = Message::Parse(Subject::Untracked);
    let expect = Expect::forward(parse, Undo::BothUnnamed(on_server, previous));
    if is_settled {
        server.turns.append(expect);
        return Step::Pass;
    }
    frontend::parse::write_renamed(server.outbox.buffer(), b"", body);
    server.turns.append(expect);
    parse_settings::ask(context, server, &statement);
    Step::Replaced(received.len())
}

/// We repeat a turn because its statement was outdated, so its Parse must make a new statement with the same name. Returns
/// true if the client has already got ParseComplete for the first one: it must not get a second one.
fn forget_outdated(client: &mut Client, name: &[u8], body: &[u8]) -> bool {
    if client.statements().named(name).is_none_or(|known| *known.body() != *body) {
        return false;
    }
    client.statements().remove(name);
    let told = client.replay_parses_answered > 0;
    client.replay_parses_answered = client.replay_parses_answered.saturating_sub(1);
    told
}

/// Whether the message may come to a failed transaction, as far as we know before the earlier turns are answered.
fn may_be_failed(server: &Server) -> bool {
    match server.status {
        TransactionStatus::Failed => true,
        TransactionStatus::InTransaction => server.turns.turns() > 0,
        TransactionStatus::Idle => server.turns.turns() > 0 && server.turns.may_run(),
    }
}

/// Sends an answer of our own when no earlier message is unanswered. It may wait for the server's next answer or a Flush.
fn answer_at_once<W: DirectSend>(context: &mut Context<'_, W>, client: &mut Client, frame: &[u8]) {
    client.output_held |= client.outbox.is_empty();
    context.pass_client(client, frame);
}

fn bind<W: DirectSend>(
    context: &mut Context<'_, W>,
    client: &mut Client,
    server: &mut Server,
    received: &[u8],
    whole: bool,
    described: bool,
) -> Result<Step, ClientMisbehaved> {
    let names = cstr(body(received)).and_then(|(portal, rest)| Some((portal, cstr(rest)?)));
    let Some((portal, (name, _))) = names else {
        return match whole {
            true => Err(ClientMisbehaved::Malformed("Bind")),
            false if received.len() > context.limits.statement_bytes_max => {
                Err(ClientMisbehaved::Malformed("Bind"))
            }
            false => Ok(Step::Wait),
        };
    };
    if name.is_empty() {
        bind_unnamed(context, client, server, portal);
        return Ok(Step::Pass);
    }
    let known = client.statements.as_ref().and_then(|names| names.entry(name)).cloned();
    let known = known.filter(|named| is_usable(server, &named.statement));
    let outdated;
    let on_server = match &known {
        Some(named) => {
            let told = if described { Shape::UNKNOWN } else { shape_told(client, named) };
            match check_shape(context, server, &named.statement, told) {
                ShapeCheck::Same => {
                    ensure(context, server, &named.statement);
                    Cow::Borrowed(named.statement.name())
                }
                ShapeCheck::Asked => return Ok(Step::Wait),
                ShapeCheck::Outdated => {
                    // The server does not have a statement with this name, so the Bind fails.
                    outdated = context.registry.secret_name(context.entropy);
                    Cow::Borrowed(&*outdated)
                }
            }
        }
        // We do not track it. If the server does not have it either, the server says so.
        None => untracked_name(name),
    };
    let subject = match &known {
        Some(named) if *on_server != *named.statement.name() => Subject::Outdated,
        Some(named) => {
            note_bound(context, client, server, portal, &named.statement);
            Subject::Named(Arc::clone(named))
        }
        None => {
            context.runs_anything(client, server);
            unknown(name, &on_server)
        }
    };
    let [_, a, b, c, d, ..] = *received else { return Ok(Step::Wait) };
    let length = u64::from(u32::from_be_bytes([a, b, c, d])) + on_server.len() as u64 - name.len() as u64;
    let length = u32::try_from(length).map_err(|_| ClientMisbehaved::Malformed("Bind"))?;
    frontend::bind::encode_prefix(server.outbox.buffer(), length, portal, &on_server);
    server.turns.append(forward(Message::Bind(subject)));
    client.unnamed_portal = known.filter(|_| portal.is_empty());
    Ok(Step::Replaced(HEADER_BYTES + portal.len() + name.len() + 2))
}

fn bind_unnamed<W>(context: &mut Context<'_, W>, client: &mut Client, server: &mut Server, portal: &[u8]) {
    let id = ensure_unnamed(context, client, server);
    match client.unnamed.clone() {
        Some(unnamed) => note_bound(context, client, server, portal, &unnamed),
        None => context.runs_anything(client, server),
    }
    server.turns.append(forward(Message::Bind(Subject::numbered(id))));
    if portal.is_empty() {
        client.unnamed_portal = None;
    }
}

fn describe<W: DirectSend>(
    context: &mut Context<'_, W>,
    client: &mut Client,
    server: &mut Server,
    received: &[u8],
) -> Result<Step, ClientMisbehaved> {
    let (kind, rest) = body(received).split_first().ok_or(ClientMisbehaved::Malformed("Describe"))?;
    let (name, _) = cstr(rest).ok_or(ClientMisbehaved::Malformed("Describe"))?;
    if *kind != Target::Statement.as_byte() {
        let subject = match &client.unnamed_portal {
            Some(named) if name.is_empty() => Subject::Named(Arc::clone(named)),
            _ => Subject::Untracked,
        };
        server.turns.append(forward(Message::Describe(subject)));
        return Ok(Step::Pass);
    }
    if name.is_empty() {
        let id = ensure_unnamed(context, client, server);
        server.turns.append(forward(Message::Describe(Subject::numbered(id))));
        return Ok(Step::Pass);
    }
    let named = client.statements.as_ref().and_then(|names| names.entry(name));
    let Some(named) = named.filter(|named| is_usable(server, &named.statement)) else {
        let sent = untracked_name(name);
        write_describe(server.outbox.buffer(), &sent);
        server.turns.append(forward(Message::Describe(unknown(name, &sent))));
        return Ok(Step::Replaced(received.len()));
    };
    if server.status == TransactionStatus::Failed
        && server.owes_nothing()
        && !server.statements.touch(named.statement.id)
        && let Some(parameters) = named.statement.parameters_without_rows()
    {
        // In a failed transaction we cannot prepare the statement. On a direct connection the server would have it, and
        // would describe it.
        let answer = [parameters, &no_data::FRAME].concat();
        answer_at_once(context, client, &answer);
        return Ok(Step::Drop);
    }
    ensure(context, server, &named.statement);
    write_describe(server.outbox.buffer(), named.statement.name());
    let subject = Subject::Named(Arc::clone(named));
    server.turns.append(forward(Message::Describe(subject)));
    Ok(Step::Replaced(received.len()))
}

fn close<W: DirectSend>(
    client: &mut Client,
    server: &mut Server,
    received: &[u8],
    context: &mut Context<'_, W>,
) -> Result<Step, ClientMisbehaved> {
    let (kind, rest) = body(received).split_first().ok_or(ClientMisbehaved::Malformed("Close"))?;
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
    // During a COPY a Close is an error, which the server reports.
    let names = client.statements.as_mut().filter(|_| !server.copy.takes_data);
    let Some(statement) = names.and_then(|names| names.remove(name)) else {
        // To close an unknown name is no error. SQL's PREPARE may have made the statement.
        write_close(server.outbox.buffer(), &untracked_name(name));
        server.turns.append(forward(Message::Close));
        return Ok(Step::Replaced(received.len()));
    };
    if server.owes_nothing() {
        answer_at_once(context, client, &close_complete::FRAME);
    } else {
        let before = Undo::NameRemoved(name.into(), statement);
        server.turns.append(Expect::answer_locally(Message::Close, before));
    }
    Ok(Step::Drop)
}

/// The name that the server gets for a statement that we do not track. It is never one of our own names, because these name
/// other clients' statements.
fn untracked_name(name: &[u8]) -> Cow<'_, [u8]> {
    match name.starts_with(NAME_PREFIX) {
        true => Cow::Owned([NAME_PREFIX, name].concat()),
        false => Cow::Borrowed(name),
    }
}

/// A statement that we do not track.
fn unknown(own: &[u8], sent: &[u8]) -> Subject {
    if own == sent { Subject::Untracked } else { Subject::renamed(own, sent) }
}

/// A message that changes no record of prepared statements.
fn forward(message: Message) -> Expect {
    Expect::forward(message, Undo::Nothing)
}
