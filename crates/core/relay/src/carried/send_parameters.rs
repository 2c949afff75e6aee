//! Gives a server connection the parameters of a client.

use std::sync::Arc;

use super::parameters::Profile;
use crate::server::Server;
use crate::turn::Chore;

/// Sends a Query that changes the connection's parameters to `wanted`, and notes it as a turn of `chore`. Messages can be sent
/// directly after it, so it costs no round trip. False if nothing was sent, because the connection has these parameters.
pub(crate) fn send_parameters(server: &mut Server, wanted: Arc<Profile>, chore: Chore) -> bool {
    if Arc::ptr_eq(&wanted, &server.profile) {
        return false;
    }
    if let Some(between) = server.profile.in_utf8_first(&wanted) {
        send_parameters(server, Arc::new(between), Chore::Parameters);
    }
    let differs = server.profile.write_change(&wanted, server.outbox.buffer());
    if differs {
        server.note_query_sent(chore);
    }
    server.profile = wanted;
    differs
}
