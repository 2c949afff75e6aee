//! What must hold at any moment: no server connection is lost, lent twice or dirty.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering::Relaxed;

use trunkline_pool::PoolId;
use trunkline_relay::parameters::UNKNOWN;
use trunkline_relay::{Board, Server, ServerKey, ServerStage, Stage};

use super::{Checked, Letter, World};
use crate::model_server::Backend;
use crate::model_server::settings::index;

/// All users that have a pool.
const USERS: [&str; 3] = ["u", "v", "w"];

fn must(holds: bool, what: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(what()) }
}

impl World {
    pub(super) fn check(&mut self) -> Checked {
        for worker in 0..self.workers.len() {
            self.carry_out(worker);
        }
        self.check_counts()?;
        for worker in 0..self.workers.len() {
            self.check_pairs(worker)?;
            self.check_servers(worker)?;
        }
        Ok(())
    }

    /// The ledgers have counted correctly, and no limit is exceeded.
    fn check_counts(&self) -> Checked {
        let mut open: BTreeMap<PoolId, u32> = BTreeMap::new();
        let mut clients = 0;
        for worker in &self.workers {
            worker.board.servers().for_each(|(_, server)| *open.entry(server.pool()).or_default() += 1);
            clients += u32::try_from(worker.board.clients().count()).expect("few clients");
            for letter in &worker.letters {
                if let Letter::Server(server, _) = letter {
                    *open.entry(server.pool()).or_default() += 1;
                }
            }
        }
        let counted = self.shared.clients.load(Relaxed);
        must(counted == clients, || format!("{counted} clients are counted, there are {clients}"))?;
        let most = self.loosest.clients;
        must(most == 0 || counted <= most + most / 16 + 8, || format!("{counted} connections of {most}"))?;
        let reserve = u32::from(self.flavour.time_passes);
        for user in USERS {
            let Some(ledger) = self.shared.ledgers.find("d", user) else { continue };
            let there = open.get(&ledger.id).copied().unwrap_or(0);
            must(ledger.open() == there, || {
                format!("pool {user}: {} connections are counted, there are {there}", ledger.open())
            })?;
            must(there <= self.pool_size_max + reserve, || format!("pool {user} has {there} connections"))?;
            let (all, limit) = (ledger.database.servers(), self.flavour.database_limit);
            must(limit == 0 || all <= limit, || format!("{all} connections of {limit}"))?;
            let (all, limit) = (ledger.user.servers(), self.loosest.user_servers);
            must(all == there && (limit == 0 || all <= limit), || {
                format!("{all} connections of {limit} are counted for {user}, there are {there}")
            })?;
        }
        self.check_clients()
    }

    /// The counts of logged-in clients are correct, and within their limits.
    fn check_clients(&self) -> Checked {
        let mut welcome: BTreeMap<PoolId, u32> = BTreeMap::new();
        for (_, client) in self.workers.iter().flat_map(|worker| worker.board.clients()) {
            client.home_pool().into_iter().for_each(|pool| *welcome.entry(pool).or_default() += 1);
        }
        let all: u32 = welcome.values().sum();
        for (limit, what) in [(self.loosest.clients, "all"), (self.loosest.database_clients, "the database")]
        {
            must(limit == 0 || all <= limit, || format!("{all} clients of {limit} for {what}"))?;
        }
        for user in USERS {
            let Some(ledger) = self.shared.ledgers.find("d", user) else { continue };
            let there = welcome.get(&ledger.id).copied().unwrap_or(0);
            let (counted, limit) = (ledger.user.clients(), self.loosest.user_clients);
            must(counted == there && (limit == 0 || counted <= limit), || {
                format!("{counted} clients of {limit} are counted for {user}, there are {there}")
            })?;
            let counted = ledger.database.clients();
            must(counted == all, || {
                format!("{counted} clients are counted for the database, there are {all}")
            })?;
        }
        Ok(())
    }

    /// A client and its server connection agree that the client has it, and each has its socket.
    fn check_pairs(&self, at: usize) -> Checked {
        let worker = &self.workers[at];
        let board = &worker.board;
        let stages: BTreeMap<u64, &ServerStage> =
            board.servers().map(|(key, server)| (key.to_u64(), server.stage())).collect();
        let mut held = BTreeSet::new();
        for (key, client) in board.clients() {
            must(worker.sockets.clients.contains_key(&key.to_u64()), || {
                format!("client {key:?} has no socket")
            })?;
            if let Stage::Linked(server, _) = client.stage() {
                let lent = matches!(stages.get(&server.to_u64()), Some(ServerStage::Lent(to)) if *to == key);
                must(lent, || format!("client {key:?} believes that it holds {server:?}"))?;
                must(held.insert(server.to_u64()), || format!("{server:?} is held twice"))?;
            }
        }
        for (key, stage) in &stages {
            let lent = matches!(stage, ServerStage::Lent(_));
            must(lent == held.contains(key), || format!("server {key:x} is {stage:?} without a client"))?;
            let dialling = self.dials.iter().any(|dial| (dial.0, dial.1) == (at, *key));
            let there = worker.sockets.servers.contains_key(key);
            must(there != dialling, || format!("server {key:x}: socket {there}, dialling {dialling}"))?;
        }
        let strangers = worker.sockets.servers.keys().find(|key| !stages.contains_key(key));
        must(strangers.is_none(), || format!("socket of server {strangers:x?} is nobody's"))
    }

