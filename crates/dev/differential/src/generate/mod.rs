//! Makes scripts from seeds.

mod changes;
mod literals;
mod settings;
mod startup;
mod texts;
mod turns;
mod wide;

use fastrand::Rng;
use trunkline_probes::testkit::Version;

use self::texts::Text;
use self::wide::Encoding;
use crate::class::{Class, Classes};
use crate::script::{Action, Message, Pool, Script, Step, Turn};

/// The number of clients of a script.
const ACTORS: usize = 4;
/// The number of texts that the clients share.
const TEXTS: usize = 14;

/// The script of `seed`, with about `statements` statements. The same arguments always give the same script.
#[must_use]
pub fn script(seed: u64, statements: usize, classes: Classes, version: Version) -> Script {
    let mut rng = Rng::with_seed(seed);
    // A script with outdated statements ends as soon as the proxy repairs one, so only few scripts have them.
    let classes = if rng.u8(..8) == 0 { classes } else { classes.without(Class::OldNames) };
    // Names are compared by their bytes, and the bytes of a letter depend on the encoding.
    let one_of = if rng.u8(..4) == 0 { Class::Encodings } else { Class::WideNames };
    let classes = classes.without(one_of);
    let pool = Pool { size: rng.usize(2..5), prepared: if rng.u8(..4) == 0 { rng.usize(2..6) } else { 200 } };
    let actors = (0..ACTORS).map(|_| Actor::default()).collect();
    let mut maker = Maker { rng, classes, version, actors, texts: Vec::new(), epoch: 0, steps: Vec::new() };
    maker.texts = (0..TEXTS).map(|index| maker.new_text(index % ACTORS)).collect();
    (0..ACTORS).for_each(|actor| maker.login(actor));
    let mut made = 0;
    while made < statements {
        let before = maker.steps.len();
        maker.action();
        made += maker.steps[before..].iter().map(Step::statements).sum::<usize>();
    }
    maker.end();
    Script { pool, steps: maker.steps }
}

/// The generator's model of a client. It may be wrong, because statements may fail. That does no harm: both sides get the same
/// messages.
#[derive(Debug)]
struct Actor {
    encoding: Encoding,
    first_encoding: Encoding,
    conforming: bool,
    /// In a transaction.
    open: bool,
    /// Whether a Flush came after the last Sync.
    unsynced: bool,
    statements: Vec<(Vec<u8>, Text)>,
}

impl Default for Actor {
    fn default() -> Self {
        Self {
            encoding: Encoding::Utf8,
            first_encoding: Encoding::Utf8,
            conforming: true,
            open: false,
            unsynced: false,
            statements: Vec::new(),
        }
    }
}

impl Actor {
    fn begin(&mut self, encoding: Encoding, conforming: bool) {
        *self = Self { encoding, first_encoding: encoding, conforming, ..Self::default() };
    }
}

/// The state of the generator while it makes a script.
struct Maker {
    rng: Rng,
    classes: Classes,
    version: Version,
    actors: Vec<Actor>,
    texts: Vec<Text>,
    /// The number of changes of the schema. Names of statements contain it.
    epoch: usize,
    steps: Vec<Step>,
}

