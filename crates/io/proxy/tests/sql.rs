//! `trunkline sql`: its output, its errors and its exit codes.

use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// Runs the program with these arguments and this standard input.
fn sql_of<'a>(arguments: impl IntoIterator<Item = &'a str>, input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_trunkline"))
        .arg("sql")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    std::thread::scope(|scope| {
        // The program may end before it has read all input.
        scope.spawn(move || stdin.write_all(input).ok());
        child.wait_with_output().expect("the program ends")
    })
}

/// The output of a run without an error.
fn printed(arguments: &[&str]) -> String {
    let output = sql_of(arguments.iter().copied(), b"");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    assert!(output.stderr.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json_of(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(arguments)).expect("JSON")
}

/// The error of a run that refuses the SQL.
fn refused(arguments: &[&str], input: &[u8]) -> String {
    let output = sql_of(arguments.iter().copied(), input);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {output:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
fn parse_prints_the_tree_in_the_form_of_pg_query() {
    let expected = "{\"version\":180006,\"stmts\":[{\"stmt\":{\"ListenStmt\":{\"conditionname\":\"x\"}}}]}\n";
    assert_eq!(printed(&["parse", "LISTEN x"]), expected);
    let pretty = printed(&["parse", "--pretty", "LISTEN x"]);
    assert!(pretty.starts_with("{\n  \"version\": 180006,\n  \"stmts\": [\n    {\n"), "{pretty}");
    assert_eq!(serde_json::from_str::<Value>(&pretty).ok(), serde_json::from_str(expected).ok());
    let functions = json_of(&["parse", "--plpgsql", "DO $$ BEGIN RETURN; END $$"]);
    assert!(functions[0]["PLpgSQL_function"].is_object(), "{functions}");
}

#[test]
fn deparse_writes_each_statement_on_its_own_lines() {
    let sql = "select  A from b; -- c\n/* d */ commit";
    assert_eq!(printed(&["deparse", sql]), "SELECT a FROM b;\nCOMMIT\n");
    assert_eq!(printed(&["deparse", "select 1;"]), "SELECT 1;\n");
    assert_eq!(printed(&["deparse", "--pretty", "select a, b from c"]), "SELECT a, b\nFROM c\n");
    let narrow = ["deparse", "--pretty", "--indent", "2", "--width", "10", "--commas-first"];
    let wide = printed(&["deparse", "--pretty", "select aaaaaaaaaa, bbbbbbbbbb from c"]);
    let narrow = printed(&[&narrow[..], &["select aaaaaaaaaa, bbbbbbbbbb from c"]].concat());
    assert_eq!(wide, "SELECT aaaaaaaaaa, bbbbbbbbbb\nFROM c\n");
    assert_eq!(narrow, "SELECT\n  aaaaaaaaaa\n  , bbbbbbbbbb\nFROM c\n");
}

#[test]
fn deparse_keeps_comments_and_their_semicolons() {
    let sql = "-- one\nSELECT 1 -- two\n; -- three\nCOMMIT; -- four";
    let kept = printed(&["deparse", "--pretty", "--keep-comments", "--", sql]);
    for comment in ["-- one\n", "-- two\n", "-- three\n", "-- four\n"] {
        assert!(kept.contains(comment), "{kept}");
    }
    // The output parses to the same statements: no comment has swallowed a semicolon.
    assert_eq!(printed(&["deparse", "--", &kept]), "SELECT 1;\nCOMMIT;\n");
    assert_eq!(printed(&["deparse", "--keep-comments", "--", "-- alone"]), "-- alone\n");
    assert_eq!(printed(&["deparse", "--", "-- alone"]), "");
}

#[test]
fn fingerprint_prints_a_line_for_each_statement() {
    let both = printed(&["fingerprint", "SELECT 1; SELECT a FROM b_2024 WHERE c = 'd'"]);
    let lines: Vec<&str> = both.lines().collect();
    assert_eq!(lines[0], "50fde20626009aba", "pg_query's");
    let other = "select a from b_2025 where c = 'e'";
    assert_eq!(printed(&["fingerprint", other]), format!("{}\n", lines[1]));
    let full = ["fingerprint", "--full-relation-names"];
    assert_ne!(printed(&[&full[..], &[other]].concat()), format!("{}\n", lines[1]));
    let rows = json_of(&["fingerprint", "--json", "SELECT 1;\n SELECT 2"]);
    let expected = json!({
        "fingerprint": "50fde20626009aba", "start": 11, "end": 19, "line": 2, "column": 2, "text": "SELECT 2",
    });
    assert_eq!((rows.as_array().map(Vec::len), &rows[1]), (Some(2), &expected));
}

#[test]
fn normalize_replaces_constants_by_parameters() {
    assert_eq!(printed(&["normalize", "SELECT 1, 'a'"]), "SELECT $1, $2\n");
    let utility = printed(&["normalize", "--utility", "CREATE ROLE a PASSWORD 'b'; SELECT 1"]);
    assert_eq!(utility, "CREATE ROLE a PASSWORD $1; SELECT 1\n");
}

#[test]
fn scan_prints_the_tokens_of_sql_that_does_not_parse() {
    let tokens = json_of(&["scan", "FROM é) -- x"]);
    let expected = json!([
        { "start": 0, "end": 4, "token": "FROM", "keyword": "reserved", "text": "FROM" },
        { "start": 5, "end": 7, "token": "IDENT", "text": "é" },
        { "start": 7, "end": 8, "token": "ASCII_41", "text": ")" },
        { "start": 9, "end": 13, "token": "SQL_COMMENT", "text": "-- x" },
    ]);
    assert_eq!(tokens, expected);
}

#[test]
fn split_prints_statements_and_their_places() {
    let sql = "SELECT ';';\n\n  CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END; x";
    let by_grammar = refused(&["split", sql], b"");
    assert!(by_grammar.starts_with("ERROR:  42601: syntax error at or near \"x\"\nLINE 3: "), "{by_grammar}");
    let rows = json_of(&["split", sql.trim_end_matches('x')]);
    assert_eq!(rows[0], json!({ "start": 0, "end": 10, "line": 1, "column": 1, "text": "SELECT ';'" }));
    assert_eq!(
        (&rows[1]["line"], &rows[1]["column"], rows.as_array().map(Vec::len)),
        (&json!(3), &json!(3), Some(2))
    );
    let texts = json_of(&["split", "--scanner", "SELECT FROM FROM; (SELECT 1; SELECT 2)"]);
    assert_eq!(
        (&texts[0]["text"], &texts[1]["text"]),
        (&json!("SELECT FROM FROM"), &json!(" (SELECT 1; SELECT 2)"))
    );
}

#[test]
fn classify_prints_the_class_and_subject_of_each_statement() {
    let sql = "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY; SET search_path = a, 'B'; DISCARD TEMP; COPY t FROM STDIN; \
               DEALLOCATE ALL; EXECUTE p(1, 'x'); NOTIFY n, 'm'; SELECT f() FOR UPDATE";
    let rows = json_of(&["classify", sql]);
    assert_eq!(rows[0]["transaction"], json!("begin"));
    let modes = json!({ "isolation": "serializable", "read_only": true, "deferrable": null });
    assert_eq!(rows[0]["modes"], modes);
    let setting =
        json!({ "name": "search_path", "action": "set_value", "scope": "session", "values": ["a", "B"] });
    assert_eq!(rows[1]["subject"]["setting"], setting);
    assert_eq!((&rows[1]["touches"], &rows[1]["leaves_state"]), (&json!(["set"]), &json!(true)));
    assert_eq!(rows[2]["subject"], json!({ "discard": "temp" }));
    assert_eq!(rows[3]["copy"], json!("from_client"));
    assert_eq!(rows[4]["subject"], json!({ "deallocate": { "all": true } }));
    assert_eq!(rows[5]["subject"], json!({ "execute": { "name": "p", "parameters": ["1", "'x'"] } }));
    assert_eq!(rows[6]["subject"], json!({ "notify": { "channel": "n", "payload": "m" } }));
    assert_eq!((&rows[7]["kind"], &rows[7]["locks_rows"]), (&json!("select"), &json!(true)));
}

#[test]
fn tables_are_listed_with_their_use() {
    let sql = "WITH c AS (SELECT 1) INSERT INTO s.a SELECT * FROM b AS x, c FOR SHARE OF x; DROP TABLE d";
    let rows = json_of(&["tables", sql]);
    let short: Vec<Value> = rows
        .as_array()
        .expect("an array")
        .iter()
        .map(|row| {
            json!([
                row["schema"],
                row["name"],
                row["alias"],
                row["read"],
                row["written"],
                row["defined"],
                row["lock"]
            ])
        })
        .collect();
    let expected = [
        json!(["s", "a", null, false, true, false, null]),
        json!([null, "b", "x", true, false, false, "share"]),
        json!([null, "d", null, false, false, true, null]),
    ];
    assert_eq!(short, expected);
    assert_eq!(
        (&rows[1]["statement"], &rows[1]["start"], &rows[2]["statement"]),
        (&json!(0), &json!(51), &json!(1))
    );
}

#[test]
fn errors_point_at_the_character() {
    let expected = "\
ERROR:  42601: syntax error at or near \"FROM\"
LINE 2:  '日本', FROM t
                 ^
";
    assert_eq!(refused(&["parse", "SELECT\n\t'日本', FROM t"], b""), expected);
    let at_end = "ERROR:  42601: syntax error at end of input\nLINE 1: SELECT (\n                ^\n";
    for command in ["parse", "deparse", "fingerprint", "normalize", "split", "classify", "tables"] {
        assert_eq!(refused(&[command], b"SELECT (\n\n"), at_end, "{command}");
    }
    let hint = refused(&["parse", "SELECT U&'\\0'"], b"");
    assert!(hint.contains("\nHINT:  "), "{hint}");
    let context = refused(&["parse", "--plpgsql", "DO $$ BEGIN x := ; END $$"], b"");
    assert!(context.contains("\nCONTEXT:  "), "{context}");
}

#[test]
fn sql_comes_from_an_argument_a_file_or_standard_input() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("query.sql");
    // The byte order mark that some editors write at the beginning is not part of the SQL.
    std::fs::write(&file, "\u{feff}SELECT 1;\nSELEC 2").expect("written");
    let name = file.to_str().expect("UTF-8");
    let error = refused(&["parse", "--file", name], b"");
    let expected =
        format!("{name}:2: ERROR:  42601: syntax error at or near \"SELEC\"\nLINE 2: SELEC 2\n        ^\n");
    assert_eq!(error, expected);
    for arguments in [&["normalize"][..], &["normalize", "-"], &["normalize", "-f", "-"]] {
        let output = sql_of(arguments.iter().copied(), b"SELECT 1\n");
        assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"SELECT $1\n"[..]), "{output:?}");
    }
    let missing = refused(&["parse", "--file", "/nowhere/query.sql"], b"");
    assert!(missing.starts_with("cannot read /nowhere/query.sql: "), "{missing}");
}

