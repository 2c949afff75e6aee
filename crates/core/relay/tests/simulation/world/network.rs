//! Moves bytes between sockets, and carries out the boards' actions.

use trunkline_relay::Action;

use super::{Letter, World};
use crate::model_server::Backend;
use crate::shell::{Link, Wiring, client_key, server_key};

impl World {
    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        self.rng.choice(of).copied()
    }

    fn chunk(&mut self) -> usize {
        match self.rng.u8(..8) {
            0 => 1,
            1 => self.rng.usize(1..20),
            2 => self.rng.usize(1..500),
            _ => usize::MAX,
        }
    }

    /// The worker's round is over, or goes on with other events.
    pub(super) fn touched(&mut self, worker: usize) {
        self.workers[worker].dirty = true;
        if self.rng.u8(..) < 200 {
            self.carry_out(worker);
        }
    }

    pub(super) fn carry_out_somewhere(&mut self) {
        let worker = self.rng.usize(..self.workers.len());
        self.carry_out(worker);
    }

    pub(super) fn backend_works(&mut self) {
        let all: Vec<usize> = self.backends.keys().copied().collect();
        if let Some(link) = self.pick(&all) {
            self.backend_step(link);
        }
    }

    /// One step of a server. True if it did something.
    pub(super) fn backend_step(&mut self, link: usize) -> bool {
        let Some(backend) = self.backends.get_mut(&link) else { return false };
        let wire = &mut self.links[link];
        let before = wire.up.len();
        let activity = backend.work(&mut wire.up, &mut wire.down, &mut self.database);
        if wire.up.len() != before || wire.up.closed {
            wire.readable = true;
        }
        let (process_id, said) = (backend.process_id, std::mem::take(&mut backend.said));
        if backend.closed {
            wire.peer_gone = true;
            self.backends.remove(&link);
        }
        if !said.is_empty() {
            self.note(|| format!("backend {process_id} of link {link} {said}"));
        }
        activity == crate::model_server::Activity::Worked
    }

    /// A worker reads once from a readable socket.
    pub(super) fn proxy_reads(&mut self) {
        let worker = self.rng.usize(..self.workers.len());
        let sockets = &self.workers[worker].sockets;
        let links = &self.links;
        let ready = |(_, link): &(&u64, &usize)| links[**link].readable;
        let clients = sockets.clients.iter().filter(ready).map(|(key, link)| (true, *key, *link));
        let servers = sockets.servers.iter().filter(ready).map(|(key, link)| (false, *key, *link));
        let all: Vec<(bool, u64, usize)> = clients.chain(servers).collect();
        if let Some((client, key, link)) = self.pick(&all) {
            self.read_in_turn(worker, client, key, link);
            self.touched(worker);
        }
    }

    /// Reads a connection. If it is a client's that is logging in, the board says later when to read it.
    pub(super) fn read_in_turn(&mut self, worker: usize, client: bool, key: u64, link: usize) {
        if client && !self.workers[worker].board.client_ready(client_key(key)) {
            self.links[link].readable = false;
            return;
        }
        self.read(worker, client, key, link);
    }

    /// The logins of some worker get their share of a round.
    pub(super) fn logins_go_on(&mut self) {
        let (worker, more) = (self.rng.usize(..self.workers.len()), self.rng.u8(..4) == 0);
        self.continue_logins(worker, more);
    }

    /// The same for one worker. True if a login went on, or may go on later.
    pub(super) fn continue_logins(&mut self, worker: usize, more: bool) -> bool {
        let now = self.now;
        let mut busy = false;
        if !self.workers[worker].board.begin_arrivals(now, more) {
            return true;
        }
        while let Some(key) = self.workers[worker].board.next_login(now) {
            busy = true;
            if let Some(link) = self.workers[worker].sockets.clients.get(&key.to_u64()).copied() {
                self.read(worker, true, key.to_u64(), link);
                self.touched(worker);
            }
        }
        busy
    }

    pub(super) fn read(&mut self, worker: usize, client: bool, key: u64, link: usize) {
        let most = self.chunk();
        let place = &mut self.workers[worker];
        let wire = &mut self.links[link];
        let paused = match client {
            true => place.board.client_paused(client_key(key)),
            false => place.board.server_paused(server_key(key)),
        };
        if paused {
            // The readiness event is used up. The shell reads again only when the board tells it to resume.
            wire.readable = false;
            if client && wire.peer_gone {
                // The kernel reports that writes fail too: the peer has closed both directions.
                self.closed_by_peer(worker, client, key, link);
            }
            return;
        }
        let bytes = wire.up.pull(most);
        if bytes.is_empty() {
            wire.readable = false;
            if wire.up.closed || wire.peer_gone {
                self.closed_by_peer(worker, client, key, link);
            }
            return;
        }
        wire.readable = !wire.up.is_empty() || wire.up.closed;
        let what = if client { "client" } else { "server" };
        self.note(|| format!("board {worker} reads {what} {:x} link {link}: {}", key, bytes.escape_ascii()));
        let place = &mut self.workers[worker];
        let mut wiring = Wiring { sockets: &place.sockets, links: &mut self.links, rng: &mut self.rng };
        match client {
            true => place.board.client_bytes(client_key(key), &bytes, &mut wiring),
            false => place.board.server_bytes(server_key(key), &bytes, &mut wiring),
        }
    }

    fn closed_by_peer(&mut self, worker: usize, client: bool, key: u64, link: usize) {
        self.note(|| format!("board {worker}: peer of link {link} (client: {client}) is gone"));
        let place = &mut self.workers[worker];
        if client {
            place.board.client_closed(client_key(key));
            place.sockets.clients.remove(&key);
            self.links[link].down.closed = true;
        } else {
            place.board.server_closed(server_key(key), "the server closed the connection unexpectedly");
        }
    }

    /// A socket that was full can take bytes again.
    pub(super) fn full_socket_drains(&mut self) {
        let worker = self.rng.usize(..self.workers.len());
        let sockets = &self.workers[worker].sockets;
        let links = &self.links;
        let ready = |(_, link): &(&u64, &usize)| {
            let link = &links[**link];
            link.blocked && (link.down.room() > 0 || link.peer_gone)
        };
        let clients = sockets.clients.iter().filter(ready).map(|(key, link)| (true, *key, *link));
        let servers = sockets.servers.iter().filter(ready).map(|(key, link)| (false, *key, *link));
        let all: Vec<(bool, u64, usize)> = clients.chain(servers).collect();
        if let Some((client, key, link)) = self.pick(&all) {
            self.links[link].blocked = false;
            self.flush(worker, client, key);
            self.touched(worker);
        }
    }

    fn flush(&mut self, worker: usize, client: bool, key: u64) {
        let place = &mut self.workers[worker];
        let mut wiring = Wiring { sockets: &place.sockets, links: &mut self.links, rng: &mut self.rng };
        let board = &mut place.board;
        if client {
            let unsent = board.client_unsent(client_key(key));
            if !unsent.is_empty() {
                let sent = trunkline_relay::DirectSend::send_client(&mut wiring, client_key(key), unsent);
                board.client_sent(client_key(key), sent);
            }
        } else {
            let unsent = board.server_unsent(server_key(key));
            if !unsent.is_empty() {
                let sent = trunkline_relay::DirectSend::send_server(&mut wiring, server_key(key), unsent);
                board.server_sent(server_key(key), sent);
            }
        }
    }

    /// Carries out all actions of a board, as the worker does at the end of a round.
    pub(super) fn carry_out(&mut self, worker: usize) {
        self.workers[worker].dirty = false;
        loop {
            let mut idle = true;
            while let Some(action) = self.workers[worker].board.next_action() {
                self.act(worker, action);
                idle = false;
            }
            while let Some(key) = self.workers[worker].board.next_unsent_server() {
                self.flush(worker, false, key.to_u64());
                idle = false;
            }
            while let Some(key) = self.workers[worker].board.next_unsent_client() {
                self.flush(worker, true, key.to_u64());
                idle = false;
            }
            let board = &mut self.workers[worker].board;
            if idle && !board.is_round_due() {
                return;
            }
            if idle {
                board.next_round();
            }
        }
    }

    fn act(&mut self, worker: usize, action: Action) {
        self.note(|| format!("board {worker} wants {}", crate::report::shown(&action)));
        let place = &mut self.workers[worker];
        match action {
            Action::Connect(key, target) => self.dials.push((worker, key.to_u64(), target.port)),
            Action::CloseClient(key, last) => {
                let Some(link) = place.sockets.clients.remove(&key.to_u64()) else { return };
                let wire = &mut self.links[link];
                let cut = wire.down.push(&last) < last.len();
                wire.down.closed = true;
                if let Some(client) = self.clients.iter_mut().find(|client| client.link == link) {
                    client.cut |= cut;
                }
            }
            Action::CloseServer(key, last) => {
                self.dials.retain(|dial| (dial.0, dial.1) != (worker, key.to_u64()));
                let Some(link) = place.sockets.servers.remove(&key.to_u64()) else { return };
                let wire = &mut self.links[link];
                wire.down.push(&last);
                wire.down.closed = true;
            }
            Action::ResumeClient(key) => {
                if let Some(link) = place.sockets.clients.get(&key.to_u64()) {
                    self.links[*link].readable = true;
                }
            }
            Action::ResumeServer(key) => {
                if let Some(link) = place.sockets.servers.get(&key.to_u64()) {
                    self.links[*link].readable = true;
                }
            }
            Action::Cancel(ticket) => self.cancels.push((worker, ticket)),
            Action::Handoff(other, key, server) => {
                let link = place.sockets.servers.remove(&key.to_u64());
                let link = link.expect("a server connection that is handed over has a socket");
                self.workers[other].letters.push_back(Letter::Server(server, link));
            }
            Action::Mail(other, mail) => self.workers[other].letters.push_back(Letter::Mail(mail)),
            Action::Note(_) => {}
            Action::ClientTls(_) | Action::ServerTls(..) => panic!("nobody asked for TLS"),
        }
    }

    pub(super) fn letter_comes(&mut self) {
        let worker = self.rng.usize(..self.workers.len());
        self.read_letter(worker);
    }

    pub(super) fn read_letter(&mut self, worker: usize) -> bool {
        let Some(letter) = self.workers[worker].letters.pop_front() else { return false };
        let place = &mut self.workers[worker];
        match letter {
            Letter::Mail(mail) => place.board.handle_mail(mail),
            Letter::Server(server, link) => {
                let key = place.board.server_arrived(server);
                place.sockets.servers.insert(key.to_u64(), link);
                let wire = &mut self.links[link];
                wire.readable = true;
                wire.blocked = false;
            }
        }
        self.touched(worker);
        true
    }

    /// A connection attempt succeeds or fails.
    pub(super) fn dial_ends(&mut self) {
        if self.dials.is_empty() {
            return;
        }
        let (worker, key, port) = self.dials.swap_remove(self.rng.usize(..self.dials.len()));
        let refused = self.flavour.servers_die && !self.quiescing && self.rng.u8(..) < 60;
        let place = &mut self.workers[worker];
        if refused {
            place.board.server_closed(server_key(key), "connection refused");
            return self.touched(worker);
        }
        let link = self.links.len();
        self.links.push(Link::new(self.flavour.socket_bytes));
        self.next_process += 1;
        let secret = self.rng.u32(..).to_be_bytes();
        let backend = Backend::new(self.next_process, secret, port, self.flavour.reports_at_once);
        self.backends.insert(link, backend);
        place.sockets.servers.insert(key, link);
        place.board.server_connected(server_key(key));
        self.note(|| format!("link {link} is server {key:x} of board {worker}"));
        self.touched(worker);
    }

    pub(super) fn client_sends(&mut self) {
        let all: Vec<usize> = (0..self.clients.len()).filter(|at| self.clients[*at].unsent() > 0).collect();
        if let Some(at) = self.pick(&all) {
            self.send_from(at);
        }
        let count = self.cancellers.len();
        if count > 0 {
            let at = self.rng.usize(..count);
            let (link, bytes) = &mut self.cancellers[at];
            let wire = &mut self.links[*link];
            let sent = wire.up.push(bytes);
            bytes.drain(..sent);
            wire.readable |= sent > 0;
            if wire.down.closed {
                self.cancellers.swap_remove(at);
            }
        }
    }

    pub(super) fn send_from(&mut self, at: usize) -> bool {
        let most = self.chunk();
        let client = &mut self.clients[at];
        let wire = &mut self.links[client.link];
        if wire.down.closed {
            // The proxy does not read it any more.
            return client.drop_unsent();
        }
        let sent = client.send(&mut wire.up, most);
        wire.readable |= sent > 0;
        sent > 0
    }

    pub(super) fn client_reads(&mut self) -> super::Checked {
        let ready = |at: &usize| {
            let wire = &self.links[self.clients[*at].link];
            !wire.down.is_empty() || wire.down.closed
        };
        let all: Vec<usize> = (0..self.clients.len()).filter(ready).collect();
        match self.pick(&all) {
            Some(at) => self.receive_at(at).map(|_| ()),
            None => Ok(()),
        }
    }

    /// True if the client has read something.
    pub(super) fn receive_at(&mut self, at: usize) -> Result<bool, String> {
        let excuses = self.excuses();
        let most = self.chunk();
        let link = self.clients[at].link;
        let bytes = self.links[link].down.pull(most);
        let id = self.clients[at].id;
        self.note(|| format!("c{id} reads {}", bytes.escape_ascii()));
        let client = &mut self.clients[at];
        let before = client.direct.compared;
        let named = |error: String, client: &crate::model_client::ModelClient| {
            format!(
                "client c{id} (link {link}, worker {}): {error}\n  {}",
                client.worker,
                client.direct.state()
            )
        };
        if bytes.is_empty() {
            if self.links[link].down.closed {
                client.closed(&excuses).map_err(|error| named(error, client))?;
                self.forget_client(at);
                return Ok(true);
            }
            return Ok(false);
        }
        client.receive(&bytes, &excuses).map_err(|error| named(error, client))?;
        self.answers += client.direct.compared - before;
        Ok(true)
    }
}
