//! How a round handles each event and performs the board's actions.

use std::io;
use std::sync::Arc;

use mio::event::Event;
use trunkline_net::tls::TlsError;
use trunkline_pool::arena::Key;
use trunkline_relay::{Action, ClientKey, Mail, Note, ServerKey, Target};
use trunkline_wire::startup;

use super::Worker;
use super::dialling::Caller;
use super::mailbox::{Report, WorkerMessage};
use super::socket::{ReadOutcome, Socket};
use super::token::{self, Kind, Source};

/// Most reads of one connection in a round, so that the other connections need not wait long.
const READS_MAX: usize = 8;

impl Worker {
    pub(super) fn handle_event(&mut self, source: Source, event: &Event) {
        match source.kind {
            Kind::Client | Kind::Server => self.connection_event(source, event),
            Kind::Cancel => self.cancel_event(source.bits, event),
            Kind::Lingering => self.lingering.readable(source.bits, &mut self.scratch, &mut self.decrypted),
            Kind::Listener => {
                let listener = usize::try_from(source.bits).unwrap_or(usize::MAX);
                // After a failed accept the listener waits for the next tick, whatever connects to it.
                if !self.failed_listeners.contains(&listener) {
                    self.accept_later(listener);
                }
            }
            Kind::Clock => self.ticked = self.clock.has_ticked(),
            Kind::Waker => {
                self.read_messages();
                self.handle_resolved_names();
            }
        }
    }

    fn connection_event(&mut self, source: Source, event: &Event) {
        let closed = event.is_read_closed() || event.is_error();
        if source.kind == Kind::Client {
            let key = ClientKey::from_u64(source.bits);
            let Some(socket) = self.sockets.clients.get_mut(key) else { return };
            socket.read_closed |= closed;
            if event.is_writable() {
                let token = token::for_key(Kind::Client, key);
                self.writable(source, token);
                self.flush_client(key);
            }
        } else {
            let key = ServerKey::from_u64(source.bits);
            let Some(socket) = self.sockets.servers.get_mut(key) else { return };
            if self.board.is_dialling(key) {
                if !self.finish_dial(key) {
                    return;
                }
                self.writable(source, token::for_key(Kind::Server, key));
            } else {
                socket.read_closed |= closed;
                if event.is_writable() {
                    self.writable(source, token::for_key(Kind::Server, key));
                    self.flush_server(key);
                }
            }
        }
        if event.is_write_closed() || event.is_error() {
            self.read_before_close(source);
        } else if event.is_readable() || closed {
            self.read_unless_logging_in(source);
        }
    }

    /// Reads the remaining bytes of a connection that takes no more writes. A paused client is closed instead: a paused
    /// client is not read, and if its own unsent answers are the reason for the pause, the pause would never end.
    fn read_before_close(&mut self, source: Source) {
        let key = ClientKey::from_u64(source.bits);
        if source.kind == Kind::Client
            && self.board.client_paused(key)
            && self.sockets.clients.get_mut(key).is_some()
        {
            return self.client_gone(key, None);
        }
        self.read_unless_logging_in(source);
    }

    /// Reads from a connection, unless it is a client that is logging in. Logins are read later in the round, after the
    /// clients that are logged in.
    pub(super) fn read_unless_logging_in(&mut self, source: Source) {
        if source.kind != Kind::Client || self.board.client_ready(ClientKey::from_u64(source.bits)) {
            self.read(source);
        }
    }

    fn writable(&mut self, source: Source, token: mio::Token) {
        let socket = match source.kind {
            Kind::Client => self.sockets.clients.get_mut(Key::from_u64(source.bits)),
            _ => self.sockets.servers.get_mut(Key::from_u64(source.bits)),
        };
        let Some(socket) = socket else { return };
        let flushed = socket.flush_tls();
        if matches!(flushed, Ok(true))
            && let Err(error) = socket.unblock(&self.sockets.registry, token)
        {
            tracing::warn!("cannot register a socket: {error}");
        }
    }

    /// Reads from a connection, at most [`READS_MAX`] times. If there may be more, the next round goes on.
    pub(super) fn read(&mut self, source: Source) {
        for _ in 0..READS_MAX {
            let go_on = match source.kind {
                Kind::Client => self.read_client(ClientKey::from_u64(source.bits)),
                _ => self.read_server(ServerKey::from_u64(source.bits)),
            };
            if !go_on {
                return;
            }
        }
        self.unfinished.push(source);
    }

