//! Many concurrent turns, each read to its end: throughput, CPU cost of the server, and time to the first delta.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::stream::{FuturesUnordered, TryStreamExt};
use serde_json::{Value, json};

use crate::command::Command;
use crate::events::Counter;
use crate::http::{Connection, Progress};
use crate::measure::cpu_seconds;
use crate::server::Server;

/// The output of a benchmark turn: 200 deltas of 20 characters.
pub(crate) const TURN: Command = Command::flat_out(200);
/// Large enough for everything in the socket buffer.
pub(crate) const READ_BYTES: usize = 64 * 1024;
/// Limits the preparation of a run on very fast servers.
const MOST_TURNS: usize = 20_000;
/// Connections that create sessions; creating them is not measured.
const MAKERS: usize = 32;

pub(crate) struct Load {
    pub(crate) deltas: u64,
    pub(crate) wall: Duration,
    pub(crate) server_cpu: f64,
    pub(crate) generator_cpu: f64,
    pub(crate) first_bytes: Vec<Duration>,
    pub(crate) first_deltas: Vec<Duration>,
}

/// The latencies of a turn.
struct Latency {
    first_byte: Duration,
    first_delta: Duration,
}

/// Runs turns for about `time`, `turns` of them at any moment.
pub(crate) async fn run(server: &Server<'_>, turns: usize, time: Duration) -> Result<Load> {
    // Warms the server up and determines how many turns fill the time.
    let trial = 4 * turns + 16;
    measured(server, turns, sessions(server, trial).await?).await?;
    let warm = measured(server, turns, sessions(server, trial).await?).await?;
    let rate = trial as f64 / warm.wall.as_secs_f64();
    let count = ((rate * time.as_secs_f64()) as usize).clamp(turns, MOST_TURNS);
    measured(server, turns, sessions(server, count).await?).await
}

/// Runs one turn to its end. Every delta must arrive.
pub(crate) async fn turn(
    connection: &mut Connection,
    session: &str,
    command: Command,
) -> Result<()> {
    timed_turn(connection, session, command).await.map(drop)
}

/// New sessions, so that no turn has a history.
pub(crate) async fn sessions(server: &Server<'_>, count: usize) -> Result<Vec<String>> {
    let made = RefCell::new(Vec::with_capacity(count));
    let wanted = RefCell::new(count);
    let makers: FuturesUnordered<_> = (0..MAKERS.min(count))
        .map(|_| async {
            let mut connection = Connection::open(server.address, 4096).await?;
            while take_one(&wanted) {
                let (status, body) = connection.ask("POST", "/api/chat/sessions", "{}").await?;
                ensure!(status == 200, "no session could be made: status {status}");
                let body: Value = serde_json::from_slice(&body)?;
                let id = body["id"].as_str().context("a session has no id")?;
                made.borrow_mut().push(id.to_owned());
            }
            anyhow::Ok(())
        })
        .collect();
    makers.try_collect::<()>().await?;
    Ok(made.take())
}

fn take_one(wanted: &RefCell<usize>) -> bool {
    let mut left = wanted.borrow_mut();
    let some = *left > 0;
    *left = left.saturating_sub(1);
    some
}

async fn measured(server: &Server<'_>, turns: usize, sessions: Vec<String>) -> Result<Load> {
    let count = sessions.len();
    let waiting = RefCell::new(sessions);
    // Not concurrently: this measures its children.
    let own = std::process::id();
    let (server_before, own_before) = (server.cpu_seconds()?, cpu_seconds(own)?);
    let start = Instant::now();
    let readers: FuturesUnordered<_> = (0..turns)
        .map(|_| async {
            let mut connection = Connection::open(server.address, READ_BYTES).await?;
            let mut latencies = Vec::new();
            loop {
                let Some(session) = waiting.borrow_mut().pop() else { break };
                latencies.push(timed_turn(&mut connection, &session, TURN).await?);
            }
            anyhow::Ok(latencies)
        })
        .collect();
    let latencies: Vec<Vec<Latency>> = readers.try_collect().await?;
    let wall = start.elapsed();
    Ok(Load {
        deltas: (count * TURN.count) as u64,
        wall,
        server_cpu: server.cpu_seconds()? - server_before,
        generator_cpu: cpu_seconds(own)? - own_before,
        first_bytes: latencies.iter().flatten().map(|turn| turn.first_byte).collect(),
        first_deltas: latencies.iter().flatten().map(|turn| turn.first_delta).collect(),
    })
}

async fn timed_turn(
    connection: &mut Connection,
    session: &str,
    command: Command,
) -> Result<Latency> {
    let path = format!("/api/chat/sessions/{session}/stream");
    let body = json!({ "message": command.to_string() }).to_string();
    let start = Instant::now();
    let status = connection.request("POST", &path, &body).await?;
    ensure!(status == 200, "a turn was refused: status {status}");
    let mut counter = Counter::new();
    let (mut first_byte, mut first_delta) = (None, None);
    loop {
        let progress = connection.read(|piece| counter.feed(piece)).await?;
        if first_byte.is_none() {
            first_byte = Some(start.elapsed());
        }
        if first_delta.is_none() && counter.deltas > 0 {
            first_delta = Some(start.elapsed());
        }
        if progress == Progress::End {
            break;
        }
    }
    ensure!(counter.is_whole(), "a stream ended without its last event");
    ensure!(
        counter.deltas == command.count as u64,
        "a turn of {} deltas had {}",
        command.count,
        counter.deltas
    );
    let first_byte = first_byte.context("a stream was empty")?;
    Ok(Latency { first_byte, first_delta: first_delta.unwrap_or(first_byte) })
}
