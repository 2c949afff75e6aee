//! Measures the CPU time of a call. The contenders take turns.

use std::collections::HashMap;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::{CELLS, Cell, Options, program};

/// Nanoseconds of a call, for each statement; None if the contender does not accept the statement.
pub type Times = HashMap<Cell, Vec<Option<f64>>>;

/// Measures each function of each contender once, then all again. The result is the median of the repetitions.
pub fn measure(options: &Options) -> Result<Times> {
    let mut all: HashMap<Cell, Vec<Vec<Option<f64>>>> = HashMap::new();
    for repetition in 1..=options.repetitions {
        eprintln!("times: repetition {repetition} of {}", options.repetitions);
        for cell in CELLS {
            all.entry(*cell).or_default().push(turn(*cell, options.milliseconds)?);
        }
    }
    Ok(all.into_iter().map(|(cell, turns)| (cell, medians(&turns))).collect())
}

fn turn(cell: Cell, milliseconds: u64) -> Result<Vec<Option<f64>>> {
    let output = Command::new(program(cell.contender)?)
        .args([cell.function, &milliseconds.to_string()])
        .output()
        .with_context(|| format!("running {}", cell.contender))?;
    ensure!(output.status.success(), "{cell:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?.lines().map(|line| line.parse().ok()).collect())
}

fn medians(turns: &[Vec<Option<f64>>]) -> Vec<Option<f64>> {
    let statements = turns.iter().map(Vec::len).min().unwrap_or(0);
    (0..statements)
        .map(|statement| {
            let mut values: Vec<f64> = turns.iter().filter_map(|turn| turn[statement]).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied()
        })
        .collect()
}
