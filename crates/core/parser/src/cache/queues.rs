//! Who goes when room is needed: S3-FIFO's two queues, which know nothing of where entries are kept.

use std::collections::VecDeque;
use std::sync::Arc;

use super::entry::Entry;

/// The small queue's part of all bytes: what is new stays for a tenth of a cache's worth of inserts.
const SMALL_SHARE: usize = 10;
/// Entries passed over in one eviction before one goes whatever its use: a bound on the time the lock is held.
/// Reached only when nearly all of the main queue was used since the last round.
const PASSES_MAX: usize = 128;

/// An entry that fell out.
pub(super) struct Victim<V> {
    pub(super) entry: Arc<Entry<V>>,
    /// It was new and nobody used it: it leaves a ghost.
    pub(super) unused: bool,
}

pub(super) struct Queues<V> {
    small: Queue<V>,
    main: Queue<V>,
}

impl<V> Queues<V> {
    /// Room for so many, in each of the queues: either may hold them all.
    pub(super) fn new(entries_max: usize) -> Self {
        Self { small: Queue::new(entries_max), main: Queue::new(entries_max) }
    }

    /// Bytes of the queues themselves.
    pub(super) fn own_bytes(&self) -> usize {
        (self.small.entries.capacity() + self.main.entries.capacity()) * size_of::<Arc<Entry<V>>>()
    }

    /// Entries, and their bytes.
    pub(super) fn len(&self) -> usize {
        self.small.entries.len() + self.main.entries.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.small.bytes + self.main.bytes
    }

    /// A new entry; `known` if it fell out lately.
    pub(super) fn push(&mut self, entry: Arc<Entry<V>>, known: bool) {
        if known { self.main.push(entry) } else { self.small.push(entry) }
    }

    /// The next to go; none if there is none.
    pub(super) fn evict(&mut self) -> Option<Victim<V>> {
        let mut passes = 0;
        loop {
            let from_small = self.main.entries.is_empty() || self.small.bytes * SMALL_SHARE > self.bytes();
            let queue = if from_small { &mut self.small } else { &mut self.main };
            let entry = queue.pop()?;
            let uses = entry.uses();
            if uses == 0 || entry.is_displaced() || passes >= PASSES_MAX {
                return Some(Victim { unused: from_small && uses == 0, entry });
            }
            entry.set_uses(if from_small { 0 } else { uses - 1 });
            self.main.push(entry);
            passes += 1;
        }
    }

    /// Takes everything out.
    pub(super) fn drain(&mut self) -> Vec<Arc<Entry<V>>> {
        let mut all = Vec::with_capacity(self.len());
        for queue in [&mut self.small, &mut self.main] {
            all.extend(queue.entries.drain(..));
            queue.bytes = 0;
        }
        all
    }
}

/// First in, first out, with the sum of its entries' bytes.
struct Queue<V> {
    entries: VecDeque<Arc<Entry<V>>>,
    bytes: usize,
}

impl<V> Queue<V> {
    fn new(entries_max: usize) -> Self {
        Self { entries: VecDeque::with_capacity(entries_max), bytes: 0 }
    }

    fn push(&mut self, entry: Arc<Entry<V>>) {
        self.bytes += entry.bytes();
        self.entries.push_back(entry);
    }

    fn pop(&mut self) -> Option<Arc<Entry<V>>> {
        let entry = self.entries.pop_front()?;
        self.bytes -= entry.bytes();
        Some(entry)
    }
}
