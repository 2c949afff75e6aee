//! When we prepare a client's statement ourselves, the server must parse it under the settings that the client had at its
//! own Parse, whichever settings the server connection has now.
//!
//! So we send a command before our Parse that sets the differing settings, and one after it that sets them back. Both are
//! local to the transaction (an implicit one, if none is open). If something fails, the end of the transaction restores the
//! settings.

use std::sync::Arc;

use trunkline_wire::backend::{DataRow, TransactionStatus, command_complete};
use trunkline_wire::frontend::{self, Close, Execute, Target};

use super::context::Context;
use super::server_step::Step;
use super::unsettled::Unsettled;
use super::{Expect, Message, Reply, Subject, Undo};
use crate::carried::parameters::{Profile, UNKNOWN, decode, write_literal};
use crate::carried::prepared::Statement;
use crate::client::Client;
use crate::server::Server;
use crate::text::{Depth, PARSE_SETTINGS};

/// A parameter's value is saved during our Parse in another parameter, whose name begins with this.
const SAVED_PREFIX: &str = "trunkline.";

/// The select list that sets the settings back after our Parse.
pub(super) struct Restore(String);

/// Makes the server parse the next message under the settings that the statement's client had at its Parse. Returns how to
/// set them back, or `None` if nothing was set.
pub(super) fn set_parse_settings<W>(
    context: &mut Context<'_, W>,
    server: &mut Server,
    statement: &Statement,
) -> Option<Restore> {
    let wanted = statement.parse_settings()?;
    if server.status == TransactionStatus::Failed {
        // In a failed transaction the server runs no SELECT, and parses only commands that end the transaction.
        return None;
    }
    let (mut set, mut back) = (String::new(), String::new());
    let literals = statement.literals();
    // If a message of this turn may have set a parameter, only the server knows its value: the server saves it itself.
    let mut save_and_set = |name: &str, value: Option<&str>| {
        add_call(&mut set, &format!("'{SAVED_PREFIX}{name}',pg_catalog.current_setting('{name}')"));
        add(&mut set, name, value);
        add_call(&mut back, &format!("'{name}',pg_catalog.current_setting('{SAVED_PREFIX}{name}')"));
    };
    if server.pending.settings.in_turn() {
        let read_by = wanted.iter().filter(|(name, _)| literals.parse_depends_on(name));
        read_by.for_each(|(name, value)| save_and_set(name, Some(value)));
    } else {
        let misread = server.profile.differing_parse_settings(wanted, literals);
        misread.for_each(|(name, value)| save_and_set(name, value));
    }
    if set.is_empty() {
        return None;
    }
    run_select(context, server, &set, None);
    Some(Restore(back))
}

/// Sets the settings back that [`set_parse_settings`] has set.
pub(super) fn restore_parse_settings<W>(
    context: &mut Context<'_, W>,
    server: &mut Server,
    back: Option<Restore>,
) {
    if let Some(Restore(back)) = back {
        run_select(context, server, &back, None);
    }
}

fn add(sql: &mut String, name: &str, value: Option<&str>) {
    let mut literal = Vec::new();
    match value.filter(|value| *value != UNKNOWN) {
        Some(value) => write_literal(value, &mut literal),
        None => literal.extend_from_slice(b"null"),
    }
    add_call(sql, &format!("'{name}',{}", String::from_utf8_lossy(&literal)));
}

fn add_call(sql: &mut String, name_and_value: &str) {
    sql.push_str(if sql.is_empty() { "select " } else { "," });
    // A result in letters may not exist in the client's encoding. A truth value always does.
    sql.push_str(&format!("pg_catalog.set_config({name_and_value},true) is null"));
}

/// Asks the server under which settings it has parsed a statement, after a SET in the same turn. At the end of the turn the
/// settings may be others.
pub(super) fn ask<W>(context: &mut Context<'_, W>, server: &mut Server, statement: &Arc<Statement>) {
    if server.status == TransactionStatus::Failed || server.turns.turns_of_client() > 0 {
        // In a failed transaction our SELECT would fail, although the Parse of a ROLLBACK does not. Before earlier
        // turns are answered we cannot know whether the transaction has failed.
        return;
    }
    let literals = statement.literals();
    if literals.depth == Depth::Scanned || !server.pending.settings.is_set_in_turn() {
        // PostgreSQL would count our SELECT as part of a pipeline, and refuse a VACUUM after it.
        return;
    }
    let names = PARSE_SETTINGS.iter().filter(|name| literals.depend_on(name));
    let asked: Vec<_> = names.map(|name| value_query(name)).collect();
    if !asked.is_empty() {
        let sql = format!("select {}", asked.join(","));
        run_select(context, server, &sql, Some(Arc::clone(statement)));
    }
}