impl Maker {
    fn has(&self, class: Class) -> bool {
        self.classes.has(class)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.rng.usize(..from.len())]
    }

    /// One of the allowed classes, by their weights; `None` with the weight `others`.
    fn choose(&mut self, others: u8, weights: &[(Class, u8)]) -> Option<Class> {
        let on: Vec<(Class, u8)> = weights.iter().copied().filter(|(class, _)| self.has(*class)).collect();
        let mut left = self.rng.u8(..others + on.iter().map(|(_, weight)| weight).sum::<u8>());
        on.into_iter().find_map(|(class, weight)| {
            let here = left < weight;
            left = left.saturating_sub(weight);
            here.then_some(class)
        })
    }

    /// A text, mostly one that all clients share.
    fn text(&mut self, actor: usize) -> Text {
        if self.rng.u8(..5) == 0 {
            return self.new_text(actor);
        }
        self.texts[self.rng.usize(..self.texts.len())].clone()
    }

    fn push(&mut self, actor: usize, action: Action) {
        self.steps.push(Step { actor, action });
    }

    fn login(&mut self, actor: usize) {
        let startup = self.startup(actor);
        self.push(actor, Action::Login(startup));
    }

    /// One action of one client.
    fn action(&mut self) {
        let actor = self.rng.usize(..ACTORS);
        if self.actors[actor].unsynced {
            self.actors[actor].unsynced = false;
            let turn = if self.rng.bool() { vec![Message::Sync] } else { self.extended_synced(actor) };
            return self.push(actor, Action::Turns(vec![turn]));
        }
        match self.rng.u8(..60) {
            0 => {
                self.push(actor, Action::Leave);
                self.login(actor);
            }
            1..=2 if self.has(Class::Ddl) => self.changes(actor),
            3 if self.has(Class::DdlPast) => {
                self.close_all(ACTORS);
                let sql = self.change_past();
                self.push(actor, Action::Past(sql));
            }
            4..=5 if self.has(Class::Copy) => {
                let turn = self.copy(actor);
                self.push(actor, Action::Turns(vec![turn]));
            }
            6..=11 if self.has(Class::Pipelines) => {
                let count = self.rng.usize(2..6);
                let turns = (0..count).map(|_| self.turn_synced(actor)).collect();
                self.push(actor, Action::Turns(turns));
            }
            _ => {
                let mut turn = self.turn(actor);
                // A reset ends with its Sync.
                if turn.iter().any(|message| self.is_of(actor, message, turns::is_reset)) {
                    turn = ended(turn);
                }
                self.actors[actor].unsynced = turn.last() == Some(&Message::Flush);
                self.push(actor, Action::Turns(vec![turn]));
            }
        }
    }

    /// DDL of one client, in one or more steps. The others end their transactions first; otherwise the step would be left out.
    fn changes(&mut self, actor: usize) {
        self.close_all(ACTORS);
        for turns in self.change(actor) {
            self.push(actor, Action::Change(turns));
        }
    }

    /// Ends the open turns and transactions of the first `count` clients.
    fn close_all(&mut self, count: usize) {
        for actor in 0..count {
            let Actor { open, unsynced, .. } = self.actors[actor];
            if unsynced {
                self.push(actor, Action::Turns(vec![vec![Message::Sync]]));
            }
            if open {
                self.push(actor, Action::Turns(vec![vec![Message::Query(vec![b"rollback".to_vec()])]]));
            }
            (self.actors[actor].open, self.actors[actor].unsynced) = (false, false);
        }
    }

    fn turn(&mut self, actor: usize) -> Turn {
        match self.rng.u8(..20) {
            0..=2 if self.has(Class::Set) => vec![Message::Query(vec![self.setting(actor)])],
            3..=4 if self.has(Class::Transactions) => vec![Message::Query(vec![self.control(actor)])],
            5 => vec![Message::Query(vec![settings::PROBE.into()])],
            6..=9 => self.simple(actor),
            _ => self.extended(actor),
        }
    }

    /// A turn that is a Query or ends with a Sync.
    fn turn_synced(&mut self, actor: usize) -> Turn {
        ended(self.turn(actor))
    }

    fn extended_synced(&mut self, actor: usize) -> Turn {
        ended(self.extended(actor))
    }

    /// Each client runs one more turn, on each server connection, and leaves.
    fn end(&mut self) {
        self.actors.iter_mut().for_each(|actor| actor.open = true);
        self.close_all(ACTORS);
        for round in 0..3 {
            for actor in 0..ACTORS {
                self.push(actor, Action::Turns(vec![vec![Message::Query(vec![settings::PROBE.into()])]]));
                if round == 2 {
                    self.push(actor, Action::Leave);
                }
            }
        }
    }
}

/// Adds a Sync after the turn's Flush.
fn ended(mut turn: Turn) -> Turn {
    if turn.last() == Some(&Message::Flush) {
        turn.push(Message::Sync);
    }
    turn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_script_and_another_seed_another_script() {
        let make = |seed| script(seed, 300, Classes::all(), Version::PG18);
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
    }

    #[test]
    fn a_script_has_the_wanted_number_of_statements_and_all_kinds_of_messages() {
        let script = script(3, 2000, Classes::all(), Version::PG18);
        let statements: usize = script.steps.iter().map(Step::statements).sum();
        assert!((2000..2100).contains(&statements), "{statements}");
        let text = script.to_string();
        for kind in [
            "login",
            "Terminate",
            "past the proxy",
            "Query",
            "Parse",
            "Bind",
            "Describe S",
            "Describe P",
            "Execute",
            "Close S",
            "Close P",
            "Flush",
            "CopyData",
            "CopyDone",
            "CopyFail",
            "savepoint",
            "reset all",
            "set local",
        ] {
            assert!(text.contains(kind), "no {kind}");
        }
    }
}