#[test]
fn bytes_that_are_not_utf8_are_refused_with_their_place() {
    let utf8 = refused(&["parse"], b"SELECT 1;\n  '\xe4 \xff'");
    let expected = "\
ERROR:  22021: invalid byte sequence for encoding \"UTF8\": 0xe4 0x20 0xff
LINE 2:   '\u{fffd} \u{fffd}'
           ^
";
    assert_eq!(utf8, expected);
    let cut_off = refused(&["scan"], b"\xf0\x9f");
    assert!(cut_off.contains("\"UTF8\": 0xf0 0x9f\n"), "{cut_off}");
    for command in ["parse", "deparse", "fingerprint", "normalize", "scan", "split", "classify", "tables"] {
        let nul = refused(&[command], b"SELECT \0 1");
        assert!(
            nul.contains("\"UTF8\": 0x00\nLINE 1: SELECT \u{fffd} 1\n               ^\n"),
            "{command}: {nul}"
        );
    }
}

#[cfg(unix)]
#[test]
fn arguments_need_not_be_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let output = Command::new(env!("CARGO_BIN_EXE_trunkline"))
        .args(["sql", "parse"])
        .arg(std::ffi::OsStr::from_bytes(b"SELECT \xff"))
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("ERROR:  22021: "), "{output:?}");
}