    /// Reads once from a client. True when there may be more to read.
    fn read_client(&mut self, key: ClientKey) -> bool {
        if self.board.client_paused(key) {
            return false;
        }
        let Some(socket) = self.sockets.clients.get_mut(key) else { return false };
        match socket.read(&mut self.scratch, &mut self.decrypted) {
            Ok(ReadOutcome::Bytes(count, more)) => {
                let tls = socket.is_tls();
                let bytes = if tls { &self.decrypted[..] } else { &self.scratch[..count] };
                self.board.client_bytes(key, bytes, &mut self.sockets);
                more
            }
            Ok(ReadOutcome::WouldBlock) => false,
            Ok(ReadOutcome::Handshaken) => {
                self.client_handshaken(key);
                true
            }
            Ok(ReadOutcome::End) => {
                self.client_gone(key, None);
                false
            }
            Err(error) => {
                self.client_gone(key, Some(&error));
                false
            }
        }
    }

    pub(super) fn client_gone(&mut self, key: ClientKey, error: Option<&io::Error>) {
        if let Some(error) = error {
            let tls = TlsError::of(error).is_some();
            tracing::debug!(client = ?key, tls, "connection lost: {error}");
        }
        self.board.client_closed(key);
        if let Some(mut socket) = self.sockets.clients.remove(key) {
            socket.close_tls();
        }
    }

    fn client_handshaken(&mut self, key: ClientKey) {
        let Some(socket) = self.sockets.clients.get_mut(key) else { return };
        let agreed = socket.tls().and_then(trunkline_net::tls::TlsSession::alpn);
        if socket.direct_tls && agreed != Some(startup::ALPN) {
            tracing::debug!(client = ?key, "direct TLS without the protocol \"postgresql\" (ALPN)");
            return self.client_gone(key, None);
        }
        let binding = socket.tls().and_then(trunkline_net::tls::TlsSession::channel_binding);
        self.board.client_tls_started(key, binding);
        if !self.decrypted.is_empty() {
            let early = std::mem::take(&mut self.decrypted);
            self.board.client_bytes(key, &early, &mut self.sockets);
        }
    }

    /// Reads once from a server. True when there may be more to read.
    fn read_server(&mut self, key: ServerKey) -> bool {
        if self.board.server_paused(key)
            && !self.sockets.servers.get_mut(key).is_some_and(|socket| socket.is_handshaking())
        {
            return false;
        }
        let Some(socket) = self.sockets.servers.get_mut(key) else { return false };
        match socket.read(&mut self.scratch, &mut self.decrypted) {
            Ok(ReadOutcome::Bytes(count, more)) => {
                let tls = socket.is_tls();
                let bytes = if tls { &self.decrypted[..] } else { &self.scratch[..count] };
                self.board.server_bytes(key, bytes, &mut self.sockets);
                more
            }
            Ok(ReadOutcome::WouldBlock) => false,
            Ok(ReadOutcome::Handshaken) => {
                let binding = socket.tls().and_then(trunkline_net::tls::TlsSession::channel_binding);
                self.board.server_tls_started(key, binding);
                if !self.decrypted.is_empty() {
                    let early = std::mem::take(&mut self.decrypted);
                    self.board.server_bytes(key, &early, &mut self.sockets);
                }
                true
            }
            Ok(ReadOutcome::End) => {
                self.board.server_closed(key, "the server closed the connection unexpectedly");
                false
            }
            Err(error) => {
                self.board.server_closed(key, &format!("the connection to the server was lost: {error}"));
                false
            }
        }
    }

    fn read_messages(&mut self) {
        while let Ok(message) = self.messages.try_recv() {
            match message {
                WorkerMessage::Mail(mail) => {
                    match &mail {
                        Mail::Reload(directory) => self.directory = Arc::clone(directory),
                        Mail::Shutdown(_) => self.stop_listening(),
                        _ => {}
                    }
                    self.board.handle_mail(mail);
                }
                WorkerMessage::Server(server, socket) => self.adopt_server(server, socket),
                WorkerMessage::Client(stream, unix) => self.client_from_other_worker(stream, unix),
                WorkerMessage::Tls(tls) => self.tls = tls,
                WorkerMessage::Report(answer) => {
                    let report = Report { pools: self.board.pools(), board: self.board.status() };
                    // The HTTP thread may have stopped waiting.
                    let _ = answer.try_send(report);
                }
            }
        }
    }

    fn adopt_server(&mut self, server: Box<trunkline_relay::Server>, mut socket: Socket) {
        let key = self.board.server_arrived(server);
        let token = token::for_key(Kind::Server, key);
        match socket.register(&self.sockets.registry, token) {
            Ok(()) => self.sockets.servers.insert(key, Box::new(socket)),
            Err(error) => self.board.server_closed(key, &format!("cannot register a socket: {error}")),
        }
    }

    /// Performs the board's actions and writes to all connections with unsent bytes, until nothing is left to do.
    pub(super) fn carry_out(&mut self) {
        loop {
            let mut done = true;
            while let Some(action) = self.board.next_action() {
                self.perform(action);
                done = false;
            }
            while let Some(key) = self.board.next_unsent_server() {
                self.flush_server(key);
                done = false;
            }
            while let Some(key) = self.board.next_unsent_client() {
                self.flush_client(key);
                done = false;
            }
            while let Some(source) = self.sockets.failed_writes.pop() {
                self.read_before_close(source);
                done = false;
            }
            if done {
                return;
            }
        }
    }

