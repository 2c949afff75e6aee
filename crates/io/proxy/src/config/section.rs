//! A table of the file as a struct: one definition gives the struct, its defaults, its keys and how it is read, so
//! that what is accepted and what is documented cannot drift apart.

use super::pgbouncer;
use super::problem::{Findings, Quote, is_secret_key, nearest};
use super::setting::Refusal;
use super::value::{Data, Key, Table, Value};

/// A struct that is read from one table of the file. Its lists are in the order of [`Section::KEYS`].
pub(super) trait Section {
    /// The keys, in the order of the documentation.
    const KEYS: &'static [Declared];

    /// Sets the field of `key`; `None` if there is none.
    fn set(&mut self, key: &str, value: &Value) -> Option<Result<(), Refusal>>;

    /// Each present value as it would be written.
    fn shown(&self) -> Vec<String>;

    /// Each present value that is a number: [`super::setting::Setting::number`].
    fn numbers(&self) -> Vec<Option<f64>>;

    /// Whether each value is another than in `other`.
    fn differs(&self, other: &Self) -> Vec<bool>;

    /// Takes from `running` what only a restart changes.
    fn keep_fixed(&mut self, running: &Self);

    /// The bounds of this table with their numbers.
    fn bounds(&self) -> Vec<(&'static str, f64)> {
        let numbers = Self::KEYS.iter().zip(self.numbers());
        let bounds = numbers.filter(|(key, _)| !key.marks.contains(&Mark::NoBound));
        bounds.filter_map(|(key, number)| Some((key.name, number?))).collect()
    }

    /// The keys whose number is less than they allow, with that number and the least allowed.
    fn too_small(&self) -> Vec<(&'static str, f64, u32)> {
        let numbers = Self::KEYS.iter().zip(self.numbers());
        let compared = numbers.filter_map(|(key, number)| Some((key.name, number?, key.least()?)));
        compared.filter(|(_, number, least)| *number < f64::from(*least)).collect()
    }

    /// The keys whose value is another than in `other`.
    fn differing(&self, other: &Self) -> Vec<&'static Declared> {
        let keys = Self::KEYS.iter().zip(self.differs(other));
        keys.filter(|(_, differs)| *differs).map(|(key, _)| key).collect()
    }
}

/// A key as it was declared.
pub(super) struct Declared {
    /// Its name in the file.
    pub(super) name: &'static str,
    /// What is said of it beside its type and its default.
    pub(super) marks: &'static [Mark],
}

/// What a declaration says of a key in brackets before its name. Whatever follows from it follows everywhere.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// A reload leaves it as it is.
    Restart,
    /// The same, for a key that the log names together with others, by this name.
    RestartAs(&'static str),
    /// Its number bounds nothing: no metric shows it.
    NoBound,
    /// The least that its number may be without making every connection fail.
    AtLeast(u32),
}

impl Declared {
    /// Whether a reload leaves it as it is.
    pub(super) fn needs_restart(&self) -> bool {
        self.marks.iter().any(|mark| matches!(mark, Mark::Restart | Mark::RestartAs(_)))
    }

    /// The name under which a key of the table `path` waits for a restart, if it does.
    pub(super) fn waits_as(&self, path: &str) -> Option<String> {
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

/// Defines a section. A field is `name: Type = default`, with `as "key"` after the name where the key is a Rust keyword,
/// and with what there is to say of it ([`Mark`]) in brackets before.
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
            const KEYS: &'static [$crate::config::section::Declared] = {
                #[allow(unused_imports, reason = "not every section has every mark")]
                use $crate::config::section::Mark::{AtLeast, NoBound, Restart, RestartAs};
                &[$( $crate::config::section::Declared {
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

            fn shown(&self) -> Vec<String> {
                vec![$( $crate::config::setting::Setting::show(&self.$field) ),*]
            }

            fn numbers(&self) -> Vec<Option<f64>> {
                vec![$( $crate::config::setting::Setting::number(&self.$field) ),*]
            }

            fn differs(&self, other: &Self) -> Vec<bool> {
                vec![$( self.$field != other.$field ),*]
            }

            fn keep_fixed(&mut self, running: &Self) {
                let mut keys = Self::KEYS.iter();
                $(
                    if keys.next().is_some_and($crate::config::section::Declared::needs_restart) {
                        self.$field.clone_from(&running.$field);
                    }
                )*
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
    for (key, number, least) in section.too_small() {
        let full = join(path, key);
        findings.at(&full, format!("`{full}` must be at least {least}, it is {number}"));
    }
}

/// Refuses a key, saying what was meant or what is allowed.
pub(super) fn unknown_key(
    key: &Key,
    path: &str,
    keys: &[Declared],
    tables: &[&str],
    findings: &mut Findings<'_>,
) {
    let name = key.name.as_str();
    let place = if path.is_empty() { "at the top of the file".to_owned() } else { format!("in [{path}]") };
    let known = || keys.iter().map(|key| key.name).chain(tables.iter().copied());
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
