//! The answers that a client gets without a valid password.

use trunkline_probes::{Setup, Stage, sqlstate};
use trunkline_testkit::cluster::PASSWORD;
use trunkline_testkit::{Frame, Proxy, RawClient};

use crate::{begin_login, every_database};

trunkline_probes::probes! {
    users_and_databases_are_not_told_apart, looked_up_users_and_databases_are_not_told_apart,
    an_unknown_database_is_reported_after_the_login, servers_that_cannot_be_reached_are_not_described,
}

/// All answers to a login with a wrong password: message types, and the texts of errors.
fn told(proxy: &Proxy, user: &str, database: &str) -> Vec<String> {
    let mut client = RawClient::connect(proxy.address()).expect("accepted");
    let parameters = [("user", user), ("database", database)];
    let error = client.authenticate("guess", &parameters).expect_err("a wrong password is refused");
    client.expect_end().expect("closed");
    // The messages before the error, by their types and lengths.
    let mut client = begin_login(proxy, user, database);
    let first = client.frame().expect("an answer");
    let error = format!("{error:#}").replace(&format!("\"{user}\""), "USER");
    vec![outline(&first), sqlstate_of(&error), error]
}

fn sqlstate_of(error: &str) -> String {
    error.rsplit("SQLSTATE ").next().unwrap_or_default().to_owned()
}

fn outline(frame: &Frame) -> String {
    format!("{} of {} bytes", char::from(frame.tag), frame.body.len())
}

fn assert_answers_are_equal(proxy: &Proxy, of: &[(&str, &str)]) {
    let (user, database) = of[0];
    let first = told(proxy, user, database);
    assert!(first[2].contains("28P01") && first[2].contains("USER"), "{first:?}");
    for (user, database) in of {
        assert_eq!(told(proxy, user, database), first, "{user} in {database}");
    }
}

fn users_and_databases_are_not_told_apart(stage: &Stage) {
    for method in ["scram-sha-256", "md5", "password"] {
        let setup = stage.setup().set("auth.type", method).set("auth.cleartext_without_tls", true);
        let proxy = setup.start();
        // With md5, a user without an MD5 password is asked for SCRAM, as in PostgreSQL.
        let users: &[&str] = if method == "md5" { &["app"] } else { &["app", "nobody at all"] };
        let cases: Vec<(&str, &str)> =
            users.iter().flat_map(|user| [(*user, "app"), (*user, "no such database")]).collect();
        assert_answers_are_equal(&proxy, &cases);
    }
}

fn looked_up_users_and_databases_are_not_told_apart(stage: &Stage) {
    let there = stage.database();
    let cases = [
        ("app", there),
        ("nobody at all", there),
        ("app", "no such database"),
        ("nobody at all", "no such database"),
        ("app", "template0"),
    ];
    assert_answers_are_equal(&every_database(stage).start(), &cases);
    // The same if the configuration names its databases.
    let mut setup = stage.setup().set("users.postgres.password", PASSWORD).set("auth.user", "postgres");
    for user in ["app", "md5user", "plainuser", "trusted"] {
        setup = setup.unset(&format!("users.{user}"));
    }
    let cases = [("app", "app"), ("nobody at all", "app"), ("app", "no such"), ("nobody at all", "no such")];
    assert_answers_are_equal(&setup.start(), &cases);
}

/// A client that has logged in learns it, also if its user is only known by `auth_query`.
fn an_unknown_database_is_reported_after_the_login(stage: &Stage) {
    let looked_up = {
        let setup = stage.setup().set("users.postgres.password", PASSWORD).set("auth.user", "postgres");
        setup.unset("users.app")
    };
    for setup in [stage.setup(), looked_up, every_database(stage)] {
        let proxy = setup.start();
        let error = RawClient::login(proxy.address(), "app", PASSWORD, "no such database");
        // If every database name is served, a database that does not exist has no users.
        let expected = if setup.text().contains("\"*\"") { "28P01" } else { "3D000" };
        assert_eq!(sqlstate(&error.expect_err("there is none")), expected, "{}", setup.text());
    }
}

/// A configuration whose server address has no listener, and this address.
fn with_unreachable_server(setup: Setup) -> (Setup, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    (setup.server(address), address.port().to_string())
}

fn servers_that_cannot_be_reached_are_not_described(stage: &Stage) {
    let (setup, port) = with_unreachable_server(
        stage.setup().set("users.postgres.password", PASSWORD).set("auth.user", "postgres"),
    );
    let proxy = setup.unset("users.app").start();
    let mut answers = Vec::new();
    for (user, database) in [("app", "app"), ("nobody at all", "app"), ("app", "no such database")] {
        let error = RawClient::login(proxy.address(), user, PASSWORD, database).expect_err("no server");
        assert_eq!(sqlstate(&error), "57P03");
        answers.push(format!("{error:#}"));
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert!(!answers[0].contains(&port) && !answers[0].contains("127.0.0.1"), "{answers:?}");
    proxy.wait_for_log(&format!("127.0.0.1:{port}")).expect("the operator is told");
    // A client that has logged in gets the reason.
    let error = RawClient::login(proxy.address(), "md5user", PASSWORD, "app").expect_err("no server");
    assert!(format!("{error:#}").contains(&port), "{error:#}");
}
