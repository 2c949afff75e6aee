//! One client that runs TPC-B transactions, one after the other, even if its connection is lost.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use trunkline_probes::testkit::cluster::{APP_USER, DATABASE, PASSWORD};
use trunkline_probes::testkit::{Messages, RawClient};
use trunkline_probes::{tags, values};

use super::{ACCOUNTS, BRANCHES, Random, TELLERS};

/// The transaction numbers of a client begin at the client's number times this.
const IDS: u64 = 1_000_000;

/// The state that all clients share.
pub(super) struct Shift {
    address: SocketAddr,
    /// Transactions committed so far.
    pub(super) commits: AtomicU64,
    /// The clients must stop.
    pub(super) over: AtomicBool,
    /// A client has seen a wrong result.
    pub(super) failed: AtomicBool,
}

impl Shift {
    pub(super) fn new(address: SocketAddr) -> Self {
        let (over, failed) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { address, commits: AtomicU64::new(0), over, failed }
    }
}

/// The results of one client's transactions.
#[derive(Default)]
pub(super) struct Outcome {
    /// COMMIT was answered.
    pub(super) committed: Vec<u64>,
    /// COMMIT was sent, and its answer was an error or did not come.
    pub(super) unsure: Vec<u64>,
    /// Errors and lost connections.
    pub(super) errors: usize,
}

/// Why a transaction failed.
enum Setback {
    /// The server or the proxy answered with an error, and the connection stays open.
    Refused,
    /// The connection is lost.
    Gone,
    /// A wrong result.
    Wrong(String),
}

type Step<T> = Result<T, Setback>;

pub(super) struct Teller<'s> {
    number: u64,
    shift: &'s Shift,
    random: Random,
    outcome: Outcome,
}

/// One transaction's numbers.
struct Deal {
    id: u64,
    aid: u64,
    tid: u64,
    bid: u64,
    delta: i64,
}

impl Deal {
    /// The five statements. Each answer has a value that only this client can have asked for.
    fn statements(&self) -> [(&'static str, String, Vec<String>); 5] {
        let Self { id, aid, tid, bid, delta } = self;
        let text = |number: &dyn ToString| number.to_string();
        let by = |key: &u64| vec![text(delta), text(key)];
        [
            ("a", "update accounts set abalance = abalance + $1::bigint where aid = $2::int".into(), by(aid)),
            (
                "s",
                "select abalance, $1::bigint from accounts where aid = $2::int".into(),
                vec![text(id), text(aid)],
            ),
            ("t", "update tellers set tbalance = tbalance + $1::bigint where tid = $2::int".into(), by(tid)),
            ("b", "update branches set bbalance = bbalance + $1::bigint where bid = $2::int".into(), by(bid)),
            (
                "h",
                "insert into history values ($1::bigint, $2::int, $3::int, $4::int, $5::bigint)".into(),
                vec![text(id), text(tid), text(bid), text(aid), text(delta)],
            ),
        ]
    }
}

impl<'s> Teller<'s> {
    pub(super) fn new(number: u64, shift: &'s Shift, random: Random) -> Self {
        Self { number, shift, random, outcome: Outcome::default() }
    }

    /// Runs transactions until the clients must stop.
    pub(super) fn work(mut self) -> Result<Outcome, String> {
        let mut client = None;
        let mut sequence = 0;
        while !self.shift.over.load(Ordering::Relaxed) {
            let Some(connection) = client.as_mut() else {
                client = self.connect().map_err(|error| self.fail(&error))?;
                continue;
            };
            sequence += 1;
            let deal = self.deal(sequence);
            match self.transact(connection, &deal) {
                Ok(()) => {
                    self.outcome.committed.push(deal.id);
                    self.shift.commits.fetch_add(1, Ordering::Relaxed);
                }
                Err(Setback::Refused) => {
                    self.outcome.errors += 1;
                    match ask(connection, &Messages::new().query("rollback")) {
                        Ok(_) => {}
                        Err(Setback::Wrong(what)) => return Err(self.fail(&what)),
                        Err(Setback::Refused | Setback::Gone) => client = None,
                    }
                }
                Err(Setback::Gone) => {
                    self.outcome.errors += 1;
                    client = None;
                }
                Err(Setback::Wrong(what)) => return Err(self.fail(&what)),
            }
        }
        Ok(self.outcome)
    }

    fn fail(&self, what: &str) -> String {
        self.shift.failed.store(true, Ordering::Relaxed);
        format!("client {}: {what}", self.number)
    }

