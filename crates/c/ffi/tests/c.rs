//! Programs in C that use the library, under gcc's sanitizers: each check of theirs is counted by them.

mod built;

use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;
use trunkline_testkit::cluster::APP_USER;
use trunkline_testkit::{Cluster, Version};

const SANITIZED: [&str; 3] =
    ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"];

fn program(source: &str, library: &str, flags: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let program =
        built::compile(&[&format!("tests/c/{source}")], &built::library(library), flags, folder.path());
    (folder, program)
}

fn passes(command: &mut Command) {
    let out = built::run(command);
    let last = out.lines().last().unwrap_or_default();
    assert!(last.ends_with(" 0 failed") && !last.starts_with("0 "), "{out}");
}

fn valgrind(program: &PathBuf) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"]);
    command.arg(program);
    command
}

fn sanitized(source: &str, library: &str, arguments: &[String]) {
    let (_folder, sanitized) = program(source, library, &SANITIZED);
    passes(Command::new(sanitized).args(arguments));
}

/// Each program, sanitized; and as it is under valgrind where that is asked for.
fn both(source: &str, library: &str, arguments: &[String]) {
    sanitized(source, library, arguments);
    if std::env::var_os("TRUNKLINE_VALGRIND").is_some() {
        let (_folder, plain) = program(source, library, &[]);
        passes(valgrind(&plain).args(arguments));
    }
}

#[test]
fn the_protocol_without_io() {
    both("codec.c", "libtrunkline_codec.a", &[]);
}

#[test]
fn the_parser() {
    both("parser.c", "libtrunkline_ffi.a", &[]);
}

fn connection(version: Version) {
    let cluster = Cluster::start(version).expect("a server");
    let settings = |mode: &str| [format!("{}?sslmode={mode}", cluster.url(APP_USER))];
    both("connection.c", "libtrunkline_ffi.a", &settings("disable"));
    // Without valgrind: it takes what the cryptography writes in assembly for bytes that nobody wrote.
    sanitized("connection.c", "libtrunkline_ffi.a", &settings("require"));
}

#[test]
fn a_connection_to_postgresql_15() {
    connection(Version::PG15);
}

#[test]
fn a_connection_to_postgresql_18() {
    connection(Version::PG18);
}

/// What a program asks of the system that uses the innermost layer alone: no socket, no thread, no clock.
#[test]
fn the_protocol_without_io_links_without_sockets_threads_and_tls() {
    let (_folder, program) =
        program("codec.c", "libtrunkline_codec.a", &["-Wl,--gc-sections", "-ffunction-sections"]);
    passes(&mut Command::new(&program));
    let output = Command::new("nm").args(["--undefined-only"]).arg(&program).output().expect("nm runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let wanted: Vec<&str> = text.split_whitespace().filter(|word| word.len() > 1).collect();
    assert!(wanted.iter().any(|name| name.starts_with("malloc")), "nm tells nothing: {text}");
    let forbidden = [
        "socket",
        "connect",
        "bind",
        "listen",
        "accept",
        "send",
        "sendto",
        "sendmsg",
        "recv",
        "recvfrom",
        "recvmsg",
        "poll",
        "getaddrinfo",
        "pthread_create",
        "clone",
        "fork",
        "nanosleep",
    ];
    let found: Vec<&&str> = wanted
        .iter()
        .filter(|name| forbidden.contains(&name.split('@').next().unwrap_or_default()))
        .collect();
    assert!(found.is_empty(), "{found:?}");
    let all = Command::new("nm").arg(&program).output().expect("nm runs");
    let all = String::from_utf8_lossy(&all.stdout);
    for library in ["rustls", "ring_core", "rustix", "pg_query"] {
        assert!(!all.contains(library), "{library} is linked");
    }
}

/// Each example prints what stands at its end, after `// prints:`.
#[test]
fn the_examples_print_what_they_say() {
    let cluster = Cluster::start(Version::PG18).expect("a server");
    let mut count = 0;
    for entry in
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/c")).expect("the folder")
    {
        let source = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&source).expect("a text");
        let says: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("// prints: ")).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let source = source.to_str().expect("UTF-8");
        let library = built::library("libtrunkline_ffi.a");
        let program = built::compile(&[source], &library, &SANITIZED, folder.path());
        let printed = built::run(Command::new(program).arg(cluster.url(APP_USER)));
        assert_eq!(printed.lines().collect::<Vec<_>>(), says, "{source}");
        assert!(!says.is_empty());
        count += 1;
    }
    assert!(count >= 2);
}
