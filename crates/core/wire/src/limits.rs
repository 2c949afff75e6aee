//! How long a message may be. The length is checked before any of the message is kept.
//!
//! The defaults are the limits of PostgreSQL and libpq, so what we refuse, they would have refused too. A limit
//! is compared with the value of the length field, which counts itself.

use std::fmt;

use crate::backend;
use crate::frame::Header;
use crate::frontend;

/// The default for [`Limits::startup_packet_bytes`]: `MAX_STARTUP_PACKET_LENGTH` of PostgreSQL's `libpq/pqcomm.h`.
pub const STARTUP_PACKET_BYTES: u32 = 10_000;

/// The default for [`Limits::auth_message_bytes`]: `PG_MAX_AUTH_TOKEN_LENGTH` of PostgreSQL's `libpq/auth.h`.
/// Kerberos tickets need this much.
pub const AUTH_MESSAGE_BYTES: u32 = 65_535;

/// The default for [`Limits::small_message_bytes`]: `PQ_SMALL_MESSAGE_LIMIT` of PostgreSQL's `libpq/libpq.h`.
pub const SMALL_MESSAGE_BYTES: u32 = 10_000;

/// The default for [`Limits::message_bytes`]: `PQ_LARGE_MESSAGE_LIMIT` of PostgreSQL's `libpq/libpq.h`, which is
/// `MaxAllocSize - 1`.
pub const MESSAGE_BYTES: u32 = 0x3fff_fffe;

/// The default for [`Limits::server_auth_message_bytes`]: the longest authentication request or
/// NegotiateProtocolVersion that libpq's `PQconnectPoll` accepts.
pub const SERVER_AUTH_MESSAGE_BYTES: u32 = 2_000;

/// The default for [`Limits::server_small_message_bytes`]: the longest error that libpq accepts during a login
/// (`MAX_ERRLEN`), and after it the longest message without rows or texts.
pub const SERVER_SMALL_MESSAGE_BYTES: u32 = 30_000;

/// The longest SASL message that PostgreSQL accepts (`PG_MAX_SASL_MESSAGE_LENGTH` of `libpq/sasl.h`).
pub const SASL_MESSAGE_BYTES: u32 = 1_024;

/// The shortest cancel key. In protocol 3.0 all keys have this length.
pub const SECRET_KEY_BYTES_MIN: usize = 4;

/// The longest cancel key, as the manual says at BackendKeyData for protocol 3.2.
pub const SECRET_KEY_BYTES_MAX: usize = 256;

/// The longest that the two names at the beginning of a Bind may be together. PostgreSQL cuts a name to 63 bytes
/// when it looks the name up, so this bound leaves room for every useful name.
pub const STREAMED_NAMES_BYTES_MAX: usize = 8_192;

/// The bounds that hold for one peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The first packet, without its length field. Default [`STARTUP_PACKET_BYTES`].
    pub startup_packet_bytes: u32,
    /// A client's message while it logs in. Default [`AUTH_MESSAGE_BYTES`].
    pub auth_message_bytes: u32,
    /// A client's message that carries no statement and no data: Close, CopyDone, CopyFail, Describe, Execute, Flush,
    /// Sync, Terminate. Default [`SMALL_MESSAGE_BYTES`].
    pub small_message_bytes: u32,
    /// Any other message of a client. Default [`MESSAGE_BYTES`].
    pub message_bytes: u32,
    /// A server's authentication request, or NegotiateProtocolVersion. Default [`SERVER_AUTH_MESSAGE_BYTES`].
    pub server_auth_message_bytes: u32,
    /// Any other message of a server during login; after login each message that carries no rows and no long texts.
    /// Default [`SERVER_SMALL_MESSAGE_BYTES`].
    pub server_small_message_bytes: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            startup_packet_bytes: STARTUP_PACKET_BYTES,
            auth_message_bytes: AUTH_MESSAGE_BYTES,
            small_message_bytes: SMALL_MESSAGE_BYTES,
            message_bytes: MESSAGE_BYTES,
            server_auth_message_bytes: SERVER_AUTH_MESSAGE_BYTES,
            server_small_message_bytes: SERVER_SMALL_MESSAGE_BYTES,
        }
    }
}

impl Limits {
    /// Checks a message of a client that has not logged in yet.
    ///
    /// # Errors
    /// [`OverLimit`] when it is longer than [`auth_message_bytes`](Limits::auth_message_bytes).
    pub fn check_before_auth(&self, header: Header) -> Result<(), OverLimit> {
        check(header, self.auth_message_bytes, "auth_message_bytes")
    }

