//! SET, RESET and similar commands for parameters that follow a client.

use trunkline_probes::testkit::Version;

use super::wide::{self, Encoding};
use super::{Actor, Maker};
use crate::class::Class;

/// Parameters that all supported servers report, with values. The server refuses some of the values.
const REPORTED: [(&str, &[&str]); 4] = [
    (
        "TimeZone",
        &[
            "'UTC'",
            "'Asia/Tokyo'",
            "'America/New_York'",
            "'Europe/Berlin'",
            "'Asia/Kolkata'",
            "'+05:30'",
            "-7",
        ],
    ),
    ("DateStyle", &["'ISO, DMY'", "'German'", "'SQL, MDY'", "'Postgres, YMD'", "dmy", "'ISO'", "sql, dmy"]),
    ("IntervalStyle", &["postgres", "'postgres_verbose'", "sql_standard", "'iso_8601'"]),
    ("application_name", &["'a'", "''", "'it''s'", "E'back\\\\slash'", "b", "\"C d\"", "'semi;colon'"]),
];
/// Values that are invalid for every parameter.
const REFUSED: [&str; 3] = ["'No/Where'", "'x\\y'", "12345678901"];
/// Other parameters with values. They are only set for a transaction.
const LOCAL: [(&str, &str); 7] = [
    ("work_mem", "'5MB'"),
    ("statement_timeout", "'5min'"),
    ("extra_float_digits", "-3"),
    ("bytea_output", "escape"),
    ("lock_timeout", "'31s'"),
    ("array_nulls", "off"),
    ("xmloption", "document"),
];
/// The weights of the classes of settings. A setting of no class has the weight 8.
const WEIGHTS: [(Class, u8); 7] = [
    (Class::ResetAll, 2),
    (Class::ReadOnly, 2),
    (Class::SearchPath, 2),
    (Class::Encodings, 4),
    (Class::Escapes, 3),
    (Class::Wide, 2),
    (Class::Deallocate, 2),
];
/// Text before a statement that does not change its meaning.
const LEADS: [&str; 6] = ["", "", "", " \n\t", "/* a /* b */ c */ ", "-- line\n"];
/// All parameters that follow a client, by SET or from its start-up packet. No script sets others by SET.
pub(super) const PROBE: &str = "select name, setting from pg_settings where name in ('TimeZone', 'DateStyle', \
    'IntervalStyle', 'client_encoding', 'standard_conforming_strings', 'application_name', \
    'default_transaction_read_only', 'search_path', 'work_mem', 'statement_timeout', 'extra_float_digits', \
    'bytea_output', 'array_nulls', 'lock_timeout', 'xmloption', 'backslash_quote', 'escape_string_warning', \
    'transform_null_equals', 'timezone_abbreviations', 'default_transaction_isolation', 'enable_seqscan', \
    'client_min_messages', 'check_function_bodies', 'plan_cache_mode', 'lc_monetary', 'row_security', 'xmlbinary') \
    order by name";

impl Maker {
    /// A SET, RESET or similar command. It also changes the model of the client.
    pub(super) fn setting(&mut self, actor: usize) -> Vec<u8> {
        let lead = LEADS[self.rng.usize(..LEADS.len())].as_bytes().to_vec();
        let body = match self.choose(8, &WEIGHTS) {
            Some(Class::ResetAll) => self.reset_all(actor),
            Some(Class::ReadOnly) => self.read_only(),
            Some(Class::SearchPath) if self.version >= Version::PG18 => self.search_path(actor),
            Some(Class::Encodings) => self.client_encoding(actor),
            Some(Class::Escapes) => self.conforming(actor),
            Some(Class::Wide) => self.wide_name(actor),
            Some(Class::Deallocate) => {
                self.pick(&["deallocate all", "DEALLOCATE PREPARE ALL", "deallocate /* x */ all"]).into()
            }
            _ if self.rng.u8(..6) == 0 => self.set_local(),
            _ => self.reported(),
        };
        [lead, body].concat()
    }

