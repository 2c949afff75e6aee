//! The handle that programs use.

mod ask;
mod deadline;
mod query;
mod statements;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use postgres_types::{ToSql, Type};
use trunkline_driver_blocking::parts::Unused;
use trunkline_driver_blocking::{
    Begin, CancelToken, Config, Error, OwnedRow, Rows, SimpleResult, Statement, ToStatement,
};

pub(crate) use ask::{Asked, Scratch, bind_execute};
pub(crate) use query::part;
pub(crate) use statements::Statements;

use crate::batch::Batch;
use crate::bounds::Bounds;
use crate::connect;
use crate::copy::{CopyIn, CopyOut};
use crate::dispatch::{Owner, Want};
use crate::link::Link;
use crate::listen::{Notices, Notifications};
use crate::stream::RowStream;
use crate::transaction::Transaction;

/// A parameter of any type.
pub type Parameter<'p> = &'p (dyn ToSql + Sync);

/// A handle to a connection. Clones of it share the connection; the last one that is dropped closes it, after all that was asked.
///
/// What several tasks ask at once is sent together, and answered in the order of asking. Each query has its own Sync: it is its
/// own transaction, and an error of one does not touch another. A future that is dropped after its query was sent cancels
/// nothing: the query runs, and its answer is thrown away.
#[derive(Clone)]
pub struct Client {
    pub(crate) link: Arc<Link>,
    pub(crate) statements: Arc<Statements>,
    pub(crate) owner: Owner,
    timeout: Option<Duration>,
    _handle: Arc<LastHandle>,
}

/// Closes the connection when no handle is left.
struct LastHandle(Arc<Link>);

impl Drop for LastHandle {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Client {
    /// Connects by a connection string, filled up from the environment as [`Config::load`] does.
    ///
    /// Must be called in a tokio runtime with I/O and time enabled, which the connection lives in.
    ///
    /// # Errors
    /// When the text is not usable, or no host will do.
    pub async fn connect(text: &str) -> Result<Self, Error> {
        Self::connect_to(&Config::load(text)?).await
    }

    /// Connects.
    ///
    /// # Errors
    /// When no host will do; the error says of each why not.
    pub async fn connect_to(config: &Config) -> Result<Self, Error> {
        Self::connect_with(config, Bounds::default()).await
    }

    /// Connects, with bounds of what the connection may hold.
    ///
    /// # Errors
    /// When no host will do; the error says of each why not.
    pub async fn connect_with(config: &Config, bounds: Bounds) -> Result<Self, Error> {
        let unused = Unused::default();
        let link = connect::connect(config, bounds, unused).await?;
        Ok(Self {
            statements: Arc::new(Statements::new(config.statement_cache)),
            owner: Owner::ANYONE,
            timeout: None,
            _handle: Arc::new(LastHandle(Arc::clone(&link))),
            link,
        })
    }

    /// The same connection for what holds it for itself.
    pub(crate) fn owned_by(&self, owner: Owner) -> Self {
        Self { owner, ..self.clone() }
    }

    /// The same connection without a limit on time.
    pub(crate) fn unlimited(&self) -> Self {
        Self { timeout: None, ..self.clone() }
    }

    /// A handle to the same connection whose queries may take this long each, waiting for their turn included. One that takes
    /// longer is cancelled: its error is SQLSTATE 57014 of the server. One that could not be sent by then is not sent; when the
    /// server does not answer within as long again, the connection is given up. Both are [`Error::is_timeout`].
    ///
    /// A cancel request hits whatever the server runs, so nothing of others is sent behind such a query before it is answered.
    #[must_use]
    pub fn with_timeout(&self, limit: Duration) -> Self {
        Self { timeout: Some(limit), ..self.clone() }
    }

