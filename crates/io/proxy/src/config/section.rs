//! A table of the file as a struct. One definition makes the struct, its defaults, its keys and its reader, so that these
//! always agree.

use super::pgbouncer;
use super::problem::{Findings, Quote, is_secret_key, nearest};
use super::setting::Refusal;
use super::value::{Data, Key, Table, Value};

/// A struct that is read from one table of the file. All lists of this trait are in the order of [`Section::KEYS`].
pub(super) trait Section {
    /// The keys, in the order of the documentation.
    const KEYS: &'static [KeyDeclaration];

    /// Sets the field of `key`; `None` if there is no such key.
    fn set(&mut self, key: &str, value: &Value) -> Option<Result<(), Refusal>>;

    /// The text of each value, as `trunkline.toml` would have it.
    fn value_texts(&self) -> Vec<String>;

    /// The number of each value, `None` where it is not a number: [`super::setting::Setting::number`].
    fn value_numbers(&self) -> Vec<Option<f64>>;

    /// Whether each value differs from that in `other`.
    fn differs(&self, other: &Self) -> Vec<bool>;

    /// Copies from `running` the values that only a restart changes.
    fn keep_restart_settings(&mut self, running: &Self);

    /// The name and number of each bound in this table.
    fn bounds(&self) -> Vec<(&'static str, f64)> {
        let numbers = Self::KEYS.iter().zip(self.value_numbers());
        let bounds = numbers.filter(|(key, _)| !key.marks.contains(&Mark::NoBound));
        bounds.filter_map(|(key, number)| Some((key.name, number?))).collect()
    }

    /// The keys whose number is too small: key, number, least allowed number.
    fn too_small(&self) -> Vec<(&'static str, f64, u32)> {
        let numbers = Self::KEYS.iter().zip(self.value_numbers());
        let compared = numbers.filter_map(|(key, number)| Some((key.name, number?, key.least()?)));
        compared.filter(|(_, number, least)| *number < f64::from(*least)).collect()
    }

    /// The keys whose value differs from that in `other`.
    fn differing(&self, other: &Self) -> Vec<&'static KeyDeclaration> {
        let keys = Self::KEYS.iter().zip(self.differs(other));
        keys.filter(|(_, differs)| *differs).map(|(key, _)| key).collect()
    }
}

/// A key as it was declared.
pub(super) struct KeyDeclaration {
    /// The key's name in the file.
    pub(super) name: &'static str,
    /// The marks of its declaration.
    pub(super) marks: &'static [Mark],
}

/// A property of a key, in brackets before its name in the declaration.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// A change takes effect only after a restart.
    Restart,
    /// The same as `Restart`, for a group of keys that the log calls by this one name.
    RestartAs(&'static str),
    /// The number is not a bound, so no metric shows it.
    NoBound,
    /// The least number that is allowed: with a smaller one every connection would fail.
    AtLeast(u32),
}

impl KeyDeclaration {
    /// Whether a change takes effect only after a restart.
    pub(super) fn needs_restart(&self) -> bool {
        self.marks.iter().any(|mark| matches!(mark, Mark::Restart | Mark::RestartAs(_)))
    }

    /// The name in the log for this key of the table `path`, if a change needs a restart.
    pub(super) fn restart_name(&self, path: &str) -> Option<String> {
        self.marks.iter().find_map(|mark| match mark {
            Mark::Restart => Some(join(path, self.name)),
            Mark::RestartAs(name) => Some((*name).to_owned()),
            Mark::NoBound | Mark::AtLeast(_) => None,
        })
    }

    fn least(&self) -> Option<u32> {
        self.marks.iter().find_map(|mark| match mark {
            Mark::AtLeast(least) => Some(*least),
            _ => None,
        })
    }
}

