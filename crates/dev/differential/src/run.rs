//! Many scripts, one after the other.

use std::time::Duration;

use anyhow::Result;
use trunkline_probes::testkit::Version;

use crate::class::Classes;
use crate::generate;
use crate::play::{Errors, Figures, Manner, Outcome, Theatre};
use crate::shrink::Shrinker;

/// How long a server or the proxy may take to answer before it counts as silent.
const PATIENCE: Duration = Duration::from_secs(30);
/// The same while a difference is made shorter: most of those plays that are silent are so because of the fault.
const PATIENCE_SHRINKING: Duration = Duration::from_secs(4);

/// What to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The first script's seed; the next has the next.
    pub seed: u64,
    /// Statements of all scripts together, at least.
    pub statements: usize,
    /// Statements of one script, about.
    pub script_statements: usize,
    /// What scripts may make use of.
    pub classes: Classes,
    /// PostgreSQL's version.
    pub version: Version,
    /// Clients that churn in threads of their own.
    pub churners: usize,
    /// How much of errors is compared.
    pub errors: Errors,
    /// Whether a difference is made shorter before it is reported.
    pub shrink: bool,
    /// Differences to report before the run ends.
    pub differences_max: usize,
}

/// What a run has found.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Scripts played.
    pub scripts: usize,
    /// All of the scripts without a difference, added up.
    pub figures: Figures,
    /// A report of each difference.
    pub differences: Vec<String>,
}

/// Plays scripts until there have been enough statements or differences. `progress` is told of each script.
///
/// # Errors
/// When there is no server or no proxy to play on.
pub fn run(options: &Options, mut progress: impl FnMut(u64, &Summary)) -> Result<Summary> {
    let theatre = Theatre::new(options.version)?;
    let mut summary = Summary::default();
    let mut seed = options.seed;
    while summary.figures.statements < options.statements
        && summary.differences.len() < options.differences_max
    {
        let (played, report) = one(&theatre, options, seed)?;
        summary.scripts += 1;
        summary.figures.add(&played);
        summary.differences.extend(report);
        progress(seed, &summary);
        seed += 1;
    }
    Ok(summary)
}

/// Plays the script of `seed`.
fn one(theatre: &Theatre, options: &Options, seed: u64) -> Result<(Figures, Option<String>)> {
    let script = generate::script(seed, options.script_statements, options.classes, options.version);
    let manner = Manner { churners: options.churners, patience: PATIENCE, errors: options.errors };
    let again = format!(
        "PostgreSQL {}: --postgres {} --seed {seed} --script-statements {} --churners {} --classes {}",
        options.version.0, options.version.0, options.script_statements, options.churners, options.classes
    );
    let difference = match theatre.play(&script, manner)? {
        Outcome::Same(figures) => return Ok((figures, None)),
        Outcome::Differs(difference) => difference,
        Outcome::Unplayable(step, answer) => {
            let step = &script.steps[step];
            return Ok((
                Figures::default(),
                Some(format!("{again}\nthe server itself is silent: {step}\n{answer:?}")),
            ));
        }
        Outcome::Disturbed(what) => return Ok((Figures::default(), Some(format!("{again}\n{what}")))),
    };
    if !options.shrink {
        let step = &script.steps[difference.step];
        return Ok((Figures::default(), Some(format!("{again}\n{step}\n{difference}"))));
    }
    // Without the churning clients each play is the same: with them a difference may come and go.
    let mut manner = Manner { churners: 0, patience: PATIENCE_SHRINKING, ..manner };
    if options.churners > 0 && !matches!(theatre.play(&script, manner)?, Outcome::Differs(_)) {
        manner.churners = options.churners;
    }
    let (script, difference) = Shrinker::new(theatre, manner, script, *difference).shrink()?;
    Ok((Figures::default(), Some(format!("{again}\n{script}{difference}"))))
}

impl Figures {
    fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.statements += other.statements;
        self.skipped += other.skipped;
        self.churned += other.churned;
        self.messages += other.messages;
        self.errors += other.errors;
        self.healed += other.healed;
        self.lacking += other.lacking;
        self.shifted += other.shifted;
        self.endless += other.endless;
        self.pipelined += other.pipelined;
    }
}
