//! What a server connection lacks for a client.

use std::sync::Arc;

use super::parameters::Profile;
use crate::server::Server;
use crate::turn::Chore;

/// Sends what makes the connection's parameters the wanted ones ahead of what follows, and notes what it will be answered
/// with: a query of the chore's. False: they are so already. It costs no round trip.
pub(crate) fn bring_parameters(server: &mut Server, wanted: Arc<Profile>, chore: Chore) -> bool {
    if Arc::ptr_eq(&wanted, &server.profile) {
        return false;
    }
    if let Some(between) = server.profile.detour(&wanted) {
        bring_parameters(server, Arc::new(between), Chore::Parameters);
    }
    let differs = server.profile.write_change(&wanted, server.outbox.buffer());
    if differs {
        server.note_query_sent(chore);
    }
    server.profile = wanted;
    differs
}
