//! Statements that a connection keeps by their text, and the types that it knows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use postgres_types::Type;
use tokio::sync::OnceCell;
use trunkline_driver_blocking::parts::{Catalog, Described, Kind, LOOK_UP, LOOK_UP_TYPES, StatementCache};
use trunkline_driver_blocking::{Column, Error, Source, Statement};
use trunkline_session::frontend::Pipeline;
use trunkline_wire::SqlState;
use trunkline_wire::frontend::Target;

use super::query::{begins_copy_in, rows_of};
use super::{Client, Parameter, Scratch, bind_execute};
use crate::dispatch::{Answered, Want};

/// A statement that is prepared by the first task that wants it; the others wait for that.
type Kept = Arc<OnceCell<Statement>>;

/// See the module.
pub(crate) struct Statements {
    cache: Mutex<StatementCache<Kept>>,
    catalog: Mutex<Catalog>,
    keeps: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Statements {
    pub(crate) fn new(statements_max: usize) -> Self {
        let cache = StatementCache::new(statements_max);
        Self { keeps: cache.keeps(), cache: Mutex::new(cache), catalog: Mutex::default() }
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.cache).len()
    }

    /// The text's statement, prepared or not.
    fn kept(&self, text: &str) -> Kept {
        let mut cache = lock(&self.cache);
        if let Some(kept) = cache.get(text) {
            return kept;
        }
        let kept = Kept::default();
        cache.insert(text, &kept);
        kept
    }

    /// Forgets a statement that the server refused, unless another task has it prepared anew already.
    fn forget(&self, text: &str, refused: &Kept, all: bool) {
        let mut cache = lock(&self.cache);
        if !cache.get(text).is_some_and(|kept| Arc::ptr_eq(&kept, refused)) {
            return;
        }
        cache.remove(text);
        if all {
            cache.clear();
        }
    }
}

