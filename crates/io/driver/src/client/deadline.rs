//! Queries that may take so long and no longer.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use trunkline_driver_blocking::Error;
use trunkline_driver_blocking::parts::Kind;

use super::{Client, Scratch};
use crate::connect::apart;
use crate::dispatch::{Answered, Want};

impl Client {
    /// [`ask`](Self::ask) with a limit. The connection is held meanwhile, so that a cancel request can hit nothing else.
    pub(super) async fn ask_in_time(
        &self,
        limit: Duration,
        want: Want,
        write: impl FnOnce(&mut Scratch) -> Result<(), Error>,
    ) -> Result<Answered, Error> {
        let deadline = Instant::now() + limit;
        let late = |_| Error::new(Kind::TimedOut);
        let hold = match self.link.is_held_by(self.owner) {
            true => None,
            false => Some(timeout_at(deadline, self.link.hold()).await.map_err(late)?),
        };
        let client = hold.as_ref().map_or_else(|| self.clone(), |hold| self.owned_by(hold.owner)).unlimited();
        if !self.link.is_quiet() {
            // What was asked before it must be answered, so that it is this query that a cancel request hits.
            let sync = client.submit(Want::Whole, |scratch| {
                scratch.pipeline.sync();
                Ok(())
            });
            timeout_at(deadline, async { sync.await?.await }).await.map_err(late)??;
        }
        // What finds no room in time is not sent.
        let mut asked = timeout_at(deadline, client.submit(want, write)).await.map_err(late)??;
        if let Ok(answered) = timeout_at(deadline, &mut asked).await {
            return answered;
        }
        if self.link.answers(&asked.reply) {
            let token = self.cancel();
            // A request that fails leaves the second deadline to end it.
            let cancel = apart(move || token.cancel());
            let answer = async {
                // Until the server has heard the request, it could still hit what comes next.
                let (_, answered) = (cancel.await, asked.await);
                answered
            };
            if let Ok(answered) = timeout_at(Instant::now() + limit, answer).await {
                return answered;
            }
        }
        // What comes later would be waited for by all others.
        self.link.give_up();
        Err(Error::new(Kind::TimedOut))
    }
}
