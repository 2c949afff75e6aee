//! What a generator may make use of: so that one fault can be sought without drowning in another.

use std::fmt;

use anyhow::{Result, bail};

/// One kind of thing that sessions do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// SET of the parameters that the server has always reported, and their RESET one by one.
    Set,
    /// `RESET ALL`, `DISCARD ALL`.
    ResetAll,
    /// `default_transaction_read_only` by SET.
    ReadOnly,
    /// `search_path` by SET, where the server reports it.
    SearchPath,
    /// Parameters in the start-up packet.
    Startup,
    /// Start-up parameters that cannot be reset, or that no RESET takes away.
    StartupOdd,
    /// Start-up packets that the server refuses.
    StartupRefused,
    /// Literals that are read by the session's settings.
    Literals,
    /// `standard_conforming_strings = off`, and strings with backslashes.
    Escapes,
    /// Client encodings other than UTF8.
    Encodings,
    /// Characters above 127 in texts.
    Wide,
    /// Characters above 127 in names of statements and portals.
    WideNames,
    /// Notices and warnings, from parsing too.
    Notices,
    /// DDL by the client itself.
    Ddl,
    /// DDL past the proxy.
    DdlPast,
    /// Statements prepared before a change of what they speak of are used after it.
    OldNames,
    /// COPY in and out.
    Copy,
    /// COPY whose data is wrong, or that the client breaks off.
    CopyErrors,
    /// `DEALLOCATE ALL`.
    Deallocate,
    /// SQL that guesses at the proxy's names of statements.
    Guesses,
    /// Turns sent before the answers to those before them are read.
    Pipelines,
    /// Answers asked for by Flush.
    Flush,
    /// Transactions that last over several turns.
    Transactions,
    /// Errors in transactions, with everything that follows.
    Errors,
    /// Statements beyond `prepared_statement_bytes_max`.
    Large,
    /// Names used wrong: a name that exists parsed again, one that does not bound, the wrong number of values.
    NameErrors,
}

/// Each class with the name by which `--classes` knows it.
const NAMES: [(Class, &str); 26] = [
    (Class::Set, "set"),
    (Class::ResetAll, "reset-all"),
    (Class::ReadOnly, "read-only"),
    (Class::SearchPath, "search-path"),
    (Class::Startup, "startup"),
    (Class::StartupOdd, "startup-odd"),
    (Class::StartupRefused, "startup-refused"),
    (Class::Literals, "literals"),
    (Class::Escapes, "escapes"),
    (Class::Encodings, "encodings"),
    (Class::Wide, "wide"),
    (Class::WideNames, "wide-names"),
    (Class::Notices, "notices"),
    (Class::Ddl, "ddl"),
    (Class::DdlPast, "ddl-past"),
    (Class::OldNames, "old-names"),
    (Class::Copy, "copy"),
    (Class::CopyErrors, "copy-errors"),
    (Class::Deallocate, "deallocate"),
    (Class::Guesses, "guesses"),
    (Class::Pipelines, "pipelines"),
    (Class::Flush, "flush"),
    (Class::Transactions, "transactions"),
    (Class::Errors, "errors"),
    (Class::Large, "large"),
    (Class::NameErrors, "name-errors"),
];

/// A set of classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Classes(u32);

impl Classes {
    /// Every class.
    #[must_use]
    pub fn all() -> Self {
        NAMES.iter().fold(Self::default(), |classes, (class, _)| classes.with(*class))
    }

    /// Whether `class` is among them.
    #[must_use]
    pub fn has(self, class: Class) -> bool {
        self.0 & (1 << class as u32) != 0
    }

    /// With `class`.
    #[must_use]
    pub fn with(self, class: Class) -> Self {
        Self(self.0 | 1 << class as u32)
    }

    /// Without `class`.
    #[must_use]
    pub fn without(self, class: Class) -> Self {
        Self(self.0 & !(1 << class as u32))
    }

    /// Reads `all`, `set,literals`, `all,-ddl,-guesses`: from left to right.
    ///
    /// # Errors
    /// When a name is unknown; the error lists those that are not.
    pub fn parse(text: &str) -> Result<Self> {
        let mut classes = Self::default();
        for word in text.split(',').filter(|word| !word.is_empty()) {
            let (name, away) = word.strip_prefix('-').map_or((word, false), |name| (name, true));
            let named = match name {
                "all" => Self::all(),
                name => match NAMES.iter().find(|(_, known)| *known == name) {
                    Some((class, _)) => Self::default().with(*class),
                    None => bail!("no class {name:?}; there are all, {}", Self::all()),
                },
            };
            classes = if away { Self(classes.0 & !named.0) } else { Self(classes.0 | named.0) };
        }
        Ok(classes)
    }
}

impl fmt::Display for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = NAMES.iter().filter(|(class, _)| self.has(*class)).map(|(_, name)| *name);
        f.write_str(&names.collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_classes_are_read_from_left_to_right() {
        let some = Classes::parse("all,-ddl,-set,ddl").expect("known names");
        assert!(some.has(Class::Ddl) && !some.has(Class::Set) && some.has(Class::Large));
        assert_eq!(Classes::parse(&some.to_string()).expect("its own text"), some);
        assert!(Classes::parse("ddl,nope").is_err());
    }
}
