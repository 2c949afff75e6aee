//! `make run`: starts a throwaway PostgreSQL and Trunkline, prints a short comparison, and then waits while you try them.
//!
//! - `ONCE=1` ends after the table.
//! - `PORT=7000` listens on this port instead of 6432.
//! - `SECONDS_EACH=10` makes each line of the table take that long.

// A program for a person at a terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::env;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use signal_hook::consts::{SIGCHLD, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use trunkline_testkit::cluster::{APP_USER, DATABASE, PASSWORD};
use trunkline_testkit::{Binaries, Cluster, Proxy};

/// PgBouncer's port, which users expect.
const DEFAULT_PORT: u16 = 6432;
/// pgbench's scale. Each unit is 100,000 rows, and is initialized in a second or two.
const SCALE: &str = "10";
/// How many connections pgbench makes.
const CLIENTS: &str = "10";
/// How long each line of the table takes.
const SECONDS_EACH: &str = "3";
/// The protocols of the table, as pgbench calls them.
const PROTOCOLS: [&str; 3] = ["simple", "extended", "prepared"];

/// The result of one run of pgbench.
struct Measured {
    /// Transactions a second.
    rate: f64,
    /// Average, in milliseconds.
    latency: f64,
    /// The number of transactions.
    transactions: f64,
}

fn main() -> ExitCode {
    match demonstrate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("make run: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn demonstrate() -> Result<()> {
    // From here on, Ctrl-C does not end this program at once. The programs that it runs end, and it cleans up.
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGCHLD])?;
    let port = listen_port()?;
    let pgbench = pgbench_path()?;
    let binaries = Binaries::newest()?;
    println!("Starting PostgreSQL {} in a temporary folder ...", binaries.version.0);
    let cluster = Cluster::start_with(&binaries, &[])?;
    let initialize = ["--initialize", "--quiet", "--scale", SCALE];
    run_pgbench(&pgbench, cluster.port(), &initialize)?;
    let mut proxy = start_proxy(&cluster, port)?;
    println!("Trunkline listens on 127.0.0.1:{port}. Comparing ...\n");
    print_table(&pgbench, &cluster, &proxy)?;
    if env::var_os("ONCE").is_some_and(|value| !value.is_empty() && value != "0") {
        return Ok(());
    }
    println!("\nTry it (Ctrl-C ends and removes everything):\n");
    println!("    psql {}\n", proxy.url(APP_USER));
    wait_for_signal(&mut signals, &mut proxy)
}

/// The port to listen on. It is checked to be free.
fn listen_port() -> Result<u16> {
    let port = match env::var("PORT") {
        Ok(text) => text.parse().with_context(|| format!("PORT={text} is no port"))?,
        Err(_) => DEFAULT_PORT,
    };
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).with_context(|| {
        format!(
            "port {port} is in use (another pooler? `ss -ltnp sport = :{port}` tells): \
             stop that program, or choose another port with `PORT=7432 make run`"
        )
    })?;
    Ok(port)
}

/// Finds pgbench: in the PATH, or in the folder of an installed server (Ubuntu does not put it into the PATH).
fn pgbench_path() -> Result<PathBuf> {
    let on_path =
        Command::new("pgbench").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if on_path.is_ok_and(|status| status.success()) {
        return Ok(PathBuf::from("pgbench"));
    }
    let installed = Binaries::installed().into_iter().rev().map(|binaries| binaries.program("pgbench"));
    installed.into_iter().find(|path| path.is_file()).context("there is no pgbench: is postgresql installed?")
}

fn start_proxy(cluster: &Cluster, port: u16) -> Result<Proxy> {
    let upstream = cluster.url(APP_USER);
    let listen = format!("127.0.0.1:{port}");
    Proxy::start_at(port, None, &["--upstream", &upstream, "--listen", &listen])
}

/// One line each protocol: PostgreSQL on its own, then through Trunkline.
fn print_table(pgbench: &PathBuf, cluster: &Cluster, proxy: &Proxy) -> Result<()> {
    let seconds = env::var("SECONDS_EACH").unwrap_or_else(|_| SECONDS_EACH.to_owned());
    println!("pgbench -S, {CLIENTS} clients, {seconds} s a line (everything shares this machine's cores)");
    println!(
        "{:<10} {:<18} {:>9} {:>12} {:>26}",
        "protocol", "to", "tps", "latency ms", "proxy CPU us/transaction"
    );
    for protocol in PROTOCOLS {
        let workload =
            ["--select-only", "--no-vacuum", "--client", CLIENTS, "--time", &seconds, "--protocol", protocol];
        let direct = measure(pgbench, cluster.port(), &workload)?;
        println!(
            "{protocol:<10} {:<18} {:>9.0} {:>12.3} {:>26}",
            "PostgreSQL", direct.rate, direct.latency, "-"
        );
        let before = proxy.cpu_time()?;
        let through = measure(pgbench, proxy.port(), &workload)?;
        let cost = microseconds_each(proxy.cpu_time()?.saturating_sub(before), through.transactions);
        println!(
            "{protocol:<10} {:<18} {:>9.0} {:>12.3} {cost:>26.1}",
            "Trunkline", through.rate, through.latency
        );
    }
    Ok(())
}

fn microseconds_each(time: Duration, transactions: f64) -> f64 {
    time.as_secs_f64() * 1e6 / transactions.max(1.0)
}

fn measure(pgbench: &PathBuf, port: u16, arguments: &[&str]) -> Result<Measured> {
    let report = run_pgbench(pgbench, port, arguments)?;
    let number = |label: &str| -> Result<f64> {
        let line = report.lines().find_map(|line| line.strip_prefix(label));
        let word = line.and_then(|rest| rest.split([' ', '/']).find(|word| !word.is_empty()));
        let number = word.and_then(|word| word.parse().ok());
        number.with_context(|| format!("pgbench's report has no {label:?}:\n{report}"))
    };
    let failed = number("number of failed transactions: ").unwrap_or(0.0);
    ensure!(failed == 0.0, "{failed} transactions failed:\n{report}");
    Ok(Measured {
        rate: number("tps = ")?,
        latency: number("latency average = ")?,
        transactions: number("number of transactions actually processed: ")?,
    })
}

fn run_pgbench(pgbench: &PathBuf, port: u16, arguments: &[&str]) -> Result<String> {
    let done = Command::new(pgbench)
        .args(["--host", "127.0.0.1", "--port", &port.to_string(), "--username", APP_USER])
        .args(arguments)
        .arg(DATABASE)
        .env("PGPASSWORD", PASSWORD)
        .stdin(Stdio::null())
        .output()
        .context("cannot run pgbench")?;
    ensure!(done.status.success(), "pgbench on port {port}: {}", String::from_utf8_lossy(&done.stderr));
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Returns on Ctrl-C or SIGTERM. It is an error if the proxy ends before.
fn wait_for_signal(signals: &mut Signals, proxy: &mut Proxy) -> Result<()> {
    for signal in signals.forever() {
        if signal != SIGCHLD {
            println!();
            return Ok(());
        }
        if !proxy.is_running()? {
            bail!("trunkline has ended. Its log:\n{}", proxy.log());
        }
    }
    Ok(())
}
