//! The source of an event, encoded in the 64-bit token that the kernel returns with it.
//!
//! ```text
//!   63     60 59            32 31             0
//!  |  kind   |   generation   |     index      |
//! ```

use mio::Token;
use trunkline_pool::arena::Key;

/// The kind of an event's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Client,
    Server,
    Cancel,
    Lingering,
    Listener,
    Waker,
    Clock,
}

/// The source of an event: a connection, a listener, the waker or the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) kind: Kind,
    pub(super) bits: u64,
}

const KIND_SHIFT: u32 = 60;
const KINDS: [Kind; 7] =
    [Kind::Client, Kind::Server, Kind::Cancel, Kind::Lingering, Kind::Listener, Kind::Waker, Kind::Clock];

pub(super) const WAKER: Token = Token((Kind::Waker as usize) << KIND_SHIFT);
pub(super) const CLOCK: Token = Token((Kind::Clock as usize) << KIND_SHIFT);

#[allow(clippy::cast_possible_truncation)]
pub(super) fn token(kind: Kind, bits: u64) -> Token {
    Token(((kind as usize) << KIND_SHIFT) | bits as usize)
}

pub(super) fn for_key<T>(kind: Kind, key: Key<T>) -> Token {
    token(kind, key.to_u64())
}

pub(super) fn listener(index: usize) -> Token {
    token(Kind::Listener, index as u64)
}

pub(super) fn source(token: Token) -> Source {
    let kind = KINDS.get(token.0 >> KIND_SHIFT).copied().unwrap_or(Kind::Waker);
    Source { kind, bits: token.0 as u64 & ((1 << KIND_SHIFT) - 1) }
}

const _: () = assert!(usize::BITS == 64, "tokens need 64 bits");
