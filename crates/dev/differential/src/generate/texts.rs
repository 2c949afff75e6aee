//! Texts of statements, which the clients of a script share.

use super::settings::PROBE;
use super::{Maker, literals, wide};
use crate::class::Class;

/// The kind of value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The client's own number.
    Actor,
    /// An `int4`.
    Int,
    /// A text.
    Text,
    /// A date as text.
    Date,
    /// A timestamp as text.
    Stamp,
}

use Kind::{Actor, Date, Int, Stamp};

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    /// The SQL, with `$1`, ...
    pub(super) sql: Vec<u8>,
    /// The kinds of its parameters.
    pub(super) parameters: Vec<Kind>,
    /// Whether it changes rows that others may have locked. It is not used in open transactions then.
    pub(super) copies: bool,
}

impl Text {
    /// A text and its parameters.
    pub(super) fn new(sql: impl Into<Vec<u8>>, parameters: &[Kind]) -> Self {
        Self { sql: sql.into(), parameters: parameters.to_vec(), copies: false }
    }
}

/// Texts whose meaning does not depend on settings.
const PLAIN: [(&str, &[Kind]); 24] = [
    ("select 1", &[]),
    ("select $1::int + 1", &[Int]),
    ("select true, null, 1.5, -7", &[]),
    ("select generate_series(1, $1::int)", &[Int]),
    ("select id, v from t1 where id >= $1 order by id", &[Int]),
    ("select * from t1 order by 1, 2", &[]),
    ("select count(*) from t1", &[]),
    ("select * from t0 order by a", &[]),
    ("select a, d, e from t0 where c >= $1 order by a", &[Date]),
    ("select $1::timestamptz, $2::date, $1", &[Stamp, Date]),
    ("insert into t1 values ($1, $2) returning v", &[Int, Int]),
    ("insert into t2 (id, v) values ($1, $2)", &[Int, Kind::Text]),
    ("update w set v = $2 where actor = $1 returning *", &[Actor, Kind::Text]),
    ("delete from w where actor = $1 and v = $2", &[Actor, Kind::Text]),
    ("select v from w where actor = $1", &[Actor]),
    ("select id, v, n from t2 order by id, v, n", &[]),
    ("select * from v1 order by id", &[]),
    ("select f1($1)", &[Int]),
    ("values ($1), ($2)", &[Kind::Text, Kind::Text]),
    ("select nextval(pg_get_serial_sequence($1, $2)::regclass)", &[Kind::Text, Kind::Text]),
    ("select lower($1), length($1)", &[Kind::Text]),
    ("select settle()", &[]),
    ("show timezone", &[]),
    ("", &[]),
];
/// Texts that the server refuses, when it parses them or when it runs them.
const WRONG: [(&str, &[Kind]); 10] = [
    ("select 1/0", &[]),
    ("select 1 / $1::int", &[Int]),
    ("selec 1", &[]),
    ("select nope", &[]),
    ("select * from nope where x = $1", &[Int]),
    ("insert into u values (1, 2)", &[]),
    ("insert into u values ($1, -1)", &[Int]),
    ("select 'x'::int", &[]),
    ("select 1; select 2", &[]),
    ("select $1", &[Date]),
];
/// Texts that cause a notice or a warning, when they are parsed or when they run.
const NOTICES: [(&str, &[Kind]); 7] = [
    ("select shout($1)", &[Kind::Text]),
    ("do $$ begin raise warning 'done' using errcode = '01234'; end $$", &[]),
    ("drop table if exists nope", &[]),
    ("create table if not exists t0 (a int)", &[]),
    ("select 1 as a_name_that_is_much_longer_than_the_sixty_three_bytes_that_the_server_keeps_of_it", &[]),
    ("set local work_mem = '5MB'", &[]),
    ("commit", &[]),
];
/// COPY out.
const COPIES: [(&str, &[Kind]); 2] =
    [("copy t0 to stdout", &[]), ("copy (select * from t1 order by 1, 2) to stdout csv", &[])];
