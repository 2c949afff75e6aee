//! One worker's switchboard.
//!
//! Methods are of four kinds: `client_*` and `server_*` say what happened on a connection; `handle_mail` what
//! another worker said; [`Board::tick`] that time has passed; the rest is what the shell asks after each round:
//! [`Board::next_action`], [`Board::next_unsent_client`], [`Board::next_unsent_server`]. Time is an argument of
//! [`Board::set_now`], bytes are lent, sockets are reached through [`Wires`](crate::Wires).

mod arrivals;
mod cancel;
mod checkout;
mod chores;
mod clients;
mod control;
mod due;
mod inspect;
mod janitor;
mod kept;
mod links;
mod local_pools;
mod login;
mod look_up;
mod mail;
mod owed;
mod pools;
mod refusal;
mod resets;
mod servers;
mod shared;
mod state;
mod status;
mod welcomes;

pub use kept::arrivals::{
    ACCEPTS_MAX, ARRIVALS_MICROS_MAX, CLIENTS_BEFORE_NEXT_WORKER, LOGIN_STEPS_MAX, LOGINS_WAITING_MAX,
    ROUNDS_WITHOUT_ARRIVALS_MAX,
};
pub use kept::cancel_keys::CancelKeys;
pub use kept::cancels::CancelTicket;
pub(crate) use kept::look_up::LookUp;
pub use kept::pool_status::{NAMELESS, PoolStatus};
pub use mail::{Action, Mail, Note, Shutdown};
pub use shared::Shared;
pub use state::Board;
pub use status::BoardStatus;
