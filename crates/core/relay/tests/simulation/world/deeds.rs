//! What clients and the world do.

use std::sync::Arc;

use trunkline_pool::PoolMode;
use trunkline_relay::Mail;
use trunkline_relay::board::{CancelTicket, Shutdown};

use super::{Checked, Letter, World};
use crate::frames::{field, show};
use crate::model_client::script::{Habits, Script, query};
use crate::model_client::{ModelClient, Phase, SHUTTING_DOWN, Start};
use crate::model_server::{Backend, Cancelled, password_of};
use crate::shell::Link;

/// A client with this many unsent bytes adds no more batches.
const UNSENT_MAX: usize = 4_000;

impl World {
    pub(super) fn client_acts(&mut self) {
        if self.clients.len() < self.flavour.clients && self.rng.u8(..) < 60 {
            return self.new_client();
        }
        if self.clients.is_empty() {
            return;
        }
        let at = self.rng.usize(..self.clients.len());
        if self.flavour.cancels && self.rng.u8(..) < 40 {
            return self.ask_for_cancel(at);
        }
        if self.clients[at].phase != Phase::Open || self.clients[at].garbage {
            return;
        }
        match self.rng.u8(..) {
            0..3 if self.flavour.clients_vanish => self.vanish(at),
            3..6 => self.terminate_client(at),
            6 if self.flavour.garbage => {
                self.clients[at].garbage = true;
                let junk: &[u8] = match self.rng.u8(..3) {
                    0 => b"\xff\0\0\0\x04",
                    1 => b"Q\0\0\0\0",
                    _ => b"P\xff\xff\xff\xffaaaa",
                };
                self.clients[at].write_raw(junk);
                let id = self.clients[at].id;
                self.note(|| format!("c{id} sends garbage"));
            }
            _ if self.clients[at].unsent() < UNSENT_MAX => {
                let batch = self.clients[at].write_batch();
                let id = self.clients[at].id;
                self.note(|| format!("c{id} writes {batch}"));
            }
            _ => {}
        }
    }

    fn new_link(&mut self, worker: usize) -> Option<usize> {
        let key = match self.workers[worker].board.client_accepted(false) {
            Ok(key) => key,
            Err(error) => {
                let expected = match &*field(&error, b'C') {
                    "57P03" => self.shutdown.is_some() && field(&error, b'M') == SHUTTING_DOWN,
                    "53300" => self.flavour.limits.any(),
                    _ => false,
                };
                *self.refusals.entry(format!("at the door {}", field(&error, b'C'))).or_default() += 1;
                assert!(expected, "a connection is refused: {}", show(&error));
                return None;
            }
        };
        let link = self.links.len();
        self.links.push(Link::new(self.flavour.socket_bytes));
        self.workers[worker].sockets.clients.insert(key.to_u64(), link);
        Some(link)
    }

    fn new_client(&mut self) {
        let worker = self.rng.usize(..self.workers.len());
        let Some(link) = self.new_link(worker) else { return };
        self.next_client += 1;
        let mut parameters = Vec::new();
        if self.flavour.start_parameters {
            let given = [
                ("application_name", "app"),
                ("DateStyle", "german, dmy"),
                ("work_mem", "64kB"),
                ("search_path", "a, b"),
                ("TimeZone", "bad"),
            ];
            for (name, value) in given {
                if self.rng.u8(..) < if value == "bad" { 8 } else { 70 } {
                    parameters.push((name.to_owned(), value.to_owned()));
                }
            }
        }
        let habits = Habits {
            copies: self.flavour.copies,
            early_syncs: !self.flavour.cancels && !self.flavour.servers_die && !self.flavour.time_passes,
            blocks: self.flavour.mode != PoolMode::Statement,
            resets: !self.flavour.reports_at_once,
            resets_among_others: parameters.is_empty() && !self.flavour.session(),
            slow: true,
            unique_names: self.flavour.untracked,
            tables: self.flavour.schema_changes,
            bytes_max: self.flavour.bytes_max,
        };
        let script = Script::new(self.next_client, habits, self.rng.fork());
        let start = self.start(parameters);
        let shown = format!("{start:?}");
        let client = ModelClient::new(link, worker, script, start, self.flavour.reports_at_once);
        self.note(|| format!("c{} connects to board {worker} by link {link}: {shown}", client.id));
        self.clients.push(client);
        self.touched(worker);
    }

    fn start(&mut self, parameters: Vec<(String, String)>) -> Start {
        let user = if self.flavour.two_pools && self.rng.bool() { "v" } else { "u" };
        if !self.flavour.passwords {
            return Start {
                user: user.to_owned(),
                password: None,
                parameters,
                refusal: None,
                looked_up: false,
            };
        }
        let (user, refusal) = match self.rng.u8(..10) {
            0..5 => (user, None),
            5..8 => ("w", None),
            8 => ("x", Some("28P01")),
            _ => ("z", Some("57P03")),
        };
        let wrong = refusal.is_none() && self.rng.u8(..) < 30;
        Start {
            user: user.to_owned(),
            password: Some(password_of(if wrong { "somebody else" } else { user })),
            parameters,
            looked_up: !matches!(user, "u" | "v"),
            refusal: if wrong { Some("28P01") } else { refusal },
        }
    }

