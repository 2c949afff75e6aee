//! The random messages of a client. Most of them are legal.

use crate::frames::{self, frame};

/// Which kinds of messages a client sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habits {
    /// It runs COPY by the extended protocol. Otherwise it reuses unnamed statements and portals of earlier turns.
    pub(crate) copies: bool,
    /// It may send a Sync before the data of a COPY, which the server ignores. Not in runs in which a COPY may be
    /// interrupted: then the model cannot know whether the server had read the Sync, and so how many answers come.
    pub(crate) early_syncs: bool,
    /// It may send RESET and DISCARD ALL, alone in a turn.
    pub(crate) resets: bool,
    /// It may send RESET ALL together with other commands. It has no start-up parameters then, because these come back
    /// only at the end of the turn.
    pub(crate) resets_among_others: bool,
    /// It often begins transactions. Otherwise seldom, because in statement mode they end its connection.
    pub(crate) blocks: bool,
    /// It runs slow queries.
    pub(crate) slow: bool,
    /// It uses each name only once, and no other client uses that name.
    pub(crate) unique_names: bool,
    /// It reads the table whose schema changes.
    pub(crate) tables: bool,
    /// The greatest size of a row, in bytes.
    pub(crate) bytes_max: usize,
}

/// Creates batches of messages.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) id: usize,
    pub(crate) habits: Habits,
    count: usize,
    rng: fastrand::Rng,
}

const NAMES: [&str; 5] = ["a", "b", "s1", "_tl_1", "_tl_7"];
const VALUES: [(&str, &[&str]); 4] = [
    ("application_name", &["x", "it's \\ y;", "z"]),
    ("DateStyle", &["iso, dmy", "german, dmy", "bad"]),
    ("TimeZone", &["utc", "cet", "gmt"]),
    ("client_encoding", &["UTF8", "LATIN1"]),
];

const RESETS: [&str; 5] = ["DISCARD ALL", "DEALLOCATE ALL", "RESET ALL", "RESET TimeZone", "RESET work_mem"];

impl Script {
    pub(crate) fn new(id: usize, habits: Habits, rng: fastrand::Rng) -> Self {
        Self { id, habits, count: 0, rng }
    }

    fn token(&mut self) -> String {
        self.count += 1;
        format!("c{}_{}", self.id, self.count)
    }

    fn name(&mut self) -> String {
        if self.habits.unique_names {
            return format!("u{}", self.token());
        }
        (*self.rng.choice(NAMES).expect("names")).to_owned()
    }

    fn setting(&mut self) -> String {
        let (name, values) = self.rng.choice(VALUES).expect("settings");
        let value = self.rng.choice(values).expect("values").replace('\'', "''");
        format!("SET {name}='{value}'")
    }

    fn select(&mut self) -> String {
        let rows = if self.rng.u8(..) < 230 { self.rng.usize(..4) } else { self.rng.usize(..40) };
        let bytes = if self.rng.u8(..) < 220 {
            self.rng.usize(..20)
        } else {
            self.rng.usize(..=self.habits.bytes_max)
        };
        let token = self.token();
        format!("SELECT {token}, {rows}, {bytes}")
    }

    /// A command that any kind of query may carry.
    fn command(&mut self) -> String {
        match self.rng.u8(..24) {
            0..8 => self.select(),
            8 => format!("SHOW {}", self.rng.choice(VALUES).expect("settings").0),
            9 => "SHOW search_path".to_owned(),
            10 | 11 => self.setting(),
            12 if self.habits.resets_among_others => "RESET ALL".to_owned(),
            12 | 13 => "CALL fail(22012)".to_owned(),
            14 | 15 => format!("SELECT nextval({})", self.id),
            16 if self.habits.slow => format!("SELECT slow({})", self.token()),
            17 if self.habits.tables => "TABLE t".to_owned(),
            18 => format!("COPY (SELECT {}, {}) TO STDOUT", self.token(), self.rng.usize(..5)),
            19 => format!("CALL notice({})", self.token()),
            20 => (*self.rng.choice(["WRONG", "SELECT read 'y'"]).expect("some")).to_owned(),
            21 if self.habits.blocks || self.rng.u8(..) < 80 => "BEGIN".to_owned(),
            22 => if self.rng.bool() { "COMMIT" } else { "ROLLBACK" }.to_owned(),
            _ => self.select(),
        }
    }

