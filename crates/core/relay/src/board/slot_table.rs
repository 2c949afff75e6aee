//! Where a worker's parts of pools stand: by the place that a pool has in every worker.

use trunkline_pool::PoolId;

use super::slots::Slot;

/// One place: empty, or taken by the pool whose number the slot's ledger has.
pub(super) type Place = Option<Box<Slot>>;

/// A worker's slots. A number whose pool is gone finds nothing, though its place may be another's by now.
#[derive(Default)]
pub(super) struct SlotTable {
    places: Vec<Place>,
}

fn is_of(place: &Place, id: PoolId) -> bool {
    place.as_deref().is_some_and(|slot| slot.pool.ledger().id == id)
}

impl SlotTable {
    /// The place of a pool that this worker has a part of.
    #[inline]
    pub(super) fn get(&self, id: PoolId) -> Option<&Place> {
        self.places.get(id.place()).filter(|place| is_of(place, id))
    }

    /// The place of a pool that this worker has a part of.
    #[inline]
    pub(super) fn get_mut(&mut self, id: PoolId) -> Option<&mut Place> {
        self.places.get_mut(id.place()).filter(|place| is_of(place, id))
    }

    pub(super) fn insert(&mut self, slot: Box<Slot>) {
        let place = slot.pool.ledger().id.place();
        if self.places.len() <= place {
            self.places.resize_with(place + 1, || None);
        }
        debug_assert!(self.places[place].is_none(), "a pool was forgotten elsewhere, and not here");
        self.places[place] = Some(slot);
    }

    /// Takes a pool out, and gives back the memory of places that nobody has behind the last that is taken.
    pub(super) fn remove(&mut self, id: PoolId) -> Option<Box<Slot>> {
        let slot = self.get_mut(id)?.take();
        while matches!(self.places.last(), Some(None)) {
            self.places.pop();
        }
        if self.places.len() < self.places.capacity() / 4 {
            self.places.shrink_to(self.places.len() * 2);
        }
        slot
    }

    /// All places, empty ones too.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, Place> {
        self.places.iter()
    }

    /// All places, empty ones too.
    pub(super) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Place> {
        self.places.iter_mut()
    }

    /// The numbers of all pools that this worker has a part of.
    pub(super) fn ids(&self) -> Vec<PoolId> {
        self.iter().flatten().map(|slot| slot.pool.ledger().id).collect()
    }
}
