//! Trees belong to no thread: made on one, read and dropped on others, by eight at once.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use trunkline_parser::edit::{self, Fragment};
use trunkline_parser::{ParseError, ParsedSql, parse, parse_plpgsql};

const THREADS: usize = 8;
const ROUNDS: usize = 400;
const TEXTS: &[&str] = &[
    "SELECT a, b FROM t JOIN u USING (id) WHERE a IN (1, 2, 3) ORDER BY b LIMIT 10",
    "INSERT INTO t (a, b) VALUES (1, 'x'), (2, $1) ON CONFLICT DO NOTHING RETURNING *",
    "CREATE TABLE t (id bigint PRIMARY KEY, a text DEFAULT 'é', CHECK (a <> ''))",
    "BEGIN; SET LOCAL work_mem = '64MB'; COMMIT",
    "SELECT 'not closed",
    "SELECT (1 + FROM t",
    "",
];

/// What the first thread found of a text: the others must find the same.
#[derive(Debug, PartialEq)]
struct Found {
    json: String,
    fingerprint: u64,
    written: Option<String>,
}

impl Found {
    fn of(tree: &ParsedSql) -> Self {
        Self { json: tree.to_json(), fingerprint: tree.fingerprint().0, written: tree.deparse().ok() }
    }
}

fn found(text: &str) -> Result<Found, ParseError> {
    parse(text).map(|tree| Found::of(&tree))
}

#[test]
fn eight_threads_read_the_same() {
    let expected: Vec<_> = TEXTS.iter().map(|text| found(text)).collect();
    thread::scope(|scope| {
        for number in 0..THREADS {
            let expected = &expected;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let at = (round + number) % TEXTS.len();
                    assert_eq!(found(TEXTS[at]), expected[at]);
                }
            });
        }
    });
}

/// Each thread makes trees for the next, which reads and drops them: the last of them without having parsed anything.
#[test]
fn trees_are_handed_on() {
    let (senders, receivers): (Vec<Sender<ParsedSql>>, Vec<Receiver<ParsedSql>>) =
        (0..THREADS).map(|_| channel()).unzip();
    let expected = found(TEXTS[0]);
    thread::scope(|scope| {
        for (number, receiver) in receivers.into_iter().enumerate() {
            let next = senders.get(number + 1).cloned();
            let expected = &expected;
            scope.spawn(move || {
                let mut received = 0;
                for tree in receiver {
                    received += 1;
                    assert_eq!(Ok(Found::of(&tree)).as_ref(), expected.as_ref());
                    match &next {
                        // It goes on as it is, or gives place to another of this thread.
                        Some(next) if received % 2 == 0 => next.send(tree).expect("the next thread is there"),
                        Some(next) => {
                            next.send(parse(TEXTS[0]).expect("SQL")).expect("the next thread is there");
                        }
                        None => drop(tree),
                    }
                }
                assert_eq!(received, ROUNDS);
            });
        }
        for _ in 0..ROUNDS {
            senders[0].send(parse(TEXTS[0]).expect("SQL")).expect("the first thread is there");
        }
        drop(senders);
    });
}

#[test]
fn one_tree_is_read_by_all() {
    let tree = Arc::new(parse(TEXTS[0]).expect("SQL"));
    let expected = Found::of(&tree);
    let readers: Vec<_> = (0..THREADS)
        .map(|_| {
            let tree = Arc::clone(&tree);
            thread::spawn(move || (0..ROUNDS / 8).map(|_| Found::of(&tree)).collect::<Vec<_>>())
        })
        .collect();
    drop(tree);
    for reader in readers {
        assert!(reader.join().expect("no panic").iter().all(|found| *found == expected));
    }
}

/// Fragments of one thread become part of a tree of another.
#[test]
fn fragments_are_handed_on() {
    let (sender, receiver) = channel::<Fragment>();
    thread::scope(|scope| {
        for number in 0..THREADS {
            let sender = sender.clone();
            scope.spawn(move || {
                let statement = edit::statement(&format!("SELECT {number}")).expect("a statement");
                let copy = statement.node().to_fragment().expect("a copy");
                drop(statement);
                sender.send(copy).expect("the tree's thread is there");
            });
        }
        drop(sender);
        let mut tree = parse("SELECT a").expect("SQL");
        let (_, raw) = (tree.statements_mut().len(), tree.root().nodes().next().expect("a statement"));
        let mut wrapped: Vec<Fragment> = Vec::new();
        for statement in receiver {
            let mut copy = raw.to_fragment().expect("a copy");
            let raw = copy.node_mut().cast::<edit::RawStmtMut<'_>>();
            raw.expect("it is one").set_stmt(Some(statement)).expect("it takes any node");
            wrapped.push(copy);
        }
        for statement in wrapped {
            tree.statements_mut().push(statement).expect("it is pushed");
        }
        let written = thread::spawn(move || tree.deparse()).join().expect("no panic").expect("a text");
        assert!((0..THREADS).all(|number| written.contains(&format!("SELECT {number}"))), "{written}");
    });
}

#[test]
fn functions_bodies_are_read_at_once() {
    let text = "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$BEGIN RETURN 1; END$$";
    let expected = parse_plpgsql(text).expect("PL/pgSQL");
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..50).for_each(|_| assert_eq!(parse_plpgsql(text).as_ref(), Ok(&expected))));
        }
    });
}
