//! A configuration from a URL, combined settings, passwords, and the changes of a reload.

use std::path::Path;
use std::time::Duration;

use trunkline::config::reload::compare;
use trunkline::config::{AuthType, Config, PoolMode, RootCertificates, ServerHost, ServerUrl, SslMode};
use trunkline_session::authentication::Secret;

fn from_file(text: &str) -> Config {
    Config::parse(text, "t.toml", Path::new("/"), &|_| None).expect("accepted")
}

fn is_plain(secret: Option<Secret>, password: &[u8]) -> bool {
    matches!(secret, Some(Secret::Plain(plain)) if plain.matches(password))
}

#[test]
fn urls_are_parsed_as_libpq_does() {
    let url = ServerUrl::parse(
        "postgresql://al%40ice:p%3Aw%2F@[::1]:5433/my%20db?sslmode=require&application_name=x",
    );
    let url = url.expect("valid");
    assert_eq!(url.host, ServerHost::Tcp("::1".to_owned()));
    assert_eq!((url.port, url.user.as_deref(), url.dbname.as_deref()), (5433, Some("al@ice"), Some("my db")));
    assert_eq!(url.password.as_ref().map(|password| password.expose()), Some("p:w/"));
    assert_eq!((url.sslmode, url.application_name.as_deref()), (Some(SslMode::Require), Some("x")));

    let socket = ServerUrl::parse("postgres:///db?host=/run/postgresql").expect("valid");
    assert_eq!((socket.host, socket.port), (ServerHost::Unix("/run/postgresql".into()), 5432));
    let socket = ServerUrl::parse("postgres://%2Frun%2Fpostgresql/db").expect("valid");
    assert_eq!(socket.host, ServerHost::Unix("/run/postgresql".into()));
}

