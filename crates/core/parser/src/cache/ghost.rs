//! *Ghosts*: the hashes of entries that were evicted lately. If a statement comes back, it was not used only once.

use super::key::Hash;

/// A table of marks. The hash chooses the place of a mark, and a newer mark replaces an older one. So a ghost is
/// forgotten after about as many evictions as there are places. This needs no queue, and 4 bytes for each place.
pub(super) struct Ghosts {
    marks: Box<[u32]>,
}

impl Ghosts {
    /// A table with this many places.
    pub(super) fn new(count: usize) -> Self {
        Self { marks: vec![0; count.max(1)].into() }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.marks)
    }

    /// Remembers that the entry with this hash was evicted.
    pub(super) fn add(&mut self, hash: Hash) {
        let [place, _] = hash.buckets(self.marks.len());
        if let Some(mark) = self.marks.get_mut(place) {
            *mark = hash.mark();
        }
    }

    /// Whether the entry with this hash was evicted lately. Forgets the hash.
    pub(super) fn take(&mut self, hash: Hash) -> bool {
        let [place, _] = hash.buckets(self.marks.len());
        match self.marks.get_mut(place) {
            Some(mark) if *mark == hash.mark() => {
                *mark = 0;
                true
            }
            _ => false,
        }
    }

    pub(super) fn clear(&mut self) {
        self.marks.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ghost_is_seen_once() {
        let mut ghosts = Ghosts::new(8);
        assert!(!ghosts.take(Hash(5)));
        ghosts.add(Hash(5));
        assert!(!ghosts.take(Hash(6)), "another hash, at the same place");
        assert!(ghosts.take(Hash(5)) && !ghosts.take(Hash(5)));
        ghosts.add(Hash(0));
        ghosts.clear();
        assert!(!ghosts.take(Hash(0)));
    }
}
