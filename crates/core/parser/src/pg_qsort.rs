//! PostgreSQL's `qsort`, for results that show in which order it leaves equal elements.
//!
//! It is the quicksort of Bentley and McIlroy ("Engineering a Sort Function", 1993) with PostgreSQL's test for input
//! that is sorted already: unstable, and the same everywhere. libpg_query sorts with it elements that may be equal and
//! not the same.

use std::cmp::Ordering;

/// Fewer elements are sorted by insertion.
const INSERTION_LENGTH: usize = 7;
/// More elements are split at the median of three medians.
const NINTHER_LENGTH: usize = 40;
/// After this many comparisons for each element and each bit of their number, another sort goes on that never takes
/// longer than that: a quicksort can be led into a quadratic number.
const COMPARISONS_FACTOR: usize = 8;

/// Sorts, equal elements in the order that PostgreSQL's `qsort` leaves them in.
pub(crate) fn sort<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let bits = usize::BITS - items.len().leading_zeros();
    let budget = items.len() * bits as usize * COMPARISONS_FACTOR;
    Sort { compare, budget }.sort(items);
}

struct Sort<F> {
    compare: F,
    budget: usize,
}

impl<F> Sort<F> {
    fn sort<T>(&mut self, mut items: &mut [T])
    where
        F: Fn(&T, &T) -> Ordering,
    {
        loop {
            let length = items.len();
            if length < INSERTION_LENGTH {
                return self.insert(items);
            }
            if items.is_sorted_by(|a, b| (self.compare)(a, b) != Ordering::Greater) {
                return;
            }
            // A pass looks at each element about three times.
            let Some(left) = self.budget.checked_sub(3 * length) else {
                return items.sort_by(|a, b| (self.compare)(a, b));
            };
            self.budget = left;
            let pivot = self.pivot(items);
            items.swap(0, pivot);
            let (below, above) = self.split(items);
            let (low, rest) = items.split_at_mut(below);
            let from = rest.len() - above;
            let high = rest.split_at_mut(from).1;
            // Recursion on the smaller part goes no deeper than the number's bits.
            let (smaller, larger) = if low.len() <= high.len() { (low, high) } else { (high, low) };
            if smaller.len() > 1 {
                self.sort(smaller);
            }
            if larger.len() <= 1 {
                return;
            }
            items = larger;
        }
    }

    fn insert<T>(&self, items: &mut [T])
    where
        F: Fn(&T, &T) -> Ordering,
    {
        for end in 1..items.len() {
            let mut at = end;
            while at > 0 && (self.compare)(&items[at - 1], &items[at]) == Ordering::Greater {
                items.swap(at - 1, at);
                at -= 1;
            }
        }
    }

    /// The place of the element that splits the others.
    fn pivot<T>(&self, items: &[T]) -> usize
    where
        F: Fn(&T, &T) -> Ordering,
    {
        let length = items.len();
        let (mut first, mut middle, mut last) = (0, length / 2, length - 1);
        if length == INSERTION_LENGTH {
            return middle;
        }
        if length > NINTHER_LENGTH {
            let step = length / 8;
            first = self.median(items, first, first + step, first + 2 * step);
            middle = self.median(items, middle - step, middle, middle + step);
            last = self.median(items, last - 2 * step, last - step, last);
        }
        self.median(items, first, middle, last)
    }

    fn median<T>(&self, items: &[T], a: usize, b: usize, c: usize) -> usize
    where
        F: Fn(&T, &T) -> Ordering,
    {
        let compare = |one: usize, other: usize| (self.compare)(&items[one], &items[other]);
        match compare(a, b) {
            Ordering::Less if compare(b, c) == Ordering::Less => b,
            Ordering::Less if compare(a, c) == Ordering::Less => c,
            Ordering::Less => a,
            _ if compare(b, c) == Ordering::Greater => b,
            _ if compare(a, c) == Ordering::Less => a,
            _ => c,
        }
    }

    /// Puts what is less than the first element before what equals it, and the rest after that; how many are less, and
    /// more.
    ///
    /// ```text
    /// before:  | equal | less | not seen | more | equal |
    ///          0       a      b          c      d       length      (c, d: past the part)
    /// ```
    fn split<T>(&self, items: &mut [T]) -> (usize, usize)
    where
        F: Fn(&T, &T) -> Ordering,
    {
        let length = items.len();
        let (mut a, mut b) = (1, 1);
        let (mut c, mut d) = (length, length);
        loop {
            while b < c {
                match (self.compare)(&items[b], &items[0]) {
                    Ordering::Greater => break,
                    Ordering::Equal => {
                        items.swap(a, b);
                        a += 1;
                    }
                    Ordering::Less => {}
                }
                b += 1;
            }
            while b < c {
                match (self.compare)(&items[c - 1], &items[0]) {
                    Ordering::Less => break,
                    Ordering::Equal => {
                        items.swap(c - 1, d - 1);
                        d -= 1;
                    }
                    Ordering::Greater => {}
                }
                c -= 1;
            }
            if b >= c {
                break;
            }
            items.swap(b, c - 1);
            b += 1;
            c -= 1;
        }
        let less = b - a;
        let more = d - c;
        swap_parts(items, 0, b, a.min(less));
        swap_parts(items, b, length, more.min(length - d));
        (less, more)
    }
}

/// Swaps `count` elements from `from` on with those before `end`.
fn swap_parts<T>(items: &mut [T], from: usize, end: usize, count: usize) {
    for at in 0..count {
        items.swap(from + at, end - count + at);
    }
}

#[cfg(test)]
mod tests {
    use super::sort;

    #[test]
    fn sorts_whatever_the_order() {
        let mut state = 1_u64;
        for length in (0..200).chain([5_000]) {
            for range in [2, 10, 1_000_000] {
                let mut items: Vec<u64> = (0..length)
                    .map(|_| {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        (state >> 33) % range
                    })
                    .collect();
                let mut expected = items.clone();
                expected.sort_unstable();
                sort(&mut items, u64::cmp);
                assert_eq!(items, expected);
            }
        }
    }

    #[test]
    fn equal_elements_are_left_as_postgresql_leaves_them() {
        // Locations of the constants of `SET (c, b, a) = ('bugle', b + 11, DEFAULT) WHERE c = 'foo'`, in which
        // libpg_query 18 gives 11 the number 4.
        let mut items = [(0, 1), (9, 2), (0, 3), (9, 4), (0, 5), (9, 6), (20, 7)];
        sort(&mut items, |a, b| a.0.cmp(&b.0));
        assert_eq!((items[0], items[3]), ((0, 1), (9, 4)));
    }
}
