//! The board: the state and the decisions of one worker.
//!
//! The code around a board is its shell: the worker's event loop, or a simulation in tests. The shell reports events by the
//! methods `client_*` and `server_*` (something happened on a connection), `handle_mail` (another worker or the operator has
//! sent a message) and [`Board::tick`] (time has passed). After each event it asks what to do: [`Board::next_action`],
//! [`Board::next_unsent_client`], [`Board::next_unsent_server`]. The board does no I/O: [`Board::set_now`] tells it the time,
//! received bytes are arguments, and it can write to a socket only by [`DirectSend`](crate::DirectSend).

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
