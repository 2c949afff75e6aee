//! Plays a script on both sides, directly and through the proxy, and compares the answers.

mod churn;
mod fields;
mod oids;
mod side;

use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use trunkline_probes::testkit::cluster::TRUSTED_USER;
use trunkline_probes::testkit::{Frame, Proxy, RawClient, Version};
use trunkline_probes::{Setup, Stage};

pub use self::churn::Churn;
pub use self::fields::Errors;
use self::side::Side;
pub use self::side::{Answer, End};
use crate::script::{Action, Pool, Script, Step};
use crate::show;

/// SQL that makes the contents of a script's database: all tables and types that `generate` uses.
const SCHEMA: &str = include_str!("schema.sql");

/// How many messages of each answer a report shows, beginning with the last equal one.
const SHOWN: usize = 6;

/// How a script is played.
#[derive(Debug, Clone, Copy)]
pub struct PlayOptions {
    /// How many churning clients run beside the script in threads of their own. With 0, every play of a script is equal.
    pub churners: usize,
    /// How long an answer may take.
    pub patience: Duration,
    /// How much of errors is compared.
    pub errors: Errors,
}

/// The figures of scripts without a difference.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    /// Steps that were played.
    pub steps: usize,
    /// Statements in these steps: those of a Query, and each Execute.
    pub statements: usize,
    /// Steps that were left out, because they would have waited for a lock or a connection of another client.
    pub skipped: usize,
    /// Turns of the churning clients.
    pub churned: usize,
    /// Messages compared.
    pub messages: usize,
    /// How many of these were ErrorResponses.
    pub errors: usize,
    /// Scripts that ended early, because the proxy repaired a statement that PostgreSQL itself refuses (see [`Class::OldNames`]).
    ///
    /// [`Class::OldNames`]: crate::Class::OldNames
    pub healed: usize,
    /// Scripts that ended early, because a server connection in a failed transaction lacked a statement (docs/pooling.md).
    pub lacking: usize,
    /// Scripts that ended early, because an error after a change of the schema came with another message (docs/pooling.md).
    pub shifted: usize,
    /// Scripts that ended early, because the server itself sent endless errors.
    pub endless: usize,
    /// Steps in which `SET LOCAL` warned on the direct connection only.
    pub pipelined: usize,
}

/// Where the two sides differ.
#[derive(Debug, Clone)]
pub struct Difference {
    /// The step's place in the script.
    pub step: usize,
    /// The answer of the direct connection.
    pub direct: Answer,
    /// The answer through the proxy.
    pub pooled: Answer,
    /// The proxy's log.
    pub log: String,
}

/// The result of a script.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The two sides gave equal answers.
    Same(Figures),
    /// The answers differ.
    Differs(Box<Difference>),
    /// The direct connection does not answer everything, so the script is wrong.
    Unplayable(usize, Answer),
    /// A churning client was disconnected, or got no answer.
    Disturbed(String),
}

/// A number larger than the connections of a side.
const TEMPORARY_SCHEMAS: usize = 32;

/// Two databases, one for each side, on different servers.
#[derive(Debug)]
pub struct Sides {
    direct: Stage,
    pooled: Stage,
}

impl Sides {
    /// On the servers of `version` that the process shares.
    ///
    /// # Errors
    /// When a server does not answer.
    pub fn new(version: Version) -> Result<Self> {
        let sides = Self { direct: Stage::apart(version), pooled: Stage::new(version) };
        for stage in [&sides.direct, &sides.pooled] {
            // A new schema makes PostgreSQL analyse all prepared statements again, so the schemas for temporary tables are made before.
            let mut clients: Vec<_> = (0..TEMPORARY_SCHEMAS).map(|_| stage.superuser()).collect();
            clients.iter_mut().try_for_each(|client| client.sql(side::TEMPORARY).map(drop))?;
        }
        Ok(sides)
    }

    /// Plays `script` on fresh schemas, with a fresh proxy.
    ///
    /// # Errors
    /// When there is no server or no proxy to play on.
    pub fn play(&self, script: &Script, play_options: PlayOptions) -> Result<Outcome> {
        let past = [open(&self.direct)?, open(&self.pooled)?];
        let proxy = start(self.pooled.setup(), &script.pool, play_options);
        let address = self.direct.cluster().address();
        let mut play = Play {
            direct: Side::new(address, self.direct.database(), play_options),
            pooled: Side::new(proxy.address(), "app", play_options),
            past,
            servers: script.pool.size,
            changing: None,
            figures: Figures::default(),
        };
        let churn = Churn::start(&proxy, script, play_options)?;
        for (index, step) in script.steps.iter().enumerate() {
            let Some((direct, pooled)) = play.step(step)? else { continue };
            if direct.end == End::Silent {
                return Ok(Outcome::Unplayable(index, direct));
            }
            if direct.end == End::Endless {
                play.figures.endless += 1;
                break;
            }
            if direct != pooled && is_outdated(&direct) {
                play.figures.healed += 1;
                break;
            }
            if direct != pooled
                && (lacks_statement_in_failed_transaction(&direct, &pooled)
                    || has_no_snapshot(&direct, &pooled))
            {
                play.figures.lacking += 1;
                break;
            }
            if direct != pooled
                && (has_same_error_earlier(&direct, &pooled) || is_read_again(&direct, &pooled))
            {
                play.figures.shifted += 1;
                break;
            }
            if direct != pooled && is_pipelined(&direct, &pooled) {
                play.figures.pipelined += 1;
                continue;
            }
            if direct != pooled {
                let log = proxy.log();
                return Ok(Outcome::Differs(Box::new(Difference { step: index, direct, pooled, log })));
            }
        }
        // Churning clients may wait for locks of the script's clients.
        play.pooled.close();
        match churn.finish() {
            Ok(churned) => Ok(Outcome::Same(Figures { churned, ..play.figures })),
            Err(error) => Ok(Outcome::Disturbed(format!("{error:#}\n{}", proxy.log()))),
        }
    }
}

