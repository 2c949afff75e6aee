//! The table of a worker's parts of pools. A pool has the same place in the tables of all workers.

use trunkline_pool::PoolId;

use super::local_pool::LocalPool;

/// One place of the table: empty, or a part of the pool with its ledger's number.
pub(in crate::board) type Place = Option<Box<LocalPool>>;

/// A worker's parts of pools. The number of a forgotten pool finds nothing, even if another pool has its place now.
#[derive(Default)]
pub(in crate::board) struct LocalPools {
    places: Vec<Place>,
}

fn has_pool(place: &Place, id: PoolId) -> bool {
    place.as_deref().is_some_and(|local| local.pool.ledger().id == id)
}

impl LocalPools {
    /// The place of a pool that this worker has a part of.
    #[inline]
    pub(in crate::board) fn get(&self, id: PoolId) -> Option<&Place> {
        self.places.get(id.place()).filter(|place| has_pool(place, id))
    }

    /// The place of a pool that this worker has a part of.
    #[inline]
    pub(in crate::board) fn get_mut(&mut self, id: PoolId) -> Option<&mut Place> {
        self.places.get_mut(id.place()).filter(|place| has_pool(place, id))
    }

    pub(in crate::board) fn insert(&mut self, local: Box<LocalPool>) {
        let place = local.pool.ledger().id.place();
        if self.places.len() <= place {
            self.places.resize_with(place + 1, || None);
        }
        debug_assert!(self.places[place].is_none(), "a pool was forgotten elsewhere, and not here");
        self.places[place] = Some(local);
    }

    /// Takes a pool out, and frees the memory of empty places at the table's end.
    pub(in crate::board) fn remove(&mut self, id: PoolId) -> Option<Box<LocalPool>> {
        let local = self.get_mut(id)?.take();
        while matches!(self.places.last(), Some(None)) {
            self.places.pop();
        }
        if self.places.len() < self.places.capacity() / 4 {
            self.places.shrink_to(self.places.len() * 2);
        }
        local
    }

    /// All places, empty ones too.
    pub(in crate::board) fn iter(&self) -> std::slice::Iter<'_, Place> {
        self.places.iter()
    }

    /// All places, empty ones too.
    pub(in crate::board) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Place> {
        self.places.iter_mut()
    }

    /// The numbers of all pools that this worker has a part of.
    pub(in crate::board) fn ids(&self) -> Vec<PoolId> {
        self.iter().flatten().map(|local| local.pool.ledger().id).collect()
    }
}
