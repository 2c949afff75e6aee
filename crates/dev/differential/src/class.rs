//! The classes of features that a generator may use. A run with few classes looks for one fault without finding others.

use std::fmt;

use anyhow::{Result, bail};

/// A class of features that sessions use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// SET of parameters that all supported servers report, and RESET of each.
    Set,
    /// `RESET ALL`, `DISCARD ALL`.
    ResetAll,
    /// `default_transaction_read_only` by SET.
    ReadOnly,
    /// `search_path` by SET, where the server reports it.
    SearchPath,
    /// Parameters in the start-up packet.
    Startup,
    /// Start-up parameters that RESET refuses or does not change.
    StartupOdd,
    /// Start-up packets that the server refuses.
    StartupRefused,
    /// Literals whose meaning depends on the session's settings.
    Literals,
    /// `standard_conforming_strings = off`, and strings with backslashes.
    Escapes,
    /// Client encodings other than UTF8.
    Encodings,
    /// Characters above 127 in texts.
    Wide,
    /// Characters above 127 in names of statements and portals.
    WideNames,
    /// Notices and warnings, also from parsing.
    Notices,
    /// DDL by the client itself.
    Ddl,
    /// DDL on a connection that does not go through the proxy.
    DdlPast,
    /// Statements that were prepared before a change of their tables, and are used after it.
    OldNames,
    /// COPY in and out.
    Copy,
    /// COPY with wrong data, or that the client ends early.
    CopyErrors,
    /// `DEALLOCATE ALL`.
    Deallocate,
    /// SQL that tries to guess the proxy's names of statements.
    Guesses,
    /// Turns that are sent before the answers of earlier turns are read.
    Pipelines,
    /// Answers that the client asks for by Flush.
    Flush,
    /// Transactions of several turns.
    Transactions,
    /// Errors in transactions, and the turns after them.
    Errors,
    /// Statements beyond `prepared_statement_bytes_max`.
    Large,
    /// Wrong uses of names: Parse of a name that exists, Bind of one that does not, a wrong number of values.
    NameErrors,
}

/// Each class with its name in `--classes`.
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

    /// Whether the set has `class`.
    #[must_use]
    pub fn has(self, class: Class) -> bool {
        self.0 & (1 << class as u32) != 0
    }

    /// The set with `class`.
    #[must_use]
    pub fn with(self, class: Class) -> Self {
        Self(self.0 | 1 << class as u32)
    }

    /// The set without `class`.
    #[must_use]
    pub fn without(self, class: Class) -> Self {
        Self(self.0 & !(1 << class as u32))
    }

    /// Reads `all`, `set,literals`, `all,-ddl,-guesses`: from left to right.
    ///
    /// # Errors
    /// When a name is unknown; the error lists the known names.
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
