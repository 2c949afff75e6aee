//! The beginning of a report: machine, versions and date, without which figures mean nothing.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use trunkline_testkit::repository_root;

use crate::arguments::Options;
use crate::contender::{Ground, POOL_SIZE};
use crate::daemon;

/// The report's beginning.
pub(crate) fn render(options: &Options, ground: &Ground) -> String {
    let mut lines = Vec::new();
    let mut line = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            lines.push(format!("- {name}: {value}"));
        }
    };
    line("machine", machine());
    line("kernel", read("/proc/sys/kernel/osrelease"));
    line(
        "load when it began",
        read("/proc/loadavg").map(|text| text.split(' ').take(3).collect::<Vec<_>>().join(" ")),
    );
    line("PostgreSQL", version(&ground.binaries.program("postgres")));
    line("PgBouncer", ground.pgbouncer.as_deref().and_then(version));
    line("Trunkline", ground.trunkline.as_deref().and_then(trunkline));
    line(
        "runs",
        Some(format!("{} of {} s each, interleaved; medians", options.repetitions, options.seconds)),
    );
    line(
        "pools",
        Some(format!("transaction mode, {POOL_SIZE} server connections; everything on loopback, no TLS")),
    );
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    line(
        "workers",
        Some(match options.cpu {
            Some(_) => "one each: Trunkline takes one for each core it may use".to_owned(),
            None => format!(
                "Trunkline {cores}, its default (one for each core), unless a column or row says otherwise; all others one"
            ),
        }),
    );
    line(
        "CPUs",
        Some(match options.cpu {
            Some(cpu) => format!("every proxy pinned to CPU {cpu} (taskset), all else free"),
            None => "nothing is pinned".to_owned(),
        }),
    );
    let mut text = format!("Run of {}:\n\n", date().unwrap_or_default());
    for line in lines {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{line}");
    }
    text + "\nCPU is the proxy process's own, user and system, all threads (`/proc/PID/task/*/schedstat`).\n"
}

fn machine() -> Option<String> {
    let cpus = read("/proc/cpuinfo")?;
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": unknown CPU");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = read("/proc/meminfo")?;
    let kib: u64 = memory.lines().next()?.split_whitespace().nth(1)?.parse().ok()?;
    let model = model.trim_start_matches([':', ' ', '\t']);
    Some(format!("{model}, {cores} cores, {} GiB", kib.div_ceil(1 << 20)))
}

fn version(program: &Path) -> Option<String> {
    let said = daemon::run(Command::new(program).arg("--version")).ok()?;
    said.lines().next().map(str::to_owned)
}

/// Which build of Trunkline is measured. `make release` leaves its profile in the folder of the binary.
fn trunkline(program: &Path) -> Option<String> {
    let build = if program.with_extension("profdata").exists() {
        "guided by a profile"
    } else {
        "built without a profile"
    };
    Some(format!("{}{}, {build}", version(program)?, commit()))
}

fn commit() -> String {
    let mut git = Command::new("git");
    git.args(["rev-parse", "--short", "HEAD"]).current_dir(repository_root());
    daemon::run(&mut git).map(|hash| format!(" (tree at {})", hash.trim())).unwrap_or_default()
}

fn date() -> Option<String> {
    daemon::run(Command::new("date").args(["-u", "+%Y-%m-%d"])).ok().map(|text| text.trim().to_owned())
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}
