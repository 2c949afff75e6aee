//! The program's output and exit codes.

use std::process::{Command, Output};

fn trunkline(arguments: &[&str], directory: &std::path::Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trunkline"))
        .args(arguments)
        .current_dir(directory)
        .env_remove("TRUNKLINE_UPSTREAM")
        .env_remove("TRUNKLINE_LOG")
        .output()
        .expect("the program runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn check_summarizes_a_good_file_without_its_secrets() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = "listen = \"*:6432\"\n[auth]\ntype = \"trust\"\n[databases.app]\nupstream = \"postgres://owner:hunter2@db:5433/orders\"\n\
                pool_size = 7\n[users.alice]\npassword = \"hunter2\"\n";
    std::fs::write(directory.path().join("trunkline.toml"), file).expect("written");
    let output = trunkline(&["check"], directory.path());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let expected = "\
trunkline.toml: OK
  listen     *:6432
  workers    one for each core
  database   app -> db:5433/orders as owner (transaction, 7 connections, sslmode prefer)
  users      1 known, authentication trust
  clients    at most 10000, TLS disable
  http       off
  note       auth type \"trust\" asks for no password, and other machines can reach *:6432
";
    assert_eq!(text(&output.stdout), expected);
    assert!(output.stderr.is_empty());
}

#[test]
fn check_prints_every_problem_and_fails() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("bad.toml"), "pool_mod = 1\n[users.a]\n").expect("written");
    let output = trunkline(&["check", "--config", "bad.toml"], directory.path());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let expected = "\
bad.toml:1:1: unknown key `pool_mod` at the top of the file
 1 | pool_mod ...
   | ^^^^^^^^
   = did you mean `pool_mode`?

bad.toml: there is no database: add [databases.NAME], or [databases.\"*\"] for every name

2 problems
";
    assert_eq!(text(&output.stderr), expected);
    assert!(output.stdout.is_empty());
}

#[test]
fn check_reads_the_certificates() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = "listen = \"127.0.0.1:6432\"\n[auth]\ntype = \"trust\"\n[databases.app]\nhost = \"db\"\n[users.a]\n\
                [tls.client]\nmode = \"allow\"\ncert = \"c.pem\"\nkey = \"k.pem\"\n";
    std::fs::write(directory.path().join("trunkline.toml"), file).expect("written");
    for name in ["c.pem", "k.pem"] {
        std::fs::write(directory.path().join(name), "no certificate\n").expect("written");
    }
    let output = trunkline(&["check"], directory.path());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let error = text(&output.stderr);
    assert!(error.starts_with("[tls.client]: ") && error.contains("c.pem"), "{error}");
}

#[test]
fn the_error_of_a_missing_file_says_what_to_do() {
    let directory = tempfile::tempdir().expect("a directory");
    for arguments in [&["check"][..], &["serve"]] {
        let output = trunkline(arguments, directory.path());
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let error = text(&output.stderr);
        assert!(
            error.starts_with("cannot read the configuration trunkline.toml: ")
                && error.contains("--upstream"),
            "{error}"
        );
    }
}

#[test]
fn serve_refuses_before_it_listens() {
    let directory = tempfile::tempdir().expect("a directory");
    let cases: [(&[&str], i32, &str); 5] = [
        (&["serve", "--upstream", "postgres://u@h", "--listen", "*:6432"], 1, "--allow-trust"),
        (&["serve", "--upstream", "postgres://u:hunter2@h:x"], 1, "the port is not a number"),
        (&["serve", "--upstream", "postgres://h", "--listen", "6432"], 1, "`--listen 6432` is not usable"),
        (&["serve", "--listen", "*:6432"], 2, "--upstream"),
        (&["serve", "--config", "c", "--upstream", "postgres://u:hunter2@h"], 2, "cannot be used with"),
    ];
    for (arguments, code, expected) in cases {
        let output = trunkline(arguments, directory.path());
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let error = text(&output.stderr);
        assert!(error.contains(expected), "{arguments:?}: {error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
}

#[test]
fn help_says_who_may_connect() {
    let directory = tempfile::tempdir().expect("a directory");
    let output = trunkline(&["serve", "--help"], directory.path());
    let help = text(&output.stdout);
    for expected in
        ["--upstream", "--listen", "--allow-trust", "SCRAM-SHA-256", "every client is let", "USR1, USR2"]
    {
        assert!(help.contains(expected), "{help}");
    }
    let version = trunkline(&["version"], directory.path());
    assert_eq!(text(&version.stdout), format!("trunkline {}\n", env!("CARGO_PKG_VERSION")));
}