    /// Runs a query and gives all its rows. A text stays prepared ([`Config::statement_cache`]).
    ///
    /// # Errors
    /// The server's error, or why the parameters do not fit.
    pub async fn query<S: ToStatement + ?Sized>(
        &self,
        statement: &S,
        parameters: &[Parameter<'_>],
    ) -> Result<Rows, Error> {
        let (columns, answered) = self.run(statement.source(), parameters).await?;
        query::rows_of(columns, answered)
    }

    /// Runs a query that must return one row.
    ///
    /// # Errors
    /// As [`query`](Self::query), and when there is no row or more than one.
    pub async fn query_one<S: ToStatement + ?Sized>(
        &self,
        statement: &S,
        parameters: &[Parameter<'_>],
    ) -> Result<OwnedRow, Error> {
        let (columns, answered) = self.run(statement.source(), parameters).await?;
        query::only_row(columns, answered, "one")?.ok_or_else(query::no_row)
    }

    /// Runs a query that returns one row or none.
    ///
    /// # Errors
    /// As [`query`](Self::query), and when there is more than one row.
    pub async fn query_opt<S: ToStatement + ?Sized>(
        &self,
        statement: &S,
        parameters: &[Parameter<'_>],
    ) -> Result<Option<OwnedRow>, Error> {
        let (columns, answered) = self.run(statement.source(), parameters).await?;
        query::only_row(columns, answered, "at most one")
    }

    /// Runs a command and says how many rows it changed; 0 for commands that do not tell.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub async fn execute<S: ToStatement + ?Sized>(
        &self,
        statement: &S,
        parameters: &[Parameter<'_>],
    ) -> Result<u64, Error> {
        let (_, answered) = self.run(statement.source(), parameters).await?;
        Ok(query::affected(&answered)?.unwrap_or(0))
    }

    /// Runs a query and gives its rows as they come. While its reader is slow, the whole connection is read no further
    /// ([`Bounds::stream_bytes_max`]).
    ///
    /// # Errors
    /// Why it could not be sent; what the server says comes with the rows.
    pub async fn query_stream<S: ToStatement + ?Sized>(
        &self,
        statement: &S,
        parameters: &[Parameter<'_>],
    ) -> Result<RowStream, Error> {
        let statement = self.statement_of(statement.source()).await?;
        RowStream::begin(self, &statement, parameters).await
    }

    /// Runs a query in one round trip, as an unnamed statement that is not kept; each parameter comes with its type.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub async fn query_typed(&self, text: &str, parameters: &[(Parameter<'_>, Type)]) -> Result<Rows, Error> {
        self.run_typed(text, parameters).await
    }

    /// Prepares a statement for as long as it is wanted.
    ///
    /// # Errors
    /// The server's error.
    pub async fn prepare(&self, text: &str) -> Result<Statement, Error> {
        self.prepare_typed(text, &[]).await
    }

    /// Prepares a statement whose first parameters have these types.
    ///
    /// # Errors
    /// The server's error.
    pub async fn prepare_typed(&self, text: &str, types: &[Type]) -> Result<Statement, Error> {
        self.prepare_named(text, types).await
    }

    /// Runs any number of commands, separated by `;`, by the simple protocol, and gives their results as texts.
    ///
    /// # Errors
    /// The server's error: the results before it are lost.
    pub async fn simple_query(&self, text: &str) -> Result<Vec<SimpleResult>, Error> {
        if query::may_copy_in(text) && !self.link.is_held_by(self.owner) {
            // The server would take what others send after it for copied data.
            let hold = self.link.hold().await;
            return self.owned_by(hold.owner).run_texts(text).await;
        }
        self.run_texts(text).await
    }

    async fn run_texts(&self, text: &str) -> Result<Vec<SimpleResult>, Error> {
        let write = |scratch: &mut Scratch| Ok(scratch.pipeline.query(text.as_bytes())?);
        Ok(self.ask(Want::Texts, write).await?.results)
    }

    /// Runs any number of commands, separated by `;`, for their effect.
    ///
    /// # Errors
    /// The server's error.
    pub async fn batch_execute(&self, text: &str) -> Result<(), Error> {
        self.simple_query(text).await.map(drop)
    }

    /// Begins a batch: one statement, run with many sets of parameters.
    #[must_use]
    pub fn batch(&self, statement: &Statement) -> Batch<'_> {
        Batch::new(self, statement)
    }

    /// Begins a transaction. Until it is over, what others ask of this connection waits.
    ///
    /// # Errors
    /// The server's error.
    pub async fn transaction(&self) -> Result<Transaction<'_>, Error> {
        Transaction::begin(self, &Begin::default()).await
    }

    /// Begins a transaction with an isolation level and such.
    ///
    /// # Errors
    /// The server's error.
    pub async fn transaction_with(&self, begin: &Begin) -> Result<Transaction<'_>, Error> {
        Transaction::begin(self, begin).await
    }

    /// Begins a `COPY ... FROM STDIN`. Until it is over, what others ask of this connection waits.
    ///
    /// # Errors
    /// The server's error, or when the text is another command.
    pub async fn copy_in(&self, text: &str) -> Result<CopyIn<'_>, Error> {
        CopyIn::begin(self, text).await
    }

    /// Begins a `COPY ... TO STDOUT`. While its reader is slow, the whole connection is read no further.
    ///
    /// # Errors
    /// The server's error, or when the text is another command.
    pub async fn copy_out(&self, text: &str) -> Result<CopyOut, Error> {
        CopyOut::begin(self, text).await
    }

    /// Notifications of channels that were listened to (`LISTEN`), from now on.
    #[must_use]
    pub fn notifications(&self) -> Notifications {
        let listener = self.link.listeners.notifications();
        // The task looks whether anybody listens.
        self.link.wake();
        listener
    }

    /// The server's notices, from now on.
    #[must_use]
    pub fn notices(&self) -> Notices {
        let listener = self.link.listeners.notices();
        self.link.wake();
        listener
    }

    /// What cancels what the connection runs at that moment, whosever it is. [`with_timeout`](Self::with_timeout) hits no other's.
    #[must_use]
    pub fn cancel_token(&self) -> crate::cancel::CancelToken {
        crate::cancel::CancelToken::new(self.cancel())
    }

    pub(crate) fn cancel(&self) -> CancelToken {
        self.link.cancel.clone()
    }

    /// The value the server last reported for a parameter, such as `server_version`.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<String> {
        self.link.server(|server| server.parameter(name).map(str::to_owned))
    }

    /// The server process; 0 where the server gave no key.
    #[must_use]
    pub fn process_id(&self) -> i32 {
        self.link.server(|server| server.process_id)
    }

    /// Statements that are kept by their text.
    #[must_use]
    pub fn statements_cached(&self) -> usize {
        self.statements.len()
    }

    /// Whether a transaction was open when the server answered last.
    #[must_use]
    pub fn is_in_transaction(&self) -> bool {
        self.link.is_in_transaction()
    }

    /// Whether the connection has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.link.is_closed()
    }

    /// Waits until the connection has ended.
    pub async fn closed(&self) {
        self.link.ended().await;
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("server", &self.link.cancel).finish_non_exhaustive()
    }
}
