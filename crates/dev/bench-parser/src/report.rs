//! The tables.

use std::fmt::Write as _;

use trunkline_bench_parser::{LONG, SELECT, oltp};

use crate::counts::Counts;
use crate::times::Times;
use crate::{Cell, Options};

/// A line of a table: the function, the contender, and the cells of its figures (the second cell is subtracted from the first).
struct Line {
    label: &'static str,
    cell: Cell,
    less: Option<Cell>,
}

const fn line(label: &'static str, contender: &'static str, function: &'static str) -> Line {
    Line { label, cell: Cell { contender, function }, less: None }
}

const fn difference(label: &'static str, function: &'static str, less: &'static str) -> Line {
    Line {
        label,
        cell: Cell { contender: "pg_query", function },
        less: Some(Cell { contender: "pg_query", function: less }),
    }
}

const TABLES: &[(&str, &[Line])] = &[
    (
        "Parse",
        &[
            line("**Trunkline**", "ours", "parse"),
            line("the bare C call, as pg_query builds it", "pg_query", "C parse"),
            line("pg_raw_parse 0.1.0", "pg_raw_parse", "parse"),
            line("pg_query 18.1.0 (Protobuf)", "pg_query", "parse"),
            line("sqlparser 0.63.0", "sqlparser", "parse"),
        ],
    ),
    (
        "Deparse a tree",
        &[
            line("**Trunkline**", "ours", "deparse"),
            difference("libpg_query's C", "C parse and deparse", "C parse"),
            line("pg_raw_parse 0.1.0", "pg_raw_parse", "deparse"),
            line("pg_query 18.1.0 (Protobuf)", "pg_query", "deparse"),
            line("sqlparser 0.63.0 (Display)", "sqlparser", "deparse"),
        ],
    ),
    (
        "Fingerprint",
        &[
            line("**Trunkline**, of a tree", "ours", "fingerprint of a tree"),
            difference("libpg_query's C, of a tree", "C parse and fingerprint", "C parse"),
            line("**Trunkline**, of a text", "ours", "fingerprint"),
            line("pg_query 18.1.0, of a text", "pg_query", "fingerprint"),
        ],
    ),
    (
        "Normalize a text",
        &[line("**Trunkline**", "ours", "normalize"), line("pg_query 18.1.0", "pg_query", "normalize")],
    ),
    (
        "Tokens of a text",
        &[
            line("**Trunkline**, scan", "ours", "scan"),
            line("**Trunkline**, scan_key", "ours", "scan_key"),
            line("libpg_query's C, token array", "pg_query", "C tokens"),
            line("pg_query 18.1.0 (Protobuf)", "pg_query", "scan"),
            line("sqlparser 0.63.0", "sqlparser", "scan"),
        ],
    ),
    (
        "Of a tree, and instead of one",
        &[
            line("walk over every node", "ours", "walk"),
            line("classify", "ours", "classify"),
            line("JSON", "ours", "json"),
            line("cache hit by text", "ours", "cache by text"),
            line("cache hit by scan_key, with scan_key", "ours", "cache by scan_key"),
        ],
    ),
];

/// Who stands in the table's first line with what others are compared: ratios are of the second line's figures.
pub fn render(options: &Options, times: &Times, counts: &Counts) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "CPU time a call in microseconds: the pgbench select ({} bytes), a report ({} bytes), and the geometric mean of {} \
         statements as OLTP applications and ORMs send them; median of {} interleaved repetitions. Instructions by \
         callgrind, in thousands, of the first two.\n",
        SELECT.len(),
        LONG.len(),
        oltp().len(),
        options.repetitions
    );
    for (title, lines) in TABLES {
        let _ = writeln!(out, "### {title}\n");
        let _ =
            writeln!(out, "| | select, µs | report, µs | OLTP, µs | select, k instr. | report, k instr. |");
        let _ = writeln!(out, "|---|---:|---:|---:|---:|---:|");
        for line in *lines {
            let _ = writeln!(out, "| {} | {} |", line.label, figures(line, times, counts).join(" | "));
        }
        out.push('\n');
    }
    out
}

fn figures(line: &Line, times: &Times, counts: &Counts) -> Vec<String> {
    let of = |cell: &Cell, statement: usize| {
        times.get(cell).and_then(|times| times.get(statement).copied().flatten())
    };
    let time = |statement: usize| {
        let all = of(&line.cell, statement)?;
        Some(all - line.less.as_ref().map_or(Some(0.0), |less| of(less, statement))?)
    };
    let count = |statement: usize| {
        let all = counts.get(&line.cell)?[statement]?;
        Some(all - line.less.as_ref().map_or(Some(0.0), |less| counts.get(less)?[statement])?)
    };
    let mut figures: Vec<String> = (0..2).map(|statement| micros(time(statement))).collect();
    let taken: Vec<f64> = (2..2 + oltp().len()).filter_map(time).filter(|time| *time > 0.0).collect();
    let mean = (taken.len() == oltp().len())
        .then(|| (taken.iter().map(|time| time.ln()).sum::<f64>() / taken.len() as f64).exp());
    // If a contender does not accept all statements, its mean cannot be compared, and is left out.
    figures.push(mean.map_or_else(|| partial(&taken), |mean| micros(Some(mean))));
    figures.extend(
        (0..2)
            .map(|statement| count(statement).map_or("-".to_owned(), |count| format!("{:.2}", count / 1e3))),
    );
    figures
}

fn partial(taken: &[f64]) -> String {
    format!("- ({} of {})", taken.len(), oltp().len())
}

fn micros(nanoseconds: Option<f64>) -> String {
    nanoseconds.map_or("-".to_owned(), |nanoseconds| match nanoseconds {
        small if small < 1000.0 => format!("{:.3}", small / 1e3),
        large => format!("{:.2}", large / 1e3),
    })
}
