//! Puts back what we changed for messages that failed, that the server skipped, or that never arrived.
//!
//! We change our records of prepared statements when a message is sent, not when it is answered. Most messages succeed,
//! and so the messages after them need not wait. [`Expect`] keeps the state before the change.

use trunkline_pool::arena::Arena;

use super::{Expect, LostTurns, Message, Undo};
use crate::carried::prepared::ServerStatements;
use crate::client::Client;
use crate::keys::Clients;
use crate::server::Server;

/// Undoes the changes of the failed message, and of the messages after it that the server skips.
/// Returns false if no Sync was sent yet: then the server also skips the next messages.
pub(super) fn undo_failed(mut client: Option<&mut Client>, server: &mut Server) -> bool {
    // The server may skip our Describe too.
    server.shape_asked = None;
    let later = (server.statements.unnamed, client.as_deref().and_then(|client| client.unnamed.clone()));
    let statements = &mut server.statements;
    let (mut set_unnamed, mut touched) = (false, Vec::new());
    let synced = server.turns.fail(|expect, failed| {
        set_unnamed |= expect.sets_unnamed();
        if let Undo::PreparedAs(statement, _) | Undo::Prepared(statement) | Undo::Closed(statement) =
            &expect.undo
        {
            touched.push(statement.id);
        }
        undo(client.as_deref_mut(), statements, expect, failed);
    });
    // Each statement only once, because the loop below changes what a second look would find.
    touched.sort_unstable();
    touched.dedup();
    for statement in touched {
        let present = server.statements.get(statement);
        if server.turns.replies().amend_close(statement, present.as_ref()) {
            server.statements.remove(statement);
        }
    }
    if set_unnamed {
        let before = client.as_deref().and_then(|client| client.unnamed.as_ref());
        let (for_server, for_client) = server.turns.amend_unnamed(server.statements.unnamed, before);
        if for_server {
            server.statements.unnamed = later.0;
        }
        if let (true, Some(client)) = (for_client, client) {
            client.unnamed = later.1;
        }
    }
    synced
}

/// The server connection is lost. Undoes the changes of all unanswered messages, each for the client that sent it.
pub(crate) fn undo_lost(clients: &mut Arena<Client, Clients>, server: &mut Server) -> LostTurns {
    let Server { turns, statements, .. } = server;
    turns.lose(|expect, client| {
        let client = client.and_then(|client| clients.get_mut(client));
        undo(client, statements, expect, false);
    })
}

/// Undoes the changes of one message. `failed`: the message itself has failed, and was not skipped.
fn undo(client: Option<&mut Client>, statements: &mut ServerStatements, expect: Expect, failed: bool) {
    // A failed Parse of the unnamed statement has dropped the previous one.
    let drops_unnamed = failed && matches!(expect.message, Message::Parse(_));
    match expect.undo {
        Undo::Nothing => {}
        Undo::PreparedAs(statement, name) => {
            statements.remove(statement.id);
            forget_name(client, &name);
        }
        Undo::Prepared(statement) => statements.remove(statement.id),
        Undo::NameAdded(name) => forget_name(client, &name),
        Undo::Closed(statement) => statements.insert(statement),
        Undo::NameRemoved(name, statement) => {
            if let Some(client) = client {
                client.statements().insert(&name, statement);
            }
        }
        Undo::ServerUnnamed(before) => statements.unnamed = before.filter(|_| !drops_unnamed),
        Undo::BothUnnamed(before, of_client) => {
            statements.unnamed = before.filter(|_| !drops_unnamed);
            if let Some(client) = client {
                client.unnamed = of_client.filter(|_| !drops_unnamed);
            }
        }
    }
}

fn forget_name(client: Option<&mut Client>, name: &[u8]) {
    if let Some(names) = client.and_then(|client| client.statements.as_mut()) {
        names.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trunkline_session::frontend::{Login, ServerLogin};

    use super::super::{Owner, Subject};
    use super::*;
    use crate::carried::parameters::Profile;
    use crate::carried::prepared::{Registry, Statement, StatementId};
    use crate::directory::TlsWay;
    use crate::keys::ClientKey;
    use crate::server::{Opening, Reached};

    fn owner() -> Owner {
        Owner::Client(ClientKey::from_u64(1))
    }

    fn server() -> Server {
        let login = Login::new(Arc::new(ServerLogin::new("u", "d")), &mut |_: &mut [u8]| {});
        let opening = Opening { login, reached: Reached::NotConnected, way: TlsWay::First, last_try: false };
        let ledgers = trunkline_pool::Ledgers::new(1);
        let pool = ledgers.take_seat("d", "u", None).expect("room").id;
        Server::new(opening, pool, 0, Arc::new(Profile::default()), 0)
    }

    fn push(server: &mut Server, message: Message) {
        server.turns.push(Expect::forward(message, Undo::Nothing), owner());
    }

    /// Closes `old` and prepares `new`, on a server that has room for one statement.
    fn replace(server: &mut Server, old: &Arc<Statement>, new: &Arc<Statement>) {
        assert_eq!(server.statements.evict(1).map(|evicted| evicted.id), Some(old.id));
        server.turns.push(Expect::discard(Message::Close, Undo::Closed(Arc::clone(old))), owner());
        server.statements.insert(Arc::clone(new));
        let parse = Message::Parse(Subject::Untracked);
        server.turns.push(Expect::discard(parse, Undo::Prepared(Arc::clone(new))), owner());
    }

    fn ids(server: &Server) -> Vec<String> {
        server.statements.names().map(|name| name.escape_ascii().to_string()).collect()
    }

    #[test]
    fn a_statement_closed_twice_is_closed_by_the_turn_that_was_not_skipped() {
        let registry = Registry::new(1 << 20);
        let [a, b, c] = ["a", "b", "c"].map(|text| registry.plain(text.as_bytes()));
        let mut server = server();
        server.statements.insert(Arc::clone(&a));
        // The first turn closes `a` and prepares it again. The second turn closes it for good.
        push(&mut server, Message::Bind(Subject::Untracked));
        replace(&mut server, &a, &b);
        replace(&mut server, &b, &a);
        push(&mut server, Message::Sync);
        push(&mut server, Message::Bind(Subject::Untracked));
        replace(&mut server, &a, &c);
        push(&mut server, Message::Sync);
        // The first Bind fails: the server still has `a`, and the second turn closes it.
        assert!(undo_failed(None, &mut server));
        assert_eq!(ids(&server), [c.name().escape_ascii().to_string()]);
        server.turns.pop();
        // The Bind of the second turn fails too: nothing has closed `a`.
        assert!(undo_failed(None, &mut server));
        assert_eq!(ids(&server), [a.name().escape_ascii().to_string()]);
    }

    #[test]
    fn turns_of_a_lost_connection_are_undone_from_the_last() {
        let mut server = server();
        let parse = |server: &mut Server, id| {
            let on_server = std::mem::replace(&mut server.statements.unnamed, StatementId::new(id));
            let message = Message::Parse(Subject::Untracked);
            server.turns.push(Expect::forward(message, Undo::BothUnnamed(on_server, None)), owner());
            push(server, Message::Sync);
        };
        server.statements.unnamed = StatementId::new(1);
        parse(&mut server, 2);
        parse(&mut server, 3);
        parse(&mut server, 4);
        let lost = LostTurns { owners: vec![owner(); 3], unended: false };
        assert_eq!(undo_lost(&mut Arena::default(), &mut server), lost);
        assert_eq!(server.statements.unnamed, StatementId::new(1));
        assert!(server.turns.is_settled());
    }
}
