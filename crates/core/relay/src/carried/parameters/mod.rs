//! The parameters that a client takes from one server connection to the next.
//!
//! A [`Profile`] is a sorted set of parameters with their values. Each worker stores equal profiles once. So one comparison of
//! two pointers says whether a server connection has the parameters of a client.
//!
//! | file | what it has |
//! |---|---|
//! | `profile` | the set, and the worker's table of all sets |
//! | `names` | the names of parameters: which can be set, and how the server spells them |
//! | `change` | the Query that changes the parameters of a server connection |
//! | `encoding` | decodes and encodes the values that servers report |

mod change;
mod encoding;
mod names;
mod profile;

pub(crate) use change::{write_literal, write_local};
pub(crate) use encoding::{can_be_encoded, decode, encode};
pub use names::{
    ROLE, SEED, SESSION_AUTHORIZATION, belongs_to_transaction, can_be_set, canonical_name, is_parameter_name,
    is_reset_by_all,
};
pub use profile::{Profile, Profiles, UNKNOWN};

#[cfg(test)]
mod tests {
    use super::Profile;

    pub(super) fn profile(entries: &[(&str, &str)]) -> Profile {
        let mut profile = Profile::default();
        for (name, value) in entries {
            profile.set(name, value);
        }
        profile
    }
}
