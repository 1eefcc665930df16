//! The memory cost of thousands of readers that follow a silent turn.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::stream::{self, StreamExt, TryStreamExt};
use serde_json::json;
use tokio::time::sleep;

use crate::command::Command;
use crate::http::{Connection, Progress};
use crate::load::sessions;
use crate::measure::rss_bytes;
use crate::server::Server;

/// It starts, and then is silent for longer than the measurement takes.
const SILENT: Command = Command { count: 2, size: 1, delay: Duration::from_secs(60) };
/// A subscriber reads a few events; the generator's own memory is kept small.
const READ_BYTES: usize = 1024;
/// Below the backlog of every listener.
const OPENING_AT_ONCE: usize = 64;
/// Memory counts as settled when it changes by less than this share between two readings.
const SETTLED: f64 = 0.002;
const LOOK: Duration = Duration::from_millis(250);
const LOOKS: usize = 20;

/// Measured while all subscribers are connected.
pub(crate) struct Idle {
    /// Resident memory per subscriber of the process that serves them.
    pub(crate) bytes_each: f64,
    /// Of the process with the most; `None` for a server without Redis.
    pub(crate) redis_connections: Option<usize>,
}

pub(crate) async fn measured(server: &Server<'_>, count: usize) -> Result<Idle> {
    let session = sessions(server, 1).await?.pop().context("one session was asked for")?;
    let path = format!("/api/chat/sessions/{session}/stream");
    let speaker = speaker(server, &path).await?;
    let before = settled(server).await?;
    let subscribers: Vec<Connection> = stream::iter(0..count)
        .map(|_| subscriber(server, &path))
        .buffer_unordered(OPENING_AT_ONCE)
        .try_collect()
        .await?;
    let after = settled(server).await?;
    let redis_connections = server.redis_connections()?;
    drop((speaker, subscribers));
    Ok(Idle { bytes_each: (after - before) / count as f64, redis_connections })
}

/// The connection that started the silent turn.
async fn speaker(server: &Server<'_>, path: &str) -> Result<Connection> {
    let mut connection = Connection::open(server.address, READ_BYTES).await?;
    let body = json!({ "message": SILENT.to_string() }).to_string();
    let status = connection.request("POST", path, &body).await?;
    ensure!(status == 200, "the silent turn was refused: status {status}");
    until_started(&mut connection).await?;
    Ok(connection)
}

async fn subscriber(server: &Server<'_>, path: &str) -> Result<Connection> {
    let mut connection = Connection::open(server.address, READ_BYTES).await?;
    let status = connection.request("GET", path, "").await?;
    ensure!(status == 200, "a subscriber was refused: status {status}");
    until_started(&mut connection).await?;
    Ok(connection)
}

/// Waits for the turn's first event: the subscription is active.
async fn until_started(connection: &mut Connection) -> Result<()> {
    let mut seen = Vec::new();
    while memchr::memmem::find(&seen, br#""type":"start""#).is_none() {
        let progress = connection.read(|piece| seen.extend_from_slice(piece)).await?;
        ensure!(progress == Progress::More, "a silent turn ended");
    }
    Ok(())
}

async fn settled(server: &Server<'_>) -> Result<f64> {
    let mut last = rss_bytes(server.front.pid)?;
    for _ in 0..LOOKS {
        sleep(LOOK).await;
        let now = rss_bytes(server.front.pid)?;
        if ((now - last) / last).abs() < SETTLED {
            return Ok(now);
        }
        last = now;
    }
    Ok(last)
}
