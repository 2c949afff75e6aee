//! A blocking connection.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use postgres_types::{ToSql, Type};
use trunkline_session::frontend::rows::Frames;
use trunkline_session::frontend::{Event, Pipeline};
use trunkline_wire::SqlState;
use trunkline_wire::backend::TransactionStatus;
use trunkline_wire::frontend::Target;

use crate::batch::Batch;
use crate::cancel::{CancelToken, Place};
use crate::config::Config;
use crate::connect;
use crate::copy::{CopyIn, CopyOut};
use crate::error::{Error, Kind};
use crate::link::{Link, Step};
use crate::notice::{Notice, Notification};
use crate::parameters;
use crate::rows::{OwnedRow, Row, Rows};
use crate::simple::{self, SimpleResult};
use crate::statement::{Catalog, Described, LOOK_UP, LOOK_UP_TYPES, Statement, StatementCache, Unused};
use crate::transaction::{Begin, Transaction};

/// A parameter of any type.
pub(crate) type Parameter<'p> = &'p (dyn ToSql + Sync);

/// A connection. Every call waits for its answer.
pub struct Client {
    pub(crate) link: Link,
    config: Config,
    place: Place,
    host: String,
    cache: StatementCache,
    catalog: Catalog,
    unused: Unused,
    statements_made: u64,
    scratch: BytesMut,
    query_timeout: Option<Duration>,
    /// Transactions and savepoints that are open by [`Transaction`].
    pub(crate) depth: u32,
}

/// What can be run: a [`Statement`], or a text, whose statement is kept.
pub trait ToStatement {
    /// Which it is.
    #[doc(hidden)]
    fn source(&self) -> Source<'_>;
}

/// What [`ToStatement`] gives.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum Source<'s> {
    Text(&'s str),
    Statement(&'s Statement),
}

impl ToStatement for str {
    fn source(&self) -> Source<'_> {
        Source::Text(self)
    }
}

impl ToStatement for String {
    fn source(&self) -> Source<'_> {
        Source::Text(self)
    }
}

impl ToStatement for Statement {
    fn source(&self) -> Source<'_> {
        Source::Statement(self)
    }
}

impl Client {
    /// Connects by a connection string, filled up from the environment as [`Config::load`] does.
    ///
    /// # Errors
    /// When the text is not usable, or no host will do.
    pub fn connect(text: &str) -> Result<Self, Error> {
        Self::connect_to(&Config::load(text)?)
    }

    /// Connects.
    ///
    /// # Errors
    /// When no host will do; the error says of each why not.
    pub fn connect_to(config: &Config) -> Result<Self, Error> {
        let reached = connect::connect(config)?;
        Ok(Self {
            link: reached.link,
            place: reached.place,
            host: reached.host,
            config: config.clone(),
            cache: StatementCache::new(config.statement_cache),
            catalog: Catalog::default(),
            unused: Unused::default(),
            statements_made: 0,
            scratch: BytesMut::new(),
            query_timeout: None,
            depth: 0,
        })
    }

