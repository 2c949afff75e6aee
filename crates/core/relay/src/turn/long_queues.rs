//! Tests of [`Replies`] with many owed answers: its answers equal those of a plain list, but it does not read the whole
//! queue.

use std::sync::Arc;

use super::places::VISITS;
use super::reply::Place;
use super::{Expect, Fate, Message, Replies, Subject, Undo};
use crate::carried::prepared::{Registry, Statement, StatementId};

/// The facts about an expected answer that these tests need.
#[derive(Clone, Debug)]
struct Entry {
    kind: &'static str,
    name: Option<Box<[u8]>>,
    statement: Option<StatementId>,
    sets_unnamed: bool,
    keeps_unnamed: bool,
    ends_turn: bool,
    is_ours: bool,
}

/// The same queue as a plain list, read from end to end for each question.
#[derive(Default)]
struct Plain(Vec<Entry>);

impl Plain {
    fn earlier(&self) -> &[Entry] {
        let ends = self.0.iter().rposition(|entry| entry.ends_turn);
        &self.0[..ends.map_or(0, |at| at + 1)]
    }

    fn is_undecided(&self, name: &[u8], statement: StatementId) -> bool {
        self.earlier().iter().any(|entry| {
            (entry.kind == "Query" && !entry.is_ours)
                || entry.name.as_deref() == Some(name)
                || entry.statement == Some(statement)
        })
    }

    fn is_unnamed_undecided(&self) -> bool {
        let last = self.0.iter().rposition(|entry| entry.sets_unnamed && !entry.is_ours);
        last.is_some_and(|last| last < self.earlier().len())
    }

    fn count(&self, kinds: &[&str]) -> usize {
        self.0.iter().filter(|entry| kinds.contains(&entry.kind)).count()
    }

    fn copy_in_began(&mut self) {
        let mut at = 1;
        while let Some(entry) = self.0.get(at) {
            match entry.kind {
                "CopyEnd" => {
                    self.0.remove(at);
                    return;
                }
                "Sync" => drop(self.0.remove(at)),
                "local" => at += 1,
                _ => return,
            }
        }
    }

    fn fail(&mut self) {
        let sync = self.0.iter().position(|entry| entry.kind == "Sync").unwrap_or(self.0.len());
        self.0.drain(..sync);
    }
}

fn entry(expect: &Expect) -> Entry {
    let kind = match (&expect.message, expect.fate) {
        (Message::Query, _) => "Query",
        (Message::Execute, _) => "Execute",
        (Message::Sync, _) => "Sync",
        (Message::CopyEnd, _) => "CopyEnd",
        (_, Fate::AnswerLocally) => "local",
        (Message::Close, Fate::Discard) => "closed",
        _ => "other",
    };
    let name = match &expect.undo {
        Undo::PreparedAs(_, name) | Undo::NameAdded(name) | Undo::NameRemoved(name, _) => Some(name.clone()),
        _ => None,
    };
    let statement = match &expect.undo {
        Undo::PreparedAs(statement, _) | Undo::Prepared(statement) | Undo::Closed(statement) => {
            Some(statement.id)
        }
        _ => None,
    };
    let (sets_unnamed, keeps_unnamed) = (expect.sets_unnamed(), expect.keeps_unnamed());
    let ends_turn = expect.ends_turn();
    let is_ours = ends_turn && expect.fate == Fate::Discard;
    Entry { kind, name, statement, sets_unnamed, keeps_unnamed, ends_turn, is_ours }
}

