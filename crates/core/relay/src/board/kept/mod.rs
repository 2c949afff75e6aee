//! What a board keeps. Nothing here knows the board: what is done with it stands in the files beside this folder.

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
