//! `trunkline-bench`: measures Trunkline beside PostgreSQL itself, a bare relay and PgBouncer, and prints Markdown.
//!
//! All contenders are started at once and take turns: each measures once, then each measures again. So other load of the machine
//! affects all of them alike. Figures are medians. Progress goes to standard error, the report to standard output;
//! `--docs` also writes it into a page (`document.rs`) and draws the README's chart (`chart.rs`).

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod arguments;
mod chart;
mod client;
mod contender;
mod cost;
mod daemon;
mod document;
mod figures;
mod header;
mod markdown;
mod pgbench;
mod relay;
mod storm;
mod tables;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use rustix::process::{Resource, getrlimit, setrlimit};

use arguments::{Options, USAGE};
use contender::Ground;
use document::Document;
use figures::Figures;

/// Open files that a process needs besides the idle clients: sockets to servers, logs, epoll.
const OTHER_FILES: u64 = 500;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.as_slice() {
        [relay, listen, upstream] if relay == "relay" => run_relay(listen, upstream),
        [chart, folder] if chart == "chart" => Document::open(Path::new(folder)).and_then(|page| page.draw()),
        [help] if help == "--help" || help == "-h" => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => match Options::parse(arguments) {
            Ok(options) => bench(&options),
            Err(error) => {
                eprintln!("trunkline-bench: {error:#}\n\n{USAGE}");
                return ExitCode::from(2);
            }
        },
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("trunkline-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// This same binary is the bare relay, in a process of its own: `trunkline-bench relay LISTEN UPSTREAM`.
fn run_relay(listen: &str, upstream: &str) -> Result<()> {
    let upstream = match upstream.parse() {
        Ok(address) => relay::Upstream::Tcp(address),
        Err(_) => relay::Upstream::Unix(upstream.into()),
    };
    relay::run(listen.parse().context("an address to listen on is needed")?, &upstream)
}

fn bench(options: &Options) -> Result<()> {
    // An unoptimized relay would not be the least that a proxy can cost.
    anyhow::ensure!(
        !cfg!(debug_assertions),
        "this is a debug build: use `make bench`, or `cargo run --release`"
    );
    raise_open_files(options)?;
    // If the page has a mistake, this fails now, and not after the whole measurement.
    let document = options.docs.as_deref().map(Document::open).transpose()?;
    eprintln!("preparing PostgreSQL and the contenders");
    let ground = Ground::prepare(options)?;
    let mut report = header::render(options, &ground);
    let mut figures = Figures::default();
    for table in &options.tables {
        eprintln!("measuring: {}", table.name());
        report.push_str(&table.report(&ground, options, &mut figures)?);
    }
    println!("{report}");
    if let Some(path) = &options.out {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, &report).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some(mut document) = document {
        document.replace_report(&report);
        document.save()?;
    }
    Ok(())
}

/// Thousands of clients need thousands of descriptors, here and in the proxies, which inherit the limit.
fn raise_open_files(options: &Options) -> Result<()> {
    let mut limit = getrlimit(Resource::Nofile);
    let needed = options.idle_clients as u64 + OTHER_FILES;
    if limit.maximum.is_some_and(|maximum| maximum < needed) {
        bail!(
            "{needed} open files are needed, and the limit is lower: raise it (ulimit -Hn), or lower --idle-clients"
        );
    }
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).context("cannot raise the limit of open files")
}