    /// Runs a query and gives all its rows.
    ///
    /// # Errors
    /// The server's error, or why the parameters do not fit.
    pub fn query<S: ToStatement + ?Sized>(
        &mut self,
        statement: &S,
        parameters: &[Parameter<'_>],
    ) -> Result<Rows, Error> {
        self.with_statement(statement.source(), |client, statement| {
            let mut gathered = Gathered::default();
            client.run(statement, parameters, &mut |event| gathered.take(event))?;
            Ok(gathered.rows(statement))
        })
    }

    /// Runs a query that must return one row.
    ///
    /// # Errors
    /// As [`query`](Self::query), and when there is no row or more than one.
    pub fn query_one<S: ToStatement + ?Sized>(
        &mut self,
        statement: &S,
        parameters: &[Parameter<'_>],
    ) -> Result<OwnedRow, Error> {
        let expected = "one";
        let found = self.query(statement, parameters)?.only(expected)?;
        found.ok_or_else(|| Error::new(Kind::RowCount { rows: 0, expected }))
    }

    /// Runs a query that returns one row or none.
    ///
    /// # Errors
    /// As [`query`](Self::query), and when there is more than one row.
    pub fn query_opt<S: ToStatement + ?Sized>(
        &mut self,
        statement: &S,
        parameters: &[Parameter<'_>],
    ) -> Result<Option<OwnedRow>, Error> {
        self.query(statement, parameters)?.only("at most one")
    }

    /// Runs a query and hands each row to `each` as it comes, borrowed from the connection's buffer: nothing is kept, whatever
    /// the result's size. An error of `each` is returned when the rest was read.
    ///
    /// # Errors
    /// As [`query`](Self::query), or what `each` says.
    pub fn for_each<S: ToStatement + ?Sized>(
        &mut self,
        statement: &S,
        parameters: &[Parameter<'_>],
        mut each: impl FnMut(Row<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.with_statement(statement.source(), |client, statement| {
            client.run(statement, parameters, &mut |event| {
                if let Event::Rows { frames, .. } = event {
                    let columns = statement.columns();
                    Frames::rows(frames).try_for_each(|body| each(Row::new(columns, body)))?;
                }
                Ok(Step::Go)
            })
        })
    }

    /// Runs a command and says how many rows it changed; 0 for commands that do not tell.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub fn execute<S: ToStatement + ?Sized>(
        &mut self,
        statement: &S,
        parameters: &[Parameter<'_>],
    ) -> Result<u64, Error> {
        self.with_statement(statement.source(), |client, statement| {
            let mut affected = 0;
            client.run(statement, parameters, &mut |event| {
                if let Event::Complete(complete) = event {
                    affected = complete.rows().unwrap_or(0);
                }
                Ok(Step::Go)
            })?;
            Ok(affected)
        })
    }

    /// Runs a query in one round trip, as an unnamed statement that is not kept; each parameter comes with its type.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub fn query_typed(&mut self, text: &str, parameters: &[(Parameter<'_>, Type)]) -> Result<Rows, Error> {
        let types: Vec<Type> = parameters.iter().map(|(_, ty)| ty.clone()).collect();
        let oids: Vec<u32> = types.iter().map(Type::oid).collect();
        let unnamed = Statement::new("", types, Vec::new(), &self.unused)?;
        let mut scratch = std::mem::take(&mut self.scratch);
        let pipeline = self.begin()?;
        pipeline.parse(b"", text.as_bytes(), &oids)?;
        let written = pipeline.bind_by(unnamed.template(), |values| {
            let given = parameters.iter().map(|(parameter, _)| *parameter);
            parameters::write(values, unnamed.parameters(), given, &mut scratch)
        });
        if written.is_ok() {
            pipeline.describe(Target::Portal, b"")?;
            pipeline.execute(b"", 0)?;
        }
        // A turn that was begun is ended, whatever became of its parameters.
        pipeline.sync();
        self.scratch = scratch;
        let mut gathered = Gathered::default();
        let mut described = Described::default();
        let outcome = self.finish(&mut |event| {
            if let Event::Columns(message) = event {
                described.columns(&message);
            }
            gathered.take(event)
        });
        written?;
        outcome?;
        let (_, columns) = self.resolve(described)?;
        Ok(Rows::new(columns.into(), gathered.frames, gathered.count, gathered.affected))
    }

    /// Prepares a statement for as long as it is wanted.
    ///
    /// # Errors
    /// The server's error.
    pub fn prepare(&mut self, text: &str) -> Result<Statement, Error> {
        self.prepare_typed(text, &[])
    }

    /// Prepares a statement whose first parameters have these types.
    ///
    /// # Errors
    /// The server's error.
    pub fn prepare_typed(&mut self, text: &str, types: &[Type]) -> Result<Statement, Error> {
        self.statements_made += 1;
        self.prepare_as(&format!("tl{}", self.statements_made), text, types)
    }

    fn prepare_as(&mut self, name: &str, text: &str, types: &[Type]) -> Result<Statement, Error> {
        let oids: Vec<u32> = types.iter().map(Type::oid).collect();
        let pipeline = self.begin()?;
        pipeline.parse(name.as_bytes(), text.as_bytes(), &oids)?;
        pipeline.describe(Target::Statement, name.as_bytes())?;
        pipeline.sync();
        let mut described = Described::default();
        self.finish(&mut |event| {
            match event {
                Event::Parameters(message) => described.parameters = message.types.collect(),
                Event::Columns(message) => described.columns(&message),
                _ => {}
            }
            Ok(Step::Go)
        })?;
        let (parameters, columns) = self.resolve(described)?;
        Ok(Statement::new(name, parameters, columns, &self.unused)?)
    }

    /// Runs any number of commands, separated by `;`, by the simple protocol, and gives their results as texts.
    ///
    /// # Errors
    /// The server's error: the results before it are lost.
    pub fn simple_query(&mut self, text: &str) -> Result<Vec<SimpleResult>, Error> {
        self.begin()?.query(text.as_bytes())?;
        let mut results = Vec::new();
        self.finish(&mut |event| simple::take(&mut results, event).map(|()| Step::Go))?;
        Ok(results)
    }

    /// Runs any number of commands, separated by `;`, for their effect.
    ///
    /// # Errors
    /// The server's error.
    pub fn batch_execute(&mut self, text: &str) -> Result<(), Error> {
        self.begin()?.query(text.as_bytes())?;
        self.finish(&mut |_| Ok(Step::Go))
    }

    /// Begins a batch: one statement, run with many sets of parameters.
    pub fn batch<'c>(&'c mut self, statement: &Statement) -> Batch<'c> {
        Batch::new(self, statement)
    }

    /// Begins a transaction; within one, a savepoint.
    ///
    /// # Errors
    /// The server's error.
    pub fn transaction(&mut self) -> Result<Transaction<'_>, Error> {
        Transaction::begin(self, &Begin::default())
    }

    /// Begins a transaction with an isolation level and such.
    ///
    /// # Errors
    /// The server's error.
    pub fn transaction_with(&mut self, begin: &Begin) -> Result<Transaction<'_>, Error> {
        Transaction::begin(self, begin)
    }

