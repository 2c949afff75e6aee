//! COPY in both directions.

use std::io::{Read, Write};

use trunkline_driver_blocking::Client;
use trunkline_probes::Stage;
use trunkline_wire::SqlState;

use crate::place::{direct, everywhere};

trunkline_probes::probes! {
    what_goes_in_comes_out, bad_data_fails_the_copy_and_no_more, a_copy_that_is_given_up_copies_nothing,
    what_is_no_copy_is_said, a_copy_without_data_is_refused,
}

fn table(client: &mut Client) {
    client.batch_execute("drop table if exists c; create table c (a int, b text)").expect("a table");
}

fn usable(client: &mut Client, rows: i64) {
    let row = client.query_one("select count(*) from c", &[]).expect("usable");
    assert_eq!(row.get::<i64>(0).expect("a count"), rows);
}

fn what_goes_in_comes_out(stage: &Stage) {
    everywhere(stage, |client| {
        for format in ["text", "csv", "binary"] {
            table(client);
            client
                .batch_execute(
                    "insert into c select n, repeat('x', n % 100) from generate_series(1, 50000) n",
                )
                .expect("rows");
            let mut data = Vec::new();
            let mut out = client.copy_out(&format!("copy c to stdout (format {format})")).expect("a copy");
            assert_eq!(out.is_binary(), format == "binary");
            out.read_to_end(&mut data).expect("data");
            assert_eq!(out.read(&mut [0]).expect("the end"), 0);
            drop(out);
            client.batch_execute("truncate c").expect("done");
            let mut copy = client.copy_in(&format!("copy c from stdin (format {format})")).expect("a copy");
            for piece in data.chunks(1_000) {
                copy.write_all(piece).expect("taken");
            }
            assert_eq!(copy.finish().expect("copied"), 50_000);
            usable(client, 50_000);
        }
    });
}

fn bad_data_fails_the_copy_and_no_more(stage: &Stage) {
    everywhere(stage, |client| {
        table(client);
        let mut copy = client.copy_in("copy c from stdin").expect("a copy");
        copy.write_all(b"1\tx\nnot a number\ty\n").expect("taken");
        let error = copy.finish().expect_err("no number");
        assert_eq!(error.code(), SqlState::new(b"22P02"));
        usable(client, 0);
        // The server says no while we send.
        let mut copy = client.copy_in("copy c from stdin").expect("a copy");
        let rows = b"bad\tx\n".repeat(10_000);
        let failed = (0..10_000).find_map(|_| copy.write_all(&rows).err());
        drop(failed.expect("an error within 600 MB"));
        drop(copy);
        usable(client, 0);
    });
}

fn a_copy_that_is_given_up_copies_nothing(stage: &Stage) {
    everywhere(stage, |client| {
        table(client);
        let mut copy = client.copy_in("copy c from stdin").expect("a copy");
        copy.write_all(&b"1\tx\n".repeat(100_000)).expect("taken");
        drop(copy);
        usable(client, 0);
        client.batch_execute("insert into c select n, 'x' from generate_series(1, 100000) n").expect("rows");
        let mut out = client.copy_out("copy c to stdout").expect("a copy");
        out.read_exact(&mut [0; 10]).expect("data");
        drop(out);
        usable(client, 100_000);
    });
}

fn what_is_no_copy_is_said(stage: &Stage) {
    everywhere(stage, |client| {
        table(client);
        for text in ["select 1", "copy c to stdout", "", "copy nothing from stdin"] {
            client.copy_in(text).expect_err("no copy in");
        }
        for text in ["select 1", "copy c from stdin", "", "copy nothing to stdout"] {
            client.copy_out(text).expect_err("no copy out");
        }
        let mut out = client
            .copy_out("copy (select 1 / (3 - n) from generate_series(1, 5) n) to stdout")
            .expect("begun");
        out.read_to_end(&mut Vec::new()).expect_err("a division by zero");
        drop(out);
        usable(client, 0);
    });
}

fn a_copy_without_data_is_refused(stage: &Stage) {
    everywhere(stage, |client| {
        table(client);
        for _ in 0..2 {
            let error = client.query("copy c from stdin", &[]).expect_err("no data");
            assert!(error.server().is_some(), "{error}");
            let error = client.batch_execute("copy c from stdin; select 1").expect_err("no data");
            assert!(error.server().is_some(), "{error}");
            client.execute("copy c to stdout", &[]).expect("data is passed over");
            let statement = client.prepare("copy c from stdin").expect("prepared");
            let mut batch = client.batch(&statement);
            batch.push(&[]).expect("sent");
            let error = batch.execute().expect_err("no data");
            assert!(error.server().is_some(), "{error}");
        }
        usable(client, 0);
    });
    // Another message in its COPY makes PostgreSQL 14 and later end the connection.
    let mut client = direct(stage);
    let statement = client.prepare("copy c from stdin").expect("prepared");
    let mut batch = client.batch(&statement);
    (0..3).for_each(|_| batch.push(&[]).expect("sent"));
    batch.execute().expect_err("no data");
}
