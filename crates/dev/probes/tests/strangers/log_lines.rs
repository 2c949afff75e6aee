//! Attempts to forge lines in the log, or to fill the log.

use std::net::TcpStream;
use std::time::Instant;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use trunkline_probes::{Stage, login};
use trunkline_testkit::raw::startup;
use trunkline_testkit::{Proxy, RawClient};

use crate::every_database;

trunkline_probes::probes! { names_with_line_feeds, no_file_descriptor_is_free, logins_that_fail_again_and_again }

/// A text that looks like a line of the proxy's log.
const FORGED: &str = "2026-01-01T00:00:00.000000Z  INFO listening on 10.6.6.6:6432";

fn forge(proxy: &Proxy, password: &str) {
    let name = format!("x\n{FORGED}\r{FORGED}\u{1b}[2K\u{85}{FORGED}\u{2028}{FORGED}");
    let option = format!("-c work_mem={}", name.replace(' ', "\\ ").replace('\n', "\\\n"));
    let packets: [&[(&str, &str)]; 6] = [
        &[("user", &name), ("database", "app")],
        &[("user", "postgres"), ("database", &name)],
        &[("user", "stranger"), ("database", &name)],
        &[("user", "postgres"), ("database", "postgres"), ("application_name", &name)],
        &[("user", "postgres"), ("database", "postgres"), (&name, "on")],
        &[("user", "postgres"), ("database", "postgres"), ("options", &option)],
    ];
    for packet in packets {
        let mut client = RawClient::connect(proxy.address()).expect("accepted");
        // The result does not matter.
        let _ = client.authenticate(password, packet);
        let mut client = RawClient::connect(proxy.address()).expect("accepted");
        client.send(&startup(packet)).expect("sent");
        let _ = client.frame();
    }
    let mut client = RawClient::connect(proxy.address()).expect("accepted");
    client.send(format!("GET / HTTP/1.1\n{FORGED}\n\n").as_bytes()).expect("sent");
    let _ = client.frame();
}

fn names_with_line_feeds(stage: &Stage) {
    for format in ["text", "json"] {
        let text = every_database(stage).set("log.format", format).set("log.repeats_max", 0).text();
        let proxy = Proxy::start_with(Some(&text), &["-v"]).expect("it starts");
        forge(&proxy, trunkline_testkit::cluster::PASSWORD);
        forge(&proxy, "guess");
        proxy.wait_for_log("10.6.6.6").expect("what was sent is in the log");
        let log = proxy.log();
        for line in log.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{b}', '\u{c}']) {
            assert!(!line.starts_with("2026-01-01"), "{line}");
        }
        assert!(!log.chars().any(|c| c.is_control() && c != '\n'), "{log:?}");
        let page = proxy.metrics().expect("the page");
        assert!(!page.chars().any(|c| c.is_control() && c != '\n'), "{page:?}");
        for line in page.lines() {
            assert!(
                line.starts_with('#') || line.starts_with("trunkline_") || line.starts_with("process_"),
                "{line}"
            );
        }
    }
}

/// The number of log lines with `text`, and how many more the log says were left out.
fn count(proxy: &Proxy, text: &str) -> (usize, usize) {
    let log = proxy.log();
    let (mut written, mut left_out) = (0, 0);
    for line in log.lines().filter(|line| line.contains(text)) {
        match line.split_once(" more in 10 s were left out") {
            Some((before, _)) => {
                left_out +=
                    before.rsplit(' ').next().and_then(|n| n.parse::<usize>().ok()).expect("a number");
            }
            None => written += 1,
        }
    }
    (written, left_out)
}

/// The most lines that may have been written since `begun`: ten for each interval of ten seconds that has begun.
fn lines_max(begun: Instant) -> usize {
    10 * (begun.elapsed().as_secs() as usize / 10 + 2)
}

/// Once, each attempt of a client and each attempt to accept caused a line: 600 in a second.
fn no_file_descriptor_is_free(stage: &Stage) {
    let (proxy, begun) = (stage.proxy(), Instant::now());
    let mut first = login(&proxy, "app");
    assert_eq!(first.sql("select 1").expect("rows"), ["1"]);
    let pid = i32::try_from(proxy.pid()).ok().and_then(Pid::from_raw).expect("a process id");
    let open = std::fs::read_dir(format!("/proc/{}/fd", proxy.pid())).expect("its files").count() as u64;
    // The proxy inherits our limit of open files and cannot raise it.
    let maximum = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit { current: Some(open), maximum };
    let before = prlimit(Some(pid), Resource::Nofile, limit).expect("its own limit");
    let waiting: Vec<TcpStream> =
        (0..600).map(|_| TcpStream::connect(proxy.address()).expect("the kernel takes it")).collect();
    proxy.wait_for_log("cannot accept a connection").expect("a line");
    for _ in 0..300 {
        // A client that is logged in is served, and other clients cause no lines.
        assert_eq!(first.sql("select 2").expect("rows"), ["2"]);
        drop(TcpStream::connect(proxy.address()).expect("the kernel takes it"));
    }
    let restored = Rlimit { current: before.current, maximum: before.maximum };
    prlimit(Some(pid), Resource::Nofile, restored).expect("as it was");
    drop(waiting);
    assert_eq!(login(&proxy, "app").sql("select 3").expect("it accepts again"), ["3"]);
    let (lines, _) = count(&proxy, "cannot accept a connection");
    assert!((1..=lines_max(begun)).contains(&lines), "{lines} lines");
}

/// A server is gone while clients try to log in. Lines of one kind must not fill the disk, and other lines must still be written.
fn logins_that_fail_again_and_again(stage: &Stage) {
    let setup = every_database(stage).set("timeouts.server_login_retry", "1ms");
    let proxy = setup.set("timeouts.server_login_retry_max", "1ms").start();
    let begun = Instant::now();
    for number in 0..100 {
        let name = format!("made_up_{number}");
        RawClient::login(proxy.address(), "postgres", trunkline_testkit::cluster::PASSWORD, &name)
            .expect_err("there is none");
    }
    let (lines, _) = count(&proxy, "cannot log in to database");
    assert!((10..=lines_max(begun)).contains(&lines), "{lines} lines");
    stage.eventually("each is written or counted", || {
        let (written, left_out) = count(&proxy, "cannot log in to database");
        if written + left_out == 100 { Ok(()) } else { Err(format!("{written} and {left_out}")) }
    });
    let (_, left_out) = count(&proxy, "cannot log in to database");
    let counted = proxy.metric("trunkline_log_lines_left_out_total", &[]).expect("a metric");
    assert_eq!(counted, left_out as f64);
}
