//! The board gets a logged-in client's bytes in pieces, with a server that answers or a silent one. It must not panic, nor use more
//! memory than the limits allow, and must not accuse a server that answers correctly of breaking the protocol.
//!
//! Input: settings, size of pieces, the client's stream.

#![no_main]

mod relay;

use libfuzzer_sys::fuzz_target;
use relay::Desk;
use trunkline_wire::header;

/// A run ends after this many server connections: more would show nothing new.
const SERVERS_MAX: usize = 20;

fuzz_target!(|input: &[u8]| {
    let [settings, piece_bytes, stream @ ..] = input else { return };
    let mut desk = Desk::new(*settings);
    let answers = settings & 8 == 0;
    let mut server = AnsweringServer::default();
    if settings & 16 != 0 {
        assert!(desk.client_sends(b"Q\0\0\0\x0aBEGIN\0"));
        server.work(&mut desk);
    }
    desk.sockets.server_takes = settings & 32 == 0;
    desk.sockets.client_takes = settings & 64 == 0;
    for piece in stream.chunks(usize::from(*piece_bytes).max(1)) {
        let went_on = desk.client_sends(piece);
        if answers {
            server.work(&mut desk);
        }
        if !went_on || desk.dialled > SERVERS_MAX {
            break;
        }
    }
    assert!(!desk.server_accused, "a server that answers correctly was accused of breaking the protocol");
    if let Some(client) = desk.client {
        desk.board.client_closed(client);
        desk.client = None;
        desk.carry_out();
    }
    if answers {
        server.work(&mut desk);
    }
    assert_eq!(desk.board.clients().count(), 0);
});

/// A server that answers every request with success.
#[derive(Default)]
struct AnsweringServer {
    /// The number of the server connection. A new connection starts outside a transaction.
    dialled: usize,
    in_transaction: bool,
}

impl AnsweringServer {
    /// Answers all messages that have arrived completely.
    fn work(&mut self, desk: &mut Desk) {
        loop {
            if std::mem::replace(&mut self.dialled, desk.dialled) != desk.dialled {
                self.in_transaction = false;
            }
            let Ok(Some(header)) = header(&desk.sockets.to_server) else { return };
            let Some(message) = desk.sockets.to_server.get(..header.frame_bytes()).map(<[u8]>::to_vec) else {
                return;
            };
            desk.sockets.to_server.drain(..message.len());
            let answer = self.answer(&message);
            if !answer.is_empty() && !desk.server_sends(&answer) {
                return;
            }
        }
    }

    fn answer(&mut self, message: &[u8]) -> Vec<u8> {
        const COMPLETE: &[u8] = b"C\0\0\0\x0dSELECT 0\0";
        const BEGIN: &[u8] = b"C\0\0\0\x0aBEGIN\0";
        let ready: &[u8] = if self.in_transaction { b"Z\0\0\0\x05T" } else { b"Z\0\0\0\x05I" };
        match message {
            b"Q\0\0\0\x0aBEGIN\0" => {
                self.in_transaction = true;
                [BEGIN, b"Z\0\0\0\x05T"].concat()
            }
            [b'Q', ..] => [COMPLETE, ready].concat(),
            [b'F', ..] => [b"V\0\0\0\x08\xff\xff\xff\xff".as_slice(), ready].concat(),
            [b'S', ..] => ready.to_vec(),
            [b'P', ..] => b"1\0\0\0\x04".to_vec(),
            [b'B', ..] => b"2\0\0\0\x04".to_vec(),
            [b'C', ..] => b"3\0\0\0\x04".to_vec(),
            [b'D', _, _, _, _, b'S', ..] => b"t\0\0\0\x06\0\0n\0\0\0\x04".to_vec(),
            [b'D', ..] => b"n\0\0\0\x04".to_vec(),
            [b'E', ..] => COMPLETE.to_vec(),
            _ => Vec::new(),
        }
    }
}
