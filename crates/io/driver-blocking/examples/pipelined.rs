//! Pipelined look-ups by primary key, in batches of 10,000, rows decoded and summed: queries a second and the client's CPU a
//! query, beside the same bytes made beforehand and answers that are only counted (the floor).
//!
//! `cargo run --release -p trunkline-driver-blocking --example pipelined -- [batches]`, on a server of the testkit's.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use trunkline_driver_blocking::config::SslMode;
use trunkline_driver_blocking::{Client, Config, Error};
use trunkline_session::frontend::Pipeline;
use trunkline_session::frontend::connection::{BindTemplate, EncodeError};
use trunkline_testkit::cluster::{APP_USER, DATABASE, TRUSTED_USER};
use trunkline_testkit::{Cluster, RawClient, Version};
use trunkline_wire::{Format, frame};

const ITEMS: i32 = 10_000;
const SQL: &str = "select id, name from harbors where id = $1";
const REPETITIONS: usize = 5;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[allow(clippy::print_stdout)]
fn main() -> Outcome<()> {
    let batches: u32 = std::env::args().nth(1).map_or(Ok(50), |text| text.parse())?;
    let cluster = Cluster::start(Version::PG15)?;
    let mut config = Config::parse(&cluster.url(APP_USER))?;
    config.tls.mode = SslMode::Disable;
    let mut client = Client::connect_to(&config)?;
    client.batch_execute(
        "create table harbors (id int primary key, name text not null);
        insert into harbors select n, 'harbor ' || n from generate_series(0, 9999) n; analyze harbors;
        grant select on harbors to public",
    )?;
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..REPETITIONS {
        ours.push(measure(batches, || driver(&mut client))?);
        let mut raw = Floor::new(&cluster)?;
        floor.push(measure(batches, || raw.batch())?);
    }
    for (name, mut found) in [("trunkline-driver-blocking", ours), ("floor", floor)] {
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (rate, cpu) = found[REPETITIONS / 2];
        println!("{name:<28} {rate:>9.0} queries/s {cpu:>7.3} us of client CPU a query");
    }
    Ok(())
}

/// Queries a second, and microseconds of this process's CPU a query.
fn measure(batches: u32, mut batch: impl FnMut() -> Outcome<()>) -> Outcome<(f64, f64)> {
    batch()?;
    let (begun, cpu) = (Instant::now(), cpu_time()?);
    for _ in 0..batches {
        batch()?;
    }
    let queries = f64::from(batches) * f64::from(ITEMS);
    let cpu = cpu_time()?.saturating_sub(cpu);
    Ok((queries / begun.elapsed().as_secs_f64(), cpu.as_secs_f64() * 1e6 / queries))
}

/// This thread's time on a processor, which the kernel counts in nanoseconds there.
fn cpu_time() -> Outcome<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(Duration::from_nanos(text.split(' ').next().unwrap_or_default().parse()?))
}

fn driver(client: &mut Client) -> Outcome<()> {
    let statement = client.prepare(SQL)?;
    let mut batch = client.batch(&statement);
    for id in 0..ITEMS {
        batch.push(&[&id])?;
    }
    let (mut sum, mut letters) = (0_i64, 0);
    for row in batch.query()?.rows() {
        sum += i64::from(row.get::<i32>(0)?);
        letters += row.get::<&str>(1)?.len();
    }
    if (sum, letters) != (49_995_000, 108_890) {
        return Err(Error::callers(format!("wrong rows: {sum}, {letters}")).into());
    }
    Ok(())
}

/// Bytes made beforehand, and answers of which only the frames are counted.
struct Floor {
    stream: TcpStream,
    batch: Vec<u8>,
    buffer: Vec<u8>,
}

impl Floor {
    fn new(cluster: &Cluster) -> Outcome<Self> {
        let mut client = RawClient::connect(cluster.address())?;
        client.authenticate("", &[("user", TRUSTED_USER), ("database", DATABASE)])?;
        let mut begin = Pipeline::new();
        begin.parse(b"s", SQL.as_bytes(), &[23])?;
        begin.sync();
        client.send(begin.unsent())?;
        client.until_ready()?;
        let mut batch = Pipeline::new();
        let template = BindTemplate::new(b"s", &[Format::BINARY], 1, &[Format::BINARY])?;
        for id in 0..ITEMS {
            batch.bind_execute::<EncodeError>(&template, |values| values.value(&id.to_be_bytes()))?;
        }
        batch.sync();
        let stream = client.into_tcp()?;
        Ok(Self { stream, batch: batch.unsent().to_vec(), buffer: vec![0; 256 << 10] })
    }

    fn batch(&mut self) -> Outcome<()> {
        // The answers to 10,000 fit into the sockets' buffers while a piece is written.
        let mut rows = 0;
        let (mut held, mut over) = (0, false);
        let mut pieces = self.batch.chunks(64 << 10);
        while !over {
            if let Some(piece) = pieces.next() {
                self.stream.write_all(piece)?;
            }
            let space = self.buffer.get_mut(held..).unwrap_or_default();
            held += self.stream.read(space)?;
            let mut rest = self.buffer.get(..held).unwrap_or_default();
            while let Some(header) = frame::header(rest)? {
                let Some((frame, after)) = rest.split_at_checked(header.frame_bytes()) else { break };
                rows += i32::from(frame.first() == Some(&b'D'));
                over |= frame.first() == Some(&b'Z');
                rest = after;
            }
            let left = rest.len();
            self.buffer.copy_within(held - left..held, 0);
            held = left;
        }
        if rows == ITEMS { Ok(()) } else { Err(format!("{rows} rows").into()) }
    }
}