    /// A statement that other clients prepare too.
    fn shared(&mut self) -> String {
        match self.rng.u8(..8) {
            0 if self.habits.tables => "TABLE t".to_owned(),
            1 => "SHOW TimeZone".to_owned(),
            2 => "WRONG".to_owned(),
            3 => format!("SELECT nextval({})", self.id),
            4 => "SELECT read 'x'".to_owned(),
            _ => format!("SELECT shared{}, {}, 3, $1", self.rng.u8(..6), self.rng.u8(..3)),
        }
    }

    /// One batch; `status` is that of the last ReadyForQuery.
    pub(crate) fn batch(&mut self, status: u8) -> Vec<Vec<u8>> {
        let mut out = Vec::new();
        if status != b'I' && self.rng.u8(..) < 100 {
            out.push(query(if self.rng.bool() { "COMMIT" } else { "ROLLBACK" }));
            return out;
        }
        match self.rng.u8(..20) {
            0..5 => {
                let text = self.command();
                out.push(query(&text));
            }
            5 => {
                let count = self.rng.usize(1..4);
                let texts: Vec<String> = (0..count).map(|_| self.command()).collect();
                out.push(query(&texts.join(";")));
            }
            6 => self.copy_in(&mut out),
            7 if self.habits.resets => {
                let text = self.rng.choice(RESETS).expect("some");
                if self.rng.bool() {
                    out.push(query(text));
                } else {
                    self.once(text, &mut out);
                    // If the portal ran again in another turn, the server's own values would hold up to that turn's end.
                    out.extend([sync(), close(b'S', ""), close(b'P', ""), sync()]);
                }
            }
            8 => out.push(frame(b'F', &[0, 0, 0, 1, 0, 0, 0, 0, 0, 0]).bytes),
            9 => out.push(query("")),
            10 if self.habits.blocks => out.push(query("BEGIN")),
            11..14 => {
                let text = self.command();
                self.once(&text, &mut out);
                self.close_batch(&mut out);
            }
            _ => {
                for _ in 0..self.rng.usize(1..6) {
                    self.extended(&mut out);
                }
                self.close_batch(&mut out);
            }
        }
        out
    }

    fn close_batch(&mut self, out: &mut Vec<Vec<u8>>) {
        match self.rng.u8(..20) {
            0 => {}
            1 => out.push(flush()),
            2 => {
                out.push(flush());
                out.push(sync());
            }
            3 => {
                let text = self.command();
                out.push(query(&text));
            }
            _ => out.push(sync()),
        }
    }

    /// Unnamed Parse, Bind, Describe, Execute.
    fn once(&mut self, text: &str, out: &mut Vec<Vec<u8>>) {
        out.push(parse("", text));
        self.bind_and_execute("", text.contains("$1"), out);
    }

    fn bind_and_execute(&mut self, name: &str, parameter: bool, out: &mut Vec<Vec<u8>>) {
        let portal = if self.rng.u8(..) < 20 { "p" } else { "" };
        let token = self.token();
        out.push(bind(portal, name, parameter.then_some(token.as_bytes())));
        if self.rng.bool() {
            out.push(describe(b'P', portal));
        }
        let rows_max = if self.rng.u8(..) < 30 { self.rng.u8(1..3) } else { 0 };
        out.push(execute(portal, rows_max));
        if rows_max > 0 && self.rng.bool() {
            out.push(execute(portal, 0));
        }
    }

