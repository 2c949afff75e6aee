//! Plays many scripts, one after the other.

use std::time::Duration;

use anyhow::Result;
use trunkline_probes::testkit::Version;

use crate::class::Classes;
use crate::generate;
use crate::play::{Errors, Figures, Outcome, PlayOptions, Sides};
use crate::shrink::Shrinker;

/// How long an answer of a server or the proxy may take. After that it counts as missing.
const PATIENCE: Duration = Duration::from_secs(30);
/// The same while a script is shortened: then, most missing answers are missing because of the fault.
const PATIENCE_SHRINKING: Duration = Duration::from_secs(4);

/// The options of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The first script's seed. Each further script has the next number.
    pub seed: u64,
    /// The least number of statements of all scripts together.
    pub statements: usize,
    /// The approximate number of statements of one script.
    pub script_statements: usize,
    /// The classes of features that scripts may use.
    pub classes: Classes,
    /// PostgreSQL's version.
    pub version: Version,
    /// The number of churning clients.
    pub churners: usize,
    /// Which fields of errors are compared.
    pub errors: Errors,
    /// Whether the script of a difference is shortened before it is reported.
    pub shrink: bool,
    /// The run ends after this many differences.
    pub differences_max: usize,
}

/// The result of a run.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Scripts played.
    pub scripts: usize,
    /// The figures of all scripts without a difference, added up.
    pub figures: Figures,
    /// A report of each difference.
    pub differences: Vec<String>,
}

/// Plays scripts until there have been enough statements or differences. `progress` is called for each script.
///
/// # Errors
/// When there is no server or no proxy to play on.
pub fn run(options: &Options, mut progress: impl FnMut(u64, &Summary)) -> Result<Summary> {
    let sides = Sides::new(options.version)?;
    let mut summary = Summary::default();
    let mut seed = options.seed;
    while summary.figures.statements < options.statements
        && summary.differences.len() < options.differences_max
    {
        let (played, report) = one(&sides, options, seed)?;
        summary.scripts += 1;
        summary.figures.add(&played);
        summary.differences.extend(report);
        progress(seed, &summary);
        seed += 1;
    }
    Ok(summary)
}

/// Plays the script of `seed`.
fn one(sides: &Sides, options: &Options, seed: u64) -> Result<(Figures, Option<String>)> {
    let script = generate::script(seed, options.script_statements, options.classes, options.version);
    let play_options = PlayOptions { churners: options.churners, patience: PATIENCE, errors: options.errors };
    let again = format!(
        "PostgreSQL {}: --postgres {} --seed {seed} --script-statements {} --churners {} --classes {}",
        options.version.0, options.version.0, options.script_statements, options.churners, options.classes
    );
    let difference = match sides.play(&script, play_options)? {
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
    // Without churning clients, all plays are equal. With them, a difference may not come again.
    let mut play_options = PlayOptions { churners: 0, patience: PATIENCE_SHRINKING, ..play_options };
    if options.churners > 0 && !matches!(sides.play(&script, play_options)?, Outcome::Differs(_)) {
        play_options.churners = options.churners;
    }
    let (script, difference) = Shrinker::new(sides, play_options, script, *difference).shrink()?;
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
