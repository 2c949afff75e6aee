//! Writes PostgreSQL's regression statements as seeds for the fuzz targets of SQL, one folder for each target:
//!
//! ```sh
//! cargo run -p trunkline-parity --example fuzz_seeds .trunkline/fuzz-seeds
//! FUZZ_SEEDS=.trunkline/fuzz-seeds scripts/fuzz 3600 sql_parse sql_key
//! ```
//!
//! With only the few inputs of `fuzz/corpus`, a fuzzer needs an hour to reach what these seeds reach at once.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use trunkline_parity::corpus::corpus;

/// The longest statement that is used. Longer ones are slow to fuzz and seldom contain anything new.
const BYTES_MAX: usize = 1500;
/// The most bytes of edits after a statement.
const EDITS_MAX: usize = 40;

/// Makes an input of a target from a statement. The statement's number chooses the other bytes; `fuzz/README.md` says what they
/// mean.
type Input = fn(&[u8], u64) -> Vec<u8>;

const TARGETS: [(&str, Input); 5] = [
    ("sql_parse", |sql, number| [&[b"\0\0\0\x01\x02\x04\x08"[number as usize % 7]], sql].concat()),
    ("sql_deparse", |sql, _| sql.to_vec()),
    ("sql_normalize", |sql, _| sql.to_vec()),
    ("sql_key", |sql, number| [&[(number % 3 / 2) as u8, (number % 64) as u8], sql].concat()),
    ("sql_edit", |sql, number| {
        // Bytes that differ between statements.
        let mut state = number;
        let edits = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        });
        let count = 3 + number as usize % (EDITS_MAX - 3);
        sql.iter().copied().chain([255]).chain(edits.take(count)).collect()
    }),
];

fn main() -> anyhow::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).context("which folder are the seeds to be in?")?);
    for (target, input) in TARGETS {
        let folder = folder.join(target);
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        for (number, statement) in corpus().iter().enumerate().filter(|(_, one)| one.sql.len() <= BYTES_MAX) {
            let file = folder.join(number.to_string());
            fs::write(&file, input(statement.sql.as_bytes(), number as u64))
                .with_context(|| file.display().to_string())?;
        }
    }
    Ok(())
}
