//! The two queues of S3-FIFO, which decide which entry is evicted. They do not know the table.

use std::collections::VecDeque;
use std::sync::Arc;

use super::entry::Entry;

/// The small queue may have this part of all bytes: a tenth.
const SMALL_SHARE: usize = 10;
/// So many entries may be passed over in one eviction; then the next one is evicted, however much it was used. This
/// bounds the time for which the lock is held. The bound is only reached if nearly all entries of the main queue were
/// used since they were last passed over.
const PASSES_MAX: usize = 128;

/// An evicted entry.
pub(super) struct Victim<V> {
    pub(super) entry: Arc<Entry<V>>,
    /// Whether the entry was new and never used: then it leaves a ghost.
    pub(super) unused: bool,
}

pub(super) struct Queues<V> {
    small: Queue<V>,
    main: Queue<V>,
}

impl<V> Queues<V> {
    /// Each queue has room for all `entries_max` entries, because either may hold all of them.
    pub(super) fn new(entries_max: usize) -> Self {
        Self { small: Queue::new(entries_max), main: Queue::new(entries_max) }
    }

    /// The bytes of the queues without their entries.
    pub(super) fn own_bytes(&self) -> usize {
        (self.small.entries.capacity() + self.main.entries.capacity()) * size_of::<Arc<Entry<V>>>()
    }

    /// The number of entries.
    pub(super) fn len(&self) -> usize {
        self.small.entries.len() + self.main.entries.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.small.bytes + self.main.bytes
    }

    /// Adds an entry. `is_known` says whether it was evicted lately.
    pub(super) fn push(&mut self, entry: Arc<Entry<V>>, is_known: bool) {
        if is_known { self.main.push(entry) } else { self.small.push(entry) }
    }

    /// Removes the entry that is evicted next; `None` if there are no entries.
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

    /// Removes all entries.
    pub(super) fn drain(&mut self) -> Vec<Arc<Entry<V>>> {
        let mut all = Vec::with_capacity(self.len());
        for queue in [&mut self.small, &mut self.main] {
            all.extend(queue.entries.drain(..));
            queue.bytes = 0;
        }
        all
    }
}

/// A queue (first in, first out), with the sum of its entries' bytes.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::key::{Hash, Key};

    fn push(queues: &mut Queues<u64>, n: u64, is_known: bool) -> Arc<Entry<u64>> {
        let entry = Entry::new(Hash(n), Key::text("x"), n);
        queues.push(Arc::clone(&entry), is_known);
        entry
    }

    fn evicted(queues: &mut Queues<u64>) -> Option<(u64, bool)> {
        queues.evict().map(|victim| (victim.entry.hash().0, victim.unused))
    }

    #[test]
    fn the_new_and_unused_go_first_and_leave_a_ghost() {
        let mut queues = Queues::new(30);
        (0..9).for_each(|n| drop(push(&mut queues, n, true)));
        (10..13).for_each(|n| drop(push(&mut queues, n, false)));
        // Three entries of twelve are more than a tenth, and so are two of eleven; one of ten is not.
        assert_eq!(evicted(&mut queues), Some((10, true)));
        assert_eq!(evicted(&mut queues), Some((11, true)));
        assert_eq!(evicted(&mut queues), Some((0, false)), "from the main queue, which leaves no ghost");
    }

    #[test]
    fn the_used_move_on_and_stay_as_many_rounds_as_uses() {
        let mut queues = Queues::new(30);
        let used = push(&mut queues, 1, false);
        used.count_use();
        (2..4).for_each(|n| drop(push(&mut queues, n, false)));
        assert_eq!(evicted(&mut queues), Some((2, true)), "1 moved to the main queue");
        assert_eq!(used.uses(), 0);
        used.count_use();
        push(&mut queues, 9, true);
        assert_eq!(evicted(&mut queues), Some((3, true)));
        assert_eq!(evicted(&mut queues), Some((9, false)), "1 was used once more, and passed over once");
        assert_eq!(evicted(&mut queues), Some((1, false)));
        assert_eq!((evicted(&mut queues), queues.len(), queues.bytes()), (None, 0, 0));
    }

    #[test]
    fn one_goes_even_where_all_are_used_again_and_again() {
        let mut queues = Queues::new(1000);
        let entries: Vec<_> = (0..1000).map(|n| push(&mut queues, n, true)).collect();
        entries.iter().for_each(|entry| (0..3).for_each(|_| entry.count_use()));
        assert_eq!(evicted(&mut queues), Some((PASSES_MAX as u64, false)));
    }

    #[test]
    fn the_displaced_go_however_used() {
        let mut queues = Queues::new(10);
        let entry = push(&mut queues, 1, false);
        entry.count_use();
        entry.displace();
        assert_eq!(evicted(&mut queues), Some((1, false)));
    }

    #[test]
    fn drained_is_empty() {
        let mut queues = Queues::new(10);
        (0..4).for_each(|n| drop(push(&mut queues, n, n % 2 == 0)));
        assert_eq!((queues.drain().len(), queues.len(), queues.bytes()), (4, 0, 0));
    }
}
