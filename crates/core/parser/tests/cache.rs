//! The cache against a model, under a flood, at its bounds, and hammered by threads.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use trunkline_parser::cache::{Cache, Key, Settings, Space, Weigh};

/// Remembers what it was made for, and counts those alive.
struct Value {
    space: Space,
    bytes: Vec<u8>,
    weight: usize,
    alive: Arc<AtomicUsize>,
}

impl Value {
    fn of(key: Key<'_>, weight: usize, alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Self { space: key.space(), bytes: key.bytes().to_vec(), weight, alive: Arc::clone(alive) }
    }

    fn is_of(&self, key: Key<'_>) -> bool {
        self.space == key.space() && self.bytes == key.bytes()
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Weigh for Value {
    fn heap_bytes(&self) -> usize {
        self.bytes.capacity() + self.weight
    }
}

fn alive() -> Arc<AtomicUsize> {
    Arc::new(AtomicUsize::new(0))
}

fn cache(bytes_max: usize) -> Cache<Value> {
    Cache::new(&Settings::with_bytes_max(bytes_max), 0x1234_5678_9abc_def0)
}

#[derive(Debug, Clone)]
enum Step {
    Get(bool, u16),
    Insert(bool, u16, usize),
    Bound(usize),
    Clear,
}

fn step() -> impl Strategy<Value = Step> {
    let weight = prop_oneof![9 => 0_usize..600, 1 => 0_usize..9000];
    prop_oneof![
        40 => (any::<bool>(), 0_u16..200).prop_map(|(text, n)| Step::Get(text, n)),
        40 => (any::<bool>(), 0_u16..200, weight).prop_map(|(text, n, weight)| Step::Insert(text, n, weight)),
        1 => (0_usize..200_000).prop_map(Step::Bound),
        1 => Just(Step::Clear),
    ]
}

fn text(n: u16) -> String {
    // Some are prefixes of others, and one is empty.
    "select * from t where a = 1 and b in (1, 2, 3)".chars().cycle().take(usize::from(n)).collect()
}

fn key(by_text: bool, bytes: &str) -> Key<'_> {
    if by_text { Key::text(bytes) } else { Key::scanned(bytes) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// The model is a map of all that was inserted since the last clear. The cache may have forgotten, but what it
    /// knows is the model's; it keeps to its bound after each step; and its counters add up.
    #[test]
    fn it_knows_what_the_model_knows_or_nothing(steps in prop::collection::vec(step(), 1..600)) {
        let alive = alive();
        let cache = cache(128 << 10);
        let mut model: HashMap<(bool, u16), usize> = HashMap::new();
        let (mut looked_up, mut inserted) = (0, 0);
        for step in steps {
            match step {
                Step::Get(by_text, n) => {
                    let text = text(n);
                    looked_up += 1;
                    if let Some(found) = cache.get(key(by_text, &text)) {
                        prop_assert!(found.is_of(key(by_text, &text)));
                        prop_assert_eq!(found.key(), key(by_text, &text));
                        prop_assert_eq!(Some(&found.weight), model.get(&(by_text, n)));
                    }
                }
                Step::Insert(by_text, n, weight) => {
                    let text = text(n);
                    let key = key(by_text, &text);
                    inserted += 1;
                    let kept = cache.insert(key, Value::of(key, weight, &alive));
                    prop_assert!(kept.is_of(key));
                    // The first stays: if it is known yet, this one was not kept.
                    let first = model.insert((by_text, n), kept.weight);
                    prop_assert!(kept.weight == weight || first == Some(kept.weight));
                }
                Step::Bound(bytes_max) => cache.set_bytes_max(bytes_max),
                Step::Clear => {
                    cache.clear();
                    model.clear();
                    prop_assert_eq!(alive.load(Ordering::Relaxed), 0, "nothing outlives a clear");
                }
            }
            let stats = cache.stats();
            prop_assert!(stats.bytes <= stats.bytes_max || stats.entries == 0, "{:?}", stats);
            prop_assert!(stats.entries <= stats.entries_max, "{:?}", stats);
            prop_assert_eq!(stats.entries, alive.load(Ordering::Relaxed));
        }
        let stats = cache.stats();
        let looks = [stats.text.hits, stats.text.misses, stats.scanned.hits, stats.scanned.misses];
        prop_assert_eq!(looks.iter().sum::<u64>(), looked_up);
        prop_assert!(stats.inserts + stats.refusals <= inserted);
        drop(cache);
        prop_assert_eq!(alive.load(Ordering::Relaxed), 0, "nothing outlives the cache");
    }
}

#[test]
fn spaces_never_meet() {
    let alive = alive();
    let cache = cache(1 << 20);
    cache.insert(Key::text("select $1"), Value::of(Key::text("select $1"), 1, &alive));
    assert!(cache.get(Key::scanned("select $1")).is_none());
    cache.insert(Key::scanned("select $1"), Value::of(Key::scanned("select $1"), 2, &alive));
    let weight = |key| cache.get(key).map(|found| found.weight);
    assert_eq!((weight(Key::text("select $1")), weight(Key::scanned("select $1"))), (Some(1), Some(2)));
}

#[test]
fn the_first_insert_wins() {
    let alive = alive();
    let cache = cache(1 << 20);
    let key = Key::text("select 1");
    let first = cache.insert(key, Value::of(key, 1, &alive));
    let second = cache.insert(key, Value::of(key, 2, &alive));
    assert_eq!((first.weight, second.weight, cache.stats().inserts), (1, 1, 1));
    assert_eq!(alive.load(Ordering::Relaxed), 1, "the second is gone");
}

/// Two that miss the same statement, one inside the other: neither waits, and both get what was kept first.
#[test]
fn a_miss_waits_for_no_other() {
    let alive = alive();
    let cache = cache(1 << 20);
    let key = Key::text("select 1");
    let outer = cache.get_or_insert_with(key, || {
        let inner = cache.get_or_insert_with(key, || Value::of(key, 1, &alive));
        assert_eq!(inner.weight, 1);
        Value::of(key, 2, &alive)
    });
    assert_eq!((outer.weight, cache.stats().text.misses), (1, 2));
}

#[test]
fn what_is_made_is_kept_and_what_fails_is_not() {
    let alive = alive();
    let cache = cache(1 << 20);
    let key = Key::text("select 1");
    assert!(cache.try_get_or_insert_with(key, || Err("syntax error")).is_err());
    assert_eq!(cache.stats().entries, 0);
    let made = cache.try_get_or_insert_with(key, || Ok::<_, ()>(Value::of(key, 5, &alive)));
    assert_eq!(made.map(|made| made.weight), Ok(5));
    assert_eq!(cache.get_or_insert_with(key, || unreachable!("it is kept")).weight, 5);
}

#[test]
fn the_too_large_and_the_cache_turned_off_only_hand_back() {
    let alive = alive();
    let cache = cache(1 << 20);
    let key = Key::text("select 1");
    assert_eq!(cache.insert(key, Value::of(key, (1 << 20) / 64, &alive)).weight, (1 << 20) / 64);
    assert_eq!((cache.stats().entries, cache.stats().refusals), (0, 1));
    cache.insert(key, Value::of(key, (1 << 20) / 64 - 1000, &alive));
    assert_eq!(cache.stats().entries, 1);
    cache.set_bytes_max(0);
    assert_eq!((cache.stats().entries, alive.load(Ordering::Relaxed)), (0, 0));
    assert_eq!(cache.insert(key, Value::of(key, 0, &alive)).weight, 0);
    assert!(cache.get(key).is_none());
    cache.set_bytes_max(1 << 20);
    cache.insert(key, Value::of(key, 0, &alive));
    assert!(cache.get(key).is_some(), "turned on again");
}

#[test]
fn a_lower_bound_shrinks_at_once_and_spares_what_is_held() {
    let alive = alive();
    let cache = cache(1 << 20);
    for n in 0..2000 {
        let text = format!("select {n}");
        cache.insert(Key::text(&text), Value::of(Key::text(&text), 300, &alive));
    }
    let held = cache.get(Key::text("select 1999")).expect("the newest is there").detach();
    let before = cache.stats();
    cache.set_bytes_max(256 << 10);
    let after = cache.stats();
    assert!(before.bytes > 800 << 10 && after.bytes <= 256 << 10, "{before:?} {after:?}");
    assert_eq!(after.evictions - before.evictions, (before.entries - after.entries) as u64);
    cache.clear();
    assert_eq!((alive.load(Ordering::Relaxed), held.weight), (1, 300));
}

/// A hundred hot statements, one of them after each hundred that are never seen again, a million of those: each comes
/// back when the cache has been filled three times over, so that neither LRU nor CLOCK would have kept it.
#[test]
fn a_flood_does_not_push_out_what_is_hot() {
    let alive = alive();
    let cache = cache(4 << 20);
    let hot: Vec<String> = (0..100).map(|n| format!("select * from hot where id = ${n}")).collect();
    for _ in 0..2 {
        for text in &hot {
            cache.get_or_insert_with(Key::text(text), || Value::of(Key::text(text), 900, &alive));
        }
    }
    let mut hits = 0;
    for n in 0..1_000_000_u32 {
        let text = format!("insert into events values ({n})");
        cache.get_or_insert_with(Key::text(&text), || Value::of(Key::text(&text), 900, &alive));
        if n.is_multiple_of(100) {
            let text = &hot[n as usize / 100 % hot.len()];
            let mut hit = true;
            cache.get_or_insert_with(Key::text(text), || {
                hit = false;
                Value::of(Key::text(text), 900, &alive)
            });
            hits += u32::from(hit);
        }
    }
    assert!(hits > 10_000 * 95 / 100, "{hits} of 10000");
    let stats = cache.stats();
    assert!(
        stats.evictions > 900_000 && stats.bytes > 3 << 20,
        "it was a flood, and the cache is in use: {stats:?}"
    );
}

/// Each thread reads and makes statements of all, under a bound that evicts all the time, while one more changes the
/// bound and clears. A hit is of exactly the bytes asked for.
#[test]
fn eight_threads_get_what_they_ask_for() {
    const STEPS: u32 = 30_000;
    let alive = alive();
    let cache = cache(256 << 10);
    let made = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..8_u32 {
            let (cache, alive, made) = (&cache, &alive, &made);
            scope.spawn(move || {
                let mut random = 0x9e37_79b9_u32.wrapping_mul(thread + 1);
                let mut held = Vec::new();
                for step in 0..STEPS {
                    random = random.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
                    // Squared, so that low numbers are hot.
                    let n = ((random >> 16) * (random >> 16)) >> 21;
                    let text = format!("select {n}");
                    let key = key(n.is_multiple_of(2), &text);
                    let found = cache.get_or_insert_with(key, || {
                        made.fetch_add(1, Ordering::Relaxed);
                        Value::of(key, (n % 700) as usize, alive)
                    });
                    assert!(found.is_of(key) && found.weight == (n % 700) as usize);
                    // More are held at a time than arc-swap has places a thread, some of them for long.
                    if step.is_multiple_of(3) {
                        held.push((n, found));
                    }
                    if held.len() > 20 {
                        let (n, old) = held.swap_remove(random as usize % 20);
                        assert!(old.bytes == format!("select {n}").as_bytes());
                    }
                }
            });
        }
        scope.spawn(|| {
            for round in 0..200_usize {
                cache.set_bytes_max([256 << 10, 64 << 10, 0][round % 3]);
                if round % 10 == 0 {
                    cache.clear();
                }
                let stats = cache.stats();
                assert!(stats.entries <= stats.entries_max);
                std::thread::yield_now();
            }
            cache.set_bytes_max(256 << 10);
        });
    });
    let stats = cache.stats();
    let looks = [stats.text.hits, stats.text.misses, stats.scanned.hits, stats.scanned.misses];
    assert_eq!(looks.iter().sum::<u64>(), u64::from(8 * STEPS));
    assert_eq!(stats.text.misses + stats.scanned.misses, made.load(Ordering::Relaxed) as u64);
    assert!(stats.text.hits > 0 && stats.evictions > 0, "{stats:?}");
    assert!(stats.bytes <= stats.bytes_max, "{stats:?}");
    assert_eq!(alive.load(Ordering::Relaxed), stats.entries, "nothing else is alive");
    cache.clear();
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}
