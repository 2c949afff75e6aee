//! Several tasks of a service on one connection: look-ups that pipeline by themselves, a transaction, a stream, notifications.
//!
//! `cargo run -p trunkline-driver --example services`, on a server of the testkit's; or with a connection string as argument.

use std::time::Duration;

use trunkline_driver::{Client, Error};
use trunkline_testkit::cluster::APP_USER;
use trunkline_testkit::{Cluster, Version};

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[allow(clippy::print_stdout)]
#[tokio::main]
async fn main() -> Outcome<()> {
    let (_cluster, url) = match std::env::args().nth(1) {
        Some(url) => (None, url),
        None => {
            let cluster = Cluster::start(Version::PG15)?;
            let url = cluster.url(APP_USER);
            (Some(cluster), url)
        }
    };
    let client = Client::connect(&url).await?;
    client
        .batch_execute("create temp table harbors (id int primary key, name text not null, ships int not null default 0)")
        .await?;
    let insert = client.prepare("insert into harbors (id, name) values ($1, $2)").await?;
    let mut batch = client.batch(&insert);
    for id in 0..1_000 {
        batch.push(&[&id, &format!("harbor {id}")])?;
    }
    println!("{} harbors", batch.execute().await?);

    // Each task asks for itself; what is ready is sent together.
    let tasks: Vec<_> = (0..1_000).map(|id| tokio::spawn(name(client.clone(), id))).collect();
    for (id, task) in tasks.into_iter().enumerate() {
        if task.await?? != format!("harbor {id}") {
            return Err("another's answer".into());
        }
    }

    move_ship(&client, 1, 2).await?;
    let mut rows =
        client.query_stream("select id, ships from harbors where ships <> 0 order by id", &[]).await?;
    while let Some(part) = rows.next_rows().await? {
        for row in &part {
            println!("harbor {} has {:+} ships", row.get::<i32>("id")?, row.get::<i32>("ships")?);
        }
    }

    let mut heard = client.notifications();
    client.batch_execute("listen arrivals; notify arrivals, 'harbor 2'").await?;
    println!("arrived: {:?}", heard.next().await.map(|arrival| arrival.payload));

    let late = client.with_timeout(Duration::from_millis(50)).query("select pg_sleep(10)", &[]).await;
    println!("too long: {}", late.err().map_or_else(String::new, |error| error.to_string()));
    Ok(())
}

async fn name(client: Client, id: i32) -> Result<String, Error> {
    client.query_one("select name from harbors where id = $1", &[&id]).await?.get(0)
}

async fn move_ship(client: &Client, from: i32, to: i32) -> Result<(), Error> {
    let transaction = client.transaction().await?;
    let sql = "update harbors set ships = ships + $2 where id = $1";
    transaction.execute(sql, &[&from, &-1]).await?;
    transaction.execute(sql, &[&to, &1]).await?;
    transaction.commit().await
}