impl Client {
    /// Runs a statement, or a text's. One that was kept and has become unfit is prepared again, once, outside of transactions.
    pub(crate) async fn run(
        &self,
        source: Source<'_>,
        parameters: &[Parameter<'_>],
    ) -> Result<(Arc<[Column]>, Answered), Error> {
        match source {
            Source::Statement(statement) => self.run_statement(statement, parameters).await,
            Source::Text(text) if self.statements.keeps => self.run_kept(text, parameters).await,
            Source::Text(text) => Box::pin(self.run_unnamed(text, parameters)).await,
        }
    }

    async fn run_statement(
        &self,
        statement: &Statement,
        parameters: &[Parameter<'_>],
    ) -> Result<(Arc<[Column]>, Answered), Error> {
        self.own(statement)?;
        let answered = self.ask(Want::Whole, |scratch| {
            bind_execute(scratch, statement, parameters)?;
            scratch.pipeline.sync();
            Ok(())
        });
        Ok((Arc::clone(statement.shared_columns()), answered.await?))
    }

    async fn run_kept(
        &self,
        text: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<(Arc<[Column]>, Answered), Error> {
        let mut first = true;
        loop {
            let kept = self.statements.kept(text);
            let was_prepared = kept.initialized();
            let statement = match kept.get() {
                Some(statement) => statement,
                None => kept.get_or_try_init(|| Box::pin(self.prepare_named(text, &[]))).await?,
            };
            let outcome = self.run_statement(statement, parameters).await;
            let code = outcome.as_ref().err().and_then(Error::code);
            if !(first && was_prepared && code.is_some_and(is_outdated)) {
                return outcome;
            }
            // DISCARD ALL or DEALLOCATE ALL: the others are gone as well.
            let all = code == Some(SqlState::INVALID_SQL_STATEMENT_NAME);
            self.statements.forget(text, &kept, all);
            first = false;
            // In a transaction the error has ended it: the caller must begin anew.
            if self.link.is_held_by(self.owner) {
                return outcome;
            }
        }
    }

    /// The statement itself, or the text's.
    pub(crate) async fn statement_of(&self, source: Source<'_>) -> Result<Statement, Error> {
        match source {
            Source::Statement(statement) => {
                self.own(statement)?;
                Ok(statement.clone())
            }
            Source::Text(text) if self.statements.keeps => {
                let kept = self.statements.kept(text);
                kept.get_or_try_init(|| self.prepare_named(text, &[])).await.cloned()
            }
            Source::Text(text) => self.prepare_named(text, &[]).await,
        }
    }

    pub(crate) fn own(&self, statement: &Statement) -> Result<(), Error> {
        if statement.belongs_to(&self.link.unused) {
            return Ok(());
        }
        Err(Error::new(Kind::Usage("the statement was prepared on another connection")))
    }

    /// Prepares a statement under a name of its own.
    pub(crate) async fn prepare_named(&self, text: &str, types: &[Type]) -> Result<Statement, Error> {
        let name = self.link.name();
        let write = |scratch: &mut Scratch| describe(&mut scratch.pipeline, &name, text, types, true);
        let answered = self.ask(Want::Whole, write).await;
        let (parameters, columns) = match answered {
            Ok(answered) => self.resolve(answered.described).await?,
            Err(error) => return Err(error),
        };
        Ok(Statement::new(&name, parameters, columns, &self.link.unused)?)
    }

    /// Runs a text without leaving anything prepared: one turn, in which the server says what the parameters are before they
    /// are sent, so that a pooler cannot give its halves to two servers.
    async fn run_unnamed(
        &self,
        text: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<(Arc<[Column]>, Answered), Error> {
        let hold = if self.link.is_held_by(self.owner) { None } else { Some(self.link.hold().await) };
        let client = hold.as_ref().map_or_else(|| self.clone(), |hold| self.owned_by(hold.owner));
        let mut turn = OpenTurn { client: &client, asked: None, ended: false };
        let bytes_max = usize::MAX - 1;
        let asked = client.submit(Want::Parts { bytes_max }, |scratch| {
            describe(&mut scratch.pipeline, "", text, &[], false)?;
            scratch.pipeline.flush();
            Ok(())
        });
        let reply = &turn.asked.insert(asked.await?).reply;
        let Some(described) = std::future::poll_fn(|cx| reply.poll_described(cx)).await else {
            return turn.end().await.map(|answered| (Arc::from([]), answered));
        };
        if !described.unknown(&lock(&self.statements.catalog)).is_empty() {
            // Another query must come between: what the parameters are is known then.
            turn.end().await?;
            let (types, _) = Box::pin(client.resolve(Some(described))).await?;
            let typed: Vec<_> = parameters.iter().copied().zip(types).collect();
            let (columns, answered) = client.ask_typed(text, &typed).await?;
            return Ok((columns, answered));
        }
        let (types, columns) = described.resolve(&lock(&self.statements.catalog));
        let statement = Statement::new("", types, columns, &self.link.unused)?;
        let mut scratch = Scratch::default();
        let bound = bind_execute(&mut scratch, &statement, parameters);
        if bound.is_ok() {
            client.link.put(client.owner, &mut scratch.pipeline, None);
        }
        let answered = turn.end().await;
        bound?;
        Ok((Arc::clone(statement.shared_columns()), answered?))
    }

    /// The types and columns of what was described, asked of the catalog where need be.
    pub(crate) async fn resolve(
        &self,
        described: Option<Box<Described>>,
    ) -> Result<(Vec<Type>, Vec<Column>), Error> {
        let described = described.unwrap_or_default();
        let unknown = described.unknown(&lock(&self.statements.catalog));
        if !unknown.is_empty() {
            Box::pin(self.look_up(&unknown)).await?;
        }
        Ok(described.resolve(&lock(&self.statements.catalog)))
    }

    async fn look_up(&self, oids: &[u32]) -> Result<(), Error> {
        let (parameter, columns) = LOOK_UP_TYPES;
        let columns = columns.into_iter().map(Column::of_type).collect();
        let statement = Statement::new("", vec![parameter.clone()], columns, &self.link.unused)?;
        let answered = self.ask(Want::Whole, |scratch| {
            let asked: Parameter<'_> = &oids;
            scratch.pipeline.parse(b"", LOOK_UP.as_bytes(), &[parameter.oid()])?;
            bind_execute(scratch, &statement, &[asked])?;
            scratch.pipeline.sync();
            Ok(())
        });
        let rows = rows_of(Arc::clone(statement.shared_columns()), answered.await?)?;
        let mut catalog = lock(&self.statements.catalog);
        for row in &rows {
            catalog.read(&row)?;
        }
        catalog.take_over(oids);
        Ok(())
    }
}

/// A turn whose Sync is not sent yet; it is when this is dropped.
struct OpenTurn<'c> {
    client: &'c Client,
    asked: Option<super::Asked>,
    ended: bool,
}

impl OpenTurn<'_> {
    /// Ends it and awaits the rest of its answer.
    async fn end(&mut self) -> Result<Answered, Error> {
        self.sync();
        match self.asked.take() {
            Some(asked) => asked.await,
            None => Ok(Answered::default()),
        }
    }

    fn sync(&mut self) {
        if self.asked.is_some() && !std::mem::replace(&mut self.ended, true) {
            self.client.put(Pipeline::sync);
        }
    }
}

impl Drop for OpenTurn<'_> {
    fn drop(&mut self) {
        self.sync();
    }
}

fn describe(
    pipeline: &mut Pipeline,
    name: &str,
    text: &str,
    types: &[Type],
    sync: bool,
) -> Result<(), Error> {
    if begins_copy_in(text) {
        return Err(Error::new(Kind::Usage("COPY ... FROM STDIN is run by copy_in")));
    }
    let oids: Vec<u32> = types.iter().map(Type::oid).collect();
    pipeline.parse(name.as_bytes(), text.as_bytes(), &oids)?;
    pipeline.describe(Target::Statement, name.as_bytes())?;
    if sync {
        pipeline.sync();
    }
    Ok(())
}

/// Whether the server refused a statement because it is not what it was when it was prepared.
fn is_outdated(code: SqlState) -> bool {
    // "cached plan must not change result type", and a statement that is gone.
    code == SqlState::FEATURE_NOT_SUPPORTED || code == SqlState::INVALID_SQL_STATEMENT_NAME
}
