//! A client's first packet is refused, or decoded and encoded to the same bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trunkline_wire::limits::{SECRET_KEY_BYTES_MAX, SECRET_KEY_BYTES_MIN, STARTUP_PACKET_BYTES};
use trunkline_wire::startup::{FirstPacket, first_packet_bytes};

fuzz_target!(|input: &[u8]| {
    let sized = first_packet_bytes(input);
    if let Ok(Some(bytes)) = sized {
        assert!((8..=STARTUP_PACKET_BYTES as usize + 4).contains(&bytes));
    }
    assert!(input.len() < 4 || sized != Ok(None));
    // Decoding must also work without an earlier check of the length.
    let Ok(packet) = FirstPacket::decode(input) else { return };
    let mut out = Vec::new();
    packet.encode(&mut out);
    assert_eq!(out, input);
    assert!(!format!("{packet:?}").is_empty());
    match packet {
        FirstPacket::Startup(startup) => {
            for (name, value) in startup.parameters() {
                assert!(!name.is_empty() && !value.contains(&0));
                assert!(startup.get(name).is_some());
            }
            assert!(startup.protocol_options().count() <= startup.parameters().count());
        }
        FirstPacket::Cancel(cancel) => {
            assert!((SECRET_KEY_BYTES_MIN..=SECRET_KEY_BYTES_MAX).contains(&cancel.secret_key.len()));
        }
        FirstPacket::Ssl | FirstPacket::GssEnc => assert_eq!(input.len(), 8),
    }
});
