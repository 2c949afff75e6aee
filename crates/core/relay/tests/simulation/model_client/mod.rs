//! A model client. It sends its script, and compares every answer with the one that a direct connection would have given.

pub(crate) mod direct;
pub(crate) mod script;

use trunkline_relay::board::Shutdown;

use crate::frames::{self, field, show};
use crate::model_server::session::Session;
use crate::model_server::settings::{KNOWN, Settings};
use crate::pipe::Pipe;
use direct::{Direct, Excuses};
use script::Script;

/// The error with which clients are disconnected at shutdown.
pub(crate) const SHUTTING_DOWN: &str = "the proxy is shutting down";

/// What a client is doing now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    LoggingIn,
    Open,
    /// It has sent Terminate, or was told that it is disconnected.
    Over,
}

#[derive(Debug)]
pub(crate) struct ModelClient {
    pub(crate) id: usize,
    pub(crate) link: usize,
    pub(crate) worker: usize,
    pub(crate) phase: Phase,
    pub(crate) script: Script,
    pub(crate) direct: Direct,
    pub(crate) key: Option<(i32, Vec<u8>)>,
    /// The server refuses its start-up parameters.
    pub(crate) bad_start: bool,
    password: Option<String>,
    refusal: Option<&'static str>,
    looked_up: bool,
    told: Vec<(String, String)>,
    outgoing: Vec<u8>,
    received: Vec<u8>,
    pub(crate) garbage: bool,
    /// The last bytes from the proxy did not all fit into the socket.
    pub(crate) cut: bool,
    /// The status in the last ReadyForQuery.
    pub(crate) status: u8,
}

/// How a client logs in.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) user: String,
    /// Its password, if the proxy asks for one.
    pub(crate) password: Option<String>,
    pub(crate) parameters: Vec<(String, String)>,
    /// The SQLSTATE with which the proxy must refuse it.
    pub(crate) refusal: Option<&'static str>,
    /// Whether its password is looked up, because the configuration does not have the user.
    pub(crate) looked_up: bool,
}

impl ModelClient {
    pub(crate) fn new(
        link: usize,
        worker: usize,
        script: Script,
        start: Start,
        reports_at_once: bool,
    ) -> Self {
        let settings = Settings::new(&start.parameters);
        let bad_start = settings.is_err();
        let settings = settings.unwrap_or_else(|_| Settings::new(&[]).expect("the defaults"));
        let mut body = format!("\0\x03\0\0user\0{}\0database\0d\0", start.user).into_bytes();
        for (name, value) in &start.parameters {
            body.extend_from_slice(format!("{name}\0{value}\0").as_bytes());
        }
        body.push(0);
        let mut outgoing = u32::try_from(body.len() + 4).expect("short").to_be_bytes().to_vec();
        outgoing.extend_from_slice(&body);
        Self {
            id: script.id,
            link,
            worker,
            phase: Phase::LoggingIn,
            script,
            direct: Direct::new(Session::new(settings, reports_at_once)),
            key: None,
            bad_start,
            password: start.password,
            refusal: start.refusal,
            looked_up: start.looked_up,
            told: Vec::new(),
            outgoing,
            received: Vec::new(),
            garbage: false,
            cut: false,
            status: b'I',
        }
    }

    /// Adds a batch to its unsent bytes. Returns a description for the trace.
    pub(crate) fn write_batch(&mut self) -> String {
        let batch = self.script.batch(self.status);
        let shown: Vec<String> = batch.iter().map(|message| show(message)).collect();
        batch.iter().for_each(|message| self.write(message));
        shown.join(" ")
    }

    pub(crate) fn write(&mut self, message: &[u8]) {
        self.direct.sent(message);
        self.outgoing.extend_from_slice(message);
    }

    pub(crate) fn write_raw(&mut self, bytes: &[u8]) {
        self.outgoing.extend_from_slice(bytes);
    }

    pub(crate) fn unsent(&self) -> usize {
        self.outgoing.len()
    }

    /// Writes unsent bytes to the socket, as far as it takes them.
    pub(crate) fn send(&mut self, up: &mut Pipe, most: usize) -> usize {
        let part = self.outgoing.len().min(most);
        let sent = up.push(&self.outgoing[..part]);
        self.outgoing.drain(..sent);
        sent
    }

