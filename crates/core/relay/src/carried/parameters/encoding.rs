//! Decodes and encodes the values of parameters, which servers report in the client's encoding.

use std::borrow::Cow;

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, IBM866, ISO_8859_2, ISO_8859_3, ISO_8859_4, ISO_8859_5,
    ISO_8859_6, ISO_8859_7, ISO_8859_10, ISO_8859_13, ISO_8859_14, ISO_8859_15, ISO_8859_16, KOI8_R, KOI8_U,
    SHIFT_JIS, WINDOWS_874, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252, WINDOWS_1253, WINDOWS_1254,
    WINDOWS_1255, WINDOWS_1256, WINDOWS_1257, WINDOWS_1258,
};

/// PostgreSQL's names of encodings (manual, table 24.3) and the encodings that decode them. An encoding of 8 bits that is a part
/// of a Windows code page is decoded as that code page: for the bytes that PostgreSQL can send, the result is the same.
const ENCODINGS: &[(&str, &Encoding)] = &[
    ("LATIN2", ISO_8859_2),
    ("LATIN3", ISO_8859_3),
    ("LATIN4", ISO_8859_4),
    ("LATIN5", WINDOWS_1254),
    ("LATIN6", ISO_8859_10),
    ("LATIN7", ISO_8859_13),
    ("LATIN8", ISO_8859_14),
    ("LATIN9", ISO_8859_15),
    ("LATIN10", ISO_8859_16),
    ("ISO_8859_5", ISO_8859_5),
    ("ISO_8859_6", ISO_8859_6),
    ("ISO_8859_7", ISO_8859_7),
    ("ISO_8859_8", WINDOWS_1255),
    ("WIN866", IBM866),
    ("WIN874", WINDOWS_874),
    ("WIN1250", WINDOWS_1250),
    ("WIN1251", WINDOWS_1251),
    ("WIN1252", WINDOWS_1252),
    ("WIN1253", WINDOWS_1253),
    ("WIN1254", WINDOWS_1254),
    ("WIN1255", WINDOWS_1255),
    ("WIN1256", WINDOWS_1256),
    ("WIN1257", WINDOWS_1257),
    ("WIN1258", WINDOWS_1258),
    ("KOI8R", KOI8_R),
    ("KOI8U", KOI8_U),
    ("SJIS", SHIFT_JIS),
    ("EUC_JP", EUC_JP),
    ("EUC_KR", EUC_KR),
    ("UHC", EUC_KR),
    ("EUC_CN", GBK),
    ("GBK", GBK),
    ("GB18030", GB18030),
    ("BIG5", BIG5),
];

fn find(client_encoding: &str) -> Option<&'static Encoding> {
    ENCODINGS.iter().find(|(name, _)| *name == client_encoding).map(|(_, encoding)| *encoding)
}

/// A value in an encoding; `None` if the encoding lacks one of its characters. If we do not know the encoding, the value is
/// returned unchanged.
fn encode_exactly<'a>(value: &'a str, client_encoding: &str) -> Option<Cow<'a, [u8]>> {
    if value.is_ascii() || client_encoding == "UTF8" {
        return Some(Cow::Borrowed(value.as_bytes()));
    }
    if client_encoding == "LATIN1" {
        return value.chars().map(|letter| u8::try_from(letter).ok()).collect::<Option<_>>().map(Cow::Owned);
    }
    match find(client_encoding).map(|encoding| encoding.encode(value)) {
        Some((bytes, _, lacks)) => (!lacks).then_some(bytes),
        None => Some(Cow::Borrowed(value.as_bytes())),
    }
}

/// Whether an encoding has all characters of a value. True if we do not know the encoding.
pub(crate) fn can_be_encoded(value: &str, client_encoding: &str) -> bool {
    encode_exactly(value, client_encoding).is_some()
}

/// A value as it is sent to a client with that encoding. If the encoding lacks a character, or we do not know the encoding, the
/// value is returned unchanged.
pub(crate) fn encode<'a>(value: &'a str, client_encoding: &str) -> Cow<'a, [u8]> {
    encode_exactly(value, client_encoding).unwrap_or(Cow::Borrowed(value.as_bytes()))
}

/// Decodes a value that a server has reported. `None` if that is impossible: the encoding is `SQL_ASCII` or not in the table, or
/// the bytes are not valid in it.
pub(crate) fn decode(value: &[u8], client_encoding: &str) -> Option<String> {
    if value.is_ascii() || client_encoding == "UTF8" {
        return String::from_utf8(value.to_vec()).ok();
    }
    // windows-1252 cannot be used: it decodes the bytes from 0x80 to 0x9f otherwise than ISO 8859-1.
    if client_encoding == "LATIN1" {
        return Some(value.iter().map(|byte| char::from(*byte)).collect());
    }
    let encoding = find(client_encoding)?;
    encoding.decode_without_bom_handling_and_without_replacement(value).map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_from_the_clients_encoding_and_encoded_back() {
        for (bytes, encoding, text) in [
            (&b"plain"[..], "JOHAB", Some("plain")),
            (b"\xc3\xa9", "UTF8", Some("é")),
            (b"\xe9", "LATIN1", Some("é")),
            (b"\x85", "LATIN1", Some("\u{85}")),
            (b"\x93\xfa", "SJIS", Some("日")),
            (b"\xc6\xfc", "EUC_JP", Some("日")),
            (b"\xe9", "UTF8", None),
            (b"\xe9", "SQL_ASCII", None),
            (b"\xe9", "MULE_INTERNAL", None),
        ] {
            assert_eq!(decode(bytes, encoding).as_deref(), text, "{encoding}");
            if let Some(text) = text {
                assert_eq!(encode(text, encoding), bytes, "{encoding}");
            }
        }
    }
}
