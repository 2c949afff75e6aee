//! Trunkline's parser.

use std::hint::black_box;

use trunkline_bench_parser::{Call, Function, contend};
use trunkline_parser::cache::{Cache, Key, Settings, Weigh};
use trunkline_parser::key::{KeyBuffer, ScanKey, scan_key};
use trunkline_parser::{FingerprintOptions, ParsedSql, normalize, parse};

/// The value in the benchmark's caches: a tree, as a router would keep it.
struct Kept(ParsedSql);

impl Weigh for Kept {
    fn heap_bytes(&self) -> usize {
        self.0.bytes()
    }
}

fn tree(text: &'static str) -> ParsedSql {
    parse(text).expect("the benchmark's statements parse")
}

fn call(call: impl FnMut() -> usize + 'static) -> Option<Call> {
    Some(Box::new(call))
}

const FUNCTIONS: &[Function] = &[
    ("parse", |text| call(move || tree(text).root().len())),
    ("walk", |text| {
        let tree = tree(text);
        call(move || tree.nodes().count())
    }),
    ("deparse", |text| {
        let tree = tree(text);
        call(move || tree.deparse().map_or(0, |text| text.len()))
    }),
    ("json", |text| {
        let tree = tree(text);
        call(move || tree.to_json().len())
    }),
    ("fingerprint of a tree", |text| {
        let tree = tree(text);
        call(move || tree.fingerprint_with(FingerprintOptions::default()).0 as usize)
    }),
    ("fingerprint", |text| call(move || tree(text).fingerprint().0 as usize)),
    ("normalize", |text| call(move || normalize(text).map_or(0, |text| text.len()))),
    ("scan", |text| call(move || trunkline_parser::scan(text).map_or(0, |tokens| tokens.len()))),
    ("scan_key", |text| {
        let mut buffer = KeyBuffer::default();
        call(move || match scan_key(text, &mut buffer) {
            ScanKey::Sure(key) => key.bytes.len(),
            ScanKey::Unsure(_) => 0,
        })
    }),
    ("classify", |text| {
        let tree = tree(text);
        call(move || {
            black_box(tree.classify());
            1
        })
    }),
    ("cache by text", |text| {
        let cache = Cache::new(&Settings::default(), 7);
        cache.insert(Key::text(text), Kept(tree(text)));
        call(move || cache.get(Key::text(black_box(text))).map_or(0, |kept| kept.0.root().len()))
    }),
    ("cache by scan_key", |text| {
        let cache = Cache::new(&Settings::default(), 7);
        let mut buffer = KeyBuffer::default();
        match scan_key(text, &mut buffer) {
            ScanKey::Sure(key) => cache.insert(Key::scanned(key.bytes), Kept(tree(text))),
            ScanKey::Unsure(_) => return None,
        };
        call(move || match scan_key(black_box(text), &mut buffer) {
            ScanKey::Sure(key) => cache.get(Key::scanned(key.bytes)).map_or(0, |kept| kept.0.root().len()),
            ScanKey::Unsure(_) => 0,
        })
    }),
];

fn main() {
    contend(FUNCTIONS);
}
