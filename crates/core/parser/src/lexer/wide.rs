//! Reads several bytes at a time, because most of a statement are names and strings.
//!
//! Work on sixteen bytes is written as a loop without branches, so that the compiler can use vector instructions.

/// The number of bytes that are read at a time.
pub(crate) const CHUNK: usize = 16;

/// Sixteen bytes that may begin with part of a word.
pub(crate) struct WordChunk {
    /// The bytes, with ASCII letters in lower case.
    pub(crate) folded: [u8; CHUNK],
    /// How many of them, from the first on, belong to the word.
    pub(crate) length: usize,
}

/// Reads the bytes at `at` as part of a word.
#[inline]
pub(crate) fn word_chunk(text: &[u8], at: usize) -> WordChunk {
    match text.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(bytes) => fold(bytes),
        None => last_word_chunk(text, at),
    }
}

#[cold]
fn last_word_chunk(text: &[u8], at: usize) -> WordChunk {
    fold(&last_chunk(text, at))
}

/// The bytes from `at` to the end of the text, filled up with zeros.
#[cold]
fn last_chunk(text: &[u8], at: usize) -> [u8; CHUNK] {
    let mut bytes = [0; CHUNK];
    bytes.iter_mut().zip(text.iter().skip(at)).for_each(|(to, from)| *to = *from);
    bytes
}

#[inline]
fn fold(bytes: &[u8; CHUNK]) -> WordChunk {
    let mut folded = [0; CHUNK];
    let mut stops = [0; CHUNK];
    for index in 0..CHUNK {
        let byte = bytes[index];
        let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        let digit = byte.wrapping_sub(b'0') < 10;
        let goes_on = letter | digit | (byte == b'_') | (byte == b'$') | (byte >= 0x80);
        folded[index] = byte | (u8::from(letter) << 5);
        stops[index] = if goes_on { 0 } else { 0xff };
    }
    WordChunk { folded, length: first_set(stops) }
}

/// The index of the first byte that is not zero; 16 if all are zero.
#[inline]
fn first_set(bytes: [u8; CHUNK]) -> usize {
    (u128::from_le_bytes(bytes).trailing_zeros() / 8) as usize
}

/// The offset of the first `wanted` from `from` on. `wanted` is not zero.
#[inline]
pub(crate) fn seek(text: &[u8], wanted: u8, from: usize) -> Option<usize> {
    // Most strings and names are short, so a function call would cost more than it saves.
    let place = match text.get(from..).and_then(|rest| rest.first_chunk()) {
        Some(bytes) => place_of(bytes, wanted),
        None => place_of(&last_chunk(text, from), wanted),
    };
    if place < CHUNK { Some(from + place) } else { seek_far(text, wanted, from + CHUNK) }
}

#[inline]
fn place_of(bytes: &[u8; CHUNK], wanted: u8) -> usize {
    first_set(bytes.map(|byte| if byte == wanted { 0xff } else { 0 }))
}

fn seek_far(text: &[u8], wanted: u8, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    memchr::memchr(wanted, rest).map(|length| from + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::class::{WORD, is};

    #[test]
    fn every_byte_is_read_at_every_place() {
        for byte in 1..=255_u8 {
            for place in 0..CHUNK {
                let mut text = [b'a'; CHUNK];
                text[place] = byte;
                let chunk = word_chunk(&text, 0);
                assert_eq!(chunk.length, if is(byte, WORD) { CHUNK } else { place }, "{byte} at {place}");
                assert_eq!(chunk.folded[place], byte.to_ascii_lowercase(), "{byte} at {place}");
                assert_eq!(seek(&text, byte, place), Some(place));
            }
        }
    }

    #[test]
    fn nothing_is_read_past_the_end() {
        for length in 0..40 {
            let text = vec![b'x'; length];
            assert_eq!(word_chunk(&text, 0).length, length.min(CHUNK));
            assert_eq!(seek(&text, b'y', 0), None);
        }
    }
}