    /// Sets or resets one of [`REPORTED`], in one of the ways that SQL offers.
    fn reported(&mut self) -> Vec<u8> {
        let (name, values) = REPORTED[self.rng.usize(..REPORTED.len())];
        let value = if self.rng.u8(..20) == 0 { self.pick(&REFUSED) } else { self.pick(values) };
        let quoted = format!("'{}'", value.trim_matches(['\'', '"', 'E']));
        let text = match self.rng.u8(..14) {
            0 => format!("reset {name}"),
            1 => format!("set {name} to default"),
            2 => format!("set session {name} to {value}"),
            3 => format!("set local {name} = {value}"),
            4 => format!("select set_config('{}', {quoted}, false)", name.to_lowercase()),
            5 => format!("select pg_catalog.set_config('{name}', {quoted}, true)"),
            6 if name == "TimeZone" => self
                .pick(&[
                    "set time zone local",
                    "set time zone default",
                    "set time zone 'Asia/Tokyo'",
                    "set time zone interval '+02:30' hour to minute",
                    "set local time zone -3",
                ])
                .to_owned(),
            7 => format!("SET {} = {value}", name.to_uppercase()),
            _ => format!("set {name} = {value}"),
        };
        text.into_bytes()
    }

    fn reset_all(&mut self, actor: usize) -> Vec<u8> {
        let actor = &mut self.actors[actor];
        (actor.encoding, actor.conforming) = (actor.first_encoding, true);
        self.pick(&["reset all", "RESET ALL", "discard all", "DISCARD ALL", "discard plans"]).into()
    }

    fn read_only(&mut self) -> Vec<u8> {
        self.pick(&[
            "set default_transaction_read_only = on",
            "set default_transaction_read_only = off",
            "reset default_transaction_read_only",
            "set session characteristics as transaction read only",
            "set session characteristics as transaction read write",
        ])
        .into()
    }

    fn client_encoding(&mut self, actor: usize) -> Vec<u8> {
        let (name, encoding) = wide::NAMES[self.rng.usize(..wide::NAMES.len())];
        let form = self.rng.u8(..8);
        let first = self.actors[actor].first_encoding;
        self.actors[actor].encoding = if form < 2 { first } else { encoding };
        match form {
            0 => "reset client_encoding".into(),
            1 => "set client_encoding to default".into(),
            2 => format!("set names '{name}'").into(),
            3 => format!("select set_config('client_encoding', '{name}', false)").into(),
            4 => format!("set local client_encoding = '{name}'").into(),
            _ => format!("set client_encoding to '{name}'").into(),
        }
    }

    fn conforming(&mut self, actor: usize) -> Vec<u8> {
        let on = self.rng.bool();
        self.actors[actor].conforming = on;
        format!("set standard_conforming_strings = {}", if on { "on" } else { "off" }).into()
    }

    /// An application name with characters above 127.
    fn wide_name(&mut self, actor: usize) -> Vec<u8> {
        let encoding = self.actors[actor].encoding;
        [b"set application_name = 'n", &wide::character(&mut self.rng, encoding)[..], b"'"].concat()
    }

    /// If the path has changed, PostgreSQL analyses a prepared statement again, with all of its literals. So statements that were
    /// prepared before are not used any more.
    fn search_path(&mut self, actor: usize) -> Vec<u8> {
        self.actors[actor].statements.clear();
        if self.has(Class::Wide) && self.rng.u8(..3) == 0 {
            let encoding = self.actors[actor].encoding;
            return [b"set search_path = '", &wide::character(&mut self.rng, encoding)[..], b"', public"]
                .concat();
        }
        self.pick(&[
            "set search_path = s2, public",
            "set search_path to default",
            "set search_path = '$user', public",
            "set schema 's2'",
            "reset search_path",
        ])
        .into()
    }

    fn set_local(&mut self) -> Vec<u8> {
        let (name, value) = LOCAL[self.rng.usize(..LOCAL.len())];
        match self.rng.u8(..4) {
            0 => format!("reset {name}").into(),
            1 => format!("set {name} to default").into(),
            _ => format!("set local {name} = {value}").into(),
        }
    }
}

impl Actor {
    /// The encoding of the client's texts, by its own statements.
    pub(super) fn speaks(&self) -> Encoding {
        self.encoding
    }
}
