//! Clients beside a script, each in a thread: they parse its texts under settings of their own.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use fastrand::Rng;
use trunkline_probes::testkit::cluster::TRUSTED_USER;
use trunkline_probes::testkit::{Messages, Proxy, RawClient};

use super::Manner;
use crate::script::{Deed, Message, Script, Turn};

/// Settings that a churning client goes through.
const SETTINGS: [&str; 10] = [
    "set timezone = 'Asia/Tokyo'",
    "set timezone = 'America/New_York'",
    "set datestyle = 'German, DMY'",
    "set datestyle = 'SQL, MDY'",
    "set intervalstyle = 'sql_standard'",
    "set client_encoding = 'LATIN1'",
    "set client_encoding = 'SJIS'",
    "set standard_conforming_strings = off",
    "set application_name = 'churn'",
    "reset all",
];

/// The churning clients.
#[derive(Debug)]
pub struct Churn {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Result<usize>>>,
}

impl Churn {
    /// Logs them in; they begin at once.
    ///
    /// # Errors
    /// When one cannot log in.
    pub(super) fn start(proxy: &Proxy, script: &Script, manner: Manner) -> Result<Self> {
        let texts = Arc::new(texts(script));
        let stop = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        for number in 0..manner.churners {
            let client = login(proxy.address(), manner.patience).context("a churning client")?;
            let (stop, texts) = (Arc::clone(&stop), Arc::clone(&texts));
            let rng = Rng::with_seed(number as u64);
            threads.push(std::thread::spawn(move || churn(client, &texts, &stop, rng)));
        }
        Ok(Self { stop, threads })
    }

    /// Stops them. Gives how many turns they have had.
    ///
    /// # Errors
    /// When one was ended, or not answered.
    pub(super) fn finish(mut self) -> Result<usize> {
        self.stop.store(true, Ordering::Relaxed);
        let mut turns = 0;
        for thread in std::mem::take(&mut self.threads) {
            let done = thread.join().map_err(|_| anyhow::anyhow!("a churning client's thread panicked"))?;
            turns += done.context("a churning client was disturbed")?;
        }
        Ok(turns)
    }
}

impl Drop for Churn {
    /// A play that ends early ends its clients, too; what they met is not asked.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in std::mem::take(&mut self.threads) {
            _ = thread.join();
        }
    }
}

fn login(address: SocketAddr, patience: Duration) -> Result<RawClient> {
    let mut client = RawClient::login(address, TRUSTED_USER, "", "app")?;
    client.set_read_limit(patience)?;
    Ok(client)
}

/// The texts that a script parses.
fn texts(script: &Script) -> Vec<Vec<u8>> {
    let turns = script.steps.iter().filter_map(|step| match &step.deed {
        Deed::Turns(turns) | Deed::Change(turns) => Some(turns.iter().flatten()),
        _ => None,
    });
    let parsed = turns.flatten().filter_map(|message| match message {
        Message::Parse { sql, .. } => Some(sql.clone()),
        _ => None,
    });
    let mut texts: Vec<Vec<u8>> = parsed.collect();
    texts.push(b"select 1".to_vec());
    texts.sort_unstable();
    texts.dedup();
    texts
}

/// One turn after the other until it is told to stop; gives how many.
fn churn(mut client: RawClient, texts: &[Vec<u8>], stop: &AtomicBool, mut rng: Rng) -> Result<usize> {
    let mut turns = 0;
    while !stop.load(Ordering::Relaxed) {
        let turn = turn(texts, &mut rng);
        let messages = turn.iter().fold(Messages::new(), |out, message| message.write(out));
        client.send_messages(&messages)?;
        let mut got = Vec::new();
        while got.last() != Some(&b'Z') {
            let frame = client.frame().with_context(|| {
                let sent: Vec<String> = turn.iter().map(Message::to_string).collect();
                format!("turn {turns}: sent {}, got {:?}", sent.join(", "), String::from_utf8_lossy(&got))
            })?;
            got.push(frame.tag);
        }
        turns += 1;
    }
    Ok(turns)
}

/// Parses and describes: that changes nothing whatever the text is, and takes no lock beyond its turn.
fn turn(texts: &[Vec<u8>], rng: &mut Rng) -> Turn {
    if rng.u8(..4) == 0 {
        return vec![Message::Query(vec![SETTINGS[rng.usize(..SETTINGS.len())].into()])];
    }
    let name = format!("c{}", rng.u8(..3)).into_bytes();
    let sql = texts[rng.usize(..texts.len())].clone();
    let parse = Message::Parse { name: name.clone(), sql, types: Vec::new() };
    vec![Message::Close(b'S', name.clone()), parse, Message::Describe(b'S', name), Message::Sync]
}
