//! Ways to log in.

use trunkline_driver_blocking::config::{Host, Password, Roots, SslMode, TargetSessionAttrs};
use trunkline_driver_blocking::{Client, Config};
use trunkline_probes::Stage;
use trunkline_testkit::cluster::{MD5_USER, PLAIN_USER, TRUSTED_USER};
use trunkline_testkit::{Version, free_port};
use trunkline_wire::SqlState;

use crate::place::config;

trunkline_probes::probes! {
    every_method_lets_in, a_wrong_password_is_the_servers_error, tls_is_as_sslmode_says, direct_tls_needs_no_asking,
    channel_binding_can_be_required, the_first_host_that_will_do_is_taken, a_session_is_what_was_asked_for,
    parameters_are_the_sessions, protocol_3_2_is_spoken, a_silent_server_is_given_up,
}

fn log_in(config: &Config) -> Client {
    Client::connect_to(config).unwrap_or_else(|error| panic!("{config:?}: {error}"))
}

fn every_method_lets_in(stage: &Stage) {
    for user in [MD5_USER, PLAIN_USER, TRUSTED_USER] {
        let mut client = log_in(&Config { user: user.to_owned(), ..config(stage) });
        let row = client.query_one("select current_user::text", &[]).expect("one");
        assert_eq!(row.get::<&str>(0).expect("a text"), user);
    }
}

fn a_wrong_password_is_the_servers_error(stage: &Stage) {
    let wrong = Config { passwords: vec![Some(Password::new("wrong"))], ..config(stage) };
    let error = Client::connect_to(&wrong).expect_err("refused");
    assert_eq!(error.code(), SqlState::new(b"28P01"));
    let none = Config { passwords: vec![None], ..config(stage) };
    assert!(Client::connect_to(&none).expect_err("needs one").to_string().contains("needs a password"));
}

fn with_tls(stage: &Stage, mode: SslMode, roots: bool) -> Config {
    let mut config = config(stage);
    config.tls.mode = mode;
    config.tls.roots = roots.then(|| Roots::File(stage.cluster().certificate().to_owned()));
    config
}

fn is_encrypted(client: &mut Client) -> bool {
    let sql = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
    client.query_one(sql, &[]).expect("one").get(0).expect("a bool")
}

fn tls_is_as_sslmode_says(stage: &Stage) {
    let cases = [
        (SslMode::Disable, false, false),
        (SslMode::Allow, false, false),
        (SslMode::Prefer, false, true),
        (SslMode::Require, false, true),
        (SslMode::VerifyCa, true, true),
    ];
    for (mode, roots, encrypted) in cases {
        let mut client = log_in(&with_tls(stage, mode, roots));
        assert_eq!(is_encrypted(&mut client), encrypted, "{mode}");
        // More than a record, and more than a socket holds, both ways at once.
        let big = "x".repeat(3 << 20);
        let row = client.query_one("select $1::text || $1", &[&big]).expect("a row");
        assert_eq!(row.get::<&str>(0).expect("a text").len(), 6 << 20);
        let statement = client.prepare("select $1::text").expect("prepared");
        let mut batch = client.batch(&statement);
        (0..2_000).for_each(|_| batch.push(&[&"y".repeat(5_000)]).expect("sent"));
        assert_eq!(batch.query().expect("answers").rows().count(), 2_000);
    }
    let unchecked = Client::connect_to(&with_tls(stage, SslMode::VerifyFull, false));
    assert!(unchecked.expect_err("no roots").to_string().contains("sslrootcert"));
    let mut other_host = with_tls(stage, SslMode::VerifyFull, true);
    other_host.hosts = vec![Host {
        name: "elsewhere.example".to_owned(),
        address: Some([127, 0, 0, 1].into()),
        port: stage.cluster().port(),
    }];
    assert!(Client::connect_to(&other_host).expect_err("not its name").to_string().contains("another host"));
}

