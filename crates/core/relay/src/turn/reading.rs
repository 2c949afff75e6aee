//! A statement is read under the settings of its client's Parse, whichever the server connection has by now.
//!
//! Around a Parse of ours go two commands that set what differs, and set it back. Both are local to the transaction (an
//! implicit one, where the turn has none of its own): whatever fails, its end puts everything right.

use std::sync::Arc;

use trunkline_wire::backend::{DataRow, TransactionStatus, command_complete};
use trunkline_wire::frontend::{self, Close, Execute, Target};

use super::path::Path;
use super::server_step::Step;
use super::unsettled::Unsettled;
use super::{Expect, Message, Reply, Subject, Undo};
use crate::carried::parameters::{Profile, UNKNOWN, decode, write_literal};
use crate::carried::prepared::Statement;
use crate::client::Client;
use crate::server::Server;
use crate::text::{Depth, PARSE_SETTINGS};

/// What the names of parameters begin with that keep others' values for the time of a Parse.
const KEPT: &str = "trunkline.";

/// What has to be set back after the Parse.
pub(super) struct SetBack(String);

/// The server reads what follows as the statement's client did when it parsed it.
pub(super) fn read_as<W>(
    path: &mut Path<'_, W>,
    server: &mut Server,
    statement: &Statement,
) -> Option<SetBack> {
    let wanted = statement.reading()?;
    if server.status == TransactionStatus::Failed {
        // Nothing is set there, and nothing is read but the end of the transaction.
        return None;
    }
    let (mut set, mut back) = (String::new(), String::new());
    let literals = statement.literals();
    // What the server has, only the server knows where something of the turn may have set it.
    let mut keep_and_set = |name: &str, value: Option<&str>| {
        add_call(&mut set, &format!("'{KEPT}{name}',pg_catalog.current_setting('{name}')"));
        add(&mut set, name, value);
        add_call(&mut back, &format!("'{name}',pg_catalog.current_setting('{KEPT}{name}')"));
    };
    if server.pending.settings.in_turn() {
        let read_by = wanted.iter().filter(|(name, _)| literals.are_read_by(name));
        read_by.for_each(|(name, value)| keep_and_set(name, Some(value)));
    } else {
        let misread = server.profile.misreads(wanted, literals);
        misread.for_each(|(name, value)| keep_and_set(name, value));
    }
    if set.is_empty() {
        return None;
    }
    run(path, server, &set, None);
    Some(SetBack(back))
}

/// What [`read_as`] has set is set back.
pub(super) fn read_as_before<W>(path: &mut Path<'_, W>, server: &mut Server, back: Option<SetBack>) {
    if let Some(SetBack(back)) = back {
        run(path, server, &back, None);
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
    // What it gives back need not be a character of the client's encoding: a truth value always is.
    sql.push_str(&format!("pg_catalog.set_config({name_and_value},true) is null"));
}

/// After the Parse of a statement in whose turn a SET went before: asks under which settings the server has read it. At the
/// end of the turn they may be others.
pub(super) fn ask<W>(path: &mut Path<'_, W>, server: &mut Server, statement: &Arc<Statement>) {
    if server.status == TransactionStatus::Failed || server.turns.turns_of_client() > 0 {
        // It would fail where the Parse of a ROLLBACK does not.
        return;
    }
    let literals = statement.literals();
    if literals.depth == Depth::Scanned || !server.pending.settings.is_set_in_turn() {
        // What is run ahead of a utility command counts as its pipeline: VACUUM would be refused.
        return;
    }
    let names = PARSE_SETTINGS.iter().filter(|name| literals.depend_on(name));
    let asked: Vec<_> = names.map(|name| asked(name)).collect();
    if !asked.is_empty() {
        let sql = format!("select {}", asked.join(","));
        run(path, server, &sql, Some(Arc::clone(statement)));
    }
}

/// What gives a parameter's value in ASCII: another letter need not be one of the client's encoding.
fn asked(name: &str) -> String {
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

/// The answer to what [`ask`] asks.
pub(super) fn was_read(client: Option<&mut Client>, server: &mut Server, tag: u8, row: &[u8]) -> Step {
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
            // A name that cannot be read here is of a schema that no other client can mean.
            profile.set(name, &value.and_then(|value| told(server, name, value)).unwrap_or_default());
        }
        statement.read_under(&Arc::new(profile));
    }
    Step::Drop
}

/// The value that [`asked`] has brought.
fn told(server: &Server, name: &str, value: &[u8]) -> Option<String> {
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

/// Runs a SELECT within the turn; nobody hears of it. Statement and portal have a name of their own, so that the
/// client's unnamed ones stay as they are.
fn run<W>(path: &mut Path<'_, W>, server: &mut Server, sql: &str, asked: Option<Arc<Statement>>) {
    let name = path.registry.secret_name(path.entropy);
    let out = server.outbox.buffer();
    frontend::parse::write_renamed(out, &name, &[sql.as_bytes(), &[0, 0, 0]].concat());
    // No formats, no parameters, no formats of the result.
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
        server.turns.append(Expect::skip(message, Undo::Nothing));
    }
}

/// The settings of a statement whose client is known to have these.
pub(super) fn known(unsettled: Unsettled, profile: &Arc<Profile>) -> Option<&Arc<Profile>> {
    (unsettled == Unsettled::default()).then_some(profile)
}
