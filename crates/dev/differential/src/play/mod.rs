//! Plays a script on both sides and compares what they answer.

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
use crate::script::{Deed, Pool, Script, Step};
use crate::show;

/// What a script finds in its database. It names what `generate` speaks of.
const SCHEMA: &str = include_str!("schema.sql");

/// Messages of each answer that a report shows, the last equal one first.
const SHOWN: usize = 6;

/// How often and how patiently a script is played.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// Clients beside it that do what they like, in threads of their own: 0 makes every play of a script the same.
    pub churners: usize,
    /// How long an answer may take.
    pub patience: Duration,
    /// How much of errors is compared.
    pub errors: Errors,
}

/// What a script without a difference came to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    /// Steps that were played.
    pub steps: usize,
    /// Statements in them: those of a Query, and each Execute.
    pub statements: usize,
    /// Steps left out, since somebody held what they would have waited for.
    pub skipped: usize,
    /// Turns of the churning clients.
    pub churned: usize,
    /// Messages compared.
    pub messages: usize,
    /// ErrorResponses among them.
    pub errors: usize,
    /// Scripts that ended early, since the proxy healed what PostgreSQL itself refuses (see [`Class::OldNames`]).
    ///
    /// [`Class::OldNames`]: crate::Class::OldNames
    pub healed: usize,
    /// Scripts that ended early, since a server connection in a failed transaction lacked a statement (docs/pooling.md).
    pub lacking: usize,
    /// Scripts that ended early, since what a change of the schema has made wrong was said at another message
    /// (docs/pooling.md).
    pub shifted: usize,
    /// Scripts that ended early, since the server itself gave one error after the other.
    pub endless: usize,
    /// Steps where `SET LOCAL` warned on the direct connection only.
    pub pipelined: usize,
}

/// Where the two sides differ.
#[derive(Debug, Clone)]
pub struct Difference {
    /// The step's place in the script.
    pub step: usize,
    /// What the server itself says.
    pub direct: Answer,
    /// What comes through the proxy.
    pub pooled: Answer,
    /// What the proxy has logged.
    pub log: String,
}

/// What became of a script.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The two sides said the same.
    Same(Figures),
    /// They did not.
    Differs(Box<Difference>),
    /// The server itself does not answer all: the script is at fault.
    Unplayable(usize, Answer),
    /// A client beside the script was ended, or got no answer.
    Disturbed(String),
}

/// More than a side ever has connections.
const TEMPORARY_SCHEMAS: usize = 32;

/// Two databases, one for each side, on servers apart.
#[derive(Debug)]
pub struct Theatre {
    direct: Stage,
    pooled: Stage,
}

impl Theatre {
    /// On the servers of `version` that the process shares.
    ///
    /// # Errors
    /// When a server does not answer.
    pub fn new(version: Version) -> Result<Self> {
        let theatre = Self { direct: Stage::apart(version), pooled: Stage::new(version) };
        for stage in [&theatre.direct, &theatre.pooled] {
            // A new schema makes every connection read its statements again: those for temporary tables are made before.
            let mut clients: Vec<_> = (0..TEMPORARY_SCHEMAS).map(|_| stage.superuser()).collect();
            clients.iter_mut().try_for_each(|client| client.sql(side::TEMPORARY).map(drop))?;
        }
        Ok(theatre)
    }

