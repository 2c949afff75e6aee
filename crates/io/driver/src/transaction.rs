//! Transactions, savepoints, and the portals in them.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use trunkline_driver_blocking::parts::{Kind, write_parameters};
use trunkline_driver_blocking::{Begin, Error, Rows, Statement};
use trunkline_session::frontend::connection::BindTemplate;
use trunkline_wire::Format;
use trunkline_wire::frontend::Target;

use crate::client::{Client, Parameter, Scratch, part};
use crate::dispatch::{Owner, Want};
use crate::link::Hold;

/// An open transaction, or a savepoint in one. It is a [`Client`] for what is run in it; dropped without
/// [`commit`](Self::commit) it is rolled back.
///
/// Its queries pipeline as a client's do. Other handles' queries wait until it is over.
pub struct Transaction<'c> {
    client: Client,
    /// The savepoint's name; none for the transaction itself.
    savepoint: Option<String>,
    /// What keeps others off, if it was not held before.
    hold: Option<Hold>,
    over: bool,
    _within: PhantomData<&'c Client>,
}

impl<'c> Transaction<'c> {
    pub(crate) async fn begin(client: &'c Client, begin: &Begin) -> Result<Self, Error> {
        let nested = client.link.is_held_by(client.owner);
        let hold = if nested { None } else { Some(client.link.hold().await) };
        let client = hold.as_ref().map_or_else(|| client.clone(), |hold| client.owned_by(hold.owner));
        let savepoint = nested.then(|| client.link.name());
        let sql = savepoint.as_ref().map_or_else(|| begin.sql(), |name| format!("savepoint {name}"));
        // From here on it is rolled back when this future is dropped.
        let transaction = Self { client, savepoint, hold, over: false, _within: PhantomData };
        transaction.client.batch_execute(&sql).await?;
        Ok(transaction)
    }

    /// Begins a savepoint. What it borrows cannot be used before it is over.
    ///
    /// # Errors
    /// The server's error.
    pub async fn transaction(&mut self) -> Result<Transaction<'_>, Error> {
        Transaction::begin(&self.client, &Begin::default()).await
    }

    /// Makes what was done in it last. When this future is dropped after its first poll, that is done all the same.
    ///
    /// # Errors
    /// The server's error: it is rolled back then. A transaction that has failed before is rolled back, which is an error too.
    pub async fn commit(mut self) -> Result<(), Error> {
        let sql = match &self.savepoint {
            Some(name) => format!("release savepoint {name}"),
            None => "commit".to_owned(),
        };
        let results = self.finish(&sql).await?;
        if results.iter().any(|result| result.tag() == "ROLLBACK") {
            let message = "the transaction was rolled back, because a command in it had failed";
            return Err(Error::new(Kind::Usage(message)));
        }
        Ok(())
    }

    /// Undoes what was done in it.
    ///
    /// # Errors
    /// When the connection ends.
    pub async fn rollback(mut self) -> Result<(), Error> {
        let sql = self.undo();
        self.finish(&sql).await.map(drop)
    }

    fn undo(&self) -> String {
        match &self.savepoint {
            Some(name) => format!("rollback to savepoint {name}; release savepoint {name}"),
            None => "rollback".to_owned(),
        }
    }

    /// Asks for its end; what others have asked meanwhile goes right behind it.
    async fn finish(&mut self, sql: &str) -> Result<Vec<trunkline_driver_blocking::SimpleResult>, Error> {
        let asked = self.client.submit(Want::Texts, |scratch| Ok(scratch.pipeline.query(sql.as_bytes())?));
        let asked = asked.await;
        self.over = true;
        self.hold = None;
        Ok(asked?.await?.results)
    }

    /// Makes a portal of a query, whose rows are fetched as many at a time as are wanted.
    ///
    /// # Errors
    /// The server's error, or why the parameters do not fit.
    pub async fn bind(
        &self,
        statement: &Statement,
        parameters: &[Parameter<'_>],
    ) -> Result<Portal<'_>, Error> {
        self.client.own(statement)?;
        let name = self.client.link.name();
        let portal = Portal { client: &self.client, name, statement: statement.clone() };
        let binary = [Format::BINARY];
        portal
            .client
            .ask(Want::Whole, |scratch| {
                let Scratch { pipeline, value } = scratch;
                let types = statement.parameters();
                let template = BindTemplate::for_portal(
                    portal.name.as_bytes(),
                    statement.name().as_bytes(),
                    &binary,
                    types.len(),
                    &binary,
                )?;
                pipeline.bind_by(&template, |values| {
                    write_parameters(values, types, parameters.iter().copied(), value)
                })?;
                pipeline.sync();
                Ok(())
            })
            .await?;
        Ok(portal)
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.over && !self.client.is_closed() {
            let sql = self.undo();
            let mut pipeline = trunkline_session::frontend::Pipeline::new();
            // It is a text without a zero byte, and no turn is open: it can be sent.
            if pipeline.query(sql.as_bytes()).is_ok() {
                self.client.link.put(self.owner(), &mut pipeline, Some(None));
            }
        }
    }
}

impl Transaction<'_> {
    fn owner(&self) -> Owner {
        self.client.owner
    }
}

impl Deref for Transaction<'_> {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl fmt::Debug for Transaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction").field("savepoint", &self.savepoint).finish_non_exhaustive()
    }
}

/// A query that is under way in a transaction. Dropped, it is closed.
pub struct Portal<'t> {
    client: &'t Client,
    name: String,
    statement: Statement,
}

impl Portal<'_> {
    /// The next rows, at most `rows_max` (0 is all), and whether there may be more.
    ///
    /// # Errors
    /// The server's error.
    pub async fn fetch(&self, rows_max: i32) -> Result<(Rows, bool), Error> {
        let answered = self.client.ask(Want::Whole, |scratch| {
            scratch.pipeline.execute(self.name.as_bytes(), rows_max)?;
            scratch.pipeline.sync();
            Ok(())
        });
        let answered = answered.await?;
        let columns = std::sync::Arc::clone(self.statement.shared_columns());
        Ok((part(columns, answered.frames), answered.suspended))
    }
}

impl Drop for Portal<'_> {
    fn drop(&mut self) {
        let mut pipeline = trunkline_session::frontend::Pipeline::new();
        if pipeline.close(Target::Portal, self.name.as_bytes()).is_ok() {
            pipeline.sync();
            self.client.link.put(self.client.owner, &mut pipeline, Some(None));
        }
    }
}

impl fmt::Debug for Portal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Portal").field("name", &self.name).finish_non_exhaustive()
    }
}
