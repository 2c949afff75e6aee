//! DDL, and COPY.

use super::Maker;
use super::wide;
use crate::class::Class;
use crate::script::{Message, Turn};

/// DDL. Each uses at most one relation, so that statements which wait for each other cannot deadlock.
const CHANGES: [&str; 30] = [
    "alter table t1 alter column v type bigint",
    "alter table t1 alter column v type int",
    "alter table t1 alter column v type text",
    "alter table t1 alter column v type int using 5",
    "alter table t1 add column x int default 7",
    "alter table t1 drop column x",
    "alter table t1 rename column v to v9",
    "alter table t1 rename column v9 to v",
    "drop table t1",
    "create table t1 (id int, v int)",
    "create table t1 (id bigint, v text)",
    "drop table t2",
    "create table t2 (id int, v text, n mood)",
    "create table t2 (v text, id int)",
    "alter table t2 alter column v type varchar(10)",
    "truncate t1",
    "alter type mood add value if not exists 'angry'",
    "drop type mood cascade",
    "create type mood as enum ('happy', 'sad')",
    "create or replace function f1(x int) returns int language sql as 'select x + 2'",
    "drop function f1",
    "create function f1(x int) returns text language sql as 'select x::text'",
    "create function f1(x bigint) returns bigint language sql as 'select x - 1'",
    "create or replace view v1 as select id, v, 1 as one from t3",
    "drop view v1",
    "create view v1 as select v, id from t3",
    "create index on t1 (id)",
    "comment on table t1 is 'x'",
    "alter table t1 rename to t9",
    "alter table t9 rename to t1",
];
/// COPY in, with valid data.
const COPIES: [(&str, &[u8]); 5] = [
    ("copy t1 from stdin", b"7\t70\n8\t\\N\n"),
    ("copy t0 (a, c, d) from stdin", b"20\t01/02/2020\t2020-01-02 03:04:05\n"),
    ("copy t2 (id, v) from stdin csv", b"5,\"a,b\"\n6,c\n"),
    ("copy t0 (a, e, g) from stdin", b"21\t-1 2:03\t\\\\x4142\n"),
    ("copy wide from stdin with (encoding 'LATIN1')", b"9\t\xe9\n"),
];
/// Data that is valid for no table.
const BAD: [&[u8]; 4] = [b"a\tb\tc\td\te\tf\tg\th\ti\tj\n", b"x\n", b"\\.\n", b"\xff\xfe\t1\n"];

impl Maker {
    /// A change of the schema, in one or more steps of one client.
    pub(super) fn change(&mut self, actor: usize) -> Vec<Vec<Turn>> {
        self.forget_statements();
        let sql: Vec<u8> = self.pick(&CHANGES).into();
        let query = |texts: &[&[u8]]| vec![Message::Query(texts.iter().map(|text| text.to_vec()).collect())];
        match self.rng.u8(..8) {
            0 | 1 => vec![vec![vec![
                Message::Parse { name: Vec::new(), sql, types: Vec::new() },
                Message::Bind {
                    portal: Vec::new(),
                    name: Vec::new(),
                    formats: Vec::new(),
                    values: Vec::new(),
                    results: Vec::new(),
                },
                Message::Execute(Vec::new(), 0),
                Message::Sync,
            ]]],
            2 => vec![vec![query(&[b"begin", &sql, b"commit"])]],
            3 => vec![vec![query(&[b"begin", &sql, b"rollback"])]],
            4 if self.has(Class::Transactions) => {
                let end: Vec<u8> = self.pick(&["commit", "rollback"]).into();
                self.actors[actor].open = false;
                vec![
                    vec![query(&[b"begin"])],
                    vec![query(&[&sql])],
                    vec![self.extended_in_change(actor)],
                    vec![query(&[&end])],
                ]
            }
            _ => vec![vec![query(&[&sql])]],
        }
    }

    /// A turn in the transaction of a change. Its statement names are not used after the change.
    fn extended_in_change(&mut self, actor: usize) -> Turn {
        let turn = self.extended(actor);
        self.forget_statements();
        if turn.last() == Some(&Message::Flush) { [turn, vec![Message::Sync]].concat() } else { turn }
    }

    /// DDL for a connection that does not go through the proxy.
    pub(super) fn change_past(&mut self) -> String {
        self.forget_statements();
        self.pick(&CHANGES).to_owned()
    }

    /// After a change of the schema, the statements that were prepared before are not used any more.
    fn forget_statements(&mut self) {
        self.epoch += 1;
        if !self.has(Class::OldNames) {
            self.actors.iter_mut().for_each(|actor| actor.statements.clear());
        }
    }

    /// COPY in, by one of the two protocols.
    pub(super) fn copy(&mut self, actor: usize) -> Turn {
        let (sql, data) = COPIES[self.rng.usize(..COPIES.len())];
        let wrong = self.has(Class::CopyErrors) && self.rng.u8(..3) == 0;
        let mut data = data.to_vec();
        if self.has(Class::Wide) && self.rng.u8(..4) == 0 {
            let encoding = self.actors[actor].speaks();
            data.extend(b"3\t");
            data.extend(wide::character(&mut self.rng, encoding));
            data.push(b'\n');
        }
        if wrong && self.rng.bool() {
            data = BAD[self.rng.usize(..BAD.len())].to_vec();
        }
        let extended = self.rng.bool();
        let mut turn: Turn = if extended {
            let unnamed = Vec::new;
            vec![
                Message::Parse { name: unnamed(), sql: sql.into(), types: Vec::new() },
                Message::Bind {
                    portal: unnamed(),
                    name: unnamed(),
                    formats: Vec::new(),
                    values: Vec::new(),
                    results: Vec::new(),
                },
                Message::Execute(unnamed(), 0),
            ]
        } else {
            vec![Message::Query(vec![sql.into()])]
        };
        let half = self.rng.usize(..=data.len());
        turn.extend(
            data.split_at_checked(half)
                .into_iter()
                .flat_map(|(a, b)| [a, b])
                .map(|part| Message::CopyData(part.to_vec())),
        );
        self.end_of_copy(&mut turn, wrong, extended);
        turn
    }

    fn end_of_copy(&mut self, turn: &mut Turn, wrong: bool, extended: bool) {
        // After the end mark, the server refuses no data.
        let ended =
            turn.iter().any(|message| matches!(message, Message::CopyData(data) if data.contains(&b'\\')));
        match self.rng.u8(..4) {
            0 if wrong => turn.push(Message::CopyFail(b"no more".to_vec())),
            // The server has refused the data, so CopyDone is not necessary.
            1 if wrong && extended && !ended => {
                turn.push(Message::CopyData(BAD[0].to_vec()));
            }
            _ => turn.push(Message::CopyDone),
        }
        if extended {
            turn.push(Message::Sync);
        }
    }
}
