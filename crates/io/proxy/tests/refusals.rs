//! The errors of a file that cannot be used: every problem, its place, and what is allowed, but no secret.

use std::path::Path;

use trunkline::config::{Config, ConfigError};

/// A valid file. The cases add a fault to it.
const SOUND: &str = "[databases.app]\nhost = \"db\"\n[users.app]\npassword = \"hunter2\"\n";

fn parse(text: &str) -> Result<Config, ConfigError> {
    let environment = |name: &str| (name == "SET").then(|| "from the environment".to_owned());
    Config::parse(text, "t.toml", Path::new("/nonexistent"), &environment)
}

fn refusal(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    assert_eq!(refusal(text), expected);
}

#[test]
fn the_error_of_an_unknown_key_names_a_similar_key() {
    refused(
        &format!("pool_mod = \"session\"\n{SOUND}"),
        "t.toml:1:1: unknown key `pool_mod` at the top of the file\n 1 | pool_mod ...\n   | ^^^^^^^^\n   = did you mean `pool_mode`?",
    );
}

#[test]
fn the_error_of_a_key_in_the_wrong_table_names_the_right_table() {
    let text = refusal(&format!("{SOUND}[limits]\npool_size = 3\n"));
    assert!(text.starts_with("t.toml:6:1: unknown key `pool_size` in [limits]\n"), "{text}");
    assert!(text.ends_with("= `pool_size` belongs in [pool]"), "{text}");
}

#[test]
fn the_error_of_a_pgbouncer_setting_names_its_counterpart() {
    for (name, ours) in [
        ("default_pool_size", "`pool_size` in [pool]"),
        ("auth_query", "`query` in [auth]"),
        ("listen_port", "`listen = [\"ADDRESS:PORT\"]` at the top of the file"),
    ] {
        let text = refusal(&format!("{name} = 3\n{SOUND}"));
        assert!(text.ends_with(&format!("= PgBouncer's `{name}` is {ours}")), "{text}");
    }
    let text = refusal("[databases]\napp = host=127.0.0.1 port=5432\n[pgbouncer]\nlisten_port = 6432\n");
    assert!(text.contains("= this looks like a pgbouncer.ini: docs/moving-from-pgbouncer.md"), "{text}");
}

#[test]
fn the_error_of_a_key_without_a_similar_one_lists_the_allowed_keys() {
    let text = refusal(&format!("{SOUND}[http]\nzzz = 3\n"));
    assert!(text.ends_with("= allowed in [http]: listen, connections_max, header_timeout"), "{text}");
}

#[test]
fn the_error_of_a_wrong_word_names_the_allowed_words() {
    refused(
        &format!("pool_mode = \"transactoin\"\n{SOUND}"),
        "t.toml:1:13: `pool_mode`: expected one of \"session\", \"transaction\", \"statement\", \"auto\", found \"transactoin\"; did you mean \"transaction\"?\n 1 | pool_mode = \"transactoin\"\n   |             ^^^^^^^^^^^^^",
    );
}

