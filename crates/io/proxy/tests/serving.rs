//! The program as an operator sees it: its log, its pages and its signals. The tests need no server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use trunkline_testkit::{PATIENCE, free_port};

/// The time between two requests for a page.
const REQUEST_INTERVAL: Duration = Duration::from_millis(10);

struct Proxy {
    child: Child,
    lines: Receiver<String>,
    file: PathBuf,
    http: u16,
    port: u16,
    _directory: tempfile::TempDir,
}

fn port() -> u16 {
    free_port().expect("a free port")
}

fn write_config(file: &Path, port: u16, http: u16, rest: &str) {
    let text = format!(
        "listen = [\"127.0.0.1:{port}\"]\nworkers = 2\n{rest}\n[http]\nlisten = \"127.0.0.1:{http}\"\n\
         [databases.app]\nhost = \"127.0.0.1\"\nport = 1\n[users.alice]\npassword = \"wonder\"\n"
    );
    std::fs::write(file, text).expect("written");
}

fn launch(file: &Path) -> (Child, Receiver<String>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_trunkline"))
        .args(["serve", "--config"])
        .arg(file)
        .env_remove("TRUNKLINE_LOG")
        .env_remove("TRUNKLINE_UPSTREAM")
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let stderr = BufReader::new(child.stderr.take().expect("piped"));
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in stderr.lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    (child, lines)
}

impl Proxy {
    fn start() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let (file, port, http) = (directory.path().join("trunkline.toml"), port(), port());
        write_config(&file, port, http, "");
        let (child, lines) = launch(&file);
        let proxy = Self { child, lines, file, http, port, _directory: directory };
        proxy.wait_for(&format!("listening on 127.0.0.1:{port}"));
        proxy
    }

    /// Waits for the next log line that contains `text`.
    fn wait_for(&self, text: &str) -> String {
        let (deadline, mut seen) = (Instant::now() + PATIENCE, Vec::new());
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => seen.push(line),
                Err(error) => panic!("{error}: no {text:?} in {seen:#?}"),
            }
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("signalled");
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.http)).expect("connected");
        stream.set_read_timeout(Some(PATIENCE)).expect("set");
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: t\r\n\r\n").as_bytes()).expect("written");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("answered");
        answer
    }

    /// Asks until the answer is as expected. On a busy machine a worker may not report in time for a page.
    fn get_until(&self, path: &str, is_expected: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answer = self.get(path);
            if is_expected(&answer) {
                return;
            }
            assert!(Instant::now() < deadline, "{path}: {answer}");
            std::thread::sleep(REQUEST_INTERVAL);
        }
    }

    fn wait_until_ready(&self) {
        self.get_until("/readyz", |answer| answer.starts_with("HTTP/1.1 200 "));
    }

    /// Waits for the end of the process. Returns the exit code.
    fn wait_for_exit(mut self) -> Option<i32> {
        // The log ends with the process.
        while self.lines.recv_timeout(PATIENCE).is_ok() {}
        self.child.wait().expect("ended").code()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // Fails if the process has ended, as it should have.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_log_says_where_the_proxy_listens_and_the_pages_answer() {
    let proxy = Proxy::start();
    proxy.wait_until_ready();
    proxy.get_until("/metrics", |metrics| metrics.contains("\ntrunkline_workers_answering 2\n"));
    let _client = TcpStream::connect(("127.0.0.1", proxy.port)).expect("somebody listens");
    proxy.signal(Signal::QUIT);
    assert_eq!(proxy.wait_for_exit(), Some(0));
}

#[test]
fn the_pages_show_a_pause_and_its_end() {
    let proxy = Proxy::start();
    proxy.signal(Signal::USR1);
    proxy.wait_for("paused");
    let unready = proxy.get("/readyz");
    assert!(unready.starts_with("HTTP/1.1 503 ") && unready.ends_with("not ready: paused\n"), "{unready}");
    assert!(proxy.get("/metrics").contains("\ntrunkline_paused 1\n"));
    proxy.signal(Signal::USR2);
    proxy.wait_for("resumed");
    proxy.wait_until_ready();
    proxy.signal(Signal::TERM);
    assert_eq!(proxy.wait_for_exit(), Some(0));
}

#[test]
fn a_reload_changes_settings_except_those_that_need_a_restart() {
    let proxy = Proxy::start();
    write_config(&proxy.file, proxy.port, proxy.http, "pool_mode = \"sometimes\"");
    proxy.signal(Signal::HUP);
    proxy.wait_for("the configuration stays as it is");
    proxy.wait_for("pool_mode");
    proxy.wait_until_ready();

    write_config(
        &proxy.file,
        proxy.port,
        proxy.http,
        "listen_backlog = 7\npool_mode = \"session\"\n[limits]\nmax_client_conn = 77",
    );
    proxy.signal(Signal::HUP);
    let kept = proxy.wait_for("need a restart");
    assert!(kept.contains("listen_backlog") && !kept.contains("pool_mode"), "{kept}");
    let changed = proxy.wait_for("read again");
    assert!(changed.contains("pool_mode, limits") && !changed.contains("wonder"), "{changed}");
    assert!(proxy.get("/metrics").contains("\ntrunkline_limit{limit=\"max_client_conn\"} 77\n"));

    // Certificate files are read after the configuration has been accepted.
    let tls = "[tls.client]\nmode = \"require\"\ncert = \"none.crt\"\nkey = \"none.key\"";
    for name in ["none.crt", "none.key"] {
        std::fs::write(proxy.file.with_file_name(name), "nothing").expect("written");
    }
    write_config(&proxy.file, proxy.port, proxy.http, tls);
    proxy.signal(Signal::HUP);
    let refused = proxy.wait_for("the configuration stays as it is");
    assert!(refused.contains("none.crt"), "{refused}");
    assert!(proxy.get("/metrics").contains("\ntrunkline_limit{limit=\"max_client_conn\"} 77\n"));
    proxy.signal(Signal::INT);
    assert_eq!(proxy.wait_for_exit(), Some(0));
}

#[test]
fn the_error_names_a_taken_port() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("bound");
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("trunkline.toml");
    write_config(&file, address.port(), port(), "");
    let (mut child, lines) = launch(&file);
    let lines: Vec<String> = std::iter::from_fn(|| lines.recv_timeout(PATIENCE).ok()).collect();
    assert_eq!(child.wait().expect("ended").code(), Some(1));
    let last = lines.last().map(String::as_str).unwrap_or_default();
    assert!(last.contains(&address.to_string()) && last.contains("stop it"), "{lines:#?}");
}
