//! Configurations by libpq's rules, from texts, the environment and files.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use trunkline_driver_blocking::Config;
use trunkline_driver_blocking::config::{
    ChannelBinding, ConfigError, LoadBalanceHosts, Roots, SslMode, TargetSessionAttrs,
};

fn parse(text: &str) -> Config {
    Config::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn password(config: &Config, host: usize) -> Option<String> {
    config.password(host).map(|found| String::from_utf8(found.expose().to_vec()).expect("a text"))
}

fn places(config: &Config) -> Vec<(String, u16)> {
    config.hosts.iter().map(|host| (host.name.clone(), host.port)).collect()
}

/// Loads with this environment and nothing else.
fn load(text: &str, environment: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let environment: HashMap<_, _> =
        environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Config::load_with(text, &|name| environment.get(name).cloned())
}

#[test]
fn uris_are_read_as_libpq_reads_them() {
    let config =
        parse("postgresql://al%40ice:s%3Ae%2Fcret@db.example:6432/sh%20op?sslmode=require&connect_timeout=5");
    assert_eq!((config.user.as_str(), config.database.as_str()), ("al@ice", "sh op"));
    assert_eq!(password(&config, 0).as_deref(), Some("s:e/cret"));
    assert_eq!(places(&config), [("db.example".to_owned(), 6432)]);
    assert_eq!((config.tls.mode, config.connect_timeout), (SslMode::Require, Some(Duration::from_secs(5))));
    assert_eq!(parse("postgres://u@h").database, "u");
    assert_eq!(
        places(&parse("postgres://u@[::1]:7,b,c:9/d")),
        [("::1".to_owned(), 7), ("b".to_owned(), 5432), ("c".to_owned(), 9),]
    );
    assert_eq!(places(&parse("postgres://u@/d?host=/run/pg&port=6")), [("/run/pg".to_owned(), 6)]);
    assert_eq!(places(&parse("postgres://u@%2Frun%2Fpg/d")), [("/run/pg".to_owned(), 5432)]);
    assert_eq!(parse("postgres://h/d?user=other&password=p").user, "other");
}

#[test]
fn pairs_are_read_as_libpq_reads_them() {
    let config = parse(r"host = 'a b' user='it\'s' password=\'x\\ dbname = d  port=1");
    assert_eq!((config.user.as_str(), config.database.as_str()), ("it's", "d"));
    assert_eq!(password(&config, 0).as_deref(), Some(r"'x\"));
    assert_eq!(places(&config), [("a b".to_owned(), 1)]);
    let config = parse(
        "host=a,b port=1,2 hostaddr=10.0.0.1,::1 user=u load_balance_hosts=random channel_binding=require",
    );
    assert_eq!(config.hosts[1].address, Some("::1".parse().expect("an address")));
    assert_eq!(config.load_balance_hosts, LoadBalanceHosts::Random);
    assert_eq!(config.channel_binding, ChannelBinding::Require);
    let config = parse(
        "host=a,b port=7 user=u target_session_attrs=prefer-standby keepalives_idle=9 statement_cache=0",
    );
    assert_eq!(places(&config), [("a".to_owned(), 7), ("b".to_owned(), 7)]);
    assert_eq!(config.target_session_attrs, TargetSessionAttrs::PreferStandby);
    assert_eq!((config.keepalives.idle, config.statement_cache), (Some(Duration::from_secs(9)), 0));
    assert_eq!(parse("user=u sslrootcert=system").tls.mode, SslMode::VerifyFull);
    assert_eq!(parse("user=u sslrootcert=/ca.pem").tls.roots, Some(Roots::File("/ca.pem".into())));
    assert_eq!(parse("user=u connect_timeout=-1").connect_timeout, None);
}

#[test]
fn what_cannot_be_used_is_refused_and_no_password_quoted() {
    for text in [
        "host",
        "host=h user",
        "user='x",
        "user=x\\",
        "user=u nonsense=1",
        "user=u port=0",
        "user=u port=x",
        "user=u host=a,b,c port=1,2",
        "user=u host=a,b hostaddr=1.1.1.1",
        "user=u hostaddr=name",
        "user=u sslmode=maybe",
        "user=u require_auth=none",
        "user=u requirepeer=postgres",
        "user=u gssencmode=require",
        "user=u client_encoding=latin1",
        "user=u sslnegotiation=direct",
        "user=u sslcert=/c.pem",
        "user=u target_session_attrs=best",
        "host=h",
        "postgres://u:hunter2@[::1/d",
        "postgres://u:hunter2@h/d?sslmode",
        "postgres://u:hunter2@h/d?hunter2=x&!hunter2!=y",
        "postgres://u:%ff@h",
        "postgres://u:%00@h",
    ] {
        let error = Config::parse(text).expect_err(text);
        let said = format!("{error} {error:?}");
        assert!(!said.contains("hunter2") || text.contains("?hunter2="), "{said}");
    }
    assert!(!format!("{:?}", parse("user=u password=hunter2")).contains("hunter2"));
}

#[test]
fn the_environment_fills_what_is_left_open() {
    let environment = [
        ("PGHOST", "env"),
        ("PGUSER", "envuser"),
        ("PGPASSWORD", "envword"),
        ("PGPORT", "99"),
        ("PGAPPNAME", "app"),
        ("PGTZ", "UTC"),
        ("PGSSLMODE", "disable"),
        ("PGOPTIONS", ""),
    ];
    let config = load("host=given", &environment).expect("usable");
    assert_eq!((places(&config), config.user.as_str()), (vec![("given".to_owned(), 99)], "envuser"));
    assert_eq!((password(&config, 0).as_deref(), config.tls.mode), (Some("envword"), SslMode::Disable));
    let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        config.parameters,
        [own("client_encoding", "UTF8"), own("application_name", "app"), own("timezone", "UTC")]
    );
    assert_eq!(load("host=h", &[("USER", "login")]).expect("usable").user, "login");
    assert_eq!(load("host=h", &[]).expect_err("nobody"), ConfigError::NoUser);
    // A user who relies on it must not be let down silently.
    load("host=h user=u", &[("PGREQUIREAUTH", "scram-sha-256")]).expect_err("unsupported");
}

#[test]
fn passwords_come_from_the_password_file() {
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path().join(".pgpass");
    let lines =
        "# a comment\nh:1:d:u:one\nh:*:*:u:two:with:colons\n*:*:d\\:b:*:th\\\\ree\nlocalhost:*:*:*:socket\n";
    fs::write(&path, lines).expect("written");
    let set = |mode| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("set");
    };
    set(0o600);
    let at_home = [("HOME", home.path().to_str().expect("a text"))];
    let found = |text: &str| password(&load(text, &at_home).expect("usable"), 0);
    assert_eq!(found("host=h port=1 dbname=d user=u").as_deref(), Some("one"));
    assert_eq!(found("host=h port=2 dbname=d user=u").as_deref(), Some("two:with:colons"));
    assert_eq!(found("host=x dbname=d:b user=y").as_deref(), Some(r"th\ree"));
    assert_eq!(found("host=/var/run/postgresql user=y").as_deref(), Some("socket"));
    assert_eq!(found("host=x user=u"), None);
    assert_eq!(found("host=h port=1 dbname=d user=u password=given").as_deref(), Some("given"));
    let two = load("host=h,x port=1 dbname=d user=u", &at_home).expect("usable");
    assert_eq!((password(&two, 0).as_deref(), password(&two, 1)), (Some("one"), None));
    // Others may read it: it is not believed.
    set(0o640);
    assert_eq!(found("host=h port=1 dbname=d user=u"), None);
}

#[test]
fn services_come_from_the_service_file() {
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path().join(".pg_service.conf");
    fs::write(&path, "# all\n[one]\nhost=first\nport=7\n\n[two]\nhost=second\nuser=them\n[bad]\nnothing\n")
        .expect("written");
    let environment =
        [("HOME", home.path().to_str().expect("a text")), ("PGHOST", "env"), ("PGUSER", "envuser")];
    let config = load("service=two port=8", &environment).expect("usable");
    // The text, then the service, then the environment.
    assert_eq!((places(&config), config.user.as_str()), (vec![("second".to_owned(), 8)], "them"));
    let by_variable = [&environment[..], &[("PGSERVICE", "one")]].concat();
    assert_eq!(places(&load("", &by_variable).expect("usable")), [("first".to_owned(), 7)]);
    assert!(matches!(load("service=none", &environment), Err(ConfigError::NoService { .. })));
    assert!(matches!(load("service=bad", &environment), Err(ConfigError::ServiceLine { line: 10, .. })));
}