/// One play of a script.
struct Play {
    direct: Side,
    pooled: Side,
    past: [RawClient; 2],
    /// How many clients the pool can serve at once.
    servers: usize,
    /// The client that has changed tables in a transaction that is still open. All others would wait for its locks.
    changing: Option<usize>,
    figures: Figures,
}

impl Play {
    /// Plays a step and returns both answers; `None` if the step is left out.
    fn step(&mut self, step: &Step) -> Result<Option<(Answer, Answer)>> {
        if !self.can_be_played(step) {
            self.figures.skipped += 1;
            return Ok(None);
        }
        self.figures.steps += 1;
        self.figures.statements += step.statements();
        let (direct, pooled) = match &step.action {
            Action::Login(startup) => {
                let both = (self.direct.login(step.actor, startup)?, self.pooled.login(step.actor, startup)?);
                self.direct.make_temporary(step.actor);
                both
            }
            Action::Turns(turns) | Action::Change(turns) => {
                (self.direct.turns(step.actor, turns), self.pooled.turns(step.actor, turns))
            }
            Action::Leave => {
                self.direct.leave(step.actor);
                self.pooled.leave(step.actor);
                return Ok(None);
            }
            Action::Past(sql) => {
                for client in &mut self.past {
                    // An error comes on both sides, because they have the same contents.
                    _ = client.sql(sql);
                }
                return Ok(None);
            }
        };
        if matches!(step.action, Action::Change(_)) && self.direct.holds(step.actor) {
            self.changing = Some(step.actor);
        }
        self.figures.messages += direct.frames.len();
        self.figures.errors += direct.frames.iter().filter(|frame| frame.tag == b'E').count();
        Ok(Some((direct, pooled)))
    }

