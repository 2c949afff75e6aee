//! The list of all keys, for hints and for the test that keeps `docs/configuration.md` complete.

use super::auth::Auth;
use super::database::DatabaseKeys;
use super::general::General;
use super::http::{Http, Log};
use super::limits::Limits;
use super::pool::Pool;
use super::section::Section;
use super::timeouts::Timeouts;
use super::tls::{ClientTls, ServerTls};
use super::user::UserKeys;

/// One key of `trunkline.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The table of the key (`databases.NAME`); empty at the top of the file.
    pub table: &'static str,
    /// The key's name.
    pub name: &'static str,
    /// The default, as `trunkline.toml` would have it; empty if there is none.
    pub default: String,
    /// Whether a change takes effect only after a restart.
    pub needs_restart: bool,
}

/// Every key, in the order of the documentation.
pub fn keys() -> Vec<Key> {
    fn of<S: Section + Default>(table: &'static str, keys: &mut Vec<Key>) {
        keys.extend(S::KEYS.iter().zip(S::default().value_texts()).map(|(key, default)| Key {
            table,
            name: key.name,
            default,
            needs_restart: key.needs_restart(),
        }));
    }
    let mut keys = Vec::new();
    of::<General>("", &mut keys);
    of::<Limits>("limits", &mut keys);
    of::<Timeouts>("timeouts", &mut keys);
    of::<Pool>("pool", &mut keys);
    of::<DatabaseKeys>("databases.NAME", &mut keys);
    of::<UserKeys>("users.NAME", &mut keys);
    of::<Auth>("auth", &mut keys);
    of::<ClientTls>("tls.client", &mut keys);
    of::<ServerTls>("tls.server", &mut keys);
    of::<Http>("http", &mut keys);
    of::<Log>("log", &mut keys);
    keys
}

/// Where the key `name` belongs: `in [pool]`, or `at the top of the file`. `None` if there is no such key.
pub(super) fn place_of_key(name: &str) -> Option<String> {
    let home = keys().into_iter().find(|key| key.name == name)?.table;
    let top = "at the top of the file, before any [table]";
    Some(if home.is_empty() { top.to_owned() } else { format!("in [{home}]") })
}
