//! A table of slots with generations: the key of a removed value never finds another value.

use std::marker::PhantomData;

/// The key of a value in an [`Arena`] with the same `K`. It is stale, and finds nothing, once the value was removed.
pub struct Key<K> {
    index: u32,
    generation: u32,
    kind: PhantomData<fn() -> K>,
}

impl<K> Key<K> {
    /// The slot's number. Numbers are dense, and are used again after a removal.
    #[must_use]
    pub fn index(self) -> usize {
        self.index as usize
    }

    /// The key as one number, for the token of an event loop.
    #[must_use]
    pub fn to_u64(self) -> u64 {
        (u64::from(self.generation) << 32) | u64::from(self.index)
    }

    /// Inverse of [`Key::to_u64`].
    #[must_use]
    #[allow(clippy::cast_possible_truncation)]
    pub fn from_u64(bits: u64) -> Self {
        Self { index: bits as u32, generation: (bits >> 32) as u32, kind: PhantomData }
    }
}

impl<K> Clone for Key<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Key<K> {}
impl<K> PartialEq for Key<K> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && self.generation == other.generation
    }
}
impl<K> Eq for Key<K> {}
impl<K> std::hash::Hash for Key<K> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.to_u64().hash(state);
    }
}
impl<K> std::fmt::Debug for Key<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.index, self.generation)
    }
}

struct Slot<T> {
    generation: u32,
    value: Option<Box<T>>,
}

/// Boxed values by [`Key`]. The table has pointers only, so when it grows it does not reserve room for twice as many
/// values. `K` makes the keys of different arenas different types. It need not be `T`: code that only handles keys does
/// not have to see the type of the values.
pub struct Arena<T, K = T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    kind: PhantomData<fn() -> K>,
}

/// Generations have 28 bits: the 64-bit token of an event loop also has the index (32 bits) and the kind (4 bits).
const GENERATION_MASK: u32 = (1 << 28) - 1;

impl<T, K> Default for Arena<T, K> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), kind: PhantomData }
    }
}

impl<T, K> Arena<T, K> {
    /// Puts `value` into a free slot.
    ///
    /// # Panics
    /// With 2^32 values at once, which no process can open sockets for.
    pub fn insert(&mut self, value: Box<T>) -> Key<K> {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, value: None });
            u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 connections")
        });
        let slot = &mut self.slots[index as usize];
        slot.value = Some(value);
        Key { index, generation: slot.generation, kind: PhantomData }
    }

    /// Takes the value out. All copies of its key are stale from then on.
    pub fn remove(&mut self, key: Key<K>) -> Option<Box<T>> {
        let slot = self.slots.get_mut(key.index())?;
        if slot.generation != key.generation {
            return None;
        }
        let value = slot.value.take()?;
        slot.generation = (slot.generation + 1) & GENERATION_MASK;
        self.free.push(key.index);
        Some(value)
    }

    /// The value, unless the key is stale.
    #[inline]
    #[must_use]
    pub fn get(&self, key: Key<K>) -> Option<&T> {
        let slot = self.slots.get(key.index())?;
        if slot.generation == key.generation { slot.value.as_deref() } else { None }
    }

    /// The value, unless the key is stale.
    #[inline]
    pub fn get_mut(&mut self, key: Key<K>) -> Option<&mut T> {
        let slot = self.slots.get_mut(key.index())?;
        if slot.generation == key.generation { slot.value.as_deref_mut() } else { None }
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All values with their keys, in slot order.
    #[allow(clippy::cast_possible_truncation)]
    pub fn iter(&self) -> impl Iterator<Item = (Key<K>, &T)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            let key = Key { index: index as u32, generation: slot.generation, kind: PhantomData };
            slot.value.as_deref().map(|value| (key, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_key_finds_nothing() {
        let mut arena: Arena<i32> = Arena::default();
        let first = arena.insert(Box::new(1));
        assert_eq!(arena.remove(first), Some(Box::new(1)));
        let second = arena.insert(Box::new(2));
        assert_eq!(second.index(), first.index());
        assert!(arena.get(first).is_none() && arena.remove(first).is_none());
        assert_eq!(arena.get(Key::from_u64(second.to_u64())), Some(&2));
        assert_eq!(arena.len(), 1);
    }
}
