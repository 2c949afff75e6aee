//! Thousands of connections that send little or nothing.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use trunkline_probes::{Bystander, MemoryWatch, Setup, Stage, expect_refusal, login, note, try_login};
use trunkline_testkit::cluster::PASSWORD;
use trunkline_testkit::raw::startup;
use trunkline_testkit::{Proxy, RawClient};

use crate::alone;

trunkline_probes::probes! {
    ten_thousand_connections_that_send_nothing, silent_connections_beyond_unauthenticated_conn_max, slow_loris_start_ups,
    slow_loris_logins, two_hundred_half_open_connections, more_clients_than_max_client_conn, a_storm_of_abandoned_logins,
}

/// The wanted number of silent connections, if the system allows a process so many files.
const SILENT_CONNECTIONS: usize = 10_000;
/// The least number of silent connections that proves something.
const SILENT_CONNECTIONS_MIN: usize = 3_000;
/// Files that the proxy and this test need besides those connections.
const OTHER_FILES: usize = 1_000;
/// What a silent connection may cost the proxy in memory.
const SILENT_KIB_MAX: u64 = 4;

/// Raises this process's limit of open files, which the proxy inherits. Returns how many silent connections fit below it.
fn silent_connections() -> usize {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).expect("up to the hard limit");
    let files = maximum.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX));
    let count = SILENT_CONNECTIONS.min(files.saturating_sub(OTHER_FILES));
    assert!(
        count >= SILENT_CONNECTIONS_MIN,
        "the hard limit of open files ({files}) is too low for this test: `ulimit -n {}` as root raises it",
        SILENT_CONNECTIONS + OTHER_FILES
    );
    count
}

/// Logs in, runs a query, and returns the time that both took.
fn login_time(proxy: &Proxy) -> Duration {
    let begun = Instant::now();
    assert_eq!(login(proxy, "app").sql("select 1").expect("rows"), ["1"]);
    begun.elapsed()
}

/// How many times as long a login may take while there are silent connections. Measured: less than twice.
const SLOWER_MAX: u32 = 10;

/// Asserts that logins to a disturbed proxy take about as long as to a quiet one. Both are measured by turns, so that the machine's
/// load is the same for both, and their medians are compared.
fn assert_logins_are_as_fast(quiet: &Proxy, disturbed: &Proxy, what: &str) {
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..15 {
        alone.push(login_time(quiet));
        beside.push(login_time(disturbed));
    }
    let (alone, beside) = (median(alone), median(beside));
    note(&format!("a login takes {alone:?} alone and {beside:?} beside {what}"));
    assert!(beside < alone * SLOWER_MAX, "{beside:?} beside {what}, {alone:?} alone");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().expect("at least one")
}

fn metric(proxy: &Proxy, name: &str, labels: &[&str]) -> u64 {
    proxy.metric(name, labels).expect("a metric").round() as u64
}

fn connect(proxy: &Proxy) -> TcpStream {
    TcpStream::connect(proxy.address()).expect("accepted")
}

fn ten_thousand_connections_that_send_nothing(stage: &Stage) {
    let _alone = alone();
    let count = silent_connections();
    let setup =
        stage.setup().set("limits.unauthenticated_conn_max", 20_000).set("limits.max_client_conn", 20_000);
    let (quiet, proxy) = (stage.proxy(), setup.start());
    let bystander = Bystander::start(&proxy);
    bystander.wait_for(50);
    let memory = MemoryWatch::start(&proxy);
    let silent: Vec<TcpStream> = (0..count).map(|_| connect(&proxy)).collect();
    stage.eventually("all are counted", || {
        let seen = metric(&proxy, "trunkline_unauthenticated_connections", &[]);
        if seen >= count as u64 { Ok(()) } else { Err(format!("{seen} of {count}")) }
    });
    bystander.wait_for(50);
    let slowest = bystander.finish();
    assert_logins_are_as_fast(&quiet, &proxy, "10,000 silent connections");
    let rise = memory.rise_kib();
    note(&format!("{count} silent connections: {rise} KiB, the slowest query in {slowest:?}"));
    assert!(rise < count as u64 * SILENT_KIB_MAX, "{rise} KiB for {count} connections");
    drop(silent);
    stage.eventually("all are gone", || match metric(&proxy, "trunkline_unauthenticated_connections", &[]) {
        0 => Ok(()),
        left => Err(format!("{left} are left")),
    });
}

fn silent_connections_beyond_unauthenticated_conn_max(stage: &Stage) {
    let _alone = alone();
    let proxy = stage.setup().set("limits.unauthenticated_conn_max", 500).start();
    let bystander = Bystander::start(&proxy);
    let memory = MemoryWatch::start(&proxy);
    let silent: Vec<TcpStream> = (0..500).map(|_| connect(&proxy)).collect();
    stage.eventually("all are counted", || {
        let seen = metric(&proxy, "trunkline_unauthenticated_connections", &[]);
        if seen == 500 { Ok(()) } else { Err(format!("{seen}")) }
    });
    for _ in 0..1_000 {
        let mut beyond = RawClient::connect(proxy.address()).expect("accepted");
        let refusal = expect_refusal(&mut beyond, "53300");
        assert!(refusal.field(b'M').is_some_and(|text| text.contains("not logged in")), "{refusal:?}");
    }
    assert!(metric(&proxy, "trunkline_limit_hits_total", &["unauthenticated_conn_max"]) >= 1_000);
    // Clients that are logged in stay connected and are served.
    bystander.wait_for(20);
    drop(silent);
    stage.eventually("there is room again", || {
        try_login(&proxy, "app", PASSWORD).map(drop).map_err(|error| format!("{error:#}"))
    });
    bystander.finish();
    assert!(memory.rise_kib() < 10 << 10);
}