    /// A client with parameters that no server reports may reset them in its last messages. The next client on the
    /// connection must still find its own values.
    fn reset_before_leaving(&mut self, at: usize) {
        let client = &self.clients[at];
        let can = client.phase == Phase::Open && !client.garbage && !client.direct.in_copy();
        if !can || !self.flavour.start_parameters || self.rng.u8(..) < 100 {
            return;
        }
        let sent: &[&str] = match self.rng.u8(..5) {
            0 => &["RESET ALL"],
            1 => &["DISCARD ALL"],
            2 => &["RESET ALL;CALL fail(22012)"],
            3 => &["BEGIN", "RESET ALL", "ROLLBACK"],
            _ => &["BEGIN", "RESET ALL"],
        };
        let client = &mut self.clients[at];
        client.write_raw(&crate::model_client::script::sync());
        sent.iter().for_each(|text| client.write_raw(&query(text)));
        let wire = &mut self.links[client.link];
        client.send(&mut wire.up, usize::MAX);
    }

    /// The client's socket is closed without a Terminate, perhaps in the middle of a message.
    pub(super) fn vanish(&mut self, at: usize) {
        self.reset_before_leaving(at);
        let link = self.clients[at].link;
        let id = self.clients[at].id;
        self.note(|| format!("c{id} vanishes"));
        let wire = &mut self.links[link];
        wire.up.closed = true;
        wire.peer_gone = true;
        wire.readable = true;
        wire.down.clear();
        self.forget_client(at);
    }

    pub(super) fn terminate_client(&mut self, at: usize) {
        self.reset_before_leaving(at);
        let id = self.clients[at].id;
        self.note(|| format!("c{id} leaves"));
        let link = self.clients[at].link;
        // Its unsent bytes go first, as far as the socket takes them.
        self.clients[at].write_raw(b"X\0\0\0\x04");
        let wire = &mut self.links[link];
        self.clients[at].send(&mut wire.up, usize::MAX);
        wire.up.closed = true;
        wire.peer_gone = true;
        wire.readable = true;
        wire.down.clear();
        self.forget_client(at);
    }

    pub(super) fn forget_client(&mut self, at: usize) {
        let client = self.clients.swap_remove(at);
        self.stale_keys.extend(client.key);
        for refusal in client.direct.refusals {
            *self.refusals.entry(refusal).or_default() += 1;
        }
    }

    fn ask_for_cancel(&mut self, at: usize) {
        let worker = self.rng.usize(..self.workers.len());
        let (process_id, secret) = match self.rng.u8(..8) {
            0 if !self.stale_keys.is_empty() => {
                let stale = self.rng.usize(..self.stale_keys.len());
                self.stale_keys[stale].clone()
            }
            1 => match &self.clients[at].key {
                Some((process_id, secret)) => (*process_id, vec![secret[0] ^ 1, 0, 0, 0]),
                None => return,
            },
            _ => {
                let client = &mut self.clients[at];
                let Some(key) = client.key.clone() else { return };
                client.direct.cancels += 1;
                let id = client.id;
                *self.cancelled.entry(id).or_default() += 1;
                self.note(|| format!("c{id} asks for a cancel at board {worker}"));
                key
            }
        };
        let Some(link) = self.new_link(worker) else { return };
        let mut packet = 16_u32.to_be_bytes().to_vec();
        packet.extend_from_slice(&80_877_102_u32.to_be_bytes());
        packet.extend_from_slice(&process_id.to_be_bytes());
        packet.extend_from_slice(&secret);
        self.cancellers.push((link, packet));
        self.touched(worker);
    }

    /// A cancel request reaches its server, or gets lost on the way.
    pub(super) fn cancel_comes(&mut self) -> Checked {
        if self.cancels.is_empty() {
            return Ok(());
        }
        let at = self.rng.usize(..self.cancels.len());
        let (worker, ticket) = self.cancels.swap_remove(at);
        let lost = self.flavour.servers_die && !self.quiescing && self.rng.u8(..) < 20;
        if !lost {
            self.cancel(&ticket)?;
        }
        self.workers[worker].board.cancel_delivered(ticket.server, !lost);
        self.touched(worker);
        Ok(())
    }

