//! Session state that cannot be carried: in `auto` mode a client that may have some keeps its server connection.

use std::ops::BitOrAssign;

use trunkline_parser::classify::{Class, Touches};

use super::parameters::can_be_set;
use crate::text::{Effects, SettingChange};

/// A kind of session state that pins a client to its server connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Pin {
    /// A parameter was SET that the server does not report.
    Parameter,
    /// A parameter with a dot in its name was SET, or one whose name the text does not show. PostgreSQL cannot forget the name.
    CustomParameter,
    /// SET ROLE.
    Role,
    /// SQL's PREPARE.
    Prepared,
    /// LISTEN.
    Listen,
    /// A cursor WITH HOLD.
    Cursor,
    /// A temporary table, or another object in `pg_temp`.
    Temporary,
    /// LOAD.
    Library,
    /// An advisory lock of the session.
    AdvisoryLock,
    /// `nextval()`, `setval()`, `currval()` or `lastval()`.
    Sequence,
    /// DO, CALL, or a function whose effects its name does not tell.
    Code,
    /// A text that was not read: too long, not in PostgreSQL's grammar, or of settings under which it reads otherwise.
    Unread,
}

/// What must be done with a server connection before another client gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CleanUp {
    /// Nothing.
    None,
    /// DISCARD ALL.
    Discard,
    /// Close it: DISCARD ALL leaves something, or it is not known what there is.
    Close,
}

impl Pin {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Self; 12] = [
        Self::Parameter,
        Self::CustomParameter,
        Self::Role,
        Self::Prepared,
        Self::Listen,
        Self::Cursor,
        Self::Temporary,
        Self::Library,
        Self::AdvisoryLock,
        Self::Sequence,
        Self::Code,
        Self::Unread,
    ];

    /// Its name in metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parameter => "parameter",
            Self::CustomParameter => "custom_parameter",
            Self::Role => "role",
            Self::Prepared => "prepare",
            Self::Listen => "listen",
            Self::Cursor => "cursor",
            Self::Temporary => "temporary",
            Self::Library => "library",
            Self::AdvisoryLock => "advisory_lock",
            Self::Sequence => "sequence",
            Self::Code => "code",
            Self::Unread => "unread",
        }
    }

    /// Of a parameter that a text sets for the session; none for one that follows its client.
    fn of_parameter(name: &str, reports: impl Fn(&str) -> bool) -> Option<Self> {
        match name {
            "role" => Some(Self::Role),
            name if name.contains('.') => Some(Self::CustomParameter),
            name if can_be_set(name) && reports(name) => None,
            _ => Some(Self::Parameter),
        }
    }
}

/// The kinds of session state that a client has, or may have, on its server connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pins(u16);

/// What of a class pins, and as what.
const PINNING: [(Touches, Pin); 9] = [
    (Touches::PREPARE, Pin::Prepared),
    (Touches::LISTEN, Pin::Listen),
    (Touches::DECLARE_HOLD, Pin::Cursor),
    (Touches::TEMP.with(Touches::TEMP_SCHEMA), Pin::Temporary),
    (Touches::LOAD, Pin::Library),
    (Touches::ADVISORY_LOCK, Pin::AdvisoryLock),
    (Touches::NEXTVAL.with(Touches::SETVAL).with(Touches::CURRVAL), Pin::Sequence),
    (Touches::DO.with(Touches::CALL).with(Touches::UNKNOWN_FUNCTIONS), Pin::Code),
    (Touches::UNKNOWN, Pin::Unread),
];

/// All of [`PINNING`].
const PINNING_TOUCHES: Touches = {
    let (mut all, mut at) = (Touches::NONE, 0);
    while at < PINNING.len() {
        all = all.with(PINNING[at].0);
        at += 1;
    }
    all
};

/// What DISCARD ALL leaves behind.
const NOT_DISCARDED: Pins = Pins(
    1 << Pin::CustomParameter as u16
        | 1 << Pin::Library as u16
        | 1 << Pin::Code as u16
        | 1 << Pin::Unread as u16,
);

impl Pins {
    /// None.
    pub(crate) const NONE: Self = Self(0);

    /// One.
    pub(crate) const fn one(pin: Pin) -> Self {
        Self(1 << pin as u16)
    }

