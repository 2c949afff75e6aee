//! rustls's unbuffered state machine, turned until it wants something from outside.

use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncodeTlsData, InsufficientSizeError, UnbufferedStatus,
};

use super::error::TlsError;

/// What both roles' connections can do.
pub(super) trait Records {
    /// rustls's name for the role.
    type Role;

    fn process<'c, 'i>(&'c mut self, bytes: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Role>;
}

impl Records for UnbufferedServerConnection {
    type Role = ServerConnectionData;

    fn process<'c, 'i>(&'c mut self, bytes: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Role> {
        self.process_tls_records(bytes)
    }
}

impl Records for UnbufferedClientConnection {
    type Role = ClientConnectionData;

    fn process<'c, 'i>(&'c mut self, bytes: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Role> {
        self.process_tls_records(bytes)
    }
}

/// How far [`advance`] came.
pub(super) struct Pulled {
    /// Bytes at the front that are done with. The rest is the beginning of a message; rustls may have
    /// decrypted it in place, so it has to be handed in again as it is now.
    pub(super) consumed: usize,
    /// close_notify has come.
    pub(super) peer_closed: bool,
}

/// Goes on until more bytes are needed: plaintext is appended to `into`, what is to be sent to `outgoing`.
pub(super) fn advance<C: Records>(
    connection: &mut C,
    bytes: &mut [u8],
    outgoing: &mut Vec<u8>,
    into: &mut Vec<u8>,
) -> Result<Pulled, TlsError> {
    let mut pulled = Pulled { consumed: 0, peer_closed: false };
    loop {
        let UnbufferedStatus { mut discard, state } = connection.process(remaining(bytes, pulled.consumed));
        let mut waits = false;
        let state = match state {
            Ok(state) => state,
            Err(error) => {
                take_alert(connection, bytes, outgoing);
                return Err(error.into());
            }
        };
        match state {
            ConnectionState::ReadTraffic(mut traffic) => {
                while let Some(record) = traffic.next_record() {
                    let record = record?;
                    into.extend_from_slice(record.payload);
                    discard += record.discard;
                }
            }
            ConnectionState::EncodeTlsData(message) => encode(message, outgoing)?,
            // `outgoing` is written by the caller; to rustls it has left.
            ConnectionState::TransmitTlsData(written) => written.done(),
            ConnectionState::PeerClosed => pulled.peer_closed = true,
            ConnectionState::Closed
            | ConnectionState::BlockedHandshake
            | ConnectionState::WriteTraffic(_) => waits = true,
            // Early data is not offered, and there are no other states.
            other => return Err(unexpected(&other)),
        }
        pulled.consumed += discard;
        if waits {
            return Ok(pulled);
        }
    }
}

/// Encrypts `plaintext` into `buffer`, returning the length. What rustls itself has to say first goes to
/// `outgoing`. `held` is the beginning of a message that [`advance`] left.
pub(super) fn encrypt<C: Records>(
    connection: &mut C,
    held: &mut [u8],
    plaintext: &[u8],
    buffer: &mut [u8],
    outgoing: &mut Vec<u8>,
) -> Result<usize, TlsError> {
    loop {
        match connection.process(held).state? {
            ConnectionState::WriteTraffic(mut traffic) => {
                return traffic.encrypt(plaintext, buffer).map_err(|error| internal(&error));
            }
            ConnectionState::EncodeTlsData(message) => encode(message, outgoing)?,
            ConnectionState::TransmitTlsData(written) => written.done(),
            ConnectionState::PeerClosed => {}
            ConnectionState::Closed | ConnectionState::BlockedHandshake => {
                return Err(TlsError::AlreadyClosed);
            }
            other => return Err(unexpected(&other)),
        }
    }
}

/// Appends a close_notify to `outgoing`; nothing if one has gone before.
pub(super) fn close<C: Records>(
    connection: &mut C,
    held: &mut [u8],
    outgoing: &mut Vec<u8>,
) -> Result<(), TlsError> {
    /// An alert of two bytes in a record; what else waits in rustls has gone to `outgoing` before.
    const CLOSE_NOTIFY_BYTES_MAX: usize = 64;
    loop {
        match connection.process(held).state? {
            ConnectionState::WriteTraffic(mut traffic) => {
                let mut record = [0; CLOSE_NOTIFY_BYTES_MAX];
                let length = traffic.queue_close_notify(&mut record).map_err(|error| internal(&error))?;
                outgoing.extend_from_slice(record.get(..length).unwrap_or_default());
                return Ok(());
            }
            ConnectionState::EncodeTlsData(message) => encode(message, outgoing)?,
            ConnectionState::TransmitTlsData(written) => written.done(),
            ConnectionState::PeerClosed => {}
            ConnectionState::Closed | ConnectionState::BlockedHandshake => return Ok(()),
            other => return Err(unexpected(&other)),
        }
    }
}

/// After an error: appends the alert that rustls prepared, if it did. An alert comes out before any byte of
/// input is looked at. Without one, rustls goes back to where its positions say, so it gets all of the
/// bytes that these are positions in; that it will only fail once more is of no interest.
fn take_alert<C: Records>(connection: &mut C, bytes: &mut [u8], outgoing: &mut Vec<u8>) {
    if let Ok(ConnectionState::EncodeTlsData(message)) = connection.process(bytes).state {
        // Its only error is a buffer that is too small, which `encode` sees to.
        let _ = encode(message, outgoing);
    }
}

fn remaining(bytes: &mut [u8], consumed: usize) -> &mut [u8] {
    bytes.get_mut(consumed..).unwrap_or_default()
}

/// Appends rustls's next message, which tells its size only when the room is too small.
fn encode<Role>(mut message: EncodeTlsData<'_, Role>, outgoing: &mut Vec<u8>) -> Result<(), TlsError> {
    let required = match message.encode(&mut []) {
        Err(EncodeError::InsufficientSize(InsufficientSizeError { required_size })) => required_size,
        Ok(_) => return Ok(()),
        Err(error) => return Err(internal(&error)),
    };
    let start = outgoing.len();
    outgoing.resize(start + required, 0);
    let room = outgoing.get_mut(start..).unwrap_or_default();
    message.encode(room).map(drop).map_err(|error| internal(&error))
}

fn internal(error: &dyn std::error::Error) -> TlsError {
    TlsError::Internal { reason: error.to_string() }
}

fn unexpected<Role>(state: &ConnectionState<'_, '_, Role>) -> TlsError {
    TlsError::Internal { reason: format!("rustls is in a state that cannot be here: {state:?}") }
}