    /// Logs in; `None` when the proxy says that no login is possible now.
    fn connect(&mut self) -> Result<Option<RawClient>, String> {
        let login = RawClient::login(self.shift.address, APP_USER, PASSWORD, DATABASE);
        let mut client = match login {
            Ok(client) => client,
            Err(error) if is_timeout(&error) => return Err(format!("hangs at login: {error:#}")),
            Err(_) => {
                self.outcome.errors += 1;
                return Ok(None);
            }
        };
        // Every second client uses named statements.
        if self.number.is_multiple_of(2) {
            return Ok(Some(client));
        }
        for (name, sql, _) in self.deal(0).statements() {
            match ask(&mut client, &Messages::new().parse(name, &sql, &[]).sync()) {
                Ok(_) => {}
                Err(Setback::Wrong(what)) => return Err(what),
                Err(Setback::Refused | Setback::Gone) => {
                    self.outcome.errors += 1;
                    return Ok(None);
                }
            }
        }
        Ok(Some(client))
    }

    fn deal(&mut self, sequence: u64) -> Deal {
        Deal {
            id: self.number * IDS + sequence,
            aid: 1 + self.random.below(ACCOUNTS),
            tid: 1 + self.random.below(TELLERS),
            bid: 1 + self.random.below(BRANCHES),
            delta: i64::try_from(self.random.below(10_001)).unwrap_or(0) - 5000,
        }
    }

    fn transact(&mut self, client: &mut RawClient, deal: &Deal) -> Step<()> {
        expect(client, &Messages::new().query("begin"), "CZ")?;
        for (name, sql, parameters) in deal.statements() {
            let given: Vec<Option<&str>> = parameters.iter().map(|text| Some(text.as_str())).collect();
            let messages = match self.number % 2 {
                0 => Messages::new().parse("", &sql, &[]).bind("", "", &given).execute("", 0).sync(),
                _ => Messages::new().bind("", name, &given).execute("", 0).sync(),
            };
            let shape = if self.number.is_multiple_of(2) { "12" } else { "2" };
            let rows =
                expect(client, &messages, &format!("{shape}{}", if name == "s" { "DCZ" } else { "CZ" }))?;
            let marked = rows.first().is_none_or(|row| row.ends_with(&format!("|{}", deal.id)));
            if !marked {
                return Err(Setback::Wrong(format!("transaction {} reads {rows:?}", deal.id)));
            }
        }
        let committed = ask(client, &Messages::new().query("commit"));
        match committed {
            Ok(answer) if answer == ("CZ".to_owned(), Vec::new()) => Ok(()),
            Ok(answer) => Err(Setback::Wrong(format!("COMMIT is answered with {answer:?}"))),
            Err(setback) => {
                self.outcome.unsure.push(deal.id);
                Err(setback)
            }
        }
    }
}

/// As [`ask`], and returns the rows if the answer has this shape.
fn expect(client: &mut RawClient, messages: &Messages, shape: &str) -> Step<Vec<String>> {
    let (tags, rows) = ask(client, messages)?;
    if tags == shape { Ok(rows) } else { Err(Setback::Wrong(format!("{tags}, not {shape}"))) }
}

/// A turn's messages by their tags, and its rows.
fn ask(client: &mut RawClient, messages: &Messages) -> Step<(String, Vec<String>)> {
    let frames = match client.turn(messages) {
        Ok(frames) => frames,
        Err(error) if is_timeout(&error) => return Err(Setback::Wrong(format!("hangs: {error:#}"))),
        Err(_) => return Err(Setback::Gone),
    };
    // WARNING: terminating connection because of crash of another server process.
    let frames: Vec<_> = frames.into_iter().filter(|frame| frame.tag != b'N').collect();
    if let Some(error) = frames.iter().find(|frame| frame.tag == b'E') {
        let state = error.sqlstate().unwrap_or_default();
        // The server ended, a connection was lost, a login failed, or a transaction had already failed.
        if !matches!(state.get(..2), Some("57" | "08" | "25")) && state != "40P01" {
            return Err(Setback::Wrong(format!("{state}: {:?}", error.field(b'M'))));
        }
        let goes_on = frames.last().is_some_and(|frame| frame.tag == b'Z');
        return Err(if goes_on { Setback::Refused } else { Setback::Gone });
    }
    if frames.last().is_none_or(|frame| frame.tag != b'Z') {
        return Err(Setback::Gone);
    }
    Ok((tags(&frames), values(&frames)))
}

fn is_timeout(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    matches!(kind, Some(io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut))
}
