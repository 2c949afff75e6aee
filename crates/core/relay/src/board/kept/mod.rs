//! The data types that a board holds. They do not know the board; the files beside this folder use them.

pub(super) mod arrivals;
pub(super) mod cancel_keys;
pub(super) mod cancels;
pub(super) mod due;
pub(super) mod gate;
pub(super) mod local_pool;
pub(super) mod local_pools;
pub(super) mod look_up;
pub(super) mod pool_status;
pub(super) mod secrets;
pub(super) mod welcomes;