#[test]
fn the_error_of_an_unusable_url_does_not_show_its_password() {
    let cases = [
        ("mysql://u:hunter2@h", "does not begin with postgres://"),
        ("postgres://u:hunter2@", "the host is missing"),
        ("postgres://u:hunter2@h:x", "the port is not a number"),
        ("postgres://u:hunter2@h:0", "the port is not a number"),
        ("postgres://u:hunter2/@h", "the port is not a number"),
        ("postgres://u:hunter2@[::1", "a `]` is missing"),
        ("postgres://u:hunter2@h?sslmode=maybe", "sslmode is not one of"),
        ("postgres://u:hunter2@h?hunter2=1", "unknown parameter"),
        ("postgres://u:hunter2@h?channel_binding=require", "`channel_binding`, which is not supported"),
        ("postgres://u:hunter2@h?sslmode", "a parameter has no `=`"),
        ("postgres://u:hunter2%ff@h", "it is not UTF-8"),
        ("postgres://u:hunter2@a,b", "the host is neither"),
        ("postgres://:hunter2@h", "a password but no user"),
        ("postgres://u:hunter2@h?sslmode=verify-ca", "needs sslrootcert"),
        ("postgres://u:hunter2@h?sslcert=/c", "need each other"),
    ];
    for (url, expected) in cases {
        let error = Config::from_upstream(url, "127.0.0.1:1", false).expect_err(url).to_string();
        assert!(error.contains(expected), "{url}: {error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
}

#[test]
fn with_a_password_in_the_url_clients_need_that_password() {
    let config =
        Config::from_upstream("postgres://app:hunter2@db:5433/x", "*:6432", false).expect("accepted");
    assert_eq!(config.auth.r#type, AuthType::ScramSha256);
    assert!(is_plain(config.password_of("app"), b"hunter2"));
    assert!(!config.has_user("other"));
    // Every database name is passed on unchanged, whatever database the URL names.
    let database = config.database("anything").expect("the fallback");
    assert_eq!(
        (database.dbname.as_deref(), database.user.as_deref(), database.port),
        (None, Some("app"), 5433)
    );
    assert_eq!(database.password.as_ref().map(|password| password.expose()), Some("hunter2"));
}

#[test]
fn without_a_password_only_this_machine_may_connect_unless_trust_is_allowed() {
    for local in ["127.0.0.1:6432", "[::1]:6432", "localhost:6432"] {
        let config = Config::from_upstream("postgres://app@db", local, false).expect(local);
        assert_eq!(config.auth.r#type, AuthType::Any);
        assert!(config.advice().is_empty());
    }
    for open in ["*:6432", "0.0.0.0:6432", "[::]:6432", "10.1.2.3:6432"] {
        let refusal = Config::from_upstream("postgres://app@db", open, false).expect_err(open).to_string();
        assert!(refusal.contains("--allow-trust") && refusal.contains(open), "{refusal}");
        let config = Config::from_upstream("postgres://app@db", open, true).expect(open);
        assert!(config.advice()[0].contains(open), "{:?}", config.advice());
    }
    assert!(Config::from_upstream("postgres://db", "nonsense", true).is_err());
}

#[test]
fn advice_warns_of_md5_hashes_with_scram() {
    let text = |auth: &str| {
        format!(
            "[databases.d]\nhost = \"h\"\n[auth]\ntype = \"{auth}\"\n[users.u]\n\
             password = \"md50123456789abcdef0123456789abcdef\"\n"
        )
    };
    assert!(from_file(&text("scram-sha-256")).advice()[0].contains("md5 hash"));
    assert_eq!(from_file(&text("md5")).advice(), [""; 0]);
}

#[test]
fn settings_of_a_user_override_those_of_database_and_pool() {
    let config = from_file(
        "pool_mode = \"session\"\n[pool]\npool_size = 5\n[timeouts]\nquery_timeout = \"9s\"\n\
         [databases.a]\nhost = \"h\"\npool_mode = \"statement\"\npool_size = 6\nserver_lifetime = 0\n\
         [databases.\"*\"]\nupstream = \"postgres://u@h/x?sslrootcert=system\"\n\
         [users.alice]\npool_mode = \"transaction\"\npool_size = 7\nquery_timeout = 0\n[users.bob]\n",
    );
    let alice = config.pool_settings("a", "alice").expect("known");
    assert_eq!((alice.pool_mode, alice.pool_size, alice.query_timeout), (PoolMode::Transaction, 7, None));
    let bob = config.pool_settings("a", "bob").expect("known");
    assert_eq!((bob.pool_mode, bob.pool_size), (PoolMode::Statement, 6));
    assert_eq!((bob.query_timeout, bob.server_lifetime), (Some(Duration::from_secs(9)), None));
    let other = config.pool_settings("other", "bob").expect("the fallback");
    assert_eq!((other.pool_mode, other.pool_size), (PoolMode::Session, 5));
    assert_eq!(other.server_lifetime, Some(Duration::from_secs(3600)));
    let fallback = config.database("other").expect("the fallback");
    assert_eq!(
        (fallback.tls.sslmode, fallback.tls.root.clone()),
        (SslMode::VerifyFull, Some(RootCertificates::System))
    );
}

#[test]
fn the_auth_query_of_a_database_overrides_the_general_one() {
    let config = from_file(
        "[auth]\nuser = \"asker\"\ndbname = \"b\"\n[databases.a]\nhost = \"h\"\n\
         [databases.b]\nhost = \"h\"\nauth_user = \"other\"\nauth_query = \"select * from f($1)\"\nauth_dbname = \"a\"\n",
    );
    let asked = config.auth_query("a").expect("asked");
    assert_eq!((asked.user, asked.database), ("asker", "b"));
    assert!(asked.query.contains("rolvaliduntil") && asked.query.contains("rolcanlogin"));
    let asked = config.auth_query("b").expect("asked");
    assert_eq!((asked.query, asked.user, asked.database), ("select * from f($1)", "other", "a"));
    assert_eq!(config.auth_query("unknown"), None);
}

#[test]
fn passwords_can_come_from_files_and_the_environment() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("secret"), "from a file\nsecond line\n").expect("written");
    std::fs::write(
        directory.path().join("users.txt"),
        "\"carol\" \"c\"\n\"alice\" \"not hers\"\n\"carol\" \"d\"\n",
    )
    .expect("written");
    let text = "[databases.a]\nhost = \"h\"\n[auth]\nfile = \"users.txt\"\n\
                [users.alice]\npassword_file = \"secret\"\n[users.bob]\npassword_env = \"BOB\"\n";
    let environment = |name: &str| (name == "BOB").then(|| "from outside".to_owned());
    let config = Config::parse(text, "t.toml", directory.path(), &environment).expect("accepted");
    assert!(is_plain(config.password_of("alice"), b"from a file"));
    assert!(is_plain(config.password_of("bob"), b"from outside"));
    assert!(is_plain(config.password_of("carol"), b"d"));
    assert!(config.password_of("dave").is_none() && !config.has_user("dave"));
    assert_eq!(config.advice(), ["auth.file names user \"carol\" more than once; only line 3 counts"]);
    assert!(!format!("{config:?}").contains("from "), "a secret in Debug");
}

#[test]
fn a_reload_lists_its_changes_and_those_that_need_a_restart() {
    let base = "listen = \"127.0.0.1:1\"\n[databases.a]\nhost = \"h\"\n[databases.b]\nhost = \"h\"\n[users.u]\npassword = \"p\"\n";
    let old = from_file(base);
    assert!(compare(&old, &from_file(base)).is_empty());

    let new = from_file(
        "listen = \"127.0.0.1:2\"\nworkers = 3\npool_mode = \"session\"\n[limits]\nmax_client_conn = 5\n[http]\nlisten = \"127.0.0.1:9\"\n\
         [databases.a]\nhost = \"h2\"\n[databases.c]\nhost = \"h\"\n[databases.b]\nhost = \"h\"\n[users.u]\npassword = \"q\"\n[log]\nlevel = \"debug\"\n",
    );
    let changes = compare(&old, &new);
    assert_eq!(changes.needs_restart, ["listen", "workers", "http.listen"]);
    assert_eq!(changes.changed, ["pool_mode", "limits", "log", "databases.a", "databases.c", "users.u"]);
    assert!(changes.warning().expect("something waits").ends_with("restart: listen, workers, http.listen"));

    let in_force = new.clone().keeping_restart_settings(&old);
    let remaining = compare(&in_force, &new);
    assert_eq!(remaining.needs_restart, changes.needs_restart);
    assert!(remaining.changed.is_empty(), "{remaining:?}");
    assert!(compare(&old, &in_force).needs_restart.is_empty());
}
