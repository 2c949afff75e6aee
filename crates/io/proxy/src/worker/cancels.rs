//! Sends cancel requests to servers, each on a connection of its own.

use std::sync::Arc;
use std::time::Instant;

use mio::event::Event;
use trunkline_net::dial;
use trunkline_relay::board::CancelTicket;
use trunkline_session::frontend::TlsWish;
use trunkline_wire::startup;

use super::Worker;
use super::dialling::{Caller, Dialled};
use super::socket::{ReadOutcome, Socket};
use super::token::{Kind, token};

/// The state of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Dialling,
    AskedForTls,
    Handshaking,
    Sent,
}

struct CancelRequest {
    ticket: CancelTicket,
    socket: Option<Box<Socket>>,
    phase: Phase,
    started: Instant,
}

/// The requests under way. The board bounds their number.
#[derive(Default)]
pub(super) struct Cancels {
    requests: Vec<Option<CancelRequest>>,
}

impl Cancels {
    fn request(&mut self, slot: u32) -> Option<&mut CancelRequest> {
        self.requests.get_mut(slot as usize)?.as_mut()
    }
}

impl Worker {
    pub(super) fn start_cancel(&mut self, ticket: CancelTicket) {
        let slot = self.cancels.requests.iter().position(Option::is_none).unwrap_or_else(|| {
            self.cancels.requests.push(None);
            self.cancels.requests.len() - 1
        });
        let target = Arc::clone(&ticket.target);
        self.cancels.requests[slot] =
            Some(CancelRequest { ticket, socket: None, phase: Phase::Dialling, started: Instant::now() });
        let Ok(slot) = u32::try_from(slot) else { return };
        let dialled = self.dial(Caller::Cancel(slot), target);
        self.connect_cancel(slot, dialled);
    }

    pub(super) fn connect_cancel(&mut self, slot: u32, dialled: Dialled) {
        match dialled {
            Dialled::Resolving => {}
            Dialled::Failed(why) => {
                tracing::warn!("a cancel request could not be delivered: {why}");
                self.end_cancel(slot, false);
            }
            Dialled::Connecting(stream) => {
                let mut socket = Box::new(Socket::new(stream));
                let token = token(Kind::Cancel, u64::from(slot));
                if socket.register_connecting(&self.sockets.registry, token).is_err() {
                    return self.end_cancel(slot, false);
                }
                if let Some(request) = self.cancels.request(slot) {
                    request.socket = Some(socket);
                }
            }
        }
    }

    fn end_cancel(&mut self, slot: u32, delivered: bool) {
        self.forget_attempt(Caller::Cancel(slot));
        if let Some(request) = self.cancels.requests.get_mut(slot as usize).and_then(Option::take) {
            self.board.cancel_delivered(request.ticket.server, delivered);
        }
    }

    pub(super) fn cancel_event(&mut self, slot: u64, event: &Event) {
        let Ok(slot) = u32::try_from(slot) else { return };
        let Some(request) = self.cancels.request(slot) else { return };
        let Some(socket) = request.socket.as_deref_mut() else { return };
        if event.is_read_closed() {
            socket.read_closed = true;
        }
        if request.phase == Phase::Dialling {
            match dial::finish_connect(socket.stream()) {
                Ok(false) => return,
                Ok(true) => {}
                Err(error) => {
                    request.socket = None;
                    let dialled = self.next_address(Caller::Cancel(slot), Some(error));
                    return self.connect_cancel(slot, dialled);
                }
            }
            let asks = matches!(request.ticket.target.tls, TlsWish::Prefer | TlsWish::Require);
            let direct = request.ticket.target.tls == TlsWish::Direct;
            if asks {
                request.phase = Phase::AskedForTls;

                self.write_cancel(slot, &startup::SSL_REQUEST);
            } else if direct {
                self.cancel_tls(slot);
            } else {
                self.send_cancel(slot);
            }
        }
        if event.is_readable() || event.is_read_closed() {
            self.read_cancel(slot);
        }
    }

    fn write_cancel(&mut self, slot: u32, bytes: &[u8]) {
        let registry = &self.sockets.registry;
        let Some(socket) = self.cancels.request(slot).and_then(|request| request.socket.as_deref_mut())
        else {
            return;
        };
        // A new connection has room for a few bytes, so a socket that does not take them is broken.
        let written = socket.write(bytes, registry, token(Kind::Cancel, u64::from(slot)));
        if !matches!(written, Ok(count) if count == bytes.len()) {
            self.end_cancel(slot, false);
        }
    }

    fn send_cancel(&mut self, slot: u32) {
        let Some(request) = self.cancels.request(slot) else { return };
        request.phase = Phase::Sent;
        let packet = request.ticket.packet.clone();
        self.write_cancel(slot, &packet);
    }

    fn cancel_tls(&mut self, slot: u32) {
        let tls = Arc::clone(&self.tls);
        let Some(request) = self.cancels.request(slot) else { return };
        let target = &request.ticket.target;
        let session = tls.servers.get(target.tls_profile).map(|tls| tls.connect(&target.host));
        let (Some(Ok(session)), Some(socket)) = (session, request.socket.as_deref_mut()) else {
            return self.end_cancel(slot, false);
        };
        request.phase = Phase::Handshaking;
        socket.start_tls(session, &[]);
        if socket.flush_tls().is_err() {
            self.end_cancel(slot, false);
        }
    }

    fn read_cancel(&mut self, slot: u32) {
        loop {
            let Some(request) = self.cancels.request(slot) else { return };
            let phase = request.phase;
            let Some(socket) = request.socket.as_deref_mut() else { return };
            match (socket.read(&mut self.scratch, &mut self.decrypted), phase) {
                (Ok(ReadOutcome::WouldBlock), _) => return,
                (Ok(ReadOutcome::Handshaken), _) => self.send_cancel(slot),
                (Ok(ReadOutcome::Bytes(1, _)), Phase::AskedForTls) => match self.scratch.first() {
                    Some(b'S') => self.cancel_tls(slot),
                    Some(b'N') if request.ticket.target.tls == TlsWish::Prefer => self.send_cancel(slot),
                    _ => return self.end_cancel(slot, false),
                },
                // The server closes the connection after it has sent the signal.
                (Ok(ReadOutcome::End), phase) => return self.end_cancel(slot, phase == Phase::Sent),
                (Ok(ReadOutcome::Bytes(..)), Phase::Sent) => {}
                (Err(_), Phase::Sent) => return self.end_cancel(slot, true),
                _ => return self.end_cancel(slot, false),
            }
        }
    }

    pub(super) fn expire_cancels(&mut self) {
        let Some(wait) = self.directory.timeouts.cancel_wait else { return };
        let is_late = |request: &Option<CancelRequest>| {
            request.as_ref().is_some_and(|request| request.started.elapsed() >= wait)
        };
        let late: Vec<usize> =
            (0..self.cancels.requests.len()).filter(|slot| is_late(&self.cancels.requests[*slot])).collect();
        for slot in late {
            tracing::warn!("a cancel request was not delivered in time (cancel_wait_timeout)");
            self.end_cancel(u32::try_from(slot).unwrap_or(u32::MAX), false);
        }
    }
}