    /// Handles received bytes.
    pub(crate) fn receive(&mut self, bytes: &[u8], excuses: &Excuses) -> Result<(), String> {
        self.received.extend_from_slice(bytes);
        while let Some(message) = frames::take(&mut self.received) {
            self.message(&message, excuses)?;
        }
        Ok(())
    }

    fn message(&mut self, message: &[u8], excuses: &Excuses) -> Result<(), String> {
        if self.phase == Phase::LoggingIn {
            return self.login_message(message, excuses);
        }
        let fatal = message[0] == b'E' && field(message, b'V') == "FATAL";
        if self.garbage && fatal && field(message, b'C') == "08P01" {
            self.direct.ended = true;
            return Ok(());
        }
        self.direct.arrived(message, excuses)?;
        if message[0] == b'Z' {
            self.status = message[5];
        }
        Ok(())
    }

    fn login_message(&mut self, message: &[u8], excuses: &Excuses) -> Result<(), String> {
        let body = &message[5..];
        match message[0] {
            b'R' if *body == [0; 4] => {}
            b'R' if *body == [0, 0, 0, 3] => {
                let password = self.password.take().ok_or("a password is asked for")?;
                self.outgoing.extend(frames::text(b'p', &password).bytes);
            }
            b'S' => {
                let mut words =
                    body.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
                if let (Some(name), Some(value)) = (words.next(), words.next()) {
                    self.told.push((name, value));
                }
            }
            b'K' => {
                let process_id = i32::from_be_bytes(body[..4].try_into().expect("four bytes"));
                self.key = Some((process_id, body[4..].to_vec()));
            }
            b'Z' if body == b"I" => return self.logged_in(),
            b'E' => {
                self.phase = Phase::Over;
                self.direct.ended = true;
                let (code, text) = (field(message, b'C'), field(message, b'M'));
                let excused = match &*code {
                    code if self.refusal == Some(code) => true,
                    "3D000" => excuses.reloads,
                    "28P01" => excuses.reloads && self.looked_up,
                    "57P03" if text.starts_with("logins cannot be checked") => {
                        excuses.reloads || excuses.time_passes || excuses.servers_die
                    }
                    "22023" => self.bad_start,
                    "53300" if text.starts_with("no more") => excuses.limited,
                    "53300" | "08006" | "57014" => excuses.time_passes || excuses.servers_die,
                    "57P01" if text == SHUTTING_DOWN => excuses.shutdown.is_some(),
                    "57P03" if text.contains("settings changed") => excuses.moved,
                    "57P01" | "57P03" => excuses.servers_die,
                    _ => false,
                };
                self.direct.refused(&code, &text);
                if !excused {
                    return Err(format!("login refused: {}", show(message)));
                }
            }
            _ => return Err(format!("{} in login", show(message))),
        }
        Ok(())
    }

    fn logged_in(&mut self) -> Result<(), String> {
        self.phase = Phase::Open;
        if self.bad_start {
            return Err("bad start-up parameters were taken".to_owned());
        }
        if let Some(due) = self.refusal {
            return Err(format!("a client came in that was to be refused with {due}"));
        }
        let values = &self.direct.session.settings.values;
        for (at, (name, _, _)) in KNOWN.iter().enumerate().filter(|(_, (.., reported))| *reported) {
            let told = self.told.iter().filter(|(told, _)| told == name).collect::<Vec<_>>();
            if told.len() != 1 || told[0].1 != values[at] {
                return Err(format!("{name} is {} but the client was told {told:?}", values[at]));
            }
        }
        Ok(())
    }

    /// Drops its unsent bytes, because nobody will read them. True if there were any.
    pub(crate) fn drop_unsent(&mut self) -> bool {
        !std::mem::take(&mut self.outgoing).is_empty()
    }

    /// The proxy has closed the connection.
    pub(crate) fn closed(&mut self, excuses: &Excuses) -> Result<(), String> {
        let open = self.phase != Phase::Over && !self.direct.ended;
        self.phase = Phase::Over;
        // A message that was cut in the middle leaves no room for an error.
        let now = excuses.shutdown == Some(Shutdown::Now);
        let torn = (excuses.servers_die || excuses.time_passes || now) && !self.received.is_empty();
        let told = excuses.servers_die && self.direct.excused > 0;
        let excused = self.cut || torn || self.garbage || told;
        if open && !excused {
            return Err("the connection was closed without a word".to_owned());
        }
        Ok(())
    }
}