/// An expression with a parameter's value in ASCII, because other letters may not exist in the client's encoding.
fn value_query(name: &str) -> String {
    let value = format!("pg_catalog.current_setting('{name}')");
    match name {
        "search_path" => {
            format!(
                "pg_catalog.encode(pg_catalog.convert_to({value},pg_catalog.getdatabaseencoding()),'hex')"
            )
        }
        _ => value,
    }
}

/// Handles the answer to the SELECT of [`ask`].
pub(super) fn answer(client: Option<&mut Client>, server: &mut Server, tag: u8, row: &[u8]) -> Step {
    let Some(Reply { expect: Expect { message: Message::Select(statement), .. }, .. }) = server.turns.head()
    else {
        return Step::Drop;
    };
    let statement = statement.clone();
    if tag == command_complete::TAG {
        server.turns.pop();
        return Step::Drop;
    }
    if let (Some(client), Some(statement), Ok(row)) = (client, statement, DataRow::decode(row)) {
        let literals = statement.literals();
        let names = PARSE_SETTINGS.iter().filter(|name| literals.depend_on(name));
        let mut profile = (*client.profile).clone();
        for (name, value) in names.zip(row.values) {
            // A value that we cannot decode has the name of a schema that no other client can name.
            profile
                .set(name, &value.and_then(|value| value_of_answer(server, name, value)).unwrap_or_default());
        }
        statement.set_parse_settings(&Arc::new(profile));
    }
    Step::Drop
}

/// Decodes the value of the expression of [`value_query`].
fn value_of_answer(server: &Server, name: &str, value: &[u8]) -> Option<String> {
    if name != "search_path" {
        return String::from_utf8(value.to_vec()).ok();
    }
    let digit = |at: &u8| char::from(*at).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |pair: &[u8]| Some(digit(pair.first()?)? << 4 | digit(pair.get(1)?)?);
    let bytes: Option<Vec<u8>> = value.chunks(2).map(byte).collect();
    let parameters = &server.welcome.as_ref()?.parameters;
    let encoding = parameters.iter().find(|(name, _)| name == "server_encoding");
    decode(&bytes?, encoding.map_or("UTF8", |(_, encoding)| encoding))
}

/// Sends a SELECT within the client's turn; the client gets none of its answers. Its statement and portal have a secret
/// name, so that the client's unnamed statement and portal stay as they are.
fn run_select<W>(
    context: &mut Context<'_, W>,
    server: &mut Server,
    sql: &str,
    asked: Option<Arc<Statement>>,
) {
    let name = context.registry.secret_name(context.entropy);
    let out = server.outbox.buffer();
    frontend::parse::write_renamed(out, &name, &[sql.as_bytes(), &[0, 0, 0]].concat());
    // No parameter formats, no parameters, no result formats.
    let counts = [0; 6];
    let length = u32::try_from(4 + 2 * (name.len() + 1) + counts.len()).unwrap_or(u32::MAX);
    frontend::bind::encode_prefix(out, length, &name, &name);
    out.extend_from_slice(&counts);
    Execute { portal: &name, max_rows: 0 }.encode(out);
    Close { target: Target::Portal, name: &name }.encode(out);
    Close { target: Target::Statement, name: &name }.encode(out);
    for message in [
        Message::Parse(Subject::Untracked),
        Message::Bind(Subject::Untracked),
        Message::Select(asked),
        Message::Close,
        Message::Close,
    ] {
        server.turns.append(Expect::discard(message, Undo::Nothing));
    }
}

/// The profile, if no unanswered message can have changed it.
pub(super) fn settled_profile(unsettled: Unsettled, profile: &Arc<Profile>) -> Option<&Arc<Profile>> {
    (unsettled == Unsettled::default()).then_some(profile)
}