    fn check_servers(&self, at: usize) -> Checked {
        let worker = &self.workers[at];
        for (key, server) in worker.board.servers() {
            let Some(link) = worker.sockets.servers.get(&key.to_u64()) else { continue };
            // The board learns that a server was killed only when it reads from it.
            let Some(backend) = self.backends.get(link) else { continue };
            let wire = &self.links[*link];
            let quiet = wire.up.is_empty() && wire.down.is_empty() && backend.is_quiet();
            if quiet && server.waiting_bytes() == (0, 0) && !wire.up.closed {
                self.check_statements(key, server, backend)?;
            }
            if matches!(server.stage(), ServerStage::Idle) {
                let unsent = worker.board.server_unsent(key);
                let quiet = wire.up.is_empty()
                    && backend.will_send_nothing_more(&[&wire.down.bytes(), unsent].concat());
                self.check_idle(key, server, backend, *link, quiet)?;
            }
        }
        Ok(())
    }

    /// The statements that the board believes to be prepared on a server are prepared there.
    fn check_statements(&self, key: ServerKey, server: &Server, backend: &Backend) -> Checked {
        if matches!(server.stage(), ServerStage::Login(_)) {
            return Ok(());
        }
        let Some(session) = &backend.session else { return Ok(()) };
        let believed: BTreeSet<&[u8]> = server.statement_names().collect();
        let missing = believed.iter().find(|name| !session.statements.contains_key(**name));
        must(missing.is_none(), || {
            format!(
                "server {key:?} lacks {}",
                missing.map_or_else(String::new, |name| name.escape_ascii().to_string())
            )
        })?;
        let ours = |name: &&Vec<u8>| name.starts_with(b"_tl_");
        let forgotten =
            session.statements.keys().filter(ours).find(|name| !believed.contains(name.as_slice()));
        must(forgotten.is_none() || self.flavour.session() || self.flavour.untracked, || {
            format!("server {key:?} has a statement that the board forgot: {forgotten:?}")
        })?;
        if server.has_unnamed_statement() && !self.flavour.session() {
            must(session.statements.contains_key(&b""[..]), || {
                format!("server {key:?} has no unnamed statement")
            })?;
        }
        Ok(())
    }

    /// An idle connection is clean: the next client finds what it expects.
    fn check_idle(
        &self,
        key: ServerKey,
        server: &Server,
        backend: &Backend,
        link: usize,
        quiet: bool,
    ) -> Checked {
        let trouble = |what: &str| format!("idle server {key:?} (backend {}): {what}", backend.process_id);
        must(quiet, || {
            let wire = &self.links[link];
            let (to_it, from_it) = (wire.down.bytes(), wire.up.bytes());
            let bytes = [to_it, from_it].map(|bytes| bytes.escape_ascii().to_string());
            trouble(&format!("bytes are on their way: to and from it {bytes:?}, {server:?}"))
        })?;
        let Some(session) = &backend.session else { return Err(trouble("it has not logged in")) };
        must(session.status == b'I', || trouble("a transaction is open"))?;
        must(session.copy.is_none(), || trouble("a COPY is open"))?;
        must(!session.skipping, || trouble("it skips what it gets"))?;
        must(session.portals.is_empty(), || trouble("a portal is open"))?;
        for (name, value) in server.profile().iter() {
            let at = index(name).ok_or_else(|| trouble("an unknown parameter"))?;
            let has = &session.settings.values[at];
            // After a client's RESET the value is unknown. The next client that needs it sets it.
            must(has == value || value == UNKNOWN, || {
                trouble(&format!("{name} is {has:?} and believed to be {value:?}"))
            })?;
        }
        for (at, (name, ..)) in crate::model_server::settings::KNOWN.iter().enumerate() {
            let default = session.settings.values[at] == session.settings.start[at];
            let known = default || server.profile().value(name).is_some();
            must(known, || {
                trouble(&format!("{name} is {:?}, unknown to the board", session.settings.values[at]))
            })?;
        }
        Ok(())
    }

    /// All clients have gone: every server connection is idle, and all counts are correct.
    pub(super) fn check_everything_is_idle(&self) -> Checked {
        let unauthenticated = self.shared.unauthenticated.load(Relaxed);
        must(unauthenticated == 0, || format!("{unauthenticated} clients are still logging in"))?;
        for worker in &self.workers {
            let client = worker.board.clients().next().map(|(key, client)| (key, client.stage()));
            must(client.is_none(), || format!("client {client:?} is still there"))?;
            for (key, server) in worker.board.servers() {
                let idle = matches!(server.stage(), ServerStage::Idle);
                must(idle, || format!("server {key:?} is {:?}", server.stage()))?;
                let backend =
                    worker.sockets.servers.get(&key.to_u64()).and_then(|link| self.backends.get(link));
                let port = backend.map_or(0, |backend| backend.port);
                must(port == self.edition.port || !self.edition.present, || {
                    format!("server {key:?} is still at {port}")
                })?;
            }
            let over = worker.board.is_over();
            must(over == self.shutdown.is_some(), || format!("the worker is over: {over}"))?;
            let left = worker.board.servers().count();
            must(!over || left == 0, || format!("{left} server connections are left behind"))?;
            must(worker.letters.is_empty(), || "letters are unread".to_owned())?;
            must(Board::status(&worker.board).cancels == 0, || "cancels are under way".to_owned())?;
        }
        for user in USERS {
            let Some(ledger) = self.shared.ledgers.find("d", user) else { continue };
            let clients = (ledger.database.clients(), ledger.user.clients());
            must(clients == (0, 0), || format!("clients of {user} are still counted: {clients:?}"))?;
        }
        Ok(())
    }
}