    fn cancel(&mut self, ticket: &CancelTicket) -> Checked {
        let process_id = i32::from_be_bytes(ticket.packet[8..12].try_into().expect("four bytes"));
        let wanted = |backend: &&mut Backend| {
            backend.process_id == process_id && backend.secret == ticket.packet[12..]
        };
        let Some(backend) = self.backends.values_mut().find(wanted) else { return Ok(()) };
        let done = backend.cancel();
        self.note(|| format!("cancel of backend {process_id}: {done:?}"));
        let Cancelled::Query(token) = done else { return Ok(()) };
        let id: usize =
            token[1..].split('_').next().and_then(|id| id.parse().ok()).expect("a client's token");
        // The proxy itself cancels the query of a client that has gone, or that it has disconnected.
        let gone = self.clients.iter().all(|client| client.id != id || self.links[client.link].down.closed);
        if gone || self.cancelled.contains_key(&id) || self.flavour.time_passes {
            return Ok(());
        }
        Err(format!("a cancel ended {token}, and c{id} had asked for none"))
    }

    pub(super) fn slow_query_ends(&mut self) {
        let all: Vec<usize> = self.backends.keys().copied().collect();
        if let Some(backend) = self.pick(&all).and_then(|link| self.backends.get_mut(&link)) {
            backend.finish_slow();
        }
    }

    /// The rarer events.
    pub(super) fn rare_event(&mut self) {
        match self.rng.u8(..8) {
            0 | 1 if self.flavour.servers_die => self.kill_server(),
            2 | 3 => {
                let most = if self.flavour.time_passes { 3_000_000 } else { 100_000 };
                self.now += self.rng.u64(..most);
                self.tick();
            }
            4 if self.flavour.schema_changes => {
                self.database.schema += 1;
                let schema = self.database.schema;
                self.note(|| format!("schema is v{schema}"));
            }
            5 if self.flavour.reloads || self.flavour.untracked || self.flavour.moves => self.reload(),
            6 if self.flavour.pauses => self.pause(!self.paused),
            7 if self.flavour.shutdown && self.rng.u8(..) < 60 => self.shut_down(),
            _ => {}
        }
    }

    pub(super) fn tick(&mut self) {
        self.set_now();
        let now = self.now;
        self.note(|| format!("it is {now}"));
        for worker in 0..self.workers.len() {
            self.carry_out(worker);
            self.workers[worker].board.tick();
            self.carry_out(worker);
        }
    }

    fn kill_server(&mut self) {
        let all: Vec<usize> = self.backends.keys().copied().collect();
        let Some(link) = self.pick(&all) else { return };
        let Some(mut backend) = self.backends.remove(&link) else { return };
        let polite = self.rng.bool() && backend.session.is_some();
        if polite {
            backend.add_termination_error();
        }
        let words = backend.drain();
        let wire = &mut self.links[link];
        let part = if polite { words.len() } else { self.rng.usize(..=words.len()) };
        wire.up.push(&words[..part]);
        wire.up.closed = true;
        wire.peer_gone = true;
        wire.readable = true;
        self.note(|| format!("server of link {link} is killed, polite: {polite}"));
    }

    fn reload(&mut self) {
        let edition = &mut self.edition;
        edition.epoch += 1;
        if self.flavour.reloads {
            edition.pool_size = self.rng.u32(1..=4);
            self.pool_size_max = self.pool_size_max.max(self.flavour.room_for_all(edition.pool_size));
            if self.flavour.limits.any() {
                edition.limits = self.flavour.draw_limits(&mut self.rng);
                self.loosest = self.loosest.or(edition.limits);
            }
        }
        edition.present = !self.flavour.reloads || self.rng.u8(..) > 50;
        edition.look_up = self.flavour.passwords && (!self.flavour.reloads || self.rng.u8(..) > 50);
        edition.tracked = !self.flavour.untracked || self.rng.bool();
        edition.port += u16::from(self.flavour.moves && self.rng.bool());
        let directory = Arc::new(self.flavour.directory(edition));
        let text = format!("reload: {edition:?}");
        self.note(|| text);
        for worker in &mut self.workers {
            worker.letters.push_back(Letter::Mail(Mail::Reload(Arc::clone(&directory))));
        }
    }

    /// The first or the second signal to shut down.
    fn shut_down(&mut self) {
        let how = match (self.shutdown, self.rng.u8(..3)) {
            (Some(_), _) | (None, 0) => Shutdown::Now,
            (None, 1) => Shutdown::WaitForServers,
            (None, _) => Shutdown::WaitForClients,
        };
        self.shutdown = Some(how);
        self.note(|| format!("shutdown: {how:?}"));
        for worker in &mut self.workers {
            worker.letters.push_back(Letter::Mail(Mail::Shutdown(how)));
        }
    }

    pub(super) fn pause(&mut self, paused: bool) {
        self.paused = paused;
        self.note(|| format!("pause: {paused}"));
        for worker in &mut self.workers {
            worker.letters.push_back(Letter::Mail(Mail::Pause(paused)));
        }
    }
}
