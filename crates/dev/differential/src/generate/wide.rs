//! Characters above 127 in the encodings that clients choose.

use fastrand::Rng;

/// An encoding that the generator knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Latin1,
    Win1252,
    Sjis,
    EucJp,
}

use Encoding::{EucJp, Latin1, Sjis, Utf8, Win1252};

/// Their names in SET; some have several.
pub(super) const NAMES: [(&str, Encoding); 8] = [
    ("UTF8", Utf8),
    ("LATIN1", Latin1),
    ("WIN1252", Win1252),
    ("SJIS", Sjis),
    ("EUC_JP", EucJp),
    ("utf-8", Utf8),
    ("latin1", Latin1),
    ("Shift_JIS", Sjis),
];

/// Characters and their bytes. The second byte of `hyou` in SJIS is a backslash.
const CHARACTERS: [&[(Encoding, &[u8])]; 5] = [
    &[(Utf8, b"\xc3\xa9"), (Latin1, b"\xe9"), (Win1252, b"\xe9"), (EucJp, b"\x8f\xab\xb1")],
    &[(Utf8, b"\xe8\xa1\xa8"), (Sjis, b"\x95\x5c"), (EucJp, b"\xc9\xbd")],
    &[(Utf8, b"\xe6\x97\xa5"), (Sjis, b"\x93\xfa"), (EucJp, b"\xc6\xfc")],
    &[(Utf8, b"\xe2\x82\xac"), (Win1252, b"\x80")],
    &[(Utf8, b"\xc3\xbc"), (Latin1, b"\xfc"), (Win1252, b"\xfc"), (EucJp, b"\x8f\xab\xe4")],
];

/// A character in `encoding`, or sometimes in another one, which the server refuses or reads as something else.
pub(super) fn character(rng: &mut Rng, encoding: Encoding) -> Vec<u8> {
    let encoding = if rng.u8(..8) == 0 { NAMES[rng.usize(..5)].1 } else { encoding };
    valid_character(rng, encoding)
}

/// A character in `encoding`.
pub(super) fn valid_character(rng: &mut Rng, encoding: Encoding) -> Vec<u8> {
    let known: Vec<&[u8]> = CHARACTERS
        .iter()
        .filter_map(|spellings| spellings.iter().find(|(known, _)| *known == encoding))
        .map(|(_, bytes)| *bytes)
        .collect();
    known[rng.usize(..known.len())].to_vec()
}
