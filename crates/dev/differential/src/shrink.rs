//! Shortens a script that shows a difference.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::play::{Difference, Outcome, PlayOptions, Sides};
use crate::script::{Action, Message, Script, Step, Turn};

/// The most plays for one shrinking.
const PLAYS_MAX: usize = 600;
/// How long a shrinking may take. If clients get no answer, each play waits for its time limit.
const TIME_MAX: Duration = Duration::from_secs(180);

/// Removes steps that are not needed for a difference.
#[derive(Debug)]
pub struct Shrinker<'a> {
    sides: &'a Sides,
    play_options: PlayOptions,
    plays: usize,
    begun: Instant,
    script: Script,
    difference: Difference,
}

impl<'a> Shrinker<'a> {
    /// Begins with a script and the difference that it shows.
    #[must_use]
    pub fn new(sides: &'a Sides, play_options: PlayOptions, script: Script, difference: Difference) -> Self {
        Self { sides, play_options, plays: 0, begun: Instant::now(), script, difference }
    }

    /// The shortest script found, and the difference that it shows.
    ///
    /// # Errors
    /// When a script cannot be played at all.
    pub fn shrink(mut self) -> Result<(Script, Difference)> {
        let mut steps = self.script.steps.clone();
        steps.truncate(self.difference.step + 1);
        self.attempt(steps)?;
        let mut before = usize::MAX;
        while size(&self.script) < before && !self.is_spent() {
            before = size(&self.script);
            self.drop_steps()?;
            self.simplify_steps()?;
        }
        Ok((self.script, self.difference))
    }

    /// Removes sequences of steps, long ones first.
    fn drop_steps(&mut self) -> Result<()> {
        let mut run = (self.script.steps.len() / 2).max(1);
        loop {
            let mut at = self.script.steps.len();
            while at > 0 {
                let from = at.saturating_sub(run);
                let mut steps = self.script.steps.clone();
                steps.drain(from..at.min(steps.len()));
                self.attempt(steps)?;
                at = from.min(self.script.steps.len());
            }
            if run == 1 {
                return Ok(());
            }
            run /= 2;
        }
    }

    /// Makes single steps shorter.
    fn simplify_steps(&mut self) -> Result<()> {
        let mut at = self.script.steps.len();
        while at > 0 {
            at -= 1;
            let mut tried = 0;
            while let Some(next) =
                self.script.steps.get(at).and_then(|step| simpler(step).into_iter().nth(tried))
            {
                let mut steps = self.script.steps.clone();
                steps[at] = next;
                if !self.attempt(steps)? {
                    tried += 1;
                }
            }
        }
        Ok(())
    }

    fn is_spent(&self) -> bool {
        self.plays >= PLAYS_MAX || self.begun.elapsed() >= TIME_MAX
    }

    /// Keeps `steps` if they still show a difference.
    fn attempt(&mut self, steps: Vec<Step>) -> Result<bool> {
        if self.is_spent() || steps.is_empty() {
            return Ok(false);
        }
        self.plays += 1;
        let script = Script { steps, ..self.script.clone() };
        let Outcome::Differs(difference) = self.sides.play(&script, self.play_options)? else {
            return Ok(false);
        };
        if !is_alike(&self.difference, &difference) {
            return Ok(false);
        }
        self.script = script;
        self.difference = *difference;
        Ok(true)
    }
}

/// Whether two differences are of the same kind. Shrinking must not change from one fault to another.
fn is_alike(a: &Difference, b: &Difference) -> bool {
    kind(a) == kind(b)
}

/// The types of the first unequal messages with their SQLSTATEs, and how the answers ended.
fn kind(difference: &Difference) -> impl PartialEq {
    let (direct, pooled) = (&difference.direct, &difference.pooled);
    let same = direct.frames.iter().zip(&pooled.frames).take_while(|(a, b)| a == b).count();
    let first = |frames: &[trunkline_probes::testkit::Frame]| {
        frames.get(same).map(|frame| (frame.tag, frame.field(b'C').filter(|_| b"EN".contains(&frame.tag))))
    };
    (first(&direct.frames), first(&pooled.frames), direct.end, pooled.end)
}

/// The size of a script.
fn size(script: &Script) -> usize {
    let of = |step: &Step| match &step.action {
        Action::Login(startup) => 1 + startup.len(),
        Action::Turns(turns) | Action::Change(turns) => {
            let messages = turns.iter().flatten();
            1 + messages.map(|message| 1 + message.statements()).sum::<usize>()
        }
        _ => 1,
    };
    script.steps.iter().map(of).sum()
}

/// All steps that are equal to this one without one of its parts.
fn simpler(step: &Step) -> Vec<Step> {
    let deeds: Vec<Action> = match &step.action {
        Action::Login(startup) => without_one(startup).into_iter().map(Action::Login).collect(),
        Action::Turns(turns) => simpler_turns(turns).into_iter().map(Action::Turns).collect(),
        Action::Change(turns) => simpler_turns(turns).into_iter().map(Action::Change).collect(),
        Action::Leave | Action::Past(_) => Vec::new(),
    };
    deeds.into_iter().map(|action| Step { actor: step.actor, action }).collect()
}

fn simpler_turns(turns: &[Turn]) -> Vec<Vec<Turn>> {
    let mut all = if turns.len() > 1 { without_one(turns) } else { Vec::new() };
    for (index, turn) in turns.iter().enumerate() {
        for shorter in simpler_turn(turn) {
            let mut turns = turns.to_vec();
            turns[index] = shorter;
            all.push(turns);
        }
    }
    all
}

/// All turns that are equal to this one without one message. Messages that end the turn, or a COPY in it, stay, because otherwise
/// the answer would have no end.
fn simpler_turn(turn: &Turn) -> Vec<Turn> {
    let mut all = Vec::new();
    for (index, message) in turn.iter().enumerate() {
        match message {
            Message::Query(statements) if statements.len() > 1 => {
                for shorter in without_one(statements) {
                    let mut turn = turn.clone();
                    turn[index] = Message::Query(shorter);
                    all.push(turn);
                }
            }
            Message::Query(_) | Message::CopyDone | Message::CopyFail(_) | Message::Sync => {}
            Message::Flush if index + 1 == turn.len() => {}
            _ => {
                let mut turn = turn.clone();
                turn.remove(index);
                all.push(turn);
            }
        }
    }
    all
}

fn without_one<T: Clone>(all: &[T]) -> Vec<Vec<T>> {
    let without = |index: usize| {
        let mut rest = all.to_vec();
        rest.remove(index);
        rest
    };
    (0..all.len()).map(without).collect()
}
