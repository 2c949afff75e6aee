//! Handles: numbers that C holds, never addresses.
//!
//! ```text
//!   63    56 55                24 23          0
//!   | kind  |    generation     |   index    |     0 is no handle
//! ```
//!
//! An index names a slot, whose generation rises when its object is freed: a handle that was freed fits no more. Slots
//! lie in chunks that never move, so that finding one takes no lock; each has a lock of its own that is only ever tried: a
//! second call with the same handle at the same time is an error, not a wait.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use crate::status::{Status, TRUNKLINE_BAD_HANDLE, TRUNKLINE_BUSY, TRUNKLINE_LIMIT, TRUNKLINE_PANIC};

const INDEX_BITS: u32 = 24;
const GENERATION_BITS: u32 = 32;
/// Slots of the first chunk; each further one has twice as many.
const FIRST_CHUNK: u32 = 64;
/// Together these have [`HANDLES_MAX`] slots.
const CHUNKS: usize = 18;
/// Objects of a kind that can be alive at once.
pub const HANDLES_MAX: u32 = FIRST_CHUNK * ((1 << CHUNKS) - 1);
const _: () = assert!(HANDLES_MAX < 1 << INDEX_BITS);

/// All objects of a kind.
pub struct Table<T> {
    kind: u8,
    chunks: [OnceLock<Chunk<T>>; CHUNKS],
    free: Mutex<Free>,
}

type Chunk<T> = Box<[Mutex<Slot<T>>]>;

struct Slot<T> {
    generation: u32,
    object: Option<T>,
}

struct Free {
    indexes: Vec<u32>,
    /// Indexes from here on were never used.
    unused_from: u32,
}

impl<T: Send> Table<T> {
    /// An empty one; `kind` differs from all other tables' and is not 0.
    #[must_use]
    pub const fn new(kind: u8) -> Self {
        Self {
            kind,
            chunks: [const { OnceLock::new() }; CHUNKS],
            free: Mutex::new(Free { indexes: Vec::new(), unused_from: 0 }),
        }
    }

    /// Takes an object in and gives its handle.
    ///
    /// # Errors
    /// `TRUNKLINE_LIMIT` when [`HANDLES_MAX`] are alive.
    pub fn insert(&self, object: T) -> Result<u64, Status> {
        let index = {
            let mut free = self.free();
            match free.indexes.pop() {
                Some(index) => index,
                None if free.unused_from < HANDLES_MAX => {
                    free.unused_from += 1;
                    free.unused_from - 1
                }
                None => return Err(Status(TRUNKLINE_LIMIT)),
            }
        };
        let (chunk, at) = place(index);
        let slots = self.chunks.get(chunk).ok_or(Status(TRUNKLINE_LIMIT))?;
        let slots = slots.get_or_init(|| {
            (0..FIRST_CHUNK << chunk).map(|_| Mutex::new(Slot { generation: 1, object: None })).collect()
        });
        let slot = slots.get(at).ok_or(Status(TRUNKLINE_LIMIT))?;
        // A stale handle may be tried in this moment: that holds the lock for as long as it takes to see.
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.object = Some(object);
        Ok(u64::from(self.kind) << (INDEX_BITS + GENERATION_BITS)
            | u64::from(slot.generation) << INDEX_BITS
            | u64::from(index))
    }

    /// Does something with an object.
    ///
    /// # Errors
    /// `TRUNKLINE_BAD_HANDLE`, `TRUNKLINE_BUSY`, `TRUNKLINE_PANIC`, or what `with` says.
    #[inline]
    pub fn with<R>(&self, handle: u64, with: impl FnOnce(&mut T) -> Result<R, Status>) -> Result<R, Status> {
        let mut slot = self.slot(handle)?;
        match &mut slot.object {
            Some(object) => with(object),
            None => Err(Status(TRUNKLINE_BAD_HANDLE)),
        }
    }

    /// Takes an object out; its handle fits no more. One that a panic has left half done is dropped.
    ///
    /// # Errors
    /// `TRUNKLINE_BAD_HANDLE`, `TRUNKLINE_BUSY`, `TRUNKLINE_PANIC`.
    pub fn remove(&self, handle: u64) -> Result<T, Status> {
        let mut broken = false;
        let mut slot = match self.slot(handle) {
            Err(Status(TRUNKLINE_PANIC)) => {
                broken = true;
                self.broken(handle)?
            }
            slot => slot?,
        };
        let object = slot.object.take().ok_or(Status(TRUNKLINE_BAD_HANDLE))?;
        slot.generation = slot.generation.wrapping_add(1);
        // One whose generations are used up is not used again.
        let reusable = slot.generation != 0;
        drop(slot);
        if reusable {
            self.free().indexes.push(index_of(handle));
        }
        if broken { Err(Status(TRUNKLINE_PANIC)) } else { Ok(object) }
    }

