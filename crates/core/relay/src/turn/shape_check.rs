//! Checks that a statement's result columns on a server connection are those that its client was told.

use std::sync::Arc;

use trunkline_wire::frontend;

use super::context::Context;
use super::inject::{ensure, inject_close, write_describe};
use super::{Expect, Message, Subject, Undo};
use crate::carried::prepared::{Named, Shape, Statement};
use crate::client::Client;
use crate::server::Server;

/// The shape (the result columns) that the client was told for a statement, and expects if it does not describe the portal.
/// `UNKNOWN` also if a column's name may not exist in the client's present encoding: then we could not ask the server
/// for it.
pub(super) fn shape_told(client: &Client, named: &Named) -> Shape {
    let shape = named.shape();
    // This runs for each Bind, so the costly look at the text comes last.
    let unspeakable = shape != Shape::UNKNOWN
        && client.profile.value("client_encoding").is_some_and(|name| name != "UTF8")
        && named.statement.literals().encoding_dependent;
    if unspeakable { Shape::UNKNOWN } else { shape }
}

/// The result of [`check_shape`].
pub(super) enum ShapeCheck {
    Same,
    /// We do not know the shape on this connection, and have asked the server.
    Asked,
    /// The shape differs from the one that the client was told.
    Outdated,
}

/// Compares the shape that the client was told with the one on this connection. A client that knows a statement's shape
/// decodes later rows by it. On another connection, or after we have prepared the statement again, the same text may have
/// another shape (after ALTER TABLE). A direct connection would then refuse to execute the statement ("cached plan must
/// not change result type"), and so must we.
pub(super) fn check_shape<W>(
    context: &mut Context<'_, W>,
    server: &mut Server,
    statement: &Arc<Statement>,
    told: Shape,
) -> ShapeCheck {
    if told == Shape::UNKNOWN {
        return ShapeCheck::Same;
    }
    if server.awaits_shape {
        return ShapeCheck::Asked;
    }
    let here = server.statements.shape(statement.id);
    if here == told {
        return ShapeCheck::Same;
    }
    // We have asked in this turn, and the statement was not prepared again since then: the shape would be unknown.
    if server.shape_asked == Some(statement.id) && here != Shape::UNKNOWN {
        return ShapeCheck::Outdated;
    }
    if here != Shape::UNKNOWN {
        // The statement of this connection may be the outdated one, so we prepare it again.
        inject_close(server, Arc::clone(statement));
    }
    ensure(context, server, statement);
    write_describe(server.outbox.buffer(), statement.name());
    frontend::flush::encode(server.outbox.buffer());
    let describe = Message::Describe(Subject::Numbered(statement.id));
    server.turns.append(Expect::discard(describe, Undo::Nothing));
    server.awaits_shape = true;
    server.shape_asked = Some(statement.id);
    ShapeCheck::Asked
}
