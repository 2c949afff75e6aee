//! The board gets a logged-in server's bytes in pieces, after a client's turn. It must not panic, nor use more memory than the limits
//! and the input allow.
//!
//! Input: settings, size of pieces and number of the turn, the server's stream.

#![no_main]

mod relay;

use libfuzzer_sys::fuzz_target;
use relay::Desk;

/// A run ends after this many server connections: more would show nothing new.
const SERVERS_MAX: usize = 20;

/// The turns that the client may send. It sends its turn again from time to time, and on each new server connection.
const TURNS: [&[u8]; 8] = [
    b"Q\0\0\0\x0dSELECT 1\0",
    b"P\0\0\0\x0as\0one\0\0\0B\0\0\0\x0d\0s\0\0\0\0\0\0\0D\0\0\0\x06P\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04",
    b"P\0\0\0\x09\0one\0\0\0B\0\0\0\x0c\0\0\0\0\0\0\0\0E\0\0\0\x09\0\0\0\0\0H\0\0\0\x04",
    b"Q\0\0\0\x16COPY t FROM STDIN\0d\0\0\0\x05xc\0\0\0\x04",
    b"P\0\0\0\x0as\0one\0\0\0D\0\0\0\x07Ss\0C\0\0\0\x07Ss\0S\0\0\0\x04S\0\0\0\x04Q\0\0\0\x0dSELECT 1\0",
    b"Q\0\0\0\x10DISCARD ALL\0P\0\0\0\x09\0one\0\0\0S\0\0\0\x04",
    b"F\0\0\0\x0e\0\0\0\x01\0\0\0\0\0\0",
    b"Q\0\0\0\x13DEALLOCATE ALL\0S\0\0\0\x04",
];

fuzz_target!(|input: &[u8]| {
    let [settings, sizes, stream @ ..] = input else { return };
    let turn = TURNS[usize::from(sizes & 7)];
    let piece_bytes = usize::from(sizes >> 3) * 4 + 1;
    let mut desk = Desk::new(*settings);
    desk.sockets.client_takes = settings & 16 == 0;
    desk.client_sends(turn);
    for (at, piece) in stream.chunks(piece_bytes).enumerate() {
        let client_stays = desk.client.is_some();
        if settings & 32 != 0 && at == 2 && client_stays {
            // The client vanishes in the middle of its answer.
            desk.board.client_closed(desk.client.take().expect("the client is connected"));
            desk.carry_out();
        }
        if !desk.server_sends(piece) && desk.server.is_some() || desk.dialled > SERVERS_MAX {
            break;
        }
        if at % 4 == 3 || desk.server.is_none() {
            desk.client_sends(turn);
        }
    }
    if let Some(server) = desk.server.take() {
        desk.board.server_closed(server, "the server closed the connection");
        desk.carry_out();
    }
});
