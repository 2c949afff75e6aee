//! Drives rustls's unbuffered state machine until it needs more input.

use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncodeTlsData, InsufficientSizeError, UnbufferedStatus,
};

use super::error::TlsError;

/// The connection of rustls, as server or as client.
pub(super) trait UnbufferedConnection {
    /// rustls's type for the role's data.
    type Role;

    fn process<'c, 'i>(&'c mut self, bytes: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Role>;
}

impl UnbufferedConnection for UnbufferedServerConnection {
    type Role = ServerConnectionData;

    fn process<'c, 'i>(&'c mut self, bytes: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Role> {
        self.process_tls_records(bytes)
    }
}

impl UnbufferedConnection for UnbufferedClientConnection {
    type Role = ClientConnectionData;

    fn process<'c, 'i>(&'c mut self, bytes: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Role> {
        self.process_tls_records(bytes)
    }
}

/// The result of [`advance`].
pub(super) struct Progress {
    /// How many bytes at the front were consumed. The rest is the beginning of a message. rustls may have decrypted it in
    /// place, so the next call must get it exactly as it is now.
    pub(super) consumed: usize,
    /// Whether the peer has sent close_notify.
    pub(super) peer_closed: bool,
}

/// Goes on until rustls needs more bytes. Appends plaintext to `into`, and bytes to send to `outgoing`.
pub(super) fn advance<C: UnbufferedConnection>(
    connection: &mut C,
    bytes: &mut [u8],
    outgoing: &mut Vec<u8>,
    into: &mut Vec<u8>,
) -> Result<Progress, TlsError> {
    let mut progress = Progress { consumed: 0, peer_closed: false };
    loop {
        let UnbufferedStatus { mut discard, state } = connection.process(remaining(bytes, progress.consumed));
        let mut needs_input = false;
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
            // The caller sends `outgoing` later; rustls is told that it has been sent.
            ConnectionState::TransmitTlsData(written) => written.done(),
            ConnectionState::PeerClosed => progress.peer_closed = true,
            ConnectionState::Closed
            | ConnectionState::BlockedHandshake
            | ConnectionState::WriteTraffic(_) => needs_input = true,
            // The other states are about early data, which is not offered.
            other => return Err(unexpected(&other)),
        }
        progress.consumed += discard;
        if needs_input {
            return Ok(progress);
        }
    }
}

/// Encrypts `plaintext` into `buffer` and returns the length. Messages that rustls itself must send first go to
/// `outgoing`. `held`: the unconsumed rest of the last [`advance`].
pub(super) fn encrypt<C: UnbufferedConnection>(
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

/// Appends a close_notify to `outgoing`, unless one was sent before.
pub(super) fn close<C: UnbufferedConnection>(
    connection: &mut C,
    held: &mut [u8],
    outgoing: &mut Vec<u8>,
) -> Result<(), TlsError> {
    /// Room for an alert of two bytes in a record. rustls's other messages have gone to `outgoing` before.
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

/// After an error: appends the alert that rustls has prepared, if there is one. rustls returns an alert before it reads
/// any input. Without an alert it reads the input at the positions that it has stored, so it must get all the bytes to
/// which these positions refer. It then fails again, which does not matter.
fn take_alert<C: UnbufferedConnection>(connection: &mut C, bytes: &mut [u8], outgoing: &mut Vec<u8>) {
    if let Ok(ConnectionState::EncodeTlsData(message)) = connection.process(bytes).state {
        // It can only fail if the buffer is too small, and `encode` makes it large enough.
        let _ = encode(message, outgoing);
    }
}

fn remaining(bytes: &mut [u8], consumed: usize) -> &mut [u8] {
    bytes.get_mut(consumed..).unwrap_or_default()
}

/// Appends rustls's next message. rustls reports the size of the message only when the buffer is too small, so the first
/// call has an empty buffer.
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
    TlsError::Internal { reason: format!("rustls is in an unexpected state: {state:?}") }
}
