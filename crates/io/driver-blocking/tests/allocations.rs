//! What is allocated does not grow with rows and columns.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use trunkline_driver_blocking::{Client, Config};
use trunkline_testkit::{Cluster, Version};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const SQL: &str = "select n, n::text, n::float8, n % 2 = 0, null::int, n::int8, 'x', 'y', 'z' from generate_series(1, $1) n";

/// Allocations and reallocations of `work`.
fn allocations(work: impl FnOnce()) -> usize {
    let region = Region::new(ALLOCATOR);
    work();
    let change = region.change();
    change.allocations + change.reallocations
}

fn read(row: &trunkline_driver_blocking::Row<'_>) -> i64 {
    let text: &str = row.get(1).expect("a text");
    let nothing: Option<i32> = row.get(4).expect("a null");
    assert!(nothing.is_none() && !text.is_empty());
    row.get::<i64>(5).expect("an int")
}

#[test]
fn nothing_is_allocated_for_a_row_a_column_or_an_item() {
    let cluster = Cluster::start(Version::PG15).expect("a server");
    let config = Config::parse(&cluster.url("app")).expect("usable");
    let mut client = Client::connect_to(&Config { tls: off(&config), ..config }).expect("a login");
    // The statement, the buffers and the processor's caches are there.
    client.query(SQL, &[&100_000]).expect("rows");
    client.for_each(SQL, &[&100_000], |_| Ok(())).expect("rows");

    let counts = [10, 1_000, 100_000].map(|rows| {
        allocations(|| {
            let mut sum = 0;
            client
                .for_each(SQL, &[&rows], |row| {
                    sum += read(&row);
                    Ok(())
                })
                .expect("rows");
            assert_eq!(sum, i64::from(rows) * (i64::from(rows) + 1) / 2);
        })
    });
    assert_eq!(counts, [counts[0]; 3], "rows that are handed out");

    for rows in [10, 100_000] {
        let result = client.query(SQL, &[&rows]).expect("rows");
        let count = allocations(|| assert!(result.iter().map(|row| read(&row)).sum::<i64>() > 0));
        assert_eq!(count, 0, "rows that are looked at");
    }
    // A result's buffer doubles as it grows.
    let small = allocations(|| drop(client.query(SQL, &[&10]).expect("rows")));
    let large = allocations(|| drop(client.query(SQL, &[&100_000]).expect("rows")));
    assert!(large <= small + 24, "{large} for 100,000 rows, {small} for 10");

    let statement = client.prepare("select $1::int").expect("prepared");
    let counts = [10, 10_000].map(|items| {
        allocations(|| {
            let mut batch = client.batch(&statement);
            (0..items).for_each(|n| batch.push(&[&n]).expect("sent"));
            assert_eq!(batch.query().expect("answers").rows().count(), items as usize);
        })
    });
    assert!(counts[1] <= counts[0] + 24, "{counts:?} for 10 and 10,000 items");
}

fn off(config: &Config) -> trunkline_driver_blocking::config::TlsSettings {
    let mode = trunkline_driver_blocking::config::SslMode::Disable;
    trunkline_driver_blocking::config::TlsSettings { mode, ..config.tls.clone() }
}
