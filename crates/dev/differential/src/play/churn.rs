//! Churning clients: they run beside a script, each in a thread, and parse the script's texts under other settings.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use fastrand::Rng;
use trunkline_probes::testkit::cluster::TRUSTED_USER;
use trunkline_probes::testkit::{Messages, Proxy, RawClient};

use super::PlayOptions;
use crate::script::{Action, Message, Script, Turn};

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
    /// Logs the clients in. They begin at once.
    ///
    /// # Errors
    /// When one cannot log in.
    pub(super) fn start(proxy: &Proxy, script: &Script, play_options: PlayOptions) -> Result<Self> {
        let texts = Arc::new(texts(script));
        let stop = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        for number in 0..play_options.churners {
            let client = login(proxy.address(), play_options.patience).context("a churning client")?;
            let (stop, texts) = (Arc::clone(&stop), Arc::clone(&texts));
            let rng = Rng::with_seed(number as u64);
            threads.push(std::thread::spawn(move || churn(client, &texts, &stop, rng)));
        }
        Ok(Self { stop, threads })
    }

    /// Stops the clients. Returns how many turns they have run.
    ///
    /// # Errors
    /// When a client was disconnected or not answered.
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
    /// A play that ends early also stops its churning clients, and ignores their errors.
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
    let turns = script.steps.iter().filter_map(|step| match &step.action {
        Action::Turns(turns) | Action::Change(turns) => Some(turns.iter().flatten()),
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

/// Runs one turn after the other until `stop` is set; returns how many.
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

/// A turn that parses and describes a text. It changes nothing, whatever the text is, and keeps no lock after its end.
fn turn(texts: &[Vec<u8>], rng: &mut Rng) -> Turn {
    if rng.u8(..4) == 0 {
        return vec![Message::Query(vec![SETTINGS[rng.usize(..SETTINGS.len())].into()])];
    }
    let name = format!("c{}", rng.u8(..3)).into_bytes();
    let sql = texts[rng.usize(..texts.len())].clone();
    let parse = Message::Parse { name: name.clone(), sql, types: Vec::new() };
    vec![Message::Close(b'S', name.clone()), parse, Message::Describe(b'S', name), Message::Sync]
}
