//! Computes the hash bucket of a word for the table of keywords. The build script, which makes the table, uses this
//! file too.

/// The number of bits of a bucket's number. There are about two buckets for each keyword, so the bucket of most other
/// words is empty.
pub(super) const BUCKET_BITS: u32 = 10;

/// The bucket of a word. It does not depend on the case of letters.
#[inline]
pub(super) fn bucket(word: &[u8]) -> usize {
    // Sets the bit that distinguishes lower from upper case. Other characters may become equal, which does no harm.
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
