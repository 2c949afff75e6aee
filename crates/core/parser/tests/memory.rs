//! A tree that is dropped leaves nothing behind, and neither does an error: alone in its process, whose memory the
//! kernel counts, since Rust's allocator does not see C's.
#![cfg(target_os = "linux")]

use std::fs;

use trunkline_parser::{parse, parse_plpgsql, scan};

/// What a page of memory has at least.
const PAGE_BYTES: usize = 4096;
/// How many parses are measured.
const PARSES: usize = 100_000;
/// What the process may have grown by: less than 16 bytes, malloc's smallest block, for each parse.
const GROWTH_MAX: usize = 1 << 20;

const TEXTS: &[&str] = &[
    "SELECT a, b FROM t WHERE id = $1",
    "SELECT a FROM t WHERE b IN (1, 2, 3) AND c = 'x' ORDER BY d LIMIT 10",
    "UPDATE t SET a = 1 WHERE b = E'\\n'",
    "BEGIN",
    "SELECT 'not closed",
    "SELECT 1 +",
    "SELECT a\0b",
    "/* not closed",
];

/// The process's resident memory, in bytes: the second number of `statm`, in pages.
fn resident() -> usize {
    let statm = fs::read_to_string("/proc/self/statm").expect("Linux tells");
    let pages: usize =
        statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number of pages");
    pages * PAGE_BYTES
}

fn work(rounds: usize) {
    for round in 0..rounds {
        let text = TEXTS[round % TEXTS.len()];
        match parse(text) {
            Ok(tree) if round % 7 == 0 => {
                let copies: Vec<_> = tree.root().nodes().map(|node| node.to_fragment()).collect();
                drop(tree);
                assert!(copies.iter().all(Result::is_ok));
            }
            Ok(tree) => drop(tree),
            Err(error) => assert!(!error.message().is_empty()),
        }
        if round % 64 == 0 {
            let long = format!("SELECT '{}'", "x".repeat(100_000));
            assert!(parse(&long).is_ok() && parse(&long[..long.len() - 1]).is_err());
            assert!(
                parse_plpgsql("DO $$BEGIN RETURN; END$$").is_ok() | parse_plpgsql("DO $$BEGIN$$").is_err()
            );
            assert!(scan(&long).is_ok());
        }
    }
}

#[test]
fn nothing_is_left_behind() {
    // The allocator's own pools fill first.
    work(PARSES / 4);
    let before = resident();
    work(PARSES);
    let after = resident();
    assert!(after <= before + GROWTH_MAX, "{} bytes more after {PARSES} parses", after - before);
    let tree = parse(TEXTS[0]).expect("SQL");
    assert!(tree.bytes() < 4 * PAGE_BYTES, "{}", tree.bytes());
}
