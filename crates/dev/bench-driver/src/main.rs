//! The asynchronous driver beside tokio-postgres: ordinary code, no batches. Queries a second, and the CPU that the client's
//! process spends on a query; every result is checked. The contenders take turns, the median of the repetitions counts.
//!
//!     trunkline-bench-driver [--repetitions N] [--only NAME] [--only-single yes] [--threads N]

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use cpu_time::ProcessTime;
use futures_util::future::try_join_all;
use trunkline_testkit::cluster::APP_USER;
use trunkline_testkit::{Cluster, Version};

const SQL: &str = "select id, name from harbors where id = $1";
/// Futures that wait at once.
const CONCURRENT: i32 = 10_000;
/// Round trips, one after the other.
const SINGLE: i32 = 20_000;

/// What was asked for.
struct Options {
    repetitions: usize,
    /// Only the contender of this name.
    only: Option<String>,
    /// Only round trips, one by one.
    only_single: bool,
    /// Worker threads of the runtime; 0 is a runtime of the calling thread.
    threads: usize,
}

fn options() -> Result<Options> {
    let mut options = Options { repetitions: 5, only: None, only_single: false, threads: 0 };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().with_context(|| format!("{argument} needs a value"))?;
        match argument.as_str() {
            "--repetitions" => options.repetitions = value.parse()?,
            "--only" => options.only = Some(value),
            "--only-single" => options.only_single = value == "yes",
            "--threads" => options.threads = value.parse()?,
            _ => anyhow::bail!("there is no option {argument}"),
        }
    }
    Ok(options)
}

/// A prepared look-up by primary key on one connection.
trait Contender: Send + Sync + 'static {
    const NAME: &str;
    /// The row's id, and how long its name is.
    fn look_up(&self, id: i32) -> impl Future<Output = Result<(i32, usize)>> + Send;
}

struct Ours(trunkline_driver::Client, trunkline_driver::Statement);

impl Contender for Ours {
    const NAME: &str = "trunkline-driver";
    async fn look_up(&self, id: i32) -> Result<(i32, usize)> {
        let row = self.0.query_one(&self.1, &[&id]).await?;
        Ok((row.get(0)?, row.get::<&str>(1)?.len()))
    }
}

struct TokioPostgres(tokio_postgres::Client, tokio_postgres::Statement);

impl Contender for TokioPostgres {
    const NAME: &str = "tokio-postgres";
    async fn look_up(&self, id: i32) -> Result<(i32, usize)> {
        let row = self.0.query_one(&self.1, &[&id]).await?;
        Ok((row.try_get(0)?, row.try_get::<_, &str>(1)?.len()))
    }
}

fn check(id: i32, found: (i32, usize)) -> Result<()> {
    ensure!(found == (id, format!("harbor {id}").len()), "{found:?} for {id}");
    Ok(())
}

async fn concurrent<C: Contender>(contender: Arc<C>) -> Result<()> {
    let found = try_join_all((0..CONCURRENT).map(|id| contender.look_up(id))).await?;
    let (mut ids, mut letters) = (0_i64, 0);
    for (id, length) in found {
        ids += i64::from(id);
        letters += length;
    }
    ensure!((ids, letters) == (49_995_000, 108_890), "wrong rows: {ids}, {letters}");
    Ok(())
}

async fn single<C: Contender>(contender: Arc<C>) -> Result<()> {
    for n in 0..SINGLE {
        let id = n % CONCURRENT;
        check(id, contender.look_up(id).await?)?;
    }
    Ok(())
}

/// Queries a second, and microseconds of this process's CPU a query.
type Figures = (f64, f64);

async fn measure(queries: i32, times: u32, work: impl AsyncFn() -> Result<()>) -> Result<Figures> {
    work().await?;
    let (begun, cpu) = (Instant::now(), ProcessTime::now());
    for _ in 0..times {
        work().await?;
    }
    let queries = f64::from(queries) * f64::from(times);
    Ok((queries / begun.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64() * 1e6 / queries))
}

/// That of the middle by CPU; NaN where nothing was measured.
fn median(mut figures: Vec<Figures>) -> Figures {
    figures.sort_by(|a, b| a.1.total_cmp(&b.1));
    figures.get(figures.len() / 2).copied().unwrap_or((f64::NAN, f64::NAN))
}

/// In tasks of their own, as a service's requests are.
async fn both<C: Contender>(
    options: &Options,
    contender: C,
    (concurrent_all, single_all): &mut (Vec<Figures>, Vec<Figures>),
) -> Result<()> {
    let contender = Arc::new(contender);
    if !options.only_single {
        let work = async || tokio::spawn(concurrent(Arc::clone(&contender))).await?;
        concurrent_all.push(measure(CONCURRENT, 10, work).await?);
    }
    let work = async || tokio::spawn(single(Arc::clone(&contender))).await?;
    single_all.push(measure(SINGLE, 2, work).await?);
    Ok(())
}

async fn run(options: &Options, cluster: &Cluster) -> Result<()> {
    let url = format!("{}?sslmode=disable", cluster.url(APP_USER));
    let client = trunkline_driver::Client::connect(&url).await?;
    client
        .batch_execute(
            "create table harbors (id int primary key, name text not null);
            insert into harbors select n, 'harbor ' || n from generate_series(0, 9999) n; analyze harbors",
        )
        .await?;

    let wanted = |name: &str| options.only.as_deref().is_none_or(|only| only == name);
    let mut found = [(Vec::new(), Vec::new()), (Vec::new(), Vec::new())];
    for _ in 0..options.repetitions {
        // New connections each time: which processor a server process is on counts for as much as anything here.
        if wanted(Ours::NAME) {
            let client = trunkline_driver::Client::connect(&url).await?;
            let statement = client.prepare(SQL).await?;
            both(options, Ours(client, statement), &mut found[0]).await?;
        }
        if wanted(TokioPostgres::NAME) {
            let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await?;
            tokio::spawn(connection);
            let statement = client.prepare(SQL).await?;
            both(options, TokioPostgres(client, statement), &mut found[1]).await?;
        }
    }
    let names = [Ours::NAME, TokioPostgres::NAME];
    let mut ratios = Vec::new();
    for (name, (concurrent, single)) in names.into_iter().zip(found) {
        if single.is_empty() {
            continue;
        }
        let (concurrent, single) = (median(concurrent), median(single));
        println!(
            "{name:<18} 10,000 at once {:>8.0} queries/s {:>6.3} us    one by one {:>7.0} queries/s {:>6.3} us",
            concurrent.0, concurrent.1, single.0, single.1
        );
        ratios.push((concurrent.1, single.1));
    }
    if let [ours, theirs] = ratios[..] {
        println!("client CPU, ratios {:>21.3} {:>47.3}", ours.0 / theirs.0, ours.1 / theirs.1);
    }
    Ok(())
}

fn main() -> Result<()> {
    let options = options()?;
    let cluster = Cluster::start(Version::PG15)?;
    let mut builder = match options.threads {
        0 => tokio::runtime::Builder::new_current_thread(),
        threads => {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(threads);
            builder
        }
    };
    builder.enable_all().build()?.block_on(run(&options, &cluster))
}
