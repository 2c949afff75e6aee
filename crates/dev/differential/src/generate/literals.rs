//! Literals whose meaning depends on the session's settings.

use fastrand::Rng;

/// Expressions that have a type by themselves. None has an OID as its binary form.
const TYPED: [&str; 33] = [
    "'2020-03-04 05:06:07'::timestamptz",
    "timestamptz '01/02/2020 03:04:05'",
    "'2020-07-01 12:00:00 EST'::timestamptz",
    "'2020-07-01 12:00:00 IST'::timestamptz",
    "'2020-07-01 12:00:00 Europe/Berlin'::timestamptz",
    "extract(hour from timestamptz '2020-07-01 00:30:00')",
    "'2020-01-01 00:00'::timestamptz at time zone 'UTC'",
    "timestamptz 'epoch'",
    "'01/02/2020'::date",
    "date '13/01/2020'",
    "date '01.02.2020'",
    "'02-03-04'::date",
    "'January 8, 1999'::date",
    "'10:11:12'::timetz",
    "interval '-1 2:03:04'",
    "'-1-2 3 -4:05:06'::interval",
    "interval 'P1Y2M3DT4H5M6S'",
    "'1 day ago'::interval",
    "'$1,234.56'::money",
    "'12.5'::money + '1'::money",
    "'{1,NULL,3}'::text[]",
    "'{NULL}'::int[]",
    "'f1'::regproc::text",
    "'t1'::regclass::text",
    "'[2020-01-02,2020-03-04)'::daterange",
    "'(01/02/2020,03/04/2020]'::daterange",
    "'[2020-01-02 00:00,2020-03-04 00:00)'::tstzrange",
    "'{01/02/2020}'::date[]",
    "xml '<a/><b/>'",
    "1 = null",
    "'happy'::mood",
    "'2020-03-04 05:06:07'::timestamp::timestamptz",
    "to_char('2020-03-04 05:06:07'::timestamptz, 'TZ HH24 MON')",
];

/// Comparisons of columns of `t0` with literals, which get the column's type.
const UNTYPED: [&str; 10] = [
    "c = '04/03/2020'",
    "c > '01/02/2021'",
    "d < '2021-12-11 23:30:00'",
    "d between '2020-03-04 00:00' and '2020-03-05 00:00'",
    "e = '1 2:03:04'",
    "e > '-1-2'",
    "g = '\\x616263'",
    "h = 'sad'",
    "f > '1.5'",
    "b = 'one'",
];

/// Strings with backslashes, whose meaning depends on `standard_conforming_strings`.
const ESCAPES: [&str; 12] = [
    "'a\\tb'",
    "'a\\\\b'",
    "E'a\\tb'",
    "E'\\\\x41'",
    "'\\x4142'::bytea",
    "'\\\\x4142'::bytea",
    "'it\\'s'",
    "'\\101'",
    "U&'\\0041'",
    "U&'d!0061t' uescape '!'",
    "length('\\')",
    "$$a\\b$$",
];

/// An expression.
pub(super) fn typed(rng: &mut Rng) -> &'static str {
    TYPED[rng.usize(..TYPED.len())]
}

/// A condition on `t0`.
pub(super) fn condition(rng: &mut Rng) -> &'static str {
    UNTYPED[rng.usize(..UNTYPED.len())]
}

/// A string with a backslash, or of a kind for which backslashes matter.
pub(super) fn escape(rng: &mut Rng) -> &'static str {
    ESCAPES[rng.usize(..ESCAPES.len())]
}