#[test]
fn bad_values_say_what_is_allowed() {
    let cases = [
        (
            "workers = -1",
            "1:11: `workers`: expected a whole number from 0 to 4294967295, found the number -1",
        ),
        ("workers = 5000", "1:11: `workers` must be at most 1024"),
        ("so_reuseport = 1", "1:16: `so_reuseport`: expected true or false, found the number 1"),
        ("unix_socket_mode = 700", "1:20: `unix_socket_mode`: expected octal permissions"),
        ("unix_socket_mode = 0o1777", "1:20: `unix_socket_mode`: expected octal permissions"),
        ("listen = [\"127.0.0.1:1\", \"nonsense\"]", "1:26: `listen`: expected an address with a port"),
        ("listen = []", "1:10: `listen` is empty"),
        ("listen = [\"127.0.0.1:1\", \"*:1\"]", "1:10: `listen` has 0.0.0.0:1 twice"),
        (
            "limits.client_buffer_bytes = \"64 potatoes\"",
            "1:30: `limits.client_buffer_bytes`: expected a size",
        ),
        (
            "limits.client_buffer_bytes = 1",
            "1:30: `limits.client_buffer_bytes` must be at least 4096, it is 1",
        ),
        ("limits.max_client_conn = 0", "1:26: `limits.max_client_conn` must be at least 1"),
        (
            "limits.message_bytes_max = \"3GiB\"",
            "1:28: `limits.message_bytes_max`: a message of the protocol has",
        ),
        ("timeouts.query_timeout = \"soon\"", "1:26: `timeouts.query_timeout`: expected a duration"),
        ("timeouts.query_timeout = \"11000d\"", "1:26: `timeouts.query_timeout`: longer than ten years"),
        ("timeouts.server_login_retry = 0", "1:31: `timeouts.server_login_retry`: must be more than 0"),
        ("timeouts.server_login_retry = \"1m\"", "1:31: `timeouts.server_login_retry` is more than"),
        ("pool.min_pool_size = 21", "1:22: `pool.min_pool_size` (21) is more than `pool.pool_size` (20)"),
        ("auth.query = \"select 1\"", "1:14: `auth.query` must name the user it asks for as $1"),
        ("auth.dbname = \"nowhere\"", "1:15: `auth.dbname`: there is no [databases.nowhere]"),
        ("tls.client.mode = \"require\"", "1:19: `tls.client.mode` = \"require\" needs `cert` and `key`"),
        ("tls.client.cert = \"/c\"", "1:19: `tls.client.cert` needs `key` beside it"),
        ("tls.server.sslmode = \"verify-full\"", "1:22: `tls.server.sslmode` = \"verify-full\" needs `root`"),
        ("tls.server.root = \"system\"", "1:19: `root` = \"system\" is secure only with"),
        ("tls.klient = {}", "1:5: unknown key `klient` in [tls]"),
        ("http.listen = \"*:6432\"", "1:15: `http.listen`: *:6432 is already taken by `listen`"),
        ("limits = 3", "1:10: `limits`: expected a table: [limits]"),
    ];
    for (line, expected) in cases {
        let text = refusal(&format!("{line}\n{SOUND}"));
        assert!(text.contains(expected), "{line}\n{text}");
    }
}

#[test]
fn settings_that_need_or_contradict_each_other_are_refused() {
    let cases = [
        ("[databases.app]\nport = 5432\n[users.a]\n", "[databases.app] does not say where the server is"),
        ("[databases.app]\nhost = \"db\"\nport = 0\n[users.a]\n", "3:8: `databases.app.port` must be from 1"),
        ("[databases.app]\nhost = \"a,b\"\n[users.a]\n", "2:8: `databases.app.host`: expected one host name"),
        ("[databases.app]\nhost = \"db\"\n", "`auth.type` = \"scram-sha-256\" but no user is known"),
        (
            "auth.type = \"any\"\n[databases.app]\nhost = \"db\"\n",
            "\"any\" needs a `user` towards the server",
        ),
        ("[users.a]\n", "there is no database"),
        (
            "[databases.app]\nhost = \"db\"\nauth_dbname = \"x\"\n[users.a]\n",
            "3:15: `databases.app.auth_dbname`: there is no",
        ),
        ("[databases.app]\nhost = \"db\"\npassword = \"hunter2\"\n[users.a]\n", "a password but no `user`"),
        (
            "[databases.app]\nupstream = \"postgres://h\"\nhost = \"h\"\n[users.a]\n",
            "3:8: `databases.app.host`: the URL",
        ),
        (
            "[databases.app]\nhost = \"h\"\npool_size = 2\nmin_pool_size = 3\n[users.a]\n",
            "4:17: [databases.app]: `min_pool_size` (3)",
        ),
        (
            "[databases.a]\nhost = \"h\"\n[users.a]\npassword_env = \"UNSET\"\n",
            "4:16: `users.a.password_env`: the environment variable UNSET is not set",
        ),
        (
            "[databases.a]\nhost = \"h\"\n[users.a]\npassword_file = \"f\"\n",
            "`users.a.password_file`: cannot use /nonexistent/f",
        ),
        (
            "[databases.a]\nhost = \"h\"\n[users.a]\npassword = \"x\"\npassword_env = \"SET\"\n",
            "more than one of",
        ),
        (
            "[databases.a]\nhost = \"h\"\n[users.a]\npassword = \"SCRAM-SHA-256$4096\"\n",
            "4:12: [users.a]: the SCRAM secret is malformed",
        ),
        (
            "[databases.a]\nhost = \"h\"\n[auth]\nfile = \"u.txt\"\n",
            "4:8: `auth.file`: cannot use /nonexistent/u.txt",
        ),
    ];
    for (text, expected) in cases {
        let refusal = refusal(text);
        assert!(refusal.contains(expected), "{text}\n{refusal}");
    }
}