fn draw(rng: &mut fastrand::Rng, statements: &[Arc<Statement>], names: &[Box<[u8]>]) -> Expect {
    let statement = Arc::clone(&statements[rng.usize(..statements.len())]);
    let name = names[rng.usize(..names.len())].clone();
    let parse = Message::Parse(Subject::Untracked);
    match rng.u8(..16) {
        0 => Expect::forward(parse, Undo::PreparedAs(statement, name)),
        1 => Expect::answer_locally(parse, Undo::NameAdded(name)),
        2 => Expect::answer_locally(Message::Close, Undo::NameRemoved(name, statement)),
        3 => Expect::discard(parse, Undo::Prepared(statement)),
        4 => Expect::discard(Message::Close, Undo::Closed(statement)),
        5 => Expect::forward(parse, Undo::BothUnnamed(StatementId::new(7), None)),
        6 => Expect::forward(Message::Close, Undo::BothUnnamed(StatementId::new(7), None)),
        7 => Expect::discard(parse, Undo::ServerUnnamed(StatementId::new(7))),
        8 => Expect::forward(Message::Query, Undo::BothUnnamed(StatementId::new(7), None)),
        9 | 10 => Expect::forward(Message::Sync, Undo::Nothing),
        11 => Expect::answer_locally(Message::CopyEnd, Undo::Nothing),
        12 | 13 => Expect::forward(Message::Execute, Undo::Nothing),
        _ => Expect::forward(Message::Bind(Subject::Numbered(statement.id)), Undo::Nothing),
    }
}

#[test]
fn a_queue_answers_like_a_plain_list() {
    let registry = Registry::new(1 << 20);
    let texts = ["a", "b", "c", "d", "e"];
    let statements = texts.map(|text| registry.plain(text.as_bytes()));
    let names = texts.map(|text| Box::from(text.as_bytes()));
    for seed in 0..300 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (mut replies, mut plain) = (Replies::default(), Plain::default());
        let queries = rng.bool();
        for _ in 0..200 {
            match rng.u8(..20) {
                0..=9 => {
                    let mut expect = draw(&mut rng, &statements, &names);
                    if !queries && matches!(expect.message, Message::Query) {
                        continue;
                    }
                    if expect.ends_turn() && rng.u8(..) < 20 {
                        expect.disown();
                    }
                    plain.0.push(entry(&expect));
                    replies.push(expect);
                }
                10..=14 if !plain.0.is_empty() => {
                    plain.0.remove(0);
                    replies.pop();
                }
                15 => {
                    plain.fail();
                    replies.fail(|_, _| {});
                }
                16 if plain.0.first().is_some_and(|head| matches!(head.kind, "Execute" | "Query")) => {
                    plain.copy_in_began();
                    replies.copy_in_began();
                }
                17 => amend(&mut rng, &mut replies, &mut plain, &statements),
                18 if rng.u8(..) < 10 => {
                    for entry in &mut plain.0 {
                        (entry.is_ours, entry.keeps_unnamed) = (true, false);
                    }
                    replies.disown(0..Place::MAX);
                    replies.forget_names();
                }
                _ => {}
            }
            compare(&mut rng, &mut replies, &plain, &statements, &names);
        }
    }
}

fn amend(rng: &mut fastrand::Rng, replies: &mut Replies, plain: &mut Plain, statements: &[Arc<Statement>]) {
    let statement = &statements[rng.usize(..statements.len())];
    let first = plain.0.iter_mut().find(|entry| entry.statement == Some(statement.id));
    let close = first.filter(|entry| entry.kind == "closed");
    let present = rng.bool().then_some(statement);
    assert_eq!(replies.amend_close(statement.id, present), close.is_some());
    if let (Some(close), None) = (close, present) {
        close.statement = None;
    }
    let unnamed = Registry::new(1 << 20).plain(&rng.u64(..).to_be_bytes());
    let server = StatementId::new(rng.u64(10..));
    let said = replies.amend_unnamed(server, Some(&unnamed), None);
    let first = |holds: fn(&Entry) -> bool| plain.0.iter().position(holds);
    let (on_server, of_client) = (first(|entry| entry.sets_unnamed), first(|entry| entry.keeps_unnamed));
    assert_eq!(said, (on_server.is_some(), of_client.is_some()));
    let found =
        |at: Option<usize>| at.and_then(|at| replies.iter().nth(at)).map(|expect| format!("{expect:?}"));
    assert!(found(on_server).is_none_or(|found| found.contains(&format!("{server:?}"))));
    assert!(found(of_client).is_none_or(|found| found.contains(&unnamed.id.to_string())));
}