    fn flush_client(&mut self, key: ClientKey) {
        let unsent = self.board.client_unsent(key);
        if !unsent.is_empty() {
            let sent = trunkline_relay::DirectSend::send_client(&mut self.sockets, key, unsent);
            self.board.client_sent(key, sent);
        }
    }

    fn flush_server(&mut self, key: ServerKey) {
        let unsent = self.board.server_unsent(key);
        if !unsent.is_empty() {
            let sent = trunkline_relay::DirectSend::send_server(&mut self.sockets, key, unsent);
            self.board.server_sent(key, sent);
        }
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Connect(key, target) => {
                let dialled = self.dial(Caller::Server(key), target);
                self.connect_server(key, dialled);
            }
            Action::ClientTls(key) => self.start_client_tls(key),
            Action::ServerTls(key, target) => self.start_server_tls(key, &target),
            Action::CloseClient(key, last) => self.close_client(key, &last),
            Action::CloseServer(key, last) => {
                self.forget_attempt(Caller::Server(key));
                if !last.is_empty() {
                    trunkline_relay::DirectSend::send_server(&mut self.sockets, key, &last);
                }
                if let Some(mut socket) = self.sockets.servers.remove(key) {
                    socket.close_tls();
                }
            }
            Action::ResumeClient(key) => {
                self.read_unless_logging_in(Source { kind: Kind::Client, bits: key.to_u64() });
            }
            Action::ResumeServer(key) => self.read(Source { kind: Kind::Server, bits: key.to_u64() }),
            Action::Cancel(ticket) => self.start_cancel(ticket),
            Action::Handoff(worker, key, server) => self.hand_over(worker, key, server),
            Action::Mail(worker, mail) => {
                if let Some(peer) = self.peers.get(worker)
                    && peer.send(WorkerMessage::Mail(mail)).is_err()
                {
                    tracing::warn!(worker, "a worker does not read its messages");
                }
            }
            Action::Note(Note::Warning(kind, text)) => tracing::warn!(kind, "{text}"),
            Action::Note(Note::Debug(text)) => tracing::debug!("{text}"),
        }
    }

    fn close_client(&mut self, key: ClientKey, last: &[u8]) {
        let token = token::for_key(Kind::Client, key);
        let Some(mut socket) = self.sockets.clients.remove(key) else { return };
        if last.is_empty() {
            socket.close_tls();
            return;
        }
        if socket.write(last, &self.sockets.registry, token).is_ok() {
            self.lingering.add(socket, &self.sockets.registry);
        }
    }

    fn start_client_tls(&mut self, key: ClientKey) {
        self.flush_client(key);
        let early = self.board.take_client_inbox(key);
        let session = self.tls.clients.as_ref().map(|tls| tls.accept());
        let Some(socket) = self.sockets.clients.get_mut(key) else { return };
        match session {
            Some(Ok(session)) => {
                socket.start_tls(session, &early);
                self.board.client_tls_starting(key);
                self.read(Source { kind: Kind::Client, bits: key.to_u64() });
            }
            other => {
                if let Some(Err(error)) = other {
                    tracing::error!("cannot begin TLS with a client: {error}");
                }
                self.client_gone(key, None);
            }
        }
    }

    fn start_server_tls(&mut self, key: ServerKey, target: &Target) {
        let session = self.tls.servers.get(target.tls_profile).map(|tls| tls.connect(&target.host));
        let Some(socket) = self.sockets.servers.get_mut(key) else { return };
        let started = match session {
            Some(Ok(session)) => {
                socket.start_tls(session, &[]);
                socket.flush_tls().map(|_| ()).map_err(|error| error.to_string())
            }
            Some(Err(error)) => Err(error.to_string()),
            None => Err("no TLS settings for this server".to_owned()),
        };
        if let Err(error) = started {
            self.board.server_closed(key, &format!("TLS with the server failed: {error}"));
        }
    }

    fn hand_over(&mut self, worker: usize, key: ServerKey, server: Box<trunkline_relay::Server>) {
        let Some(mut socket) = self.sockets.servers.remove(key) else { return };
        if let Err(error) = socket.deregister(&self.sockets.registry) {
            tracing::warn!("cannot deregister a socket: {error}");
        }
        let message = WorkerMessage::Server(server, *socket);
        let Some(peer) = self.peers.get(worker) else { return };
        if let Err(WorkerMessage::Server(server, _)) = peer.send(message) {
            // If this worker kept the connection, the board would hand it to the same worker again, without end.
            tracing::warn!(worker, "a worker does not read its messages");
            self.board.handoff_failed(server);
        }
    }
}