    /// Begins a `COPY ... FROM STDIN`.
    ///
    /// # Errors
    /// The server's error, or when the text is another command.
    pub fn copy_in(&mut self, text: &str) -> Result<CopyIn<'_>, Error> {
        CopyIn::begin(self, text)
    }

    /// Begins a `COPY ... TO STDOUT`.
    ///
    /// # Errors
    /// The server's error, or when the text is another command.
    pub fn copy_out(&mut self, text: &str) -> Result<CopyOut<'_>, Error> {
        CopyOut::begin(self, text)
    }

    /// What cancels what this connection runs, from another thread.
    #[must_use]
    pub fn cancel_token(&self) -> CancelToken {
        let mut request = Vec::new();
        self.link.connection().cancel_request(&mut request);
        let (config, place, host) = (self.config.clone(), self.place.clone(), self.host.clone());
        CancelToken { config, place, host, request }
    }

    /// How long a query may take from now on. One that takes longer is cancelled: its error is SQLSTATE 57014 of the server, or,
    /// when that does not answer within as long again, a time-out after which the connection is closed.
    pub fn set_query_timeout(&mut self, limit: Option<Duration>) {
        self.query_timeout = limit;
    }

    /// Hands the server's notices to this handler; by default they are dropped.
    pub fn on_notice(&mut self, handler: impl FnMut(Notice) + Send + 'static) {
        self.link.on_notice = Some(Box::new(handler));
    }

    /// The next notification of a channel that was listened to. Waits for one; with a limit, at most for this long.
    ///
    /// # Errors
    /// When the connection ends.
    pub fn notification(&mut self, limit: Option<Duration>) -> Result<Option<Notification>, Error> {
        let deadline = limit.map(|limit| Instant::now() + limit);
        self.link.pipeline()?;
        self.link.listen(deadline)?;
        Ok(self.link.notifications.pop_front())
    }

    /// Notifications that were dropped, because more waited than are kept.
    #[must_use]
    pub fn notifications_dropped(&self) -> u64 {
        self.link.notifications_dropped
    }

    /// The value the server last reported for a parameter, such as `server_version`.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.link.server().parameter(name)
    }

    /// The server's process.
    #[must_use]
    pub fn process_id(&self) -> i32 {
        self.link.server().process_id
    }

    /// Whether a transaction is open, and whether it has failed.
    #[must_use]
    pub fn transaction_status(&self) -> TransactionStatus {
        self.link.status()
    }

    /// Statements that are kept by their text.
    #[must_use]
    pub fn statements_cached(&self) -> usize {
        self.cache.len()
    }

    /// Whether the connection has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.link.is_closed()
    }

    /// Says good-bye and closes. Dropping a client does the same.
    pub fn close(self) {}

    pub(crate) fn unused(&self) -> &Unused {
        &self.unused
    }

    pub(crate) fn scratch(&mut self) -> BytesMut {
        std::mem::take(&mut self.scratch)
    }

    pub(crate) fn keep_scratch(&mut self, scratch: BytesMut) {
        self.scratch = scratch;
    }

    /// The pipeline for a new turn, with what is to be closed on the server at its front.
    pub(crate) fn begin(&mut self) -> Result<&mut Pipeline, Error> {
        let unused = match self.unused.lock() {
            Ok(mut unused) if !unused.is_empty() => std::mem::take(&mut *unused),
            _ => Vec::new(),
        };
        // In a failed transaction they wait: the server runs nothing there.
        let failed = self.link.status() == TransactionStatus::Failed;
        if failed
            && !unused.is_empty()
            && let Ok(mut waiting) = self.unused.lock()
        {
            waiting.extend(unused);
            return self.link.pipeline();
        }
        let pipeline = self.link.pipeline()?;
        for name in &unused {
            pipeline.close(Target::Statement, name.as_bytes())?;
        }
        if !unused.is_empty() {
            // A turn of its own: what fails after it does not undo it, and a simple query may follow.
            pipeline.sync();
        }
        Ok(pipeline)
    }

    /// Sends what was begun and reads it to its end.
    pub(crate) fn finish(
        &mut self,
        on: &mut dyn FnMut(Event<'_>) -> Result<Step, Error>,
    ) -> Result<(), Error> {
        let Some(limit) = self.query_timeout else { return self.link.drive(on).map(drop) };
        self.link.deadline = Some(Instant::now() + limit);
        let token = self.cancel_token();
        self.link.on_deadline = Some(Box::new(move || {
            // A request that fails leaves the second deadline to end it.
            let _ = token.cancel();
            Instant::now() + limit
        }));
        let outcome = self.link.drive(on).map(drop);
        self.link.deadline = None;
        self.link.on_deadline = None;
        outcome
    }

    /// Binds and executes.
    fn run(
        &mut self,
        statement: &Statement,
        parameters: &[Parameter<'_>],
        on: &mut dyn FnMut(Event<'_>) -> Result<Step, Error>,
    ) -> Result<(), Error> {
        if !statement.belongs_to(&self.unused) {
            return Err(Error::new(Kind::Usage("the statement was prepared on another connection")));
        }
        let mut scratch = self.scratch();
        let pipeline = self.begin()?;
        let written = pipeline.bind_by(statement.template(), |values| {
            let parameters = parameters.iter().copied();
            parameters::write(values, statement.parameters(), parameters, &mut scratch)
        });
        self.keep_scratch(scratch);
        written?;
        let pipeline = self.link.pipeline()?;
        pipeline.execute(b"", 0)?;
        pipeline.sync();
        self.finish(on)
    }

    /// Does something with a statement; with a text's, which is prepared or was kept. One that was kept and has become
    /// unfit is prepared again, once, outside of transactions.
    fn with_statement<T>(
        &mut self,
        source: Source<'_>,
        mut run: impl FnMut(&mut Self, &Statement) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let text = match source {
            Source::Statement(statement) => return run(self, statement),
            Source::Text(text) => text,
        };
        if !self.cache.keeps() {
            let unnamed = self.prepare_as("", text, &[])?;
            return run(self, &unnamed);
        }
        let mut kept = self.cache.get(text);
        loop {
            let was_kept = kept.is_some();
            let statement = match kept.take() {
                Some(statement) => statement,
                None => {
                    let prepared = self.prepare(text)?;
                    self.cache.insert(text, &prepared);
                    prepared
                }
            };
            let outside = self.link.status() == TransactionStatus::Idle;
            let outcome = run(self, &statement);
            let code = outcome.as_ref().err().and_then(Error::code);
            if !(was_kept && code.is_some_and(is_outdated)) {
                return outcome;
            }
            self.cache.remove(text);
            if code == Some(SqlState::INVALID_SQL_STATEMENT_NAME) {
                // DISCARD ALL or DEALLOCATE ALL: the others are gone as well.
                self.cache.clear();
            }
            if !outside {
                return outcome;
            }
        }
    }

    /// The types of what was described, asked of the catalog where need be.
    fn resolve(&mut self, described: Described) -> Result<(Vec<Type>, Vec<crate::rows::Column>), Error> {
        let unknown = described.unknown(&self.catalog);
        if !unknown.is_empty() {
            self.look_up(&unknown)?;
        }
        Ok(described.resolve(&self.catalog))
    }

    fn look_up(&mut self, oids: &[u32]) -> Result<(), Error> {
        let (parameter, columns) = LOOK_UP_TYPES;
        let columns = columns.into_iter().map(crate::rows::Column::of_type).collect();
        let statement = Statement::new("", vec![parameter.clone()], columns, &self.unused)?;
        let mut scratch = self.scratch();
        let pipeline = self.begin()?;
        pipeline.parse(b"", LOOK_UP.as_bytes(), &[parameter.oid()])?;
        let written = pipeline.bind_by(statement.template(), |values| {
            let asked: Parameter<'_> = &oids;
            parameters::write(values, statement.parameters(), [asked].into_iter(), &mut scratch)
        });
        pipeline.execute(b"", 0)?;
        pipeline.sync();
        self.keep_scratch(scratch);
        let mut gathered = Gathered::default();
        let outcome = self.finish(&mut |event| gathered.take(event));
        written?;
        outcome?;
        for row in &gathered.rows(&statement) {
            self.catalog.read(&row)?;
        }
        self.catalog.take_over(oids);
        Ok(())
    }
}

/// Whether the server refused a statement because it is not what it was when it was prepared.
fn is_outdated(code: SqlState) -> bool {
    // "cached plan must not change result type", and a statement that is gone.
    code == SqlState::FEATURE_NOT_SUPPORTED || code == SqlState::INVALID_SQL_STATEMENT_NAME
}

impl Drop for Client {
    fn drop(&mut self) {
        self.link.terminate();
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("place", &self.place)
            .field("process_id", &self.process_id())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

/// Rows that come in.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    frames: Vec<u8>,
    count: usize,
    affected: Option<u64>,
}

impl Gathered {
    pub(crate) fn take(&mut self, event: Event<'_>) -> Result<Step, Error> {
        match event {
            Event::Rows { frames, count } => {
                self.frames.extend_from_slice(frames);
                self.count += count as usize;
            }
            Event::Complete(complete) => self.affected = complete.rows(),
            _ => {}
        }
        Ok(Step::Go)
    }

    pub(crate) fn rows(self, statement: &Statement) -> Rows {
        Rows::new(Arc::clone(statement.shared_columns()), self.frames, self.count, self.affected)
    }
}
