//! What is allocated does not grow with rows and columns.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use trunkline_driver::config::SslMode;
use trunkline_driver::{Client, Config, Row};
use trunkline_testkit::{Cluster, Version};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const SQL: &str = "select n, n::text, n::float8, n % 2 = 0, null::int, n::int8, 'x', 'y', 'z' from generate_series(1, $1) n";

/// Allocations and reallocations of `work`.
async fn allocations(work: impl AsyncFnOnce()) -> usize {
    let region = Region::new(ALLOCATOR);
    work().await;
    let change = region.change();
    change.allocations + change.reallocations
}

fn read(row: &Row<'_>) -> i64 {
    let text: &str = row.get(1).expect("a text");
    let nothing: Option<i32> = row.get(4).expect("a null");
    assert!(nothing.is_none() && !text.is_empty());
    row.get::<i64>(5).expect("an int")
}

/// Reads all rows of a stream, and says in how many parts they came.
async fn stream(client: &Client, count: i32) -> usize {
    let mut stream = client.query_stream(SQL, &[&count]).await.expect("begun");
    let (mut sum, mut parts) = (0, 0);
    while let Some(rows) = stream.next_rows().await.expect("rows") {
        sum += rows.iter().map(|row| read(&row)).sum::<i64>();
        parts += 1;
    }
    assert_eq!(sum, i64::from(count) * (i64::from(count) + 1) / 2);
    parts
}

#[test]
fn nothing_is_allocated_for_a_row_or_a_column() {
    let cluster = Cluster::start(Version::PG15).expect("a server");
    let mut config = Config::parse(&cluster.url("app")).expect("usable");
    config.tls.mode = SslMode::Disable;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let client = Client::connect_to(&config).await.expect("a login");
        // The statement and the buffers are there.
        client.query(SQL, &[&100_000]).await.expect("rows");

        for rows in [10, 100_000] {
            let result = client.query(SQL, &[&rows]).await.expect("rows");
            let count =
                allocations(async || assert!(result.iter().map(|row| read(&row)).sum::<i64>() > 0)).await;
            assert_eq!(count, 0, "rows that are looked at");
        }
        // A result's buffer doubles as it grows.
        let query = async |rows: i32| {
            allocations(async || drop(client.query(SQL, &[&rows]).await.expect("rows"))).await
        };
        let (small, large) = (query(10).await, query(100_000).await);
        assert!(large <= small + 24, "{large} for 100,000 rows, {small} for 10");

        // A part of a stream has a buffer that grows, whatever the rows in it.
        let mut parts = 0;
        let count = allocations(async || parts = stream(&client, 100_000).await).await;
        assert!(count <= small + parts * 24, "{count} for {parts} parts");
        assert!(parts < 10_000, "{parts} parts");

        let one = client.prepare("select $1::int").await.expect("prepared");
        let query_one = async || drop(client.query_one(&one, &[&1]).await.expect("a row"));
        query_one().await;
        let count = allocations(query_one).await;
        assert!(count <= 4, "{count} for a query of one row");

        let batch = async |items: i32| {
            allocations(async || {
                let mut batch = client.batch(&one);
                (0..items).for_each(|n| batch.push(&[&n]).expect("it fits"));
                assert_eq!(batch.query().await.expect("answers").rows().count(), items as usize);
            })
            .await
        };
        let counts = [batch(10).await, batch(10_000).await];
        assert!(counts[1] <= counts[0] + 36, "{counts:?} for 10 and 10,000 items");
    });
}
