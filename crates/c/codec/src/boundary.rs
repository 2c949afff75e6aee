//! Between C and Rust: what C gives is checked as far as it can be, and no panic leaves.
//!
//! What a caller in C owes is said in the crate's documentation; the SAFETY lines here and in `api` refer to it as "the
//! caller's promise".

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::status::{Status, TRUNKLINE_BAD_ARGUMENT, TRUNKLINE_PANIC};

/// Bytes that somebody else owns. An empty one may have any `data`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Bytes {
    /// The first byte.
    pub data: *const u8,
    /// How many.
    pub length: usize,
}

impl Bytes {
    /// What C may look at for as long as `bytes` stays where it is.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr(), length: bytes.len() }
    }

    /// The bytes.
    ///
    /// # Errors
    /// `TRUNKLINE_BAD_ARGUMENT` for a null pointer to something.
    ///
    /// # Safety
    /// `data` is null or has `length` bytes that nobody changes while the result is used.
    #[inline]
    pub unsafe fn get<'a>(self) -> Result<&'a [u8], Status> {
        // SAFETY: the caller's.
        unsafe { slice(self.data, self.length) }
    }

    /// The bytes as a text.
    ///
    /// # Errors
    /// As [`get`](Self::get), and where it is not UTF-8.
    ///
    /// # Safety
    /// As [`get`](Self::get).
    pub unsafe fn text<'a>(self) -> Result<&'a str, Status> {
        // SAFETY: the caller's.
        std::str::from_utf8(unsafe { self.get()? }).map_err(|_| Status(TRUNKLINE_BAD_ARGUMENT))
    }
}

/// C's array.
///
/// # Errors
/// `TRUNKLINE_BAD_ARGUMENT` for a null or crooked pointer to something, or more than memory can have.
///
/// # Safety
/// `data` is null or has `length` elements that nobody changes while the result is used.
#[inline]
pub unsafe fn slice<'a, T>(data: *const T, length: usize) -> Result<&'a [T], Status> {
    if length == 0 {
        return Ok(&[]);
    }
    let fits = length.checked_mul(size_of::<T>()).is_some_and(|bytes| isize::try_from(bytes).is_ok());
    if data.is_null() || !data.is_aligned() || !fits {
        return Err(Status(TRUNKLINE_BAD_ARGUMENT));
    }
    // SAFETY: not null, aligned, of a size that can be; the rest is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(data, length) })
}

/// Where a result is to be written.
#[derive(Debug)]
pub struct Out<T>(*mut T, usize);

impl<T> Out<T> {
    /// A place for one.
    ///
    /// # Errors
    /// `TRUNKLINE_BAD_ARGUMENT` for a null or crooked pointer.
    ///
    /// # Safety
    /// `to` is null, or this may write there until the call ends.
    #[inline]
    pub unsafe fn new(to: *mut T) -> Result<Self, Status> {
        // SAFETY: the caller's.
        unsafe { Self::many(to, 1) }
    }

    /// A place for `count`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    ///
    /// # Safety
    /// As [`new`](Self::new), for `count` elements.
    #[inline]
    pub unsafe fn many(to: *mut T, count: usize) -> Result<Self, Status> {
        if count > 0 && (to.is_null() || !to.is_aligned()) {
            return Err(Status(TRUNKLINE_BAD_ARGUMENT));
        }
        Ok(Self(to, count))
    }

    /// Writes it.
    #[inline]
    pub fn put(&mut self, value: T) {
        self.put_at(0, value);
    }

    /// Writes one of many; beyond the last nothing happens.
    #[inline]
    pub fn put_at(&mut self, index: usize, value: T) {
        if index < self.1 {
            // SAFETY: within what the constructor's caller has promised; nothing is read or dropped there.
            unsafe { self.0.add(index).write(value) }
        }
    }
}

/// The body of a function that C calls.
#[inline]
pub fn call(body: impl FnOnce() -> Result<i32, Status>) -> i32 {
    // What a panic leaves half done lies behind a lock, which is poisoned then.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(status) | Err(Status(status))) => status,
        Err(payload) => {
            // Its drop could panic again.
            std::mem::forget(payload);
            TRUNKLINE_PANIC
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::TRUNKLINE_OK;

    #[test]
    fn null_and_crooked_pointers_are_refused() {
        let bad = Status(TRUNKLINE_BAD_ARGUMENT);
        let words = [1_u32, 2];
        // SAFETY: none of the pointers is read where it is refused; the others are a live array's.
        unsafe {
            assert_eq!(slice::<u32>(std::ptr::null(), 1), Err(bad));
            assert_eq!(slice::<u32>(std::ptr::null(), 0), Ok(&[][..]));
            assert_eq!(slice(words.as_ptr().wrapping_byte_add(1), 1), Err(bad));
            assert_eq!(slice(words.as_ptr(), usize::MAX / 2), Err(bad));
            assert_eq!(slice(words.as_ptr(), 2), Ok(&words[..]));
            assert_eq!(Bytes::of(b"\xff").text(), Err(bad));
            assert_eq!(Bytes::of("é".as_bytes()).text(), Ok("é"));
            assert_eq!(Out::<u32>::new(std::ptr::null_mut()).err(), Some(bad));
        }
    }

    #[test]
    fn no_panic_leaves() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("in a drop");
            }
        }
        assert_eq!(call(|| Ok(TRUNKLINE_OK)), TRUNKLINE_OK);
        assert_eq!(call(|| panic!("as a mistake would")), TRUNKLINE_PANIC);
        assert_eq!(call(|| std::panic::panic_any(Bomb)), TRUNKLINE_PANIC);
    }
}
