//! Which entry goes when room is needed: S3-FIFO's two queues, which know nothing of where entries are kept.

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
    /// Room for this many, in each of the queues: either may hold them all.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::key::{Hash, Key};

    fn push(queues: &mut Queues<u64>, n: u64, known: bool) -> Arc<Entry<u64>> {
        let entry = Entry::new(Hash(n), Key::text("x"), n);
        queues.push(Arc::clone(&entry), known);
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
        // Three of twelve are more than a tenth, and two of eleven; one of ten is not.
        assert_eq!(evicted(&mut queues), Some((10, true)));
        assert_eq!(evicted(&mut queues), Some((11, true)));
        assert_eq!(evicted(&mut queues), Some((0, false)), "of the main queue, which leaves no ghost");
    }

    #[test]
    fn the_used_move_on_and_stay_as_many_rounds_as_uses() {
        let mut queues = Queues::new(30);
        let used = push(&mut queues, 1, false);
        used.used();
        (2..4).for_each(|n| drop(push(&mut queues, n, false)));
        assert_eq!(evicted(&mut queues), Some((2, true)), "1 moved to the main queue");
        assert_eq!(used.uses(), 0);
        used.used();
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
        entries.iter().for_each(|entry| (0..3).for_each(|_| entry.used()));
        assert_eq!(evicted(&mut queues), Some((PASSES_MAX as u64, false)));
    }

    #[test]
    fn the_displaced_go_however_used() {
        let mut queues = Queues::new(10);
        let entry = push(&mut queues, 1, false);
        entry.used();
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
