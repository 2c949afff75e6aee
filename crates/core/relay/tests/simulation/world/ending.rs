//! The end of a run: there are no more faults, everything on its way arrives, and all clients finish and leave.

use super::{Checked, World};
use crate::frames::frame;
use crate::model_client::Phase;
use crate::model_client::script::{query, sync};

/// After this many rounds the run must be at rest, or something hangs.
const ROUNDS_MAX: usize = 200_000;
/// The longest time that a pool waits after failed logins, in microseconds (`login_retry_max`).
const LOGIN_RETRY_MAX: u64 = 15_000_000;

impl World {
    /// Lets everything that is on its way arrive. Slow queries end, and enough time passes for failed logins to be
    /// tried again.
    fn settle(&mut self) -> Checked {
        for round in 0..ROUNDS_MAX {
            if !self.settle_once()? {
                return Ok(());
            }
            if round % 50 == 49 {
                self.now += 10_000;
                self.set_now();
            }
        }
        Err("the run does not come to rest".to_owned())
    }

    fn settle_once(&mut self) -> Result<bool, String> {
        let mut busy = false;
        for worker in 0..self.workers.len() {
            self.carry_out(worker);
            busy |= self.read_letter(worker);
            let sockets = &self.workers[worker].sockets;
            let clients = sockets.clients.iter().map(|(key, link)| (true, *key, *link));
            let all: Vec<_> =
                clients.chain(sockets.servers.iter().map(|(key, link)| (false, *key, *link))).collect();
            for (client, key, link) in all {
                let sockets = &self.workers[worker].sockets;
                let table = if client { &sockets.clients } else { &sockets.servers };
                if table.get(&key) == Some(&link) && self.links[link].readable {
                    self.read_in_turn(worker, client, key, link);
                    busy = true;
                }
            }
            busy |= self.continue_logins(worker, false);
            self.carry_out(worker);
        }
        busy |= !self.dials.is_empty() || !self.cancels.is_empty();
        self.dial_ends();
        self.cancel_comes()?;
        for _ in 0..2 * self.workers.len() {
            self.full_socket_drains();
        }
        busy |= self.workers.iter().any(|worker| {
            let links = worker.sockets.clients.values().chain(worker.sockets.servers.values());
            links.into_iter().any(|link| self.links[*link].blocked && self.links[*link].down.room() > 0)
        });
        let links: Vec<usize> = self.backends.keys().copied().collect();
        for link in links {
            if let Some(backend) = self.backends.get_mut(&link) {
                backend.finish_slow();
            }
            busy |= self.backend_step(link);
        }
        for at in (0..self.clients.len()).rev() {
            busy |= self.send_from(at);
            busy |= self.receive_at(at)?;
        }
        let unsent = self.cancellers.iter().any(|(_, bytes)| !bytes.is_empty());
        busy |= unsent;
        self.client_sends();
        Ok(busy)
    }

    /// All clients end their open COPY, turn and transaction.
    fn finish_clients(&mut self) {
        for client in &mut self.clients {
            if client.phase != Phase::Open || client.garbage {
                continue;
            }
            if client.direct.in_copy() {
                client.write(&frame(b'c', b"").bytes);
            }
            client.write(&sync());
            client.write(&query("ROLLBACK"));
            client.write(&query("SELECT done, 1, 1"));
        }
    }

    pub(super) fn finish_run(&mut self) -> Checked {
        self.quiescing = true;
        if self.paused {
            self.pause(false);
        }
        self.settle()?;
        self.check()?;
        self.check_no_client_waits_for_what_is_due()?;
        self.finish_clients();
        // Failed logins are tried again, the reserve is opened, and old connections are replaced.
        for _ in 0..4 {
            self.settle()?;
            self.check()?;
            self.now += 1_100_000;
            self.tick();
        }
        self.settle()?;
        self.check()?;
        self.all_leave()?;
        self.tick();
        self.settle()?;
        self.check()?;
        self.check_everything_is_idle()
    }

    /// Clients whose queries are answered leave, so that clients that wait in their login (in session mode) get a
    /// connection.
    fn all_leave(&mut self) -> Checked {
        let mut waited = false;
        while !self.clients.is_empty() {
            for client in self.clients.iter().filter(|client| client.phase != Phase::LoggingIn) {
                if let (Some(due), false) = (client.direct.missing(), client.garbage) {
                    return Err(format!("c{} waits for {due}: {}", client.id, client.direct.state()));
                }
            }
            let staying = self.clients.len();
            for at in (0..self.clients.len()).rev() {
                if self.clients[at].phase != Phase::LoggingIn {
                    self.terminate_client(at);
                }
            }
            if self.clients.len() == staying {
                if std::mem::replace(&mut waited, true) {
                    return Err(format!("c{} hangs in its login", self.clients[0].id));
                }
                // Its pool may wait before it connects again, because servers have refused.
                self.now += LOGIN_RETRY_MAX;
                self.tick();
            } else {
                waited = false;
            }
            self.settle()?;
        }
        Ok(())
    }

    /// The state of each socket, for the report.
    fn sockets_of(&self, worker: &super::Worker) -> String {
        let mut out = String::new();
        for (what, table) in [("client", &worker.sockets.clients), ("server", &worker.sockets.servers)] {
            for (key, link) in table {
                let wire = &self.links[*link];
                let paused = match what {
                    "client" => worker.board.client_paused(crate::shell::client_key(*key)),
                    _ => worker.board.server_paused(crate::shell::server_key(*key)),
                };
                out += &format!(
                    "{what} {key:x} link {link}: paused {paused}, readable {}, blocked {}, up {}, down {}\n",
                    wire.readable,
                    wire.blocked,
                    wire.up.len(),
                    wire.down.len()
                );
            }
        }
        for (link, backend) in &self.backends {
            out += &format!("link {link}: {backend:?}\n");
        }
        for (key, server) in worker.board.servers() {
            out += &format!("server {key:?}: {server:?}\n");
        }
        out
    }

    /// All messages before a Sync or a Flush are answered, unless their client waits for a server connection.
    fn check_no_client_waits_for_what_is_due(&self) -> Checked {
        for worker in &self.workers {
            for (key, client) in worker.board.clients() {
                let linked = matches!(client.stage(), trunkline_relay::Stage::Linked(..));
                let Some(link) = worker.sockets.clients.get(&key.to_u64()) else { continue };
                let Some(model) = self.clients.iter().find(|client| client.link == *link) else { continue };
                let idle = matches!(client.stage(), trunkline_relay::Stage::Idle);
                if let (true, Some(due), false) = (linked || idle, model.direct.missing(), model.garbage) {
                    return Err(format!(
                        "c{} ({:?}, {:?}) waits for {due}: {}\n{}",
                        model.id,
                        client.stage(),
                        client.waiting_bytes(),
                        model.direct.state(),
                        self.sockets_of(worker)
                    ));
                }
            }
        }
        Ok(())
    }
}
