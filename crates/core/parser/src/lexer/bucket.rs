//! Which bucket of the table of key words a word is in. The build script makes the table by this same file.

/// How many bits a bucket's number has. There are about two buckets for each key word, so that most words that are not
/// key words find theirs empty.
pub(super) const BUCKET_BITS: u32 = 10;

/// The bucket of a word, whatever the case of its letters.
#[inline]
pub(super) fn bucket(word: &[u8]) -> usize {
    // Sets what tells lower from upper case; that other characters meet by it does not matter here.
    let head = first_bytes(word) | CASE;
    let tail = word.last_chunk().map_or(0, |last| u64::from_le_bytes(*last)) | CASE;
    let mixed = (head ^ tail.rotate_left(29) ^ word.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (u64::BITS - BUCKET_BITS)) as usize
}

const CASE: u64 = 0x2020_2020_2020_2020;

#[inline]
fn first_bytes(word: &[u8]) -> u64 {
    match word.first_chunk() {
        Some(first) => u64::from_le_bytes(*first),
        None => word.iter().rev().fold(0, |bytes, byte| bytes << 8 | u64::from(*byte)),
    }
}
