//! The HTTP pages. The tests write their requests byte by byte.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use trunkline::config::{Http, ListenAddress};
use trunkline::http::{HttpThread, Page, serve, start};
use trunkline::metrics::exposition::{Exposition, Kind};

/// How long a test waits for an answer before it fails.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Default)]
struct Proxy {
    draining: AtomicBool,
}

impl Page for Proxy {
    fn metrics(&self, out: &mut String) {
        Exposition::new(out).family("turns_total", "Turns.", Kind::Counter).sample(&[("user", "alice")], 3);
    }

    fn ready(&self) -> Result<(), String> {
        if self.draining.load(Ordering::Relaxed) {
            Err("waiting for clients to leave".to_owned())
        } else {
            Ok(())
        }
    }
}

fn running(settings: &Http) -> (HttpThread, Arc<Proxy>) {
    let proxy = Arc::new(Proxy::default());
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let page: Arc<dyn Page> = Arc::<Proxy>::clone(&proxy);
    (serve(vec![listener], settings, page).expect("served"), proxy)
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("connected");
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    stream
}

/// Sends `request` and returns everything that the server sends until it closes the connection.
fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = connect(address);
    stream.write_all(request.as_bytes()).expect("written");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("answered and closed");
    String::from_utf8(answer).expect("UTF-8")
}

fn get(address: SocketAddr, path: &str) -> String {
    ask(address, &format!("GET {path} HTTP/1.1\r\nHost: t\r\n\r\n"))
}

#[test]
fn each_page_answers() {
    let (http, proxy) = running(&Http::default());
    let address = http.addresses()[0];

    let metrics = get(address, "/metrics");
    assert!(metrics.starts_with("HTTP/1.1 200 OK\r\n"), "{metrics}");
    assert!(
        metrics.to_lowercase().contains("content-type: text/plain; version=0.0.4; charset=utf-8\r\n"),
        "{metrics}"
    );
    assert!(metrics.ends_with("\n# TYPE turns_total counter\nturns_total{user=\"alice\"} 3\n"), "{metrics}");

    assert!(get(address, "/healthz").ends_with("\r\n\r\nalive\n"));
    assert!(get(address, "/readyz?verbose").starts_with("HTTP/1.1 200 OK\r\n"));
    proxy.draining.store(true, Ordering::Relaxed);
    let unready = get(address, "/readyz");
    assert!(unready.starts_with("HTTP/1.1 503 "), "{unready}");
    assert!(unready.ends_with("\r\n\r\nnot ready: waiting for clients to leave\n"), "{unready}");
    assert!(get(address, "/healthz").starts_with("HTTP/1.1 200 OK\r\n"));
}

#[test]
fn other_paths_and_methods_are_refused() {
    let (http, _) = running(&Http::default());
    let address = http.addresses()[0];
    assert!(get(address, "/").starts_with("HTTP/1.1 404 "));
    assert!(get(address, "/metrics/").starts_with("HTTP/1.1 404 "));
    let refused = ask(address, "POST /metrics HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n");
    assert!(
        refused.starts_with("HTTP/1.1 405 ") && refused.to_lowercase().contains("allow: get, head\r\n"),
        "{refused}"
    );
    let head = ask(address, "HEAD /healthz HTTP/1.1\r\nHost: t\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
}

#[test]
fn an_invalid_request_is_refused_and_the_next_one_is_answered() {
    let (http, _) = running(&Http::default());
    let address = http.addresses()[0];
    for nonsense in ["\0\0\0\0\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n"] {
        let answer = ask(address, nonsense);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400 "), "{nonsense:?}: {answer}");
    }
    let endless = format!("GET /metrics HTTP/1.1\r\nX: {}", "x".repeat(64 * 1024));
    let mut stream = connect(address);
    // The server may close the connection during this write.
    let _ = stream.write_all(endless.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(
        answer.is_empty() || answer.starts_with(b"HTTP/1.1 431 "),
        "{}",
        String::from_utf8_lossy(&answer)
    );
    assert!(get(address, "/healthz").starts_with("HTTP/1.1 200 OK\r\n"));
}

#[test]
fn a_slow_request_is_closed_after_header_timeout_and_makes_room() {
    let settings = Http { connections_max: 2, header_timeout: Duration::from_millis(300), ..Http::default() };
    let (http, _) = running(&settings);
    let address = http.addresses()[0];
    let started = Instant::now();
    let mut slow: Vec<TcpStream> = (0..2).map(|_| connect(address)).collect();
    for stream in &mut slow {
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost").expect("written");
    }
    // The two slow connections take all places. This request is answered after one of them has timed out.
    assert!(get(address, "/healthz").starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(started.elapsed() >= Duration::from_millis(300), "the bound on connections did not hold");
    for mut stream in slow {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 408 "), "{}", String::from_utf8_lossy(&rest));
    }
}

#[test]
fn nothing_listens_by_default_and_a_taken_address_is_an_error() {
    let page: Arc<dyn Page> = Arc::new(Proxy::default());
    assert!(start(&Http::default(), Arc::clone(&page)).expect("nothing to do").is_none());

    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = ListenAddress::One(taken.local_addr().expect("bound"));
    let settings = Http { listen: Some(address), ..Http::default() };
    assert!(start(&settings, Arc::clone(&page)).is_err());

    let free = ListenAddress::One(([127, 0, 0, 1], 0).into());
    let http =
        start(&Http { listen: Some(free), ..Http::default() }, page).expect("free").expect("listening");
    assert!(get(http.addresses()[0], "/healthz").ends_with("alive\n"));
    let address = http.addresses()[0];
    drop(http);
    assert!(TcpStream::connect(address).is_err(), "the port is closed when the thread has ended");
}