#[test]
fn empty_input_gives_an_empty_result() {
    for (command, expected) in [
        ("parse", "{\"version\":180006,\"stmts\":[]}\n"),
        ("deparse", ""),
        ("fingerprint", ""),
        ("normalize", ""),
        ("scan", "[]\n"),
        ("split", "[]\n"),
        ("classify", "[]\n"),
        ("tables", "[]\n"),
    ] {
        assert_eq!(printed(&[command]), expected, "{command}");
        assert_eq!(printed(&[command, ""]), expected, "{command}");
    }
}

#[test]
fn large_and_deep_input_ends_in_a_result_or_an_error() {
    let deep = format!("SELECT {}1{}", "(".repeat(5_000), ")".repeat(5_000));
    let sum = format!("SELECT 1{}", "+1".repeat(100_000));
    let many = "INSERT INTO t VALUES (1, 'abc');\n".repeat(2_000);
    for text in [&deep, &sum, &many] {
        for command in ["parse", "deparse", "fingerprint", "normalize", "scan", "split", "classify", "tables"]
        {
            let output = sql_of([command], text.as_bytes());
            assert_eq!(
                output.status.code(),
                Some(0),
                "{command}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
    // PostgreSQL's grammar accepts only some thousand nested parentheses.
    let error = refused(&["parse"], "(".repeat(100_000).as_bytes());
    assert!(error.contains("memory exhausted at or near \"(\"\nLINE 1: ...(("), "{error}");
    // PostgreSQL's message quotes the text to its end, but the program cuts the message.
    let error = refused(&["parse"], format!("SELECT '{}", "x".repeat(50 << 20)).as_bytes());
    assert!(error.contains("unterminated quoted string") && error.len() < 4096, "{}", error.len());
}

#[test]
fn a_reader_that_closes_the_pipe_early_is_not_an_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_trunkline"))
        .args(["sql", "scan", &"1,".repeat(60_000)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut first = [0; 2];
    child.stdout.take().expect("a pipe").read_exact(&mut first).expect("output");
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
    assert_eq!(&first, b"[\n");
}

#[test]
fn no_standard_strings_changes_how_strings_are_parsed() {
    let sql = r"SELECT 'a\'b'";
    refused(&["parse", sql], b"");
    for (command, expected) in [("normalize", "SELECT $1\n"), ("deparse", "SELECT 'a''b'\n")] {
        assert_eq!(printed(&[command, "--no-standard-strings", sql]), expected);
    }
    let commented = r"SELECT 'a\'; -- b' -- c";
    let written = printed(&["deparse", "--keep-comments", "--no-standard-strings", commented]);
    assert!(written.ends_with("-- c\n"), "{written}");
    assert_eq!(
        json_of(&["split", "--scanner", "--no-standard-strings", commented])[0]["text"],
        json!(commented)
    );
    let tokens = json_of(&["scan", "--no-standard-strings", sql]);
    assert_eq!(tokens[1]["text"], json!(r"'a\'b'"));
}

#[test]
fn wrong_usage_has_another_exit_code_than_wrong_sql() {
    for arguments in [
        &[][..],
        &["pars", "SELECT 1"],
        &["parse", "SELECT 1", "SELECT 2"],
        &["parse", "SELECT 1", "--file", "query.sql"],
        &["parse", "--prety", "SELECT 1"],
        &["deparse", "--indent", "2", "SELECT 1"],
        &["deparse", "--pretty", "--indent", "x", "SELECT 1"],
        &["parse", "--plpgsql", "--no-standard-strings", "SELECT 1"],
        &["fingerprint", "--pretty", "SELECT 1"],
    ] {
        let output = sql_of(arguments.iter().copied(), b"");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}: {output:?}");
    }
    let help = printed(&["--help"]);
    for command in ["parse", "deparse", "fingerprint", "normalize", "scan", "split", "classify", "tables"] {
        assert!(help.contains(command), "{help}");
    }
}

/// A command of a document, and its documented output.
struct Example {
    command: String,
    expected: String,
}

/// The commands in the document's ```console blocks. A command begins after `$ `; while a quote is open, it goes on in the
/// next line.
fn examples(document: &str) -> Vec<Example> {
    let blocks = document.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut examples: Vec<Example> = Vec::new();
    for line in blocks.flat_map(str::lines) {
        if let Some(command) = line.strip_prefix("$ ") {
            examples.push(Example { command: command.to_owned(), expected: String::new() });
        } else if let Some(Example { command, expected }) = examples.last_mut() {
            let is_open = command.matches('"').count() % 2 == 1;
            let (text, rest) =
                if is_open { (command, format!("\n{line}")) } else { (expected, format!("{line}\n")) };
            text.push_str(&rest);
        }
    }
    examples
}

#[test]
fn the_documented_commands_print_the_documented_output() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/parser.md");
    let document = std::fs::read_to_string(path).expect("docs/parser.md");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_trunkline"));
    let folder = program.parent().expect("it is in a folder").display().to_string();
    let search = format!("{folder}:{}", std::env::var("PATH").expect("a PATH"));
    let examples = examples(&document);
    for Example { command, expected } in &examples {
        let output = Command::new("sh")
            .args(["-c", &format!("{command} 2>&1")])
            .env("PATH", &search)
            .output()
            .expect("a shell");
        assert_eq!(String::from_utf8_lossy(&output.stdout), *expected, "{command}");
    }
    assert!(examples.len() >= 5, "the document lost its examples: {}", examples.len());
}
