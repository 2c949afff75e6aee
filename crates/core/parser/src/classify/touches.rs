//! What a statement may touch: one bit for each thing.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// A set of the things that a statement may touch besides rows of tables. It may have too many bits, but never too
/// few, as far as the text shows: see [`Class`](super::Class) for what a text does not show.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Touches(u64);

macro_rules! touches {
    ($($(#[$doc:meta])* $name:ident = $bit:literal,)*) => {
        impl Touches {
            $($(#[$doc])* pub const $name: Self = Self(1 << $bit);)*

            /// Each bit with its name, in lower case.
            const NAMES: &'static [(Self, &'static str)] = &[$((Self::$name, stringify!($name)),)*];
        }

        /// Checks that each bit has only one meaning.
        const _: () = {
            let mut seen = 0_u64;
            $(
                assert!(seen & (1 << $bit) == 0);
                seen |= 1 << $bit;
            )*
            assert!(seen != 0);
        };
    };
}

touches! {
    /// SET and RESET of a parameter for the session, except for those that have their own bits below.
    SET = 0,
    /// SET LOCAL.
    SET_LOCAL = 1,
    /// SET ROLE, SET SESSION AUTHORIZATION and their RESETs.
    ROLE = 2,
    /// SET TRANSACTION, also with a snapshot, and SET of parameters such as `transaction_isolation`.
    SET_TRANSACTION = 3,
    /// SET SESSION CHARACTERISTICS AS TRANSACTION, which sets parameters such as `default_transaction_isolation`.
    SESSION_CHARACTERISTICS = 4,
    /// RESET ALL.
    RESET_ALL = 5,
    /// Reads parameters: SHOW, `current_setting()`, the view `pg_settings`.
    SHOW = 6,
    /// `set_config()` for the session: its third argument is not the keyword `true`.
    SET_CONFIG = 7,
    /// `set_config(.., .., true)`.
    SET_CONFIG_LOCAL = 8,
    /// SET CONSTRAINTS, which holds until the transaction ends.
    SET_CONSTRAINTS = 9,
    /// LISTEN.
    LISTEN = 10,
    /// UNLISTEN.
    UNLISTEN = 11,
    /// NOTIFY, `pg_notify()`.
    NOTIFY = 12,
    /// Reads to which channels the session listens: `pg_listening_channels()`.
    LISTENING = 13,
    /// PREPARE.
    PREPARE = 14,
    /// EXECUTE, also in EXPLAIN and CREATE TABLE AS.
    EXECUTE = 15,
    /// DEALLOCATE of one name.
    DEALLOCATE = 16,
    /// DEALLOCATE ALL.
    DEALLOCATE_ALL = 17,
    /// The view `pg_prepared_statements` or its function.
    PREPARED_STATEMENTS = 18,
    /// DISCARD ALL.
    DISCARD_ALL = 19,
    /// DISCARD PLANS.
    DISCARD_PLANS = 20,
    /// DISCARD SEQUENCES.
    DISCARD_SEQUENCES = 21,
    /// DISCARD TEMP.
    DISCARD_TEMP = 22,
    /// DECLARE of a cursor that ends with the transaction.
    DECLARE = 23,
    /// DECLARE of a cursor WITH HOLD.
    DECLARE_HOLD = 24,
    /// CLOSE.
    CLOSE = 25,
    /// FETCH, MOVE, WHERE CURRENT OF, `cursor_to_xml()`.
    FETCH = 26,
    /// The view `pg_cursors` or its function.
    CURSORS = 27,
    /// Makes a temporary object: CREATE TEMP .., SELECT INTO TEMP.
    TEMP = 28,
    /// Names the schema `pg_temp` (or `pg_temp_3`).
    TEMP_SCHEMA = 29,
    /// LOAD.
    LOAD = 30,
    /// An advisory lock of the session: `pg_advisory_lock()` and similar functions.
    ADVISORY_LOCK = 31,
    /// `pg_advisory_unlock()` and similar functions.
    ADVISORY_UNLOCK = 32,
    /// An advisory lock until the transaction ends: `pg_advisory_xact_lock()` and similar functions.
    ADVISORY_LOCK_TRANSACTION = 33,
    /// `nextval()`, whose result `currval()` later returns in the same session.
    NEXTVAL = 34,
    /// `setval()`.
    SETVAL = 35,
    /// `currval()` and `lastval()`, which depend on earlier calls in the session.
    CURRVAL = 36,
    /// Descriptors of large objects: `lo_open()` and similar functions.
    LARGE_OBJECT = 37,
    /// Reads the identity of the server process: `pg_backend_pid()`, `inet_client_addr()`, `pg_my_temp_schema()`.
    BACKEND = 38,
    /// Reads the time at which the transaction began: `now()`, CURRENT_TIMESTAMP, a cast to a time (perhaps of 'now').
    TRANSACTION_TIME = 39,
    /// Reads the transaction's id or snapshot: `txid_current()`, `pg_current_snapshot()`.
    TRANSACTION_ID = 40,
    /// BEGIN, COMMIT, SAVEPOINT and all other transaction control: [`Class::transaction`](super::Class::transaction).
    TRANSACTION = 41,
    /// PREPARE TRANSACTION, COMMIT PREPARED, ROLLBACK PREPARED.
    TWO_PHASE = 42,
    /// Locks rows by SELECT .. FOR UPDATE and similar clauses. UPDATE and DELETE lock rows too, but do not have this
    /// bit.
    ROW_LOCK = 43,
    /// LOCK TABLE.
    TABLE_LOCK = 44,
    /// DO: its body may touch anything.
    DO = 45,
    /// CALL: the procedure may touch anything, and may commit.
    CALL = 46,
    /// Calls any function by name. [`References::calls`](crate::references::References::calls) lists the calls.
    FUNCTIONS = 47,
    /// Calls a function whose name does not show its effect: see [`Class`](super::Class).
    UNKNOWN_FUNCTIONS = 48,
    /// EXPLAIN ANALYZE, which runs the statement that it explains.
    EXPLAIN_ANALYZE = 49,
    /// COPY: [`Class::copy`](super::Class::copy).
    COPY = 50,
    /// Cannot run in a transaction block, at least in some form: VACUUM, CREATE DATABASE, CONCURRENTLY.
    NO_BLOCK = 51,
    /// Changes definitions or privileges, so plans and descriptions of statements may change.
    SCHEMA = 52,
    /// Changes the settings with which later sessions begin: ALTER ROLE .. SET, ALTER DATABASE .. SET, ALTER SYSTEM.
    DEFAULTS = 53,
    /// The statement is not understood and may touch anything.
    UNKNOWN = 63,
}

impl Touches {
    /// No bit.
    pub const NONE: Self = Self(0);

    /// The bits of statements that leave state in the session: on another server connection the state would be
    /// missing, and on this one the next session would wrongly have it. `nextval()` and `setval()` are not included,
    /// although `currval()` depends on them: the default of a serial column also calls `nextval()`, which no text
    /// shows. A caller for whom that matters must look for [`Touches::CURRVAL`].
    pub const LEAVES_STATE: Self = Self(
        Self::SET.0
            | Self::ROLE.0
            | Self::SESSION_CHARACTERISTICS.0
            | Self::RESET_ALL.0
            | Self::SET_CONFIG.0
            | Self::LISTEN.0
            | Self::UNLISTEN.0
            | Self::PREPARE.0
            | Self::DEALLOCATE.0
            | Self::DEALLOCATE_ALL.0
            | Self::DISCARD_ALL.0
            | Self::DISCARD_PLANS.0
            | Self::DISCARD_SEQUENCES.0
            | Self::DISCARD_TEMP.0
            | Self::DECLARE_HOLD.0
            | Self::CLOSE.0
            | Self::TEMP.0
            | Self::TEMP_SCHEMA.0
            | Self::LOAD.0
            | Self::ADVISORY_LOCK.0
            | Self::ADVISORY_UNLOCK.0
            | Self::DO.0
            | Self::CALL.0
            | Self::EXECUTE.0
            | Self::UNKNOWN_FUNCTIONS.0
            | Self::UNKNOWN.0,
    );

    /// The bits of statements whose result depends on the state of the session.
    pub const READS_STATE: Self = Self(
        Self::SHOW.0
            | Self::LISTENING.0
            | Self::EXECUTE.0
            | Self::PREPARED_STATEMENTS.0
            | Self::FETCH.0
            | Self::CLOSE.0
            | Self::CURSORS.0
            | Self::TEMP_SCHEMA.0
            | Self::ADVISORY_UNLOCK.0
            | Self::CURRVAL.0
            | Self::LARGE_OBJECT.0
            | Self::BACKEND.0
            | Self::DO.0
            | Self::CALL.0
            | Self::UNKNOWN_FUNCTIONS.0
            | Self::UNKNOWN.0,
    );

    /// Whether this set has at least one bit of `other`.
    #[inline]
    #[must_use]
    pub const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether this set has all bits of `other`.
    #[inline]
    #[must_use]
    pub const fn all(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether this set has no bit.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The bits of both sets.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The bits of this set that are not in `other`.
    #[inline]
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The names of the set's bits: the names of the constants.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().filter(move |(bit, _)| self.any(*bit)).map(|(_, name)| *name)
    }
}

impl BitOr for Touches {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        self.with(other)
    }
}

impl BitOrAssign for Touches {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        *self = self.with(other);
    }
}

impl fmt::Debug for Touches {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, name) in self.names().enumerate() {
            out.write_str(if place == 0 { "" } else { " | " })?;
            out.write_str(name)?;
        }
        out.write_str(if self.is_empty() { "NONE" } else { "" })
    }
}

impl std::ops::BitAnd for Touches {
    type Output = Self;

    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}