/// Reloads the proxy with this time limit for logins.
fn allow_for_login(proxy: &Proxy, setup: &Setup, limit: &str) {
    let text = setup.clone().set("limits.client_login_timeout", limit).text();
    proxy.reload_and_wait(&text).expect("reloaded");
}

/// A start-up packet that comes byte by byte. The time limit counts for the whole packet.
fn slow_loris_start_ups(stage: &Stage) {
    let _alone = alone();
    let setup = stage.setup();
    let proxy = setup.start();
    let bystander = Bystander::start(&proxy);
    let packet = startup(&[("user", "app"), ("database", "app"), ("application_name", &"x".repeat(5_000))]);
    allow_for_login(&proxy, &setup, "2s");
    let begun = Instant::now();
    let mut slow: Vec<TcpStream> = (0..300).map(|_| connect(&proxy)).collect();
    let mut ended = 0;
    for byte in packet {
        // A write fails when the proxy has closed the connection.
        slow.retain_mut(|stream| stream.write_all(&[byte]).is_ok());
        ended = 300 - slow.len();
        if ended == 300 {
            break;
        }
        // The pace of a slow client: the whole packet would take more than ten times the limit.
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(ended, 300, "a byte at a time keeps nobody");
    assert!(begun.elapsed() > Duration::from_millis(1_500), "not before its time");
    assert!(metric(&proxy, "trunkline_limit_hits_total", &["client_login_timeout"]) >= 300);
    allow_for_login(&proxy, &setup, "10m");
    login_time(&proxy);
    bystander.finish();
}

/// The same after the start-up packet: the password never comes.
fn slow_loris_logins(stage: &Stage) {
    let _alone = alone();
    let setup = stage.setup();
    let proxy = setup.start();
    let bystander = Bystander::start(&proxy);
    let mut slow: Vec<RawClient> = (0..200)
        .map(|_| {
            let mut client = RawClient::connect(proxy.address()).expect("accepted");
            client.send(&startup(&[("user", "app"), ("database", "app")])).expect("sent");
            assert_eq!(client.frame().expect("a challenge").tag, b'R');
            client.send(b"p\0\0\0\x40SCRAM").expect("sent");
            client
        })
        .collect();
    bystander.wait_for(20);
    allow_for_login(&proxy, &setup, "1s");
    for client in &mut slow {
        expect_refusal(client, "08006");
    }
    allow_for_login(&proxy, &setup, "10m");
    login_time(&proxy);
    bystander.finish();
}

fn two_hundred_half_open_connections(stage: &Stage) {
    let _alone = alone();
    let (quiet, proxy) = (stage.proxy(), stage.proxy());
    let packet = startup(&[("user", "app"), ("database", "app")]);
    let mut half: Vec<TcpStream> = (0..200).map(|_| connect(&proxy)).collect();
    for (number, stream) in half.iter_mut().enumerate() {
        stream.write_all(packet.get(..number % packet.len()).expect("within")).expect("sent");
    }
    assert_logins_are_as_fast(&quiet, &proxy, "200 half-open connections");
    drop(half);
}

fn more_clients_than_max_client_conn(stage: &Stage) {
    let proxy = stage.setup().set("limits.max_client_conn", 20).start();
    let bystander = Bystander::start(&proxy);
    let clients: Vec<RawClient> = (0..19).map(|_| login(&proxy, "app")).collect();
    for _ in 0..50 {
        let error = try_login(&proxy, "app", PASSWORD).expect_err("full");
        assert_eq!(trunkline_probes::sqlstate(&error), "53300", "{error:#}");
    }
    drop(clients);
    stage.eventually("there is room again", || {
        try_login(&proxy, "app", PASSWORD).map(drop).map_err(|error| format!("{error:#}"))
    });
    bystander.finish();
}

fn a_storm_of_abandoned_logins(stage: &Stage) {
    let _alone = alone();
    let proxy = stage.proxy();
    let bystander = Bystander::start(&proxy);
    bystander.wait_for(20);
    let memory = MemoryWatch::start(&proxy);
    for number in 0..500 {
        let user = if number % 2 == 0 { "app".to_owned() } else { format!("stranger_{number}") };
        let mut client = RawClient::connect(proxy.address()).expect("accepted");
        client.send(&startup(&[("user", &user), ("database", "app")])).expect("sent");
        assert_eq!(client.frame().expect("a challenge").tag, b'R');
    }
    bystander.finish();
    assert!(memory.rise_kib() < 10 << 10);
    login_time(&proxy);
}
