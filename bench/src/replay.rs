//! How long it takes to read a long turn again after it has ended.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::command::Command;
use crate::events::Counter;
use crate::http::{Connection, Progress};
use crate::load::{READ_BYTES, sessions, turn};
use crate::measure::percentile;
use crate::metric::Replay;
use crate::server::{Kind, Server};

/// Chunks of the replayed turn.
const CHUNKS: usize = 10_000;

pub(crate) struct Read {
    pub(crate) time: Duration,
    pub(crate) bytes: u64,
}

/// A finished turn that can be replayed.
pub(crate) struct Finished {
    task: String,
}

/// Runs the turn, if the server stores it. `None` when the server keeps nothing after the end.
pub(crate) async fn finished(server: &Server<'_>) -> Result<Option<Finished>> {
    match server.kind {
        Kind::Node => Ok(None),
        Kind::Limit => Ok(Some(Finished { task: CHUNKS.to_string() })),
        Kind::Embedded | Kind::Distributed => {
            let mut connection = Connection::open(server.address, READ_BYTES).await?;
            let session = sessions(server, 1).await?.pop().context("one session was asked for")?;
            turn(&mut connection, &session, Command::flat_out(CHUNKS)).await?;
            let path = format!("/api/chat/sessions/{session}");
            let (status, body) = connection.ask("GET", &path, "").await?;
            ensure!(status == 200, "the session cannot be read: status {status}");
            let body: Value = serde_json::from_slice(&body)?;
            let task = body["messages"][0]["turn_id"].as_str();
            Ok(Some(Finished { task: task.context("a message names no turn")?.to_owned() }))
        }
    }
}

/// The median of `times` sequential readings.
pub(crate) async fn read(
    server: &Server<'_>,
    turn: &Finished,
    how: Replay,
    times: usize,
) -> Result<Read> {
    let cursor = match how {
        Replay::Whole => "",
        Replay::FromCursor => "?last_message_id=1",
    };
    let path = format!("/api/chat/tasks/{}/stream{cursor}", turn.task);
    let mut connection = Connection::open(server.address, READ_BYTES).await?;
    let mut taken = Vec::with_capacity(times);
    let mut bytes = 0;
    for _ in 0..times {
        let start = Instant::now();
        let status = connection.request("GET", &path, "").await?;
        ensure!(status == 200, "a replay was refused: status {status}");
        let mut counter = Counter::new();
        while connection.read(|piece| counter.feed(piece)).await? == Progress::More {}
        taken.push(start.elapsed());
        ensure!(counter.is_whole(), "a replay ended without its last event");
        if how == Replay::FromCursor {
            ensure!(counter.deltas == CHUNKS as u64, "a replay had {} deltas", counter.deltas);
        }
        bytes = counter.bytes;
    }
    Ok(Read { time: percentile(&mut taken, 0.5), bytes })
}