    /// Checks a message of a client that has logged in.
    ///
    /// # Errors
    /// [`OverLimit`] when it is longer than [`small_message_bytes`](Limits::small_message_bytes) or
    /// [`message_bytes`](Limits::message_bytes); the type decides which of the two counts.
    #[inline]
    pub fn check_after_auth(&self, header: Header) -> Result<(), OverLimit> {
        use frontend::{close, copy_done, copy_fail, describe, execute, flush, sync, terminate};
        match header.tag {
            close::TAG
            | copy_done::TAG
            | copy_fail::TAG
            | describe::TAG
            | execute::TAG
            | flush::TAG
            | sync::TAG
            | terminate::TAG => check(header, self.small_message_bytes, "small_message_bytes"),
            _ => check(header, self.message_bytes, "message_bytes"),
        }
    }

    /// Checks a message of a server that has not sent its first ReadyForQuery yet.
    ///
    /// # Errors
    /// [`OverLimit`] when it is longer than [`server_auth_message_bytes`](Limits::server_auth_message_bytes) or
    /// [`server_small_message_bytes`](Limits::server_small_message_bytes); the type decides which of the two counts.
    pub fn check_server_before_auth(&self, header: Header) -> Result<(), OverLimit> {
        match header.tag {
            backend::authentication::TAG | backend::negotiate_protocol_version::TAG => {
                check(header, self.server_auth_message_bytes, "server_auth_message_bytes")
            }
            _ => check(header, self.server_small_message_bytes, "server_small_message_bytes"),
        }
    }

    /// Checks a message of a server that has sent its first ReadyForQuery.
    ///
    /// Rows, copied data, errors, notices, notifications, descriptions and function results may have any length that
    /// fits into a frame.
    ///
    /// # Errors
    /// [`OverLimit`] when any other message is longer than
    /// [`server_small_message_bytes`](Limits::server_small_message_bytes). These bytes are then probably not the
    /// beginning of a message.
    #[inline]
    pub fn check_server_after_auth(&self, header: Header) -> Result<(), OverLimit> {
        use backend::{
            copy_data, data_row, error_response, function_call_response, notice_response,
            notification_response, parameter_description, row_description,
        };
        match header.tag {
            copy_data::TAG
            | data_row::TAG
            | error_response::TAG
            | function_call_response::TAG
            | notice_response::TAG
            | notification_response::TAG
            // 65,535 parameters take 256 KiB.
            | parameter_description::TAG
            | row_description::TAG => Ok(()),
            _ => check(header, self.server_small_message_bytes, "server_small_message_bytes"),
        }
    }
}

#[inline]
fn check(header: Header, limit: u32, name: &'static str) -> Result<(), OverLimit> {
    if header.length <= limit {
        Ok(())
    } else {
        Err(OverLimit { tag: header.tag, length: header.length, limit, name })
    }
}

/// A message is longer than it may be at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverLimit {
    /// The message's type.
    pub tag: u8,
    /// The value of its length field.
    pub length: u32,
    /// The longest length allowed.
    pub limit: u32,
    /// The field of [`Limits`] that holds this limit.
    pub name: &'static str,
}

impl fmt::Display for OverLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a message of type '{}' is {} bytes long, more than {} = {} allows",
            self.tag.escape_ascii(),
            self.length,
            self.name,
            self.limit
        )
    }
}

impl std::error::Error for OverLimit {}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        startup_packet_bytes: 50,
        auth_message_bytes: 60,
        small_message_bytes: 70,
        message_bytes: 80,
        server_auth_message_bytes: 90,
        server_small_message_bytes: 100,
    };

    fn header(tag: u8, length: u32) -> Header {
        Header { tag, length }
    }

    #[test]
    fn each_message_has_its_own_limit() {
        type Check = fn(&Limits, Header) -> Result<(), OverLimit>;
        let cases: [(Check, &[u8], u32); 6] = [
            (Limits::check_before_auth, b"pQX", 60),
            (Limits::check_after_auth, b"CcfDEHSX", 70),
            (Limits::check_after_auth, b"BPQFdp?", 80),
            (Limits::check_server_before_auth, b"Rv", 90),
            (Limits::check_server_before_auth, b"ENSKZ?", 100),
            (Limits::check_server_after_auth, b"123CGHIKRSWZcnsv?", 100),
        ];
        let cases =
            cases.iter().flat_map(|(check, tags, limit)| tags.iter().map(move |tag| (check, *tag, *limit)));
        for (check, tag, limit) in cases {
            assert!(check(&LIMITS, header(tag, limit)).is_ok());
            let error = check(&LIMITS, header(tag, limit + 1)).expect_err("one byte too many");
            assert_eq!((error.tag, error.length, error.limit), (tag, limit + 1, limit));
        }
    }

    #[test]
    fn rows_have_no_limit_of_their_own() {
        for tag in *b"DdEVNAtT" {
            assert!(LIMITS.check_server_after_auth(header(tag, i32::MAX as u32)).is_ok());
        }
    }

    #[test]
    fn a_gigabyte_before_login_is_refused() {
        assert!(Limits::default().check_before_auth(header(b'p', 1 << 30)).is_err());
    }
}
