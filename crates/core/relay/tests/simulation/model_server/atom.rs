//! The steps of a session, and what each of them does.

use super::session::{Database, Failure, Portal, Prepared, Session, failure};
use super::settings::{self, KNOWN};
use super::sql::Sql;
use crate::frames::{self, Frame, Kind, frame};

#[derive(Clone, Debug)]
pub(crate) enum Atom {
    Statement { text: String, many: bool },
    EmptyQuery,
    QueryEnd,
    Parse { name: Vec<u8>, text: String },
    Bind { portal: Vec<u8>, statement: Vec<u8>, parameters: Vec<u8> },
    DescribeStatement(Vec<u8>),
    DescribePortal(Vec<u8>),
    Execute { portal: Vec<u8>, rows_max: usize },
    CloseStatement(Vec<u8>),
    ClosePortal(Vec<u8>),
    Sync,
    Function,
    CopyDone { extended: bool },
    CopyFailed { extended: bool },
    Garbage,
}

fn cstr(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

impl Atom {
    /// A message of the extended protocol.
    pub(crate) fn decode(tag: u8, body: &[u8]) -> Option<Self> {
        Some(match tag {
            b'P' => {
                let (name, rest) = cstr(body)?;
                let (text, _) = cstr(rest)?;
                Self::Parse { name: name.into(), text: String::from_utf8_lossy(text).into_owned() }
            }
            b'B' => {
                let (portal, rest) = cstr(body)?;
                let (statement, rest) = cstr(rest)?;
                Self::Bind { portal: portal.into(), statement: statement.into(), parameters: rest.into() }
            }
            b'D' | b'C' => {
                let (kind, rest) = body.split_first()?;
                let name = cstr(rest)?.0.to_vec();
                match (tag, kind) {
                    (b'D', b'S') => Self::DescribeStatement(name),
                    (b'D', _) => Self::DescribePortal(name),
                    (_, b'S') => Self::CloseStatement(name),
                    _ => Self::ClosePortal(name),
                }
            }
            b'E' => {
                let (portal, rest) = cstr(body)?;
                let rows_max = u32::from_be_bytes(rest.try_into().ok()?) as usize;
                Self::Execute { portal: portal.into(), rows_max }
            }
            _ => return None,
        })
    }

    pub(crate) fn is_extended(&self) -> bool {
        match self {
            Self::CopyDone { extended } | Self::CopyFailed { extended } => *extended,
            Self::Statement { .. } | Self::EmptyQuery | Self::QueryEnd | Self::Sync | Self::Function => false,
            _ => true,
        }
    }
}

fn complete(tag: &str) -> Frame {
    frames::text(b'C', tag)
}

fn shown(name: &[u8]) -> String {
    name.escape_ascii().to_string()
}

fn aborted() -> Failure {
    failure("25P02", "current transaction is aborted")
}

impl Session {
    pub(crate) fn execute(&mut self, atom: &Atom, database: &mut Database) -> Result<Vec<Frame>, Failure> {
        match atom {
            Atom::Statement { text, many } => {
                self.statements.remove(&b""[..]);
                self.portals.remove(&b""[..]);
                let sql = Sql::parse(text);
                let mut out = Vec::new();
                if self.status == b'E' && !sql.ends_transaction() {
                    return Err(aborted());
                }
                self.begin_implicit();
                if sql.has_rows() {
                    out.push(describe(&sql, database));
                }
                let read = self.settings.read();
                let parameters = if sql == Sql::Read { read.as_bytes() } else { b"" };
                out.extend(self.command(&sql, *many, parameters, usize::MAX, 0, database)?);
                if self.copy.is_some() {
                    self.copy = Some(false);
                }
                Ok(out)
            }
            Atom::EmptyQuery => {
                self.statements.remove(&b""[..]);
                Ok(vec![frame(b'I', b"")])
            }
            Atom::QueryEnd | Atom::Sync => {
                self.skipping = false;
                self.end_implicit();
                let mut out = self.settings.report();
                out.push(frame(b'Z', &[self.status]));
                Ok(out)
            }
            Atom::Function => {
                if self.status == b'E' {
                    return Err(aborted());
                }
                self.todo.push_front(Atom::QueryEnd);
                Ok(vec![frame(b'V', &[0, 0, 0, 2, b'o', b'k'])])
            }
            Atom::CopyDone { .. } => Ok(vec![complete("COPY 7")]),
            Atom::CopyFailed { .. } => Err(failure("57014", "COPY from stdin failed")),
            Atom::Garbage => Err(failure("08P01", "invalid message format")),
            _ => self.extended(atom, database),
        }
    }

    fn extended(&mut self, atom: &Atom, database: &mut Database) -> Result<Vec<Frame>, Failure> {
        self.begin_implicit();
        match atom {
            Atom::Parse { name, text } => self.parse(name, text, database),
            Atom::Bind { portal, statement, parameters } => {
                self.bind(portal, statement, parameters, database)
            }
            Atom::DescribeStatement(name) => {
                let prepared = self.prepared(name)?.clone();
                let sql = Sql::parse(&prepared.text);
                if self.status == b'E' && sql.has_rows() {
                    return Err(aborted());
                }
                revalidate(&prepared, &sql, database)?;
                let parameters = u8::from(prepared.text.contains("$1"));
                let mut body = vec![0, parameters];
                (0..parameters).for_each(|_| body.extend_from_slice(&[0, 0, 0, 25]));
                Ok(vec![frame(b't', &body), describe(&sql, database)])
            }
            Atom::DescribePortal(name) => {
                let sql = Sql::parse(&self.portal(name)?.text);
                if self.status == b'E' && sql.has_rows() {
                    return Err(aborted());
                }
                Ok(vec![describe(&sql, database)])
            }
            Atom::Execute { portal, rows_max } => self.execute_portal(portal, *rows_max, database),
            Atom::CloseStatement(name) => {
                self.statements.remove(name);
                Ok(vec![frame(b'3', b"")])
            }
            Atom::ClosePortal(name) => {
                self.portals.remove(name);
                Ok(vec![frame(b'3', b"")])
            }
            _ => unreachable!("dealt with in `execute`"),
        }
    }

    fn parse(&mut self, name: &[u8], text: &str, database: &Database) -> Result<Vec<Frame>, Failure> {
        if name.is_empty() {
            self.statements.remove(name);
        }
        let sql = Sql::parse(text);
        if sql == Sql::Syntax {
            return Err(failure("42601", format_args!("syntax error in {text}")));
        }
        if self.status == b'E' && !sql.ends_transaction() && sql != Sql::Empty {
            return Err(aborted());
        }
        if self.statements.contains_key(name) {
            return Err(failure("42P05", format_args!("statement {} already exists", shown(name))));
        }
        self.statements.insert(
            name.into(),
            Prepared { text: text.to_owned(), read: self.settings.read(), schema: database.schema },
        );
        Ok(vec![frame(b'1', b"")])
    }

    fn prepared(&self, name: &[u8]) -> Result<&Prepared, Failure> {
        self.statements
            .get(name)
            .ok_or_else(|| failure("26000", format_args!("statement {} does not exist", shown(name))))
    }

    fn portal(&mut self, name: &[u8]) -> Result<&mut Portal, Failure> {
        self.portals
            .get_mut(name)
            .ok_or_else(|| failure("34000", format_args!("portal {} does not exist", shown(name))))
    }

    fn bind(
        &mut self,
        portal: &[u8],
        statement: &[u8],
        rest: &[u8],
        database: &Database,
    ) -> Result<Vec<Frame>, Failure> {
        let prepared = self.prepared(statement)?.clone();
        let sql = Sql::parse(&prepared.text);
        // No formats, then the count of parameters and, when there is one, its length and bytes.
        let given = rest.get(3).copied().unwrap_or(0);
        if given != u8::from(prepared.text.contains("$1")) {
            return Err(failure("08P01", "wrong number of parameters"));
        }
        if self.status == b'E' && !sql.ends_transaction() {
            return Err(aborted());
        }
        if !portal.is_empty() && self.portals.contains_key(portal) {
            return Err(failure("42P03", format_args!("cursor {} already exists", shown(portal))));
        }
        revalidate(&prepared, &sql, database)?;
        let length = rest.get(4..8).and_then(|length| length.try_into().ok()).map_or(0, u32::from_be_bytes);
        let parameters = rest.get(8..8 + length as usize).unwrap_or_default().to_vec();
        let bound =
            Portal { text: prepared.text, read: prepared.read, parameters, rows_given: 0, done: false };
        self.portals.insert(portal.into(), bound);
        Ok(vec![frame(b'2', b"")])
    }

    fn execute_portal(
        &mut self,
        name: &[u8],
        rows_max: usize,
        database: &mut Database,
    ) -> Result<Vec<Frame>, Failure> {
        let portal = self.portal(name)?.clone();
        let sql = Sql::parse(&portal.text);
        if self.status == b'E' && !sql.ends_transaction() {
            return Err(aborted());
        }
        if portal.done && !sql.has_rows() && sql != Sql::Empty {
            return Err(failure("55000", "the portal cannot be run"));
        }
        let rows_max = if rows_max == 0 { usize::MAX } else { rows_max };
        if portal.done && sql.has_rows() {
            return Ok(vec![complete("SELECT 0")]);
        }
        let in_pipeline = self.executed;
        let parameters = if sql == Sql::Read { portal.read.as_bytes() } else { &portal.parameters };
        let out = self.command(&sql, in_pipeline, parameters, rows_max, portal.rows_given, database)?;
        self.executed = self.snapshot.is_some();
        if self.copy.is_some() {
            self.copy = Some(true);
        }
        let rows = out.iter().filter(|frame| frame.bytes[0] == b'D').count();
        let suspended = out.last().is_some_and(|frame| frame.bytes[0] == b's');
        if let Some(portal) = self.portals.get_mut(name) {
            portal.rows_given += rows;
            portal.done = !suspended;
        }
        Ok(out)
    }

    // tidy: long because it is one table: a row for each command
    fn command(
        &mut self,
        sql: &Sql,
        in_block: bool,
        parameters: &[u8],
        rows_max: usize,
        rows_given: usize,
        database: &mut Database,
    ) -> Result<Vec<Frame>, Failure> {
        let settings = self.settings.fingerprint();
        let one = |values: &[&[u8]], tag: &str| Ok(vec![frames::row(values), complete(tag)]);
        match sql {
            Sql::Empty => Ok(vec![frame(b'I', b"")]),
            Sql::Syntax => Err(failure("42601", "syntax error")),
            Sql::Select { token, rows, bytes } => {
                let left = rows.saturating_sub(rows_given);
                let padding = vec![b'x'; *bytes];
                let mut out: Vec<Frame> = (rows_given..rows_given + left.min(rows_max))
                    .map(|at| {
                        let at = at.to_string();
                        let values =
                            [token.as_bytes(), parameters, settings.as_bytes(), at.as_bytes(), &padding];
                        frames::row(&values)
                    })
                    .collect();
                let suspended = left >= rows_max;
                out.push(if suspended { frame(b's', b"") } else { complete(&format!("SELECT {left}")) });
                Ok(out)
            }
            Sql::Slow(token) => one(&[token.as_bytes(), parameters, settings.as_bytes()], "SELECT 1"),
            Sql::Nextval(who) => {
                let next = database.sequences.entry(*who).or_default();
                *next += 1;
                let mut row = frames::row(&[format!("seq {next}").as_bytes()]);
                row.kind = Kind::Sequence(*next);
                Ok(vec![row, complete("SELECT 1")])
            }
            Sql::Table => {
                let mut row = frames::row(&[format!("v{}", database.schema).as_bytes()]);
                row.kind = Kind::Schema;
                Ok(vec![row, complete("SELECT 1")])
            }
            Sql::Read => one(&[parameters], "SELECT 1"),
            Sql::SetSome(sets) => {
                for set in sets {
                    self.command(set, in_block, parameters, rows_max, rows_given, database)?;
                }
                one(&[b"set"], "SELECT 1")
            }
            Sql::Save(at) => {
                self.settings.kept[*at].clone_from(&self.settings.values[*at]);
                Ok(Vec::new())
            }
            Sql::Restore(at) => {
                self.settings.values[*at].clone_from(&self.settings.kept[*at]);
                Ok(Vec::new())
            }
            Sql::ShowSome(of) => {
                let hex = |text: &String| text.bytes().map(|byte| format!("{byte:02x}")).collect();
                let value = |at: &Option<usize>| match at.map(|at| (KNOWN[at].0, &self.settings.values[at])) {
                    Some(("search_path", value)) => hex(value),
                    other => other.map_or_else(String::new, |(_, value)| value.clone()),
                };
                let values: Vec<String> = of.iter().map(value).collect();
                one(&values.iter().map(String::as_bytes).collect::<Vec<_>>(), "SELECT 1")
            }
            Sql::Lookup => self.look_up(&String::from_utf8_lossy(parameters)),
            Sql::Show(at) => one(&[self.settings.values[*at].as_bytes()], "SHOW"),
            Sql::Set(at, value) => match settings::canonical(*at, value) {
                None => Err(failure("22023", format_args!("bad value for {}", KNOWN[*at].0))),
                Some(value) => {
                    self.settings.values[*at] = value;
                    Ok(vec![complete("SET")])
                }
            },
            Sql::Reset(which) => {
                for at in (0..KNOWN.len()).filter(|at| which.is_none_or(|which| which == *at)) {
                    self.settings.values[at].clone_from(&self.settings.start[at]);
                }
                Ok(vec![complete("RESET")])
            }
            Sql::Begin | Sql::Commit | Sql::Rollback => Ok(self.transaction(sql)),
            Sql::Fail(code) => Err(failure(code, format_args!("asked to fail {settings}"))),
            Sql::CopyIn(_) => {
                self.copy = Some(false);
                Ok(vec![frame(b'G', &[0, 0, 0])])
            }
            Sql::CopyOut(token, rows) => {
                let mut out = vec![frame(b'H', &[0, 0, 0])];
                out.extend((0..*rows).map(|at| frame(b'd', format!("{token} {at} {settings}\n").as_bytes())));
                out.push(frame(b'c', b""));
                out.push(complete(&format!("COPY {rows}")));
                Ok(out)
            }
            Sql::Notice(token) => {
                Ok(vec![frames::report(b'N', "NOTICE", "00000", token, "model"), complete("DO")])
            }
            Sql::DiscardAll if in_block || self.status != b'I' => {
                Err(failure("25001", "DISCARD ALL cannot run inside a transaction block"))
            }
            Sql::DiscardAll => {
                // It commits at once, even if its turn fails later (XACT_FLAGS_NEEDIMMEDIATECOMMIT in xact.c).
                self.snapshot = None;
                self.settings.values.clone_from(&self.settings.start);
                self.statements.retain(|name, _| name.is_empty());
                self.portals.clear();
                Ok(vec![complete("DISCARD ALL")])
            }
            Sql::DeallocateAll => {
                self.statements.retain(|name, _| name.is_empty());
                Ok(vec![complete("DEALLOCATE ALL")])
            }
        }
    }

    /// Name and password of a user, if the user exists. No client's settings may decide in which schema they are looked up.
    fn look_up(&self, user: &str) -> Result<Vec<Frame>, Failure> {
        if self.settings.values != self.settings.start {
            return Err(failure("XX000", "a user is looked up with a client's settings"));
        }
        match user {
            "x" => Ok(vec![complete("SELECT 0")]),
            "z" => Err(failure("42P01", "there is no table of users")),
            _ => {
                let row = frames::row(&[user.as_bytes(), super::password_of(user).as_bytes()]);
                Ok(vec![row, complete("SELECT 1")])
            }
        }
    }

    fn transaction(&mut self, sql: &Sql) -> Vec<Frame> {
        let warning = |code: &str| frames::report(b'N', "WARNING", code, "model: transaction", "model");
        match (sql, self.status) {
            (Sql::Begin, b'I') => {
                self.status = b'T';
                vec![complete("BEGIN")]
            }
            (Sql::Begin, _) => vec![warning("25001"), complete("BEGIN")],
            (_, status) => {
                let commits = *sql == Sql::Commit && status != b'E';
                if !commits && let Some(values) = self.snapshot.take() {
                    self.settings.values = values;
                }
                self.status = b'I';
                self.end_implicit();
                let mut out = Vec::new();
                if status == b'I' {
                    out.push(warning("25P01"));
                }
                out.push(complete(if commits { "COMMIT" } else { "ROLLBACK" }));
                out
            }
        }
    }
}

/// RowDescription or NoData.
fn describe(sql: &Sql, database: &Database) -> Frame {
    match sql {
        Sql::Table => {
            let mut described = frames::row_description(&[&format!("v{}", database.schema)]);
            described.kind = Kind::Schema;
            described
        }
        sql if sql.has_rows() => frames::row_description(&["answer"]),
        _ => frame(b'n', b""),
    }
}

/// A plan whose result has changed cannot be used (plancache.c).
fn revalidate(prepared: &Prepared, sql: &Sql, database: &Database) -> Result<(), Failure> {
    if *sql == Sql::Table && prepared.schema != database.schema {
        let message = "model: cached plan must not change result type".to_owned();
        return Err(Failure("0A000".to_owned(), message, "RevalidateCachedQuery"));
    }
    Ok(())
}