    /// What a text of the class, with these effects, may leave in its session. `reports`: whether the server says when a
    /// parameter changes, so that it follows its client.
    pub(crate) fn of(class: Class, effects: Option<&Effects>, reports: impl Fn(&str) -> bool) -> Self {
        let mut pins = Self::NONE;
        if class.touches().any(PINNING_TOUCHES) {
            let found = PINNING.iter().filter(|(touches, _)| class.touches().any(*touches));
            found.for_each(|(_, pin)| pins |= Self::one(*pin));
        }
        let Some(effects) = effects else { return pins };
        if effects.sets_unnamed {
            pins |= Self::one(Pin::CustomParameter);
        }
        for reset in &effects.resets {
            if let SettingChange::Set(name) = reset
                && let Some(pin) = Pin::of_parameter(name, &reports)
            {
                pins |= Self::one(pin);
            }
        }
        pins
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn has(self, pin: Pin) -> bool {
        self.0 & Self::one(pin).0 != 0
    }

    /// DISCARD ALL was run: what is left.
    pub(crate) const fn discarded(self) -> Self {
        Self(self.0 & NOT_DISCARDED.0)
    }

    /// What the connection needs when its client has left.
    pub(crate) const fn clean_up(self) -> CleanUp {
        match (self.is_empty(), self.discarded().is_empty()) {
            (true, _) => CleanUp::None,
            (false, true) => CleanUp::Discard,
            (false, false) => CleanUp::Close,
        }
    }
}

impl BitOrAssign for Pins {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<&'static str> {
        let pins = match trunkline_parser::parse(text) {
            Ok(tree) => {
                let (effects, class) = Effects::of(&tree);
                Pins::of(class, Some(&effects), |name| name == "TimeZone" || name == "session_authorization")
            }
            Err(_) => Pins::of(Class::UNKNOWN, None, |_| true),
        };
        Pin::ALL.iter().filter(|pin| pins.has(**pin)).map(|pin| pin.name()).collect()
    }

    #[test]
    fn the_kinds_are_numbered_in_their_order() {
        for (number, pin) in Pin::ALL.iter().enumerate() {
            assert_eq!(*pin as usize, number);
        }
    }

    #[test]
    fn what_leaves_nothing_does_not_pin() {
        for text in [
            "select 1",
            "select count(*), now() from t where a = any($1) for update",
            "insert into t values (1) returning id",
            "begin; set local work_mem = '1MB'; set transaction read only; commit",
            "select set_config('work_mem', '1MB', true)",
            "set timezone = 'CET'",
            "select set_config('TimeZone', 'CET', false)",
            "set session authorization u",
            "reset all",
            "reset work_mem",
            "unlisten *",
            "deallocate all",
            "discard all",
            "declare c cursor for select 1",
            "select pg_advisory_xact_lock(1)",
            "notify a",
            "create table t (a int)",
            "copy t from stdin",
            "explain analyze select 1",
        ] {
            assert_eq!(of(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn what_leaves_something_pins() {
        for (text, reasons) in [
            ("set work_mem = '1MB'", &["parameter"][..]),
            ("set session characteristics as transaction read only", &["parameter"]),
            ("set app.tenant = 7", &["custom_parameter"]),
            ("select set_config($1, $2, false)", &["custom_parameter"]),
            ("select set_config('work_mem', '1MB', $1)", &["custom_parameter"]),
            ("select set_config('work_mem', '1MB', false)", &["parameter"]),
            ("set role r", &["role"]),
            ("prepare p as select 1", &["prepare"]),
            ("select 1; listen a", &["listen"]),
            ("declare c cursor with hold for select 1", &["cursor"]),
            ("create temp table t (a int)", &["temporary"]),
            ("select 1 into temp t", &["temporary"]),
            ("create table pg_temp.t (a int)", &["temporary"]),
            ("load 'x'", &["library"]),
            ("select pg_advisory_lock(1), pg_try_advisory_lock_shared(2)", &["advisory_lock"]),
            ("select lastval()", &["sequence"]),
            ("select nextval('s')", &["sequence"]),
            ("select f(1)", &["code"]),
            ("do $$ $$", &["code"]),
            ("call p()", &["code"]),
            ("explain analyze select f()", &["code"]),
            ("wrong", &["code", "unread"]),
        ] {
            assert_eq!(of(text), reasons, "{text}");
        }
    }

    #[test]
    fn a_connection_is_closed_where_discard_all_leaves_something() {
        let clean_up = |pins: &[Pin]| {
            let mut all = Pins::NONE;
            pins.iter().for_each(|pin| all |= Pins::one(*pin));
            all.clean_up()
        };
        assert_eq!(clean_up(&[]), CleanUp::None);
        assert_eq!(clean_up(&[Pin::Temporary, Pin::Listen, Pin::Role, Pin::Sequence]), CleanUp::Discard);
        for pin in [Pin::CustomParameter, Pin::Library, Pin::Code, Pin::Unread] {
            assert_eq!(clean_up(&[Pin::Temporary, pin]), CleanUp::Close, "{pin:?}");
        }
    }
}
