//! Start-up packets.

use super::Maker;
use super::wide::{self, Encoding};
use crate::class::Class;
use crate::script::Startup;

/// Parameters that the server reports, with values.
const REPORTED: [(&str, &[&str]); 4] = [
    ("TimeZone", &["Asia/Tokyo", "America/New_York", "UTC", "Europe/Berlin", "Australia/Sydney"]),
    ("DateStyle", &["ISO, DMY", "German", "SQL, MDY", "DMY", "Postgres"]),
    ("IntervalStyle", &["sql_standard", "iso_8601", "postgres_verbose"]),
    ("application_name", &["start", "two words", "back\\slash", "it's", ""]),
];
/// Parameters that the server does not report.
const OTHERS: [(&str, &[&str]); 22] = [
    ("search_path", &["s2, public", "\"$user\", public", "public"]),
    ("statement_timeout", &["61s", "2min"]),
    ("work_mem", &["5MB", "1024"]),
    ("default_transaction_read_only", &["on", "off"]),
    ("extra_float_digits", &["0", "-3", "3"]),
    ("bytea_output", &["escape", "hex"]),
    ("array_nulls", &["off"]),
    ("lock_timeout", &["30s"]),
    ("xmloption", &["document", "content"]),
    ("backslash_quote", &["on", "off", "safe_encoding"]),
    ("escape_string_warning", &["off", "on"]),
    ("transform_null_equals", &["on"]),
    ("timezone_abbreviations", &["Australia", "India", "Default"]),
    ("default_transaction_isolation", &["repeatable read", "read committed"]),
    ("enable_seqscan", &["off"]),
    ("client_min_messages", &["warning", "error", "notice"]),
    ("check_function_bodies", &["off"]),
    ("plan_cache_mode", &["force_generic_plan", "force_custom_plan"]),
    ("lc_monetary", &["C", "POSIX"]),
    ("row_security", &["off"]),
    ("xmlbinary", &["hex"]),
    ("default_transaction_deferrable", &["on"]),
];
/// Parameters that RESET refuses, or that do not exist before they are set. There are no parameters of a transaction: whether
/// PostgreSQL refuses these depends on the rest of the packet, and the proxy ignores them (docs/pooling.md).
const ODD: [(&str, &[&str]); 2] = [("seed", &["0.5"]), ("my.own", &["1"])];
/// Parameters that the server refuses.
const REFUSED: [(&str, &str); 8] = [
    ("TimeZone", "No/Where"),
    ("work_mem", "banana"),
    ("nope", "1"),
    ("options", "-z"),
    ("options", "-c nothing"),
    ("options", "-c log_statement=all"),
    ("client_encoding", "KLINGON"),
    ("DateStyle", "ISO, nonsense"),
];

impl Maker {
    /// A start-up packet. It resets the model of the client.
    pub(super) fn startup(&mut self, actor: usize) -> Startup {
        let mut startup = Startup::new();
        let mut encoding = Encoding::Utf8;
        let mut conforming = true;
        if self.has(Class::Startup) {
            for _ in 0..self.rng.u8(..4) {
                let table: &[(&str, &[&str])] = if self.rng.bool() { &REPORTED } else { &OTHERS };
                self.parameter(&mut startup, table);
            }
            if self.has(Class::Encodings) && self.rng.u8(..3) == 0 {
                let (name, chosen) = wide::NAMES[self.rng.usize(..wide::NAMES.len())];
                encoding = chosen;
                self.put(&mut startup, "client_encoding", name);
            }
            // EUC_JP has the letter too, but in a form that few programs know.
            if self.has(Class::Wide) && encoding != Encoding::EucJp && self.rng.u8(..6) == 0 {
                self.put(&mut startup, "search_path", "\u{e9}, public");
            }
            if self.has(Class::Escapes) && self.rng.u8(..6) == 0 {
                conforming = false;
                self.put(&mut startup, "standard_conforming_strings", "off");
            }
        }
        if self.has(Class::StartupOdd) && self.rng.u8(..6) == 0 {
            self.parameter(&mut startup, &ODD);
        }
        if self.has(Class::StartupRefused) && self.rng.u8(..12) == 0 {
            let (name, value) = REFUSED[self.rng.usize(..REFUSED.len())];
            startup.push((name.into(), value.into()));
        }
        self.actors[actor].begin(encoding, conforming);
        startup
    }

    fn parameter(&mut self, startup: &mut Startup, table: &[(&str, &[&str])]) {
        let (name, values) = table[self.rng.usize(..table.len())];
        let value = self.pick(values);
        self.put(startup, name, value);
    }

    /// Adds a parameter, by itself or in `options`.
    ///
    /// Each name comes only once, because PostgreSQL combines several DateStyles to one.
    fn put(&mut self, startup: &mut Startup, name: &str, value: &str) {
        let option = format!("{}=", name.replace('_', "-"));
        let has = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('_', "-").contains(&option);
        if startup.iter().any(|(known, value)| known == name || (known == "options" && has(value))) {
            return;
        }
        if self.rng.bool() {
            startup.push((name.into(), value.into()));
            return;
        }
        let escaped = value.replace('\\', "\\\\").replace(' ', "\\ ");
        let option = match self.rng.u8(..3) {
            0 => format!("-c {name}={escaped}"),
            1 => format!("-c{name}={escaped}"),
            _ => format!("--{}={escaped}", name.replace('_', "-")),
        };
        match startup.iter_mut().find(|(known, _)| known == "options") {
            Some((_, options)) => options.extend(format!(" {option}").bytes()),
            None => startup.push(("options".into(), option.into_bytes())),
        }
    }
}
