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
use crate::script::{Deed, Message, Pool, Script, Step, Turn};

/// Clients of a script.
const ACTORS: usize = 4;
/// Texts that they share.
const TEXTS: usize = 14;

/// The script of `seed`, of about `statements` statements: always the same one for the same arguments.
#[must_use]
pub fn script(seed: u64, statements: usize, classes: Classes, version: Version) -> Script {
    let mut rng = Rng::with_seed(seed);
    // A script with outdated names ends where the proxy heals one: few scripts have them.
    let classes = if rng.u8(..8) == 0 { classes } else { classes.without(Class::OldNames) };
    // A statement's name is its bytes: one letter's bytes differ by the encoding.
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
        maker.deed();
        made += maker.steps[before..].iter().map(Step::statements).sum::<usize>();
    }
    maker.end();
    Script { pool, steps: maker.steps }
}

/// What the generator believes of a client. Its statements may fail, so it can be wrong: both sides are asked the same
/// anyway.
#[derive(Debug)]
struct Actor {
    encoding: Encoding,
    first_encoding: Encoding,
    conforming: bool,
    /// In a transaction.
    open: bool,
    /// After a Flush without a Sync.
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

/// A script in the making.
struct Maker {
    rng: Rng,
    classes: Classes,
    version: Version,
    actors: Vec<Actor>,
    texts: Vec<Text>,
    /// Counts changes of the schema: names of statements carry it.
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

    /// One of the classes that are on, by their weights; `None` by the weight of `others`.
    fn choose(&mut self, others: u8, weights: &[(Class, u8)]) -> Option<Class> {
        let on: Vec<(Class, u8)> = weights.iter().copied().filter(|(class, _)| self.has(*class)).collect();
        let mut left = self.rng.u8(..others + on.iter().map(|(_, weight)| weight).sum::<u8>());
        on.into_iter().find_map(|(class, weight)| {
            let here = left < weight;
            left = left.saturating_sub(weight);
            here.then_some(class)
        })
    }

    /// A text that all share, mostly.
    fn text(&mut self, actor: usize) -> Text {
        if self.rng.u8(..5) == 0 {
            return self.new_text(actor);
        }
        self.texts[self.rng.usize(..self.texts.len())].clone()
    }

    fn push(&mut self, actor: usize, deed: Deed) {
        self.steps.push(Step { actor, deed });
    }

    fn login(&mut self, actor: usize) {
        let startup = self.startup(actor);
        self.push(actor, Deed::Login(startup));
    }

    /// One deed of one client.
    fn deed(&mut self) {
        let actor = self.rng.usize(..ACTORS);
        if self.actors[actor].unsynced {
            self.actors[actor].unsynced = false;
            let turn = if self.rng.bool() { vec![Message::Sync] } else { self.extended_synced(actor) };
            return self.push(actor, Deed::Turns(vec![turn]));
        }
        match self.rng.u8(..60) {
            0 => {
                self.push(actor, Deed::Leave);
                self.login(actor);
            }
            1..=2 if self.has(Class::Ddl) => self.changes(actor),
            3 if self.has(Class::DdlPast) => {
                self.close_all(ACTORS);
                let sql = self.change_past();
                self.push(actor, Deed::Past(sql));
            }
            4..=5 if self.has(Class::Copy) => {
                let turn = self.copy(actor);
                self.push(actor, Deed::Turns(vec![turn]));
            }
            6..=11 if self.has(Class::Pipelines) => {
                let count = self.rng.usize(2..6);
                let turns = (0..count).map(|_| self.turn_synced(actor)).collect();
                self.push(actor, Deed::Turns(turns));
            }
            _ => {
                let mut turn = self.turn(actor);
                // A reset is over with its Sync.
                if turn.iter().any(|message| self.is_of(actor, message, turns::is_reset)) {
                    turn = ended(turn);
                }
                self.actors[actor].unsynced = turn.last() == Some(&Message::Flush);
                self.push(actor, Deed::Turns(vec![turn]));
            }
        }
    }

    /// DDL of one client, in one step or several; the others end their transactions before, or it would be left out.
    fn changes(&mut self, actor: usize) {
        self.close_all(ACTORS);
        for turns in self.change(actor) {
            self.push(actor, Deed::Change(turns));
        }
    }

    /// Ends what clients below `count` may have open.
    fn close_all(&mut self, count: usize) {
        for actor in 0..count {
            let Actor { open, unsynced, .. } = self.actors[actor];
            if unsynced {
                self.push(actor, Deed::Turns(vec![vec![Message::Sync]]));
            }
            if open {
                self.push(actor, Deed::Turns(vec![vec![Message::Query(vec![b"rollback".to_vec()])]]));
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

    /// A turn that ends in a Sync, if it is no Query.
    fn turn_synced(&mut self, actor: usize) -> Turn {
        ended(self.turn(actor))
    }

    fn extended_synced(&mut self, actor: usize) -> Turn {
        ended(self.extended(actor))
    }

    /// Everybody is asked once more, on each server connection, and leaves.
    fn end(&mut self) {
        self.actors.iter_mut().for_each(|actor| actor.open = true);
        self.close_all(ACTORS);
        for round in 0..3 {
            for actor in 0..ACTORS {
                self.push(actor, Deed::Turns(vec![vec![Message::Query(vec![settings::PROBE.into()])]]));
                if round == 2 {
                    self.push(actor, Deed::Leave);
                }
            }
        }
    }
}

/// With a Sync after its Flush.
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
    fn a_seed_gives_one_script_and_another_seed_another() {
        let make = |seed| script(seed, 300, Classes::all(), Version::PG18);
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
    }

    #[test]
    fn a_script_has_the_statements_asked_for_and_all_kinds_of_messages() {
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
