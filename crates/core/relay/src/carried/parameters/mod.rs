//! Server parameters that follow a client from server connection to server connection.
//!
//! A [`Profile`] is a sorted, immutable set of parameters. Profiles are interned in a worker, so that
//! "does this connection fit this client" is one comparison of pointers on the hot path.
//!
//! | file | what it has |
//! |---|---|
//! | `profile` | the set, and the one shared copy of each |
//! | `names` | which parameters follow, and how they are spelt |
//! | `change` | the Query that turns one set into another |
//! | `encoding` | reported values as text |

mod change;
mod encoding;
mod names;
mod profile;

pub(crate) use change::{write_literal, write_local};
pub(crate) use encoding::{decode, encode, is_expressible};
pub use names::{
    ROLE, SEED, SESSION_AUTHORIZATION, canonical_name, follows, is_of_a_transaction, is_parameter_name,
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
