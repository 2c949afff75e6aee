//! Measures the time of a cache hit from end to end: hash, look up, compare, return the value, release it.
//!
//! `cargo run --release -p trunkline-parser --example cache_bench`. With the argument `count`, it only does a million
//! hits of one statement of 200 bytes, for a run under callgrind.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use trunkline_parser::cache::{Cache, Key, Settings, Weigh};

struct Value(u64);

impl Weigh for Value {
    fn heap_bytes(&self) -> usize {
        0
    }
}

const HITS: u32 = 2_000_000;

/// `count` statements of `bytes` bytes each, which differ near their ends.
fn statements(count: usize, bytes: usize) -> Vec<String> {
    let text = "select a.id, a.name, b.total from accounts a join balances b on b.id = a.id where a.tenant = $1 and ";
    let body = text.chars().cycle().take(bytes.saturating_sub(8)).collect::<String>();
    (0..count).map(|n| format!("{body}{n:8}")).collect()
}

fn hits(cache: &Cache<Value>, statements: &[String]) -> Duration {
    let begin = Instant::now();
    let mut sum = 0;
    for text in statements.iter().cycle().take(HITS as usize) {
        sum += cache.get(Key::text(black_box(text))).map_or(0, |value| value.0);
    }
    black_box(sum);
    begin.elapsed() / (HITS / 1000)
}

/// The best of seven runs, in nanoseconds for each hit. All caches are used at the same time, each by its own thread.
fn best(caches: &[&Cache<Value>], statements: &[String]) -> f64 {
    let run = || {
        std::thread::scope(|scope| {
            let runs: Vec<_> = caches.iter().map(|cache| scope.spawn(|| hits(cache, statements))).collect();
            runs.into_iter().filter_map(|run| run.join().ok()).max().unwrap_or_default()
        })
    };
    (0..7).map(|_| run().as_nanos() as f64 / 1000.0).fold(f64::MAX, f64::min)
}

fn filled(statements: &[String]) -> Cache<Value> {
    let cache = Cache::new(&Settings::default(), 0x5eed);
    for (text, n) in statements.iter().zip(1..) {
        cache.insert(Key::text(text), Value(n));
    }
    cache
}

fn main() {
    if std::env::args().any(|argument| argument == "count") {
        let statements = statements(1, 200);
        let cache = filled(&statements);
        for _ in 0..1_000_000 {
            black_box(cache.get(Key::text(black_box(&statements[0]))).map(|value| value.0));
        }
        return;
    }
    println!(
        "{:>10} {:>10} {:>12} {:>12} {:>12}",
        "bytes", "statements", "1 thread ns", "2 apart ns", "2 shared ns"
    );
    for (bytes, count) in [(30, 1), (85, 1), (200, 1), (200, 100), (200, 1000), (200, 50_000)] {
        let statements = statements(count, bytes);
        let cache = filled(&statements);
        // Two threads with separate caches show the best that two threads can do on this machine now.
        let other = filled(&statements);
        let times = [vec![&cache], vec![&cache, &other], vec![&cache, &cache]];
        let [one, apart, shared] = times.map(|caches| best(&caches, &statements));
        println!("{bytes:>10} {count:>10} {one:>12.1} {apart:>12.1} {shared:>12.1}");
    }
    let statements = statements(300_000, 200);
    let (first, later) = statements.split_at(150_000);
    let cache = filled(first);
    let before = cache.stats().evictions;
    let begin = Instant::now();
    for text in later {
        cache.insert(Key::text(text), Value(1));
    }
    let each = begin.elapsed().as_nanos() / later.len() as u128;
    println!("an insert that evicts: {each} ns; {:?}", cache.stats());
    assert!(cache.stats().evictions - before == later.len() as u64, "the cache was full");
}
