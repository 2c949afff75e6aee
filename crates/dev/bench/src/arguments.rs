//! The command line.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use crate::chart::{CHARTED_CLIENTS, CHARTED_KINDS};
use crate::contender::Kind;
use crate::tables::Table;

/// The text of `--help`.
pub(crate) const USAGE: &str = "\
usage: trunkline-bench [TABLE...] [OPTION...]
       trunkline-bench chart FOLDER

Measures all contenders in turns, and prints the medians as Markdown.
`chart` measures nothing: it draws the charts from the table in FOLDER/benchmarks.md, as --docs does.

tables
  all             all tables; the default
  transactions    CPU per transaction and throughput: pgbench -S, three protocols, by number of clients
  unix            the same with 10 clients and a unix socket to the server
  workers         two workers compared with one
  idle            memory of idle clients
  connections     connections per second
  storm           how long logged-in clients wait while 2,000 others log in
  large           CPU per MB of a large result, and memory under a slow reader
  statements      memory of distinct prepared statements
  burst           memory still in use after bursts of clients, statements and large results
  goals           PgBouncer's and the relay's figures against the goals (needs those tables; `all` has them)

options
  --repetitions N      of every figure; default 3
  --seconds N          of every run; default 3
  --clients N,N,..     for the transactions table; default 1,10,100
  --idle-clients N     default 5000
  --without NAME,..    leave out direct, relay, pgbouncer or trunkline
  --trunkline PATH     default: cargo builds the release binary of this tree
  --pgbouncer PATH     default: scripts/fetch-pgbouncer builds the newest version whose source apt has
  --pin CPU            keep every proxy on this CPU (not in the table of workers)
  --out PATH           also write the report to this file
  --docs FOLDER        write the report into FOLDER/benchmarks.md, between its markers, and its chart into
                       FOLDER/bench-light.svg and bench-dark.svg (needs the table `transactions`)";

/// The options of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    /// Which tables, in the report's order.
    pub(crate) tables: Vec<Table>,
    /// Runs of every figure.
    pub(crate) repetitions: usize,
    /// Length of every run.
    pub(crate) seconds: u32,
    /// Client counts of the transactions table.
    pub(crate) clients: Vec<usize>,
    /// Clients of the idle table.
    pub(crate) idle_clients: usize,
    /// The contenders to measure.
    pub(crate) kinds: Vec<Kind>,
    /// Trunkline's binary.
    pub(crate) trunkline: Option<PathBuf>,
    /// PgBouncer's binary.
    pub(crate) pgbouncer: Option<PathBuf>,
    /// The CPU on which the proxies run.
    pub(crate) cpu: Option<usize>,
    /// A file that gets the report besides standard output.
    pub(crate) out: Option<PathBuf>,
    /// The folder with `benchmarks.md`, which gets the report and its charts.
    pub(crate) docs: Option<PathBuf>,
}

impl Options {
    /// Parses the command line, without the program's name.
    ///
    /// # Errors
    /// When an option is unknown, lacks its value, or is out of range.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self> {
        let mut options = Self {
            tables: Vec::new(),
            repetitions: 3,
            seconds: 3,
            clients: vec![1, 10, 100],
            idle_clients: 5000,
            kinds: Kind::ALL.to_vec(),
            trunkline: None,
            pgbouncer: None,
            cpu: None,
            out: None,
            docs: None,
        };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            if !argument.starts_with("--") {
                options.add_table(&argument)?;
                continue;
            }
            let value = arguments.next().with_context(|| format!("{argument} needs a value"))?;
            options.set(&argument, &value).with_context(|| format!("{argument} {value}"))?;
        }
        if options.tables.is_empty() {
            options.tables.extend(Table::ALL);
        }
        options.tables.sort_unstable();
        options.tables.dedup();
        options.ensure_chart_has_figures()?;
        Ok(options)
    }

    fn ensure_chart_has_figures(&self) -> Result<()> {
        let figures = self.tables.contains(&Table::Transactions)
            && CHARTED_CLIENTS.iter().all(|clients| self.clients.contains(clients))
            && CHARTED_KINDS.iter().all(|kind| self.kinds.contains(kind));
        ensure!(
            self.docs.is_none() || figures,
            "--docs draws a chart: it needs the table `transactions` with {CHARTED_CLIENTS:?} clients, of pgbouncer and \
             trunkline"
        );
        Ok(())
    }

    fn add_table(&mut self, name: &str) -> Result<()> {
        if name == "all" {
            self.tables.extend(Table::ALL);
            return Ok(());
        }
        let table = Table::ALL.into_iter().find(|table| table.name() == name);
        self.tables.push(table.with_context(|| format!("no table `{name}`"))?);
        Ok(())
    }

    fn set(&mut self, option: &str, value: &str) -> Result<()> {
        match option {
            "--repetitions" => self.repetitions = positive(value)?,
            "--seconds" => self.seconds = u32::try_from(positive(value)?)?,
            "--clients" => self.clients = value.split(',').map(positive).collect::<Result<_>>()?,
            "--idle-clients" => self.idle_clients = positive(value)?,
            "--without" => {
                for name in value.split(',') {
                    let kind = Kind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name));
                    let kind = kind.with_context(|| format!("no contender `{name}`"))?;
                    self.kinds.retain(|kept| *kept != kind);
                }
            }
            "--trunkline" => self.trunkline = Some(value.into()),
            "--pgbouncer" => self.pgbouncer = Some(value.into()),
            "--pin" => self.cpu = Some(value.parse().context("a CPU's number")?),
            "--out" => self.out = Some(value.into()),
            "--docs" => self.docs = Some(value.into()),
            _ => bail!("unknown option"),
        }
        Ok(())
    }
}

fn positive(value: &str) -> Result<usize> {
    let number: usize = value.parse().context("a whole number is needed")?;
    anyhow::ensure!(number > 0, "at least 1 is needed");
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn tables_are_sorted_and_each_comes_once() {
        let options = parse("idle transactions idle --seconds 5").expect("valid");
        assert_eq!(options.tables, [Table::Transactions, Table::Idle]);
        assert_eq!(options.seconds, 5);
        assert_eq!(parse("all").expect("valid").tables, Table::ALL);
        assert_eq!(parse("--seconds 1").expect("valid").tables, Table::ALL);
    }

    #[test]
    fn contenders_can_be_left_out() {
        let options = parse("all --without trunkline,direct").expect("valid");
        assert_eq!(options.kinds, [Kind::Relay, Kind::PgBouncer]);
    }

    #[test]
    fn docs_need_the_charted_figures() {
        assert_eq!(parse("all --docs docs").expect("valid").docs, Some("docs".into()));
        parse("transactions goals --docs docs --without direct,relay").expect("valid");
        for line in ["idle", "all --clients 1,100", "all --without pgbouncer", "all --without trunkline"] {
            assert!(parse(line).is_ok(), "{line}");
            assert!(parse(&format!("{line} --docs docs")).is_err(), "{line}");
        }
    }

    #[test]
    fn mistakes_are_errors() {
        for line in ["nothing", "all --seconds", "all --seconds 0", "all --clients 1,x", "all --without odd"]
        {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