fn direct_tls_needs_no_asking(stage: &Stage) {
    let mut config = with_tls(stage, SslMode::Require, false);
    config.tls.direct = true;
    let outcome = Client::connect_to(&config);
    if stage.version() < Version(17) {
        outcome.expect_err("it is asked for first there");
    } else {
        assert!(is_encrypted(&mut outcome.expect("a login")));
    }
}

fn channel_binding_can_be_required(stage: &Stage) {
    use trunkline_driver_blocking::config::ChannelBinding;
    let with = |mode, binding| Config { channel_binding: binding, ..with_tls(stage, mode, false) };
    for binding in [ChannelBinding::Disable, ChannelBinding::Prefer, ChannelBinding::Require] {
        log_in(&with(SslMode::Require, binding));
    }
    Client::connect_to(&with(SslMode::Disable, ChannelBinding::Require)).expect_err("nothing to bind to");
    let trusted = Config { user: TRUSTED_USER.to_owned(), ..with(SslMode::Require, ChannelBinding::Require) };
    Client::connect_to(&trusted).expect_err("it does not prove itself");
}

fn the_first_host_that_will_do_is_taken(stage: &Stage) {
    let mut several = config(stage);
    let living = several.hosts[0].clone();
    let dead = Host { port: free_port().expect("a port"), ..living.clone() };
    let nameless = Host { name: "no.such.host.invalid".to_owned(), address: None, port: dead.port };
    several.hosts = vec![dead.clone(), nameless, living];
    for _ in 0..3 {
        log_in(&several);
    }
    several.hosts.truncate(2);
    let error = Client::connect_to(&several).expect_err("none lives").to_string();
    assert!(error.contains(&dead.port.to_string()) && error.contains("no.such.host.invalid"), "{error}");
}

fn a_session_is_what_was_asked_for(stage: &Stage) {
    use TargetSessionAttrs as T;
    let with = |wanted, options: &str| {
        let mut config = Config { target_session_attrs: wanted, ..config(stage) };
        config.parameters.push(("options".to_owned(), options.to_owned()));
        Client::connect_to(&config)
    };
    for wanted in [T::Any, T::ReadWrite, T::Primary, T::PreferStandby] {
        with(wanted, "").expect("a primary that writes");
    }
    for wanted in [T::ReadOnly, T::Standby] {
        with(wanted, "").expect_err("it is none");
    }
    let read_only = "-c default_transaction_read_only=on";
    with(T::ReadOnly, read_only).expect("it is");
    with(T::ReadWrite, read_only).expect_err("it is not");
}

fn parameters_are_the_sessions(stage: &Stage) {
    let mut config = config(stage);
    config.parameters.push(("application_name".to_owned(), "tests".to_owned()));
    config.parameters.push(("options".to_owned(), "-c work_mem=5MB".to_owned()));
    let mut client = log_in(&config);
    assert_eq!(client.parameter("application_name"), Some("tests"));
    let row = client.query_one("select current_setting('work_mem')", &[]).expect("one");
    assert_eq!(row.get::<&str>(0).expect("a text"), "5MB");
    client.batch_execute("set timezone to 'Asia/Tokyo'").expect("set");
    assert_eq!(client.parameter("TimeZone"), Some("Asia/Tokyo"));
}

fn protocol_3_2_is_spoken(stage: &Stage) {
    use trunkline_driver_blocking::config::ProtocolVersion;
    let mut client = log_in(&Config { protocol: ProtocolVersion::V3_2, ..config(stage) });
    client.query("select 1", &[]).expect("usable");
    // With its longer key, where the server has it.
    client.cancel_token().cancel().expect("heard");
}

fn a_silent_server_is_given_up(stage: &Stage) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut silent = config(stage);
    silent.hosts[0].port = listener.local_addr().expect("an address").port();
    silent.connect_timeout = Some(std::time::Duration::from_millis(50));
    let error = Client::connect_to(&silent).expect_err("it says nothing");
    assert!(error.is_timeout(), "{error}");
}