    /// Plays `script` on fresh schemas, with a fresh proxy.
    ///
    /// # Errors
    /// When there is no server or no proxy to play on.
    pub fn play(&self, script: &Script, manner: Manner) -> Result<Outcome> {
        let past = [open(&self.direct)?, open(&self.pooled)?];
        let proxy = start(self.pooled.setup(), &script.pool, manner);
        let address = self.direct.cluster().address();
        let mut play = Play {
            direct: Side::new(address, self.direct.database(), manner),
            pooled: Side::new(proxy.address(), "app", manner),
            past,
            servers: script.pool.size,
            changing: None,
            figures: Figures::default(),
        };
        let churn = Churn::start(&proxy, script, manner)?;
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
            if direct != pooled && (is_lacking(&direct, &pooled) || has_no_snapshot(&direct, &pooled)) {
                play.figures.lacking += 1;
                break;
            }
            if direct != pooled && (is_shifted(&direct, &pooled) || is_read_again(&direct, &pooled)) {
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
        // Those beside may wait for what the script's clients still hold.
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
    /// The client that has changed tables in a transaction that is still open: everybody else would wait for it.
    changing: Option<usize>,
    figures: Figures,
}

impl Play {
    /// Both answers; `None` when the step is left out.
    fn step(&mut self, step: &Step) -> Result<Option<(Answer, Answer)>> {
        if !self.can_be_played(step) {
            self.figures.skipped += 1;
            return Ok(None);
        }
        self.figures.steps += 1;
        self.figures.statements += step.statements();
        let (direct, pooled) = match &step.deed {
            Deed::Login(startup) => {
                let both = (self.direct.login(step.actor, startup)?, self.pooled.login(step.actor, startup)?);
                self.direct.make_temporary(step.actor);
                both
            }
            Deed::Turns(turns) | Deed::Change(turns) => {
                (self.direct.turns(step.actor, turns), self.pooled.turns(step.actor, turns))
            }
            Deed::Leave => {
                self.direct.leave(step.actor);
                self.pooled.leave(step.actor);
                return Ok(None);
            }
            Deed::Past(sql) => {
                for client in &mut self.past {
                    // What fails, fails on both sides: it is the same contents.
                    _ = client.sql(sql);
                }
                return Ok(None);
            }
        };
        if matches!(step.deed, Deed::Change(_)) && self.direct.holds(step.actor) {
            self.changing = Some(step.actor);
        }
        self.figures.messages += direct.frames.len();
        self.figures.errors += direct.frames.iter().filter(|frame| frame.tag == b'E').count();
        Ok(Some((direct, pooled)))
    }

    /// Steps come one after the other: one that waits for what another client holds would wait for ever.
    fn can_be_played(&mut self, step: &Step) -> bool {
        self.changing = self.changing.filter(|actor| self.direct.holds(*actor));
        if self.changing.is_some_and(|actor| actor != step.actor) {
            return false;
        }
        let others: Vec<usize> =
            self.direct.holders().into_iter().filter(|actor| *actor != step.actor).collect();
        match &step.deed {
            Deed::Login(_) => others.len() < self.servers,
            Deed::Turns(_) => self.direct.is_there(step.actor) && others.len() < self.servers,
            Deed::Change(_) => self.direct.is_there(step.actor) && others.is_empty(),
            Deed::Leave => self.direct.is_there(step.actor),
            Deed::Past(_) => self.direct.holders().is_empty(),
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

/// Whether a Parse that the proxy answered itself took no snapshot in the proxy's transaction: its mode can still be changed
/// there (docs/pooling.md).
fn has_no_snapshot(direct: &Answer, pooled: &Answer) -> bool {
    let pair = direct.frames.iter().zip(&pooled.frames).find(|(direct, pooled)| direct != pooled);
    pair.is_some_and(|(direct, pooled)| direct.sqlstate().as_deref() == Some("25001") && pooled.tag == b'C')
}

/// Whether the proxy's server connection was in a failed transaction and lacked a statement, which could not be prepared
/// there any more: where the server itself describes the statement, or finds fault with its Bind, the proxy's says that the
/// transaction has failed.
fn is_lacking(direct: &Answer, pooled: &Answer) -> bool {
    let pair = direct.frames.iter().zip(&pooled.frames).find(|(direct, pooled)| direct != pooled);
    pair.is_some_and(|(direct, pooled)| {
        pooled.sqlstate().as_deref() == Some("25P02")
            && (matches!(direct.tag, b't' | b'T' | b'n') || direct.sqlstate().as_deref() == Some("08P01"))
    })
}

/// Whether both sides find the same fault with a statement whose table, type or function is gone, one of them some messages
/// earlier: a statement that its server connection has is not parsed again, one that it lacks is.
fn is_shifted(direct: &Answer, pooled: &Answer) -> bool {
    let told = |answer: &Answer| -> Vec<Frame> {
        let mut frames = answer.frames.clone();
        frames.retain(|frame| !matches!(frame.tag, b'1' | b'2' | b'3' | b't'));
        // A fresh Parse that names no types calls a function's arguments unknown.
        frames.iter_mut().for_each(|frame| fields::comparable(frame, Errors::Codes));
        frames
    };
    let gone = |frame: &Frame| frame.sqlstate().is_some_and(|code| code.starts_with("42"));
    let pair = direct.frames.iter().zip(&pooled.frames).find(|(direct, pooled)| direct != pooled);
    if pair.is_some_and(|(direct, pooled)| gone(direct) && pooled.tag == b'1') {
        // Parse is answered where the connection has the statement: the fault comes with its use.
        return true;
    }
    direct.frames.iter().any(gone) && direct.end == pooled.end && told(direct) == told(pooled)
}

/// Whether one side has read a constant again after a change of the schema, and found fault with it (docs/pooling.md).
/// The pooled side looks `'f1'::regproc` up again where a server connection lacks the statement. PostgreSQL itself reads
/// `'01/02/2021'` again under the settings at that moment, where the proxy prepares the statement under those of its
/// Parse. A function that is gone is written as its OID.
fn is_read_again(direct: &Answer, pooled: &Answer) -> bool {
    let is_fault = |frame: &Frame, file| frame.tag == b'E' && frame.field(b'F').as_deref() == Some(file);
    let pair = direct.frames.iter().zip(&pooled.frames).find(|(direct, pooled)| direct != pooled);
    pair.is_some_and(|(direct, pooled)| {
        (direct.tag == b'2' && is_fault(pooled, "regproc.c"))
            || (matches!(pooled.tag, b'T' | b'2') && is_fault(direct, "datetime.c"))
            || (is_oid(direct) && is_oid(pooled))
    })
}

/// Whether it is a row with only the OID of something that a user made, as text.
fn is_oid(frame: &Frame) -> bool {
    let columns = frame.columns().ok().filter(|columns| frame.tag == b'D' && columns.len() == 1);
    let text = columns.and_then(|mut columns| String::from_utf8(columns.remove(0)?).ok());
    text.and_then(|text| text.parse::<u32>().ok()).is_some_and(|oid| oid >= oids::FIRST_OF_USERS)
}

/// Whether all that differs is that `SET LOCAL` warned of a missing transaction block on the direct connection only.
/// docs/pooling.md: a statement that is prepared again under other settings than its connection's runs as a part of a
/// pipeline, which PostgreSQL takes for a block.
fn is_pipelined(direct: &Answer, pooled: &Answer) -> bool {
    let warns = |frame: &Frame| frame.tag == b'N' && frame.field(b'C').as_deref() == Some("25P01");
    direct.end == pooled.end
        && direct.frames.iter().any(warns)
        && direct.frames.iter().filter(|frame| !warns(frame)).eq(&pooled.frames)
}

/// Whether the server refused a statement whose result type has changed. docs/pooling.md: the proxy prepares it again
/// and plays the turn again. From there on the two sides have done different things: the script ends.
fn is_outdated(direct: &Answer) -> bool {
    let refused = |frame: &Frame| {
        frame.sqlstate().as_deref() == Some("0A000")
            && frame.field(b'M').as_deref() == Some("cached plan must not change result type")
    };
    direct.frames.iter().any(refused)
}

/// A database's contents made again, and a connection past the proxy.
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

/// One worker and a round robin: each turn lands on another server connection than the one before.
fn start(setup: Setup, pool: &Pool, manner: Manner) -> Proxy {
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    setup
        .set("workers", if manner.churners == 0 { 1 } else { 2 })
        .set("auth.type", "trust")
        .set("pool.pool_size", number(pool.size))
        .set("pool.server_round_robin", true)
        .set("limits.max_prepared_statements", number(pool.prepared))
        // As on the direct side.
        .set("databases.app.connect_query", side::TEMPORARY)
        .start()
}
