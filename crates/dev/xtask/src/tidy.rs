//! `cargo xtask tidy`: the list of checks.

mod circles;
mod file_circles;
mod flags;
mod fuzz;
mod layers;
mod names;
mod purity;
mod reach;
mod sizes;
mod unsafety;

use crate::finding::Finding;
use crate::tree::Tree;

/// A check: a name for people, and the function that looks for findings.
pub(crate) struct Check {
    /// The statement that is true if the check passes.
    pub(crate) name: &'static str,
    /// Checks the repository. The check passes if there are no findings.
    pub(crate) run: fn(&Tree) -> Vec<Finding>,
}

/// Every check, in the order of the output.
pub(crate) const CHECKS: &[Check] = &[
    Check { name: "every Rust file parses", run: sizes::unparsed },
    Check { name: "core crates depend on what their layer allows", run: layers::manifests },
    Check { name: "core sources touch no socket, clock, thread, file or environment", run: purity::sources },
    Check { name: "unsafe is where C is on the other side, and nowhere else", run: unsafety::elsewhere },
    Check { name: "no file is over 600 lines", run: sizes::files },
    Check { name: "no function is over 70 lines without its reason", run: sizes::functions },
    Check {
        name: "at most five of the board's functions call each other in a circle",
        run: circles::of_calls,
    },
    Check {
        name: "no files of the relay or the pool use each other in a circle",
        run: file_circles::of_uses,
    },
    Check {
        name: "no struct of the relay has more than six fields with only two values",
        run: flags::of_structs,
    },
    Check { name: "every Rust file is part of a crate", run: reach::dead_files },
    Check { name: "no folder or file is named utils, common or helpers", run: names::vague },
    Check { name: "every fuzz target is built and has a corpus", run: fuzz::targets },
];
