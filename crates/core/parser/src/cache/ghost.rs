//! The hashes of what fell out lately: a statement that comes back was not a one-time statement.

use super::key::Hash;

/// One mark a place, chosen by the hash; a newer one takes the place of an older. So a ghost is forgotten after about
/// as many evictions as there are places, without a queue, and at 4 bytes each.
pub(super) struct Ghosts {
    marks: Box<[u32]>,
}

impl Ghosts {
    /// Room for about this many.
    pub(super) fn new(count: usize) -> Self {
        Self { marks: vec![0; count.max(1)].into() }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.marks)
    }

    /// Remembers that this fell out.
    pub(super) fn add(&mut self, hash: Hash) {
        let [place, _] = hash.buckets(self.marks.len());
        if let Some(mark) = self.marks.get_mut(place) {
            *mark = hash.mark();
        }
    }

    /// Whether this fell out lately; it is forgotten by that.
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
        assert!(!ghosts.take(Hash(6)), "another, at the same place");
        assert!(ghosts.take(Hash(5)) && !ghosts.take(Hash(5)));
        ghosts.add(Hash(0));
        ghosts.clear();
        assert!(!ghosts.take(Hash(0)));
    }
}
