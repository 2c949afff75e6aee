//! Whether a statement's result on a server connection is what its client was told.

use std::sync::Arc;

use trunkline_wire::frontend;

use super::inject::{ensure, inject_close, write_describe};
use super::path::Path;
use super::{Expect, Message, Subject, Undo};
use crate::carried::prepared::{Named, Shape, Statement};
use crate::client::Client;
use crate::server::Server;

/// What the client reads the statement's answers by, unless it has the portal described. A column's name need not be one of
/// its encoding of now: the server could not be asked for it.
pub(super) fn shape_told(client: &Client, named: &Named) -> Shape {
    let shape = named.shape();
    // Asked of each Bind: the text is looked at last.
    let unspeakable = shape != Shape::UNKNOWN
        && client.profile.value("client_encoding").is_some_and(|name| name != "UTF8")
        && named.statement.literals().letters;
    if unspeakable { Shape::UNKNOWN } else { shape }
}

/// Whether a server connection's statement may answer a client.
pub(super) enum Fitness {
    Fits,
    /// The server was asked what its result is.
    Asked,
    /// The result is no longer what the client was told.
    Outdated,
}

/// A client that was told what a statement's result is reads later answers by that. On another connection, or prepared
/// again, the same text may give another result (after ALTER TABLE): a direct connection would then refuse it ("cached
/// plan must not change result type"), and so must we.
pub(super) fn fitness<W>(
    path: &mut Path<'_, W>,
    server: &mut Server,
    statement: &Arc<Statement>,
    told: Shape,
) -> Fitness {
    if told == Shape::UNKNOWN {
        return Fitness::Fits;
    }
    if server.awaits_shape {
        return Fitness::Asked;
    }
    let here = server.statements.shape(statement.id);
    if here == told {
        return Fitness::Fits;
    }
    // Prepared again since then, it is not known again.
    if server.shape_asked == Some(statement.id) && here != Shape::UNKNOWN {
        return Fitness::Outdated;
    }
    if here != Shape::UNKNOWN {
        // It may be this connection's that is outdated.
        inject_close(server, Arc::clone(statement));
    }
    ensure(path, server, statement);
    write_describe(server.outbox.buffer(), statement.name());
    frontend::flush::encode(server.outbox.buffer());
    let describe = Message::Describe(Subject::Numbered(statement.id));
    server.turns.append(Expect::skip(describe, Undo::Nothing));
    server.awaits_shape = true;
    server.shape_asked = Some(statement.id);
    Fitness::Asked
}