/// The weights of the classes of texts. A text of no class has the weight 8.
const WEIGHTS: [(Class, u8); 8] = [
    (Class::Literals, 6),
    (Class::Escapes, 3),
    (Class::Wide, 4),
    (Class::Notices, 2),
    (Class::Errors, 1),
    (Class::Copy, 1),
    (Class::Guesses, 1),
    (Class::Large, 1),
];
/// Texts whose meaning depends on settings, with several literals each. All clients prepare them.
const SHARED: [&str; 6] = [
    "select timestamptz '2020-01-02 03:04:05', date '01/02/2020', interval '-1 2:03:04'",
    "insert into t0 (a, c, d, e) values (9, '01/02/2020', '2020-01-02 03:04:05', '-1 2:03')",
    "select a from t0 where d >= '2020-03-04 05:06:07' and c < '12/11/2021' order by a",
    "select '\\x4142'::bytea, 'a\\b', '01.02.2020'::date",
    "select case when '2020-01-01 00:00'::timestamptz = '2020-01-01 00:00+00' then 1 else 0 end",
    "select 1 where '{NULL}'::text[] = array[null]::text[]",
];

impl Maker {
    /// A text of any allowed class. Characters above 127 are in the encoding of `actor`.
    pub(super) fn new_text(&mut self, actor: usize) -> Text {
        match self.choose(8, &WEIGHTS) {
            Some(Class::Literals) => self.literal_text(),
            Some(Class::Escapes) => Text::new(format!("select {}", literals::escape(&mut self.rng)), &[]),
            Some(Class::Wide) => self.wide_text(actor),
            Some(Class::Notices) => self.from(&NOTICES),
            Some(Class::Errors) => self.from(&WRONG),
            Some(Class::Copy) => Text { copies: true, ..self.from(&COPIES) },
            Some(Class::Guesses) => self.guess(),
            Some(Class::Large) => {
                let filler = "x".repeat(if self.rng.bool() { 1_200_000 } else { 70_000 });
                Text::new(format!("select length('{filler}')"), &[])
            }
            _ if self.rng.u8(..5) == 0 => Text::new(PROBE, &[]),
            _ => self.from(&PLAIN),
        }
    }

    fn from(&mut self, table: &[(&str, &[Kind])]) -> Text {
        let (sql, parameters) = table[self.rng.usize(..table.len())];
        Text::new(sql, parameters)
    }

    fn literal_text(&mut self) -> Text {
        if self.rng.u8(..3) == 0 {
            return Text::new(self.pick(&SHARED), &[]);
        }
        let one = literals::typed(&mut self.rng);
        match self.rng.u8(..4) {
            0 => Text::new(format!("select {one} as x, $1::int"), &[Int]),
            1 => {
                let condition = literals::condition(&mut self.rng);
                Text::new(format!("select a from t0 where {condition} order by a"), &[])
            }
            _ => Text::new(format!("select {one}"), &[]),
        }
    }

    fn wide_text(&mut self, actor: usize) -> Text {
        let encoding = self.actors[actor].speaks();
        let one = wide::character(&mut self.rng, encoding);
        let two = wide::character(&mut self.rng, encoding);
        let parts: &[&[u8]] = match self.rng.u8(..6) {
            0 => &[b"select '", &one, b"', length('", &one, b"')"],
            1 => &[b"select 1 as \"", &one, &two, b"\""],
            2 => &[b"select id from wide where v = '", &one, b"' order by id"],
            3 => &[b"select 1 /* ", &one, b" */"],
            4 => &[b"select \"", &one, b"\" from t1"],
            _ => &[b"select id, v from wide where id <> 4 order by id"],
        };
        Text::new(parts.concat(), &[])
    }

    /// SQL that would reach statements of other clients if it had their names.
    fn guess(&mut self) -> Text {
        let number = self.rng.u8(1..8);
        let sql = match self.rng.u8(..4) {
            0 => format!("deallocate _tl_{number}"),
            1 => format!("execute _tl_{number}(1)"),
            2 => format!("execute _tl_{number}"),
            _ => format!("deallocate prepare \"_tl_{number}\""),
        };
        Text::new(sql, &[])
    }
}