fn compare(
    rng: &mut fastrand::Rng,
    replies: &mut Replies,
    plain: &Plain,
    statements: &[Arc<Statement>],
    names: &[Box<[u8]>],
) {
    assert_eq!(replies.len(), plain.0.len());
    assert_eq!(replies.turns(), plain.0.iter().filter(|entry| entry.ends_turn).count());
    assert_eq!(replies.may_execute(), plain.count(&["Execute"]) > 0);
    assert_eq!(replies.may_run(), plain.count(&["Execute", "Query"]) > 0);
    assert_eq!(replies.ends_with_turn(), plain.0.last().is_some_and(|entry| entry.ends_turn));
    assert_eq!(replies.is_unnamed_undecided(), plain.is_unnamed_undecided());
    if rng.bool() {
        let (name, statement) =
            (&names[rng.usize(..names.len())], &statements[rng.usize(..statements.len())]);
        let undecided = plain.is_undecided(name, statement.id);
        assert_eq!(replies.is_undecided(name, Some(statement.id)), undecided);
    }
}

/// Sends `turns` turns of Parse, Bind and Execute with a question for each, then answers them; every tenth answer is an
/// error. Returns how many answers were looked at.
fn visits(turns: usize, synced: bool) -> usize {
    let registry = Registry::new(1 << 20);
    let statements: Vec<_> = (0..50).map(|n| registry.plain(format!("{n}").as_bytes())).collect();
    VISITS.set(0);
    let mut replies = Replies::default();
    for n in 0..turns {
        let statement = &statements[n % statements.len()];
        let name = format!("{n}").into_bytes();
        assert!(!replies.is_undecided(&name, None));
        let mut push = |message, undo| replies.push(Expect::forward(message, undo));
        push(Message::Parse(Subject::Untracked), Undo::PreparedAs(Arc::clone(statement), name.into()));
        push(Message::Parse(Subject::Untracked), Undo::BothUnnamed(None, None));
        let _ = (replies.is_unnamed_undecided(), replies.turns(), replies.may_run(), replies.may_execute());
        let mut push = |message| replies.push(Expect::forward(message, Undo::Nothing));
        push(Message::Bind(Subject::Numbered(statement.id)));
        push(Message::Execute);
        if synced {
            push(Message::Sync);
        }
    }
    replies.push(Expect::forward(Message::Sync, Undo::Nothing));
    let mut n = 0;
    while !replies.is_empty() {
        n += 1;
        if n % 10 == 0 {
            replies.fail(|_, _| {});
            replies.amend_unnamed(StatementId::new(1), None, None);
            replies.amend_close(statements[n % statements.len()].id, None);
        }
        if replies.head().is_some_and(|head| matches!(head.expect.message, Message::Execute)) && n % 3 == 0 {
            replies.copy_in_began();
        }
        // The question that DEALLOCATE ALL asks.
        let _ = replies.creating().next();
        let _ = (replies.awaits_shape(), replies.turns());
        replies.pop();
    }
    VISITS.get()
}

#[test]
fn a_message_costs_the_same_behind_any_number_of_others() {
    for synced in [false, true] {
        let (some, many) = (visits(1_000, synced), visits(20_000, synced));
        assert!(many <= some * 21, "{some} visits for 1,000 turns, {many} for 20,000");
        assert!(many <= 3 * 5 * 20_000, "{many} visits of {} answers", 5 * 20_000);
    }
}

#[test]
fn a_lost_or_abandoned_queue_is_read_once() {
    let mut replies = Replies::default();
    for _ in 0..20_000 {
        let mut push = |message| replies.push(Expect::forward(message, Undo::Nothing));
        push(Message::Bind(Subject::Numbered(StatementId::MIN)));
        push(Message::Sync);
    }
    VISITS.set(0);
    replies.disown(0..Place::MAX);
    let mut lost = Vec::new();
    while replies.has_end() {
        assert!(replies.lose_turn(&mut lost).is_some());
    }
    assert_eq!(lost.len(), 40_000);
    assert!(VISITS.get() <= 200_000, "{} visits", VISITS.get());
}