    /// Whether a step would not wait for another client: steps are played one after the other, so it would wait for ever.
    fn can_be_played(&mut self, step: &Step) -> bool {
        self.changing = self.changing.filter(|actor| self.direct.holds(*actor));
        if self.changing.is_some_and(|actor| actor != step.actor) {
            return false;
        }
        let others: Vec<usize> =
            self.direct.holders().into_iter().filter(|actor| *actor != step.actor).collect();
        match &step.action {
            Action::Login(_) => others.len() < self.servers,
            Action::Turns(_) => self.direct.is_there(step.actor) && others.len() < self.servers,
            Action::Change(_) => self.direct.is_there(step.actor) && others.is_empty(),
            Action::Leave => self.direct.is_there(step.actor),
            Action::Past(_) => self.direct.holders().is_empty(),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let same = self.direct.frames.iter().zip(&self.pooled.frames).take_while(|(a, b)| a == b).count();
        writeln!(f, "step {}, the first {same} messages of the answers are equal", self.step)?;
        for (who, answer) in [("direct", &self.direct), ("pooled", &self.pooled)] {
            for (index, frame) in answer.frames.iter().enumerate().skip(same.saturating_sub(1)).take(SHOWN) {
                writeln!(f, "  {who} {index:3}  {}", show::frame(frame))?;
            }
            writeln!(f, "  {who}      {:?}", answer.end)?;
        }
        if self.log.is_empty() { Ok(()) } else { writeln!(f, "log:\n{}", self.log) }
    }
}

/// Whether the difference is this: a Parse that the proxy answered itself took no snapshot, so the transaction's mode can still be
/// changed through the proxy (docs/pooling.md).
fn has_no_snapshot(direct: &Answer, pooled: &Answer) -> bool {
    let pair = direct.frames.iter().zip(&pooled.frames).find(|(direct, pooled)| direct != pooled);
    pair.is_some_and(|(direct, pooled)| direct.sqlstate().as_deref() == Some("25001") && pooled.tag == b'C')
}

/// Whether the difference is this: the proxy's server connection lacked a statement in a failed transaction and could not prepare it.
/// So it says that the transaction has failed, where the direct connection describes the statement or reports an error of its Bind.
fn lacks_statement_in_failed_transaction(direct: &Answer, pooled: &Answer) -> bool {
    let pair = direct.frames.iter().zip(&pooled.frames).find(|(direct, pooled)| direct != pooled);
    pair.is_some_and(|(direct, pooled)| {
        pooled.sqlstate().as_deref() == Some("25P02")
            && (matches!(direct.tag, b't' | b'T' | b'n') || direct.sqlstate().as_deref() == Some("08P01"))
    })
}

/// Whether both sides report the same error of a statement whose table, type or function is gone, but one side some messages
/// earlier: a server connection that lacks the statement parses it again, and one that has it does not.
fn has_same_error_earlier(direct: &Answer, pooled: &Answer) -> bool {
    let told = |answer: &Answer| -> Vec<Frame> {
        let mut frames = answer.frames.clone();
        frames.retain(|frame| !matches!(frame.tag, b'1' | b'2' | b'3' | b't'));
        // In the error of a new Parse without parameter types, a function's arguments are `unknown`.
        frames.iter_mut().for_each(|frame| fields::comparable(frame, Errors::Codes));
        frames
    };
    let gone = |frame: &Frame| frame.sqlstate().is_some_and(|code| code.starts_with("42"));
    let pair = direct.frames.iter().zip(&pooled.frames).find(|(direct, pooled)| direct != pooled);
    if pair.is_some_and(|(direct, pooled)| gone(direct) && pooled.tag == b'1') {
        // If the server connection has the statement, the proxy answers its Parse, and the error comes when it is used.
        return true;
    }
    direct.frames.iter().any(gone) && direct.end == pooled.end && told(direct) == told(pooled)
}

/// Whether one side has read a constant again after a change of the schema, and reports an error of it (docs/pooling.md). Through
/// the proxy, `'f1'::regproc` is looked up again if a server connection lacks the statement. PostgreSQL itself reads `'01/02/2021'`
/// again under the current settings, while the proxy prepares the statement under those of its Parse. A function that is gone is shown
/// as its OID.
fn is_read_again(direct: &Answer, pooled: &Answer) -> bool {
    let is_fault = |frame: &Frame, file| frame.tag == b'E' && frame.field(b'F').as_deref() == Some(file);
    let pair = direct.frames.iter().zip(&pooled.frames).find(|(direct, pooled)| direct != pooled);
    pair.is_some_and(|(direct, pooled)| {
        (direct.tag == b'2' && is_fault(pooled, "regproc.c"))
            || (matches!(pooled.tag, b'T' | b'2') && is_fault(direct, "datetime.c"))
            || (is_oid(direct) && is_oid(pooled))
    })
}

/// Whether the message is a row with one value, which is the OID of a user's object as text.
fn is_oid(frame: &Frame) -> bool {
    let columns = frame.columns().ok().filter(|columns| frame.tag == b'D' && columns.len() == 1);
    let text = columns.and_then(|mut columns| String::from_utf8(columns.remove(0)?).ok());
    text.and_then(|text| text.parse::<u32>().ok()).is_some_and(|oid| oid >= oids::FIRST_OF_USERS)
}

/// Whether the only difference is this: `SET LOCAL` warned of a missing transaction block on the direct connection only. See
/// docs/pooling.md: a statement that is prepared again under other settings than those of its connection runs as part of a pipeline,
/// which PostgreSQL treats like a transaction block.
fn is_pipelined(direct: &Answer, pooled: &Answer) -> bool {
    let warns = |frame: &Frame| frame.tag == b'N' && frame.field(b'C').as_deref() == Some("25P01");
    direct.end == pooled.end
        && direct.frames.iter().any(warns)
        && direct.frames.iter().filter(|frame| !warns(frame)).eq(&pooled.frames)
}

/// Whether the server refused a statement whose result type has changed. See docs/pooling.md: the proxy prepares the statement again
/// and repeats the turn. After that the two sides have different states, so the script ends.
fn is_outdated(direct: &Answer) -> bool {
    let refused = |frame: &Frame| {
        frame.sqlstate().as_deref() == Some("0A000")
            && frame.field(b'M').as_deref() == Some("cached plan must not change result type")
    };
    direct.frames.iter().any(refused)
}

/// Makes a database's contents again, and returns a direct connection to it.
fn open(stage: &Stage) -> Result<RawClient> {
    let schemas = format!(
        "drop schema public cascade; create schema public authorization {TRUSTED_USER};
         drop schema if exists s2 cascade; create schema s2 authorization {TRUSTED_USER}"
    );
    stage.superuser().sql(&schemas).context("the schema before cannot be dropped")?;
    let mut client = RawClient::login(stage.cluster().address(), TRUSTED_USER, "", stage.database())?;
    client.sql(SCHEMA).context("the schema cannot be made")?;
    ensure!(client.sql("select count(*) from w")? == ["4"], "the schema is not as it was meant");
    Ok(client)
}

/// Starts a proxy with one worker and round robin, so that each turn uses another server connection than the turn before.
fn start(setup: Setup, pool: &Pool, play_options: PlayOptions) -> Proxy {
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    setup
        .set("workers", if play_options.churners == 0 { 1 } else { 2 })
        .set("auth.type", "trust")
        .set("pool.pool_size", number(pool.size))
        .set("pool.server_round_robin", true)
        .set("limits.max_prepared_statements", number(pool.prepared))
        // The same value as on the direct side.
        .set("databases.app.connect_query", side::TEMPORARY)
        .start()
}
