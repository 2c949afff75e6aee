//! A table of the file as a struct: one definition gives the struct, its defaults, its keys and how it is read, so
//! that what is accepted and what is documented cannot drift apart.

use super::pgbouncer;
use super::problem::{Findings, Quote, is_secret_key, nearest};
use super::setting::Refusal;
use super::value::{Data, Key, Table, Value};

/// A struct that is read from one table of the file.
pub(super) trait Section {
    /// The keys, in the order of the documentation.
    const KEYS: &'static [&'static str];

    /// Sets the field of `key`; `None` if there is none.
    fn set(&mut self, key: &str, value: &Value) -> Option<Result<(), Refusal>>;

    /// Each key with its present value as it would be written.
    fn shown(&self) -> Vec<(&'static str, String)>;
}

/// Defines a section. A field is `name: Type = default`, with `as "key"` after the name where the key is a Rust keyword.
macro_rules! section {
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $( $(#[$doc:meta])* $field:ident $(as $key:literal)? : $type:ty = $default:expr, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        $vis struct $name { $( $(#[$doc])* $vis $field: $type, )* }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }

        impl $crate::config::section::Section for $name {
            const KEYS: &'static [&'static str] = &[$( section!(@key $field $($key)?) ),*];

            fn set(
                &mut self,
                key: &str,
                value: &$crate::config::value::Value,
            ) -> Option<Result<(), $crate::config::setting::Refusal>> {
                use $crate::config::setting::Setting;
                $(
                    if key == section!(@key $field $($key)?) {
                        return Some(<$type as Setting>::decode(value).map(|decoded| self.$field = decoded));
                    }
                )*
                None
            }

            fn shown(&self) -> Vec<(&'static str, String)> {
                use $crate::config::setting::Setting;
                vec![$( (section!(@key $field $($key)?), Setting::show(&self.$field)) ),*]
            }
        }
    };
}
pub(super) use section;

/// Reads `table`, named `path`, into `section`. Keys in `tables` are left to the caller.
pub(super) fn read<S: Section>(
    section: &mut S,
    table: &Table,
    path: &str,
    tables: &[&str],
    findings: &mut Findings<'_>,
) {
    for (key, value) in &table.entries {
        let name = key.name.as_str();
        if tables.contains(&name) {
            continue;
        }
        let full = join(path, name);
        match section.set(name, value) {
            Some(Ok(())) => findings.remember(full, value.place.clone()),
            Some(Err(refusal)) => {
                let refusal = Refusal { secret: refusal.secret || is_secret_key(name), ..refusal };
                findings.refused(&full, value.place.clone(), refusal);
            }
            None => unknown_key(key, path, S::KEYS, tables, findings),
        }
    }
}

/// Refuses a key, saying what was meant or what is allowed.
pub(super) fn unknown_key(
    key: &Key,
    path: &str,
    keys: &[&str],
    tables: &[&str],
    findings: &mut Findings<'_>,
) {
    let name = key.name.as_str();
    let place = if path.is_empty() { "at the top of the file".to_owned() } else { format!("in [{path}]") };
    let known = || keys.iter().chain(tables).copied();
    let of_pgbouncer = pgbouncer::counterpart(name).filter(|_| path.is_empty());
    let hint = if let Some(counterpart) = of_pgbouncer {
        counterpart
    } else if let Some(home) = super::schema::home_of(name).filter(|_| nearest(name, known()) != Some(name)) {
        format!("`{name}` belongs {home}")
    } else if let Some(meant) = nearest(name, known()) {
        format!("did you mean `{meant}`?")
    } else {
        format!("allowed {place}: {}", known().collect::<Vec<_>>().join(", "))
    };
    let name: String = name.chars().take(64).collect();
    findings.add(Some(key.place.clone()), format!("unknown key `{name}` {place}"), Some(hint), Quote::Place);
}

/// The table in `value`, or a problem.
pub(super) fn table<'v>(value: &'v Value, path: &str, findings: &mut Findings<'_>) -> Option<&'v Table> {
    findings.remember(path.to_owned(), value.place.clone());
    if let Data::Table(table) = &value.data {
        return Some(table);
    }
    let refusal = Refusal { secret: true, ..Refusal::new(format!("expected a table: [{path}]")) };
    findings.refused(path, value.place.clone(), refusal);
    None
}

/// `path.name`, quoting a name that has dots of its own.
pub(super) fn join(path: &str, name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    match (path.is_empty(), bare) {
        (true, true) => name.to_owned(),
        (true, false) => format!("{name:?}"),
        (false, true) => format!("{path}.{name}"),
        (false, false) => format!("{path}.{name:?}"),
    }
}
