//! Instructions of a call, counted by callgrind: the difference between a run with many calls and one with few.

use std::collections::HashMap;
use std::process::Command;

use anyhow::{Context, Result};

use crate::{CELLS, Cell, program};

/// Instructions of a call, for the first two statements: the pgbench select and the long query.
pub type Counts = HashMap<Cell, [Option<f64>; 2]>;

const CALLS: [u64; 2] = [20, 220];

pub fn measure() -> Result<Counts> {
    let mut counts = Counts::new();
    for cell in CELLS {
        eprintln!("instructions: {} {}", cell.contender, cell.function);
        let mut both = [None; 2];
        for (statement, count) in both.iter_mut().enumerate() {
            let [few, many] = [run(*cell, statement, CALLS[0])?, run(*cell, statement, CALLS[1])?];
            *count = few.zip(many).map(|(few, many)| (many - few) / (CALLS[1] - CALLS[0]) as f64);
        }
        counts.insert(*cell, both);
    }
    Ok(counts)
}

/// All instructions of a program that makes so many calls; None if the contender does not accept the statement.
fn run(cell: Cell, statement: usize, calls: u64) -> Result<Option<f64>> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program(cell.contender)?)
        .args([cell.function, &statement.to_string(), &calls.to_string()])
        .output()
        .context("valgrind is needed to count instructions (Debian: valgrind), or --no-instructions")?;
    let text = String::from_utf8_lossy(&output.stderr);
    let total = text.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    Ok(total.filter(|_| output.status.success()))
}