    #[inline]
    fn slot(&self, handle: u64) -> Result<MutexGuard<'_, Slot<T>>, Status> {
        let slot = self.find(handle).ok_or(Status(TRUNKLINE_BAD_HANDLE))?.try_lock();
        match slot {
            Ok(slot) if slot.generation == generation_of(handle) => Ok(slot),
            Ok(_) => Err(Status(TRUNKLINE_BAD_HANDLE)),
            Err(TryLockError::WouldBlock) => Err(Status(TRUNKLINE_BUSY)),
            Err(TryLockError::Poisoned(_)) => Err(Status(TRUNKLINE_PANIC)),
        }
    }

    /// The slot of a handle in whose call a panic came.
    fn broken(&self, handle: u64) -> Result<MutexGuard<'_, Slot<T>>, Status> {
        let slot = self.find(handle).ok_or(Status(TRUNKLINE_BAD_HANDLE))?;
        slot.clear_poison();
        let slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        (slot.generation == generation_of(handle)).then_some(slot).ok_or(Status(TRUNKLINE_BAD_HANDLE))
    }

    #[inline]
    fn find(&self, handle: u64) -> Option<&Mutex<Slot<T>>> {
        if handle >> (INDEX_BITS + GENERATION_BITS) != u64::from(self.kind) {
            return None;
        }
        let (chunk, at) = place(index_of(handle));
        self.chunks.get(chunk)?.get()?.get(at)
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        // Nothing in it panics half way.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The kind of a handle, whether it is one or not.
#[must_use]
pub fn kind_of(handle: u64) -> u8 {
    (handle >> (INDEX_BITS + GENERATION_BITS)) as u8
}

fn index_of(handle: u64) -> u32 {
    (handle & ((1 << INDEX_BITS) - 1)) as u32
}

fn generation_of(handle: u64) -> u32 {
    (handle >> INDEX_BITS) as u32
}

/// The chunk of an index, and where in it.
#[inline]
fn place(index: u32) -> (usize, usize) {
    let chunk = (index / FIRST_CHUNK + 1).ilog2();
    (chunk as usize, (index - FIRST_CHUNK * ((1 << chunk) - 1)) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_fits_its_object_and_no_other() {
        let table = Table::<String>::new(7);
        let handles: Vec<u64> = (0..1000).map(|n| table.insert(n.to_string()).expect("room")).collect();
        for (n, handle) in handles.iter().enumerate() {
            assert_eq!(table.with(*handle, |text| Ok(text.clone())), Ok(n.to_string()));
        }
        assert_eq!(table.remove(handles[500]), Ok("500".to_owned()));
        let gone = Err(Status(TRUNKLINE_BAD_HANDLE));
        assert_eq!(table.remove(handles[500]), gone);
        // Its place is taken again, under another number.
        let next = table.insert("next".to_owned()).expect("room");
        assert_ne!(next, handles[500]);
        assert_eq!(next & 0xff_ffff, handles[500] & 0xff_ffff);
        assert_eq!(table.with(handles[500], |text| Ok(text.clone())), gone);
        for wrong in [0, 1, u64::MAX, next ^ (1 << 56), next + 1000, next + (1 << 24)] {
            assert_eq!(table.with(wrong, |text| Ok(text.clone())), gone, "{wrong:x}");
        }
    }

    #[test]
    fn a_second_call_with_a_handle_is_refused_and_not_kept_waiting() {
        let table = Table::<u32>::new(1);
        let handle = table.insert(1).expect("room");
        let within = table.with(handle, |_| {
            assert_eq!(table.remove(handle), Err(Status(TRUNKLINE_BUSY)));
            table.with(handle, |value| Ok(*value))
        });
        assert_eq!(within, Err(Status(TRUNKLINE_BUSY)));
        assert_eq!(table.with(handle, |value| Ok(*value)), Ok(1));
    }

    #[test]
    fn what_a_panic_left_can_only_be_freed() {
        let table = Table::<u32>::new(1);
        let handle = table.insert(1).expect("room");
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            table.with(handle, |_| -> Result<(), Status> { panic!("as a mistake would") })
        }));
        assert!(panicked.is_err());
        assert_eq!(table.with(handle, |value| Ok(*value)), Err(Status(TRUNKLINE_PANIC)));
        assert_eq!(table.remove(handle), Err(Status(TRUNKLINE_PANIC)));
        assert_eq!(table.remove(handle), Err(Status(TRUNKLINE_BAD_HANDLE)));
        let next = table.insert(2).expect("room");
        assert_eq!(table.with(next, |value| Ok(*value)), Ok(2));
    }

    #[test]
    fn places_are_each_used_once() {
        let mut expected = (0, 0);
        for index in 0..5000 {
            assert_eq!(place(index), expected);
            expected.1 += 1;
            if expected.1 == (FIRST_CHUNK as usize) << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
        assert_eq!(place(HANDLES_MAX - 1).0, CHUNKS - 1);
    }
}