#[test]
fn all_problems_are_reported_at_once_in_the_order_of_the_file() {
    let text = refusal(
        "pool_mod = 1\n[limits]\nmax_client_conn = \"x\"\n[databases.app]\n[users.a]\npool_sise = 3\n",
    );
    let places: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("t.toml:")).collect();
    let lines: Vec<&str> = places.iter().filter_map(|place| place.split(':').next()).collect();
    assert_eq!(lines, ["1", "3", "4", "6"], "{text}");
}

#[test]
fn no_refusal_shows_a_secret() {
    let files = [
        "[users.a]\npassword = [\"hunter2\"]\n",
        "[users.a]\npasword = \"hunter2\"\n",
        "[users.a]\ntoken = \"hunter2\"\n",
        "[users]\na = \"hunter2\"\n",
        "[users]\na = { password = \"hunter2\", pool_size = \"x\" }\n",
        "[users]\na = { token = \"hunter2\", zzz = 1 }\n",
        "[users.a]\npassword = \"hunter2\n",
        "[users.a]\npassword = hunter2\n",
        "[users.a]\npassword = \"\"\"\nhunter2\n",
        "[users.a]\npassword = \"a\"hunter2\n",
        "users = \"hunter2\"\n",
        "[databases.a]\nupstream = \"postgres://u:hunter2/x@h\"\n",
        "[databases.a]\nupstream = \"postgres://u:a@hunter2@h:hunter2\"\n",
        "[databases.a]\nupstream = \"postgres://u:x?hunter2=1@h\"\n",
        "[databases.a]\nupstream = \"hunter2\"\n",
        "[databases.a]\nupstream = { hunter2 = 1 }\n",
        "[databases.a]\nhost = \"postgres://u:hunter2@h/x\"\n",
        "listen = \"postgres://u:hunter2@h\"\n",
        "[databases.a]\nhost = \"h\"\nuser = \"u\"\npassword = \"hunter2\"\npassword_env = \"SET\"\n",
    ];
    for file in files {
        let error = parse(file).expect_err(file);
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{file}\n{error}");
    }
}

#[test]
fn a_syntax_error_has_its_place() {
    let text = refusal("listen = [\"127.0.0.1:1\"\nworkers = 2\n");
    assert!(text.starts_with("t.toml:") && text.contains("not valid TOML"), "{text}");
    let text = refusal("workers = 1\nworkers = 2\n");
    assert!(text.starts_with("t.toml:2:1: not valid TOML: duplicate key"), "{text}");
}

#[test]
fn any_bytes_are_refused_or_accepted_but_never_a_panic() {
    // Every prefix, and every position changed to each of some bytes, of a file with one value of each kind.
    let text = "listen = [\"127.0.0.1:1\", \"ü\"]\nunix_socket_mode = 0o7\n[timeouts]\nquery_timeout = 1.5\n[databases.\"é.x\"]\nhost = 'h'\n[users]\na = {password = \"\"\"p\nq\"\"\"}\n";
    for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
        let _ = parse(&text[..end]).map_err(|error| error.to_string());
    }
    for index in 0..text.len() {
        for byte in [b'"', b'\n', b'[', b'=', 0, b'{', b'\'', b'#', b'9'] {
            let mut bytes = text.as_bytes().to_vec();
            bytes[index] = byte;
            if let Ok(changed) = String::from_utf8(bytes) {
                let _ = parse(&changed).map_err(|error| error.to_string());
            }
        }
    }
}