    fn extended(&mut self, out: &mut Vec<Vec<u8>>) {
        let text = if self.rng.bool() { self.shared() } else { self.select() };
        let name = self.name();
        match self.rng.u8(..20) {
            0..5 => out.push(parse(&name, &text)),
            5..11 => {
                let parameter = self.rng.u8(..) < 180;
                self.bind_and_execute(&name, parameter, out);
            }
            11 => out.push(describe(b'S', &name)),
            12 => out.push(close(b'S', &name)),
            13 => out.push(close(b'P', if self.rng.bool() { "p" } else { "" })),
            14 => out.push(flush()),
            15 => out.push(sync()),
            16 if !self.habits.copies => {
                let parameter = self.rng.bool();
                self.bind_and_execute("", parameter, out);
            }
            17 if !self.habits.copies => {
                let which = self.rng.u8(..4);
                out.push(match which {
                    0 => execute("", 0),
                    1 => describe(b'S', ""),
                    2 => close(b'S', ""),
                    _ => parse("", &text),
                });
            }
            18 => {
                out.push(parse(&name, &text));
                self.bind_and_execute(&name, text.contains("$1"), out);
                out.push(close(b'S', &name));
            }
            _ => self.once(&text, out),
        }
    }

    fn copy_in(&mut self, out: &mut Vec<Vec<u8>>) {
        let token = self.token();
        let text = format!("COPY {token} FROM STDIN");
        let extended = self.habits.copies && self.rng.bool();
        if extended {
            out.push(parse("", &text));
            out.push(bind("", "", None));
            out.push(execute("", 0));
            if self.rng.bool() && self.habits.early_syncs {
                out.push(sync());
            }
        } else {
            out.push(query(&text));
        }
        for _ in 0..self.rng.usize(..5) {
            let size = if self.rng.u8(..) < 230 {
                self.rng.usize(..30)
            } else {
                self.rng.usize(..=self.habits.bytes_max)
            };
            out.push(frame(b'd', &vec![b'd'; size]).bytes);
            if extended && self.rng.u8(..) < 30 {
                out.push(flush());
            }
        }
        if self.rng.u8(..) < 60 {
            out.push(frames::text(b'f', "no more").bytes);
        } else {
            out.push(frame(b'c', b"").bytes);
        }
        if extended {
            out.push(sync());
        }
    }
}

pub(crate) fn query(text: &str) -> Vec<u8> {
    frames::text(b'Q', text).bytes
}

pub(crate) fn sync() -> Vec<u8> {
    frame(b'S', b"").bytes
}

fn flush() -> Vec<u8> {
    frame(b'H', b"").bytes
}

fn parse(name: &str, text: &str) -> Vec<u8> {
    frame(b'P', format!("{name}\0{text}\0\0\0").as_bytes()).bytes
}

fn bind(portal: &str, name: &str, parameter: Option<&[u8]>) -> Vec<u8> {
    let mut body = format!("{portal}\0{name}\0").into_bytes();
    body.extend_from_slice(&[0, 0, 0, u8::from(parameter.is_some())]);
    if let Some(parameter) = parameter {
        body.extend_from_slice(&u32::try_from(parameter.len()).expect("short").to_be_bytes());
        body.extend_from_slice(parameter);
    }
    body.extend_from_slice(&[0, 0]);
    frame(b'B', &body).bytes
}

fn describe(kind: u8, name: &str) -> Vec<u8> {
    frame(b'D', &[&[kind], name.as_bytes(), &[0]].concat()).bytes
}

fn close(kind: u8, name: &str) -> Vec<u8> {
    frame(b'C', &[&[kind], name.as_bytes(), &[0]].concat()).bytes
}

fn execute(portal: &str, rows_max: u8) -> Vec<u8> {
    frame(b'E', &[portal.as_bytes(), &[0, 0, 0, 0, rows_max]].concat()).bytes
}
