//! Portals whose execution changes the session. We remember them at Bind, because the change comes with Execute.

use std::sync::Arc;

use super::body::{body, cstr};
use super::context::Context;
use crate::carried::prepared::{Statement, truncate_name};
use crate::client::Client;
use crate::server::Server;

/// The greatest number of remembered portals of one client. We treat any further ones as if Bind executed them.
const PORTALS_MAX: usize = 64;

/// The client binds a portal from the statement.
pub(super) fn note_bound<W>(
    context: &mut Context<'_, W>,
    client: &mut Client,
    server: &mut Server,
    portal: &[u8],
    statement: &Arc<Statement>,
) {
    let effects = statement.effects();
    let portal = truncate_name(portal);
    server.pending.prepared(effects);
    context.runs_statement(client, server, statement);
    if !client.portals().is_empty() {
        client.leftovers().portals.retain(|(name, _)| **name != *portal);
    }
    if !effects.may_set && !effects.may_define {
        return;
    }
    if client.portals().len() < PORTALS_MAX {
        client.leftovers().portals.push((portal.into(), Arc::clone(statement)));
    } else {
        changes_session(client, server, statement);
    }
}

/// The statement of an Execute message's portal, if its execution changes the session.
fn run_by<'a>(client: &'a Client, received: &[u8]) -> Option<&'a Arc<Statement>> {
    let (portal, _) = cstr(body(received))?;
    let portal = truncate_name(portal);
    client.portals().iter().find(|(name, _)| **name == *portal).map(|(_, statement)| statement)
}

/// Whether an Execute message resets parameters. In a transaction an earlier turn may have bound its portal.
pub(super) fn runs_reset(client: &Client, received: &[u8]) -> bool {
    run_by(client, received).is_some_and(|statement| statement.effects().has_resets())
}

/// Notes what an Execute message changes in the session, as far as its statement's text tells.
pub(super) fn executed(client: &mut Client, server: &mut Server, received: &[u8]) {
    if let Some(statement) = run_by(client, received).cloned() {
        changes_session(client, server, &statement);
    }
}

fn changes_session(client: &mut Client, server: &mut Server, statement: &Statement) {
    match (statement.effects().may_set, statement.effects().ends_transaction) {
        (true, true) => server.pending.settings.ended(),
        (true, false) => server.pending.settings.changed(),
        (false, _) => {}
    }
    server.pending.redefines |= statement.effects().may_define;
    client.add_resets(statement.effects());
}