/// Defines a section. A field is `name: Type = default`. Where the key is a Rust keyword, `as "key"` follows the name. Marks
/// ([`Mark`]) stand in brackets before the name.
macro_rules! section {
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[$doc:meta])*
                $([$($mark:expr),+])?
                $field:ident $(as $key:literal)? : $type:ty = $default:expr,
            )*
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
            const KEYS: &'static [$crate::config::section::KeyDeclaration] = {
                #[allow(unused_imports, reason = "not every section has every mark")]
                use $crate::config::section::Mark::{AtLeast, NoBound, Restart, RestartAs};
                &[$( $crate::config::section::KeyDeclaration {
                    name: section!(@key $field $($key)?),
                    marks: &[$($($mark),+)?],
                } ),*]
            };

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

            fn value_texts(&self) -> Vec<String> {
                vec![$( $crate::config::setting::Setting::show(&self.$field) ),*]
            }

            fn value_numbers(&self) -> Vec<Option<f64>> {
                vec![$( $crate::config::setting::Setting::number(&self.$field) ),*]
            }

            fn differs(&self, other: &Self) -> Vec<bool> {
                vec![$( self.$field != other.$field ),*]
            }

            fn keep_restart_settings(&mut self, running: &Self) {
                let mut keys = Self::KEYS.iter();
                $(
                    if keys.next().is_some_and($crate::config::section::KeyDeclaration::needs_restart) {
                        self.$field.clone_from(&running.$field);
                    }
                )*
            }
        }
    };
}
pub(super) use section;

/// Reads `table`, whose name is `path`, into `section`. The caller reads the keys in `tables`.
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
                findings.add_refusal(&full, value.place.clone(), refusal);
            }
            None => unknown_key(key, path, S::KEYS, tables, findings),
        }
    }
    for (key, number, least) in section.too_small() {
        let full = join(path, key);
        findings.add_at(&full, format!("`{full}` must be at least {least}, it is {number}"));
    }
}

/// Adds a problem for an unknown key, with a hint: the key that was likely meant, or the allowed keys.
pub(super) fn unknown_key(
    key: &Key,
    path: &str,
    keys: &[KeyDeclaration],
    tables: &[&str],
    findings: &mut Findings<'_>,
) {
    let name = key.name.as_str();
    let place = if path.is_empty() { "at the top of the file".to_owned() } else { format!("in [{path}]") };
    let known = || keys.iter().map(|key| key.name).chain(tables.iter().copied());
    let of_pgbouncer = pgbouncer::counterpart(name).filter(|_| path.is_empty());
    let hint = if let Some(counterpart) = of_pgbouncer {
        counterpart
    } else if let Some(home) =
        super::schema::place_of_key(name).filter(|_| nearest(name, known()) != Some(name))
    {
        format!("`{name}` belongs {home}")
    } else if let Some(meant) = nearest(name, known()) {
        format!("did you mean `{meant}`?")
    } else {
        format!("allowed {place}: {}", known().collect::<Vec<_>>().join(", "))
    };
    let name: String = name.chars().take(64).collect();
    findings.add(Some(key.place.clone()), format!("unknown key `{name}` {place}"), Some(hint), Quote::Place);
}

/// The table in `value`; if it is not a table, `None` and a problem in `findings`.
pub(super) fn table<'v>(value: &'v Value, path: &str, findings: &mut Findings<'_>) -> Option<&'v Table> {
    findings.remember(path.to_owned(), value.place.clone());
    if let Data::Table(table) = &value.data {
        return Some(table);
    }
    let refusal = Refusal { secret: true, ..Refusal::new(format!("expected a table: [{path}]")) };
    findings.add_refusal(path, value.place.clone(), refusal);
    None
}

/// `path.name`. A name that TOML needs quotes for is quoted.
pub(super) fn join(path: &str, name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    match (path.is_empty(), bare) {
        (true, true) => name.to_owned(),
        (true, false) => format!("{name:?}"),
        (false, true) => format!("{path}.{name}"),
        (false, false) => format!("{path}.{name:?}"),
    }
}
