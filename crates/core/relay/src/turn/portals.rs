//! Portals whose running changes the session: what they change is changed when they are executed.

use std::sync::Arc;

use super::body::{body, cstr};
use super::path::Path;
use crate::carried::prepared::{Statement, significant};
use crate::client::Client;
use crate::server::Server;

/// Portals of one client that are remembered because running them changes its session; what more are bound counts as run.
const PORTALS_MAX: usize = 64;

/// A portal is made of the statement.
pub(super) fn bound<W>(
    path: &mut Path<'_, W>,
    client: &mut Client,
    server: &mut Server,
    portal: &[u8],
    statement: &Arc<Statement>,
) {
    let effects = statement.effects();
    let portal = significant(portal);
    server.pending.prepared(effects);
    path.runs_statement(client, server, statement);
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

/// The statement of an Execute message's portal, if running it changes the session.
fn run_by<'a>(client: &'a Client, there: &[u8]) -> Option<&'a Arc<Statement>> {
    let (portal, _) = cstr(body(there))?;
    let portal = significant(portal);
    client.portals().iter().find(|(name, _)| **name == *portal).map(|(_, statement)| statement)
}

/// Whether an Execute message runs what resets parameters: in a transaction it may have been bound in an earlier turn.
pub(super) fn runs_reset(client: &Client, there: &[u8]) -> bool {
    run_by(client, there).is_some_and(|statement| statement.effects().has_resets())
}

/// The portal of an Execute message is run: what its statement changes of the session, as far as is known, is changed.
pub(super) fn executed(client: &mut Client, server: &mut Server, there: &[u8]) {
    if let Some(statement) = run_by(client, there).cloned() {
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
