//! How long readers wait when the process that runs their turns is killed and another one takes over.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::stream::{FuturesUnordered, TryStreamExt};
use memchr::memmem;
use serde_json::json;
use tokio::time::timeout;

use crate::command::Command;
use crate::http::{Connection, Progress};
use crate::load::sessions;
use crate::server::Server;

const TURNS: usize = 20;
/// It streams for longer than a recovery may take.
const SPEAKING: Command = Command { count: 1200, size: 20, delay: Duration::from_millis(100) };
const READ_BYTES: usize = 4096;
const DELTA: &[u8] = br#""type":"text-delta""#;
/// Another worker continues the turn. Earlier events were in flight when the first worker died.
const ANOTHER_ATTEMPT: &[u8] = br#""type":"data-attempt""#;
/// A turn that was not taken over by then is lost.
const AT_MOST: Duration = Duration::from_secs(60);

/// The time from the kill to the next delta, for each turn.
pub(crate) async fn run(server: &mut Server<'_>) -> Result<Vec<Duration>> {
    // The only executor runs all turns; the second one is idle until the first is killed.
    let mut speakers = Vec::with_capacity(TURNS);
    for session in sessions(server, TURNS).await? {
        speakers.push(Speaker::start(server, &session).await?);
    }
    for speaker in &mut speakers {
        timeout(AT_MOST, speaker.until(&[DELTA])).await.context("a turn does not begin")??;
    }
    server.add_executor().await?;
    let first = server.executors.first_mut().context("there is an executor")?;
    first.kill().await?;
    let killed = Instant::now();
    server.executors.remove(0);
    let waiting: FuturesUnordered<_> = speakers
        .iter_mut()
        .map(|speaker| async move {
            speaker.until(&[ANOTHER_ATTEMPT, DELTA]).await?;
            anyhow::Ok(killed.elapsed())
        })
        .collect();
    timeout(AT_MOST, waiting.try_collect()).await.context("a turn was not taken over")?
}

/// The connection that started a turn and reads it.
struct Speaker {
    connection: Connection,
    /// Received bytes that were not searched yet.
    unread: Vec<u8>,
}

impl Speaker {
    async fn start(server: &Server<'_>, session: &str) -> Result<Self> {
        let mut connection = Connection::open(server.address, READ_BYTES).await?;
        let path = format!("/api/chat/sessions/{session}/stream");
        let body = json!({ "message": SPEAKING.to_string() }).to_string();
        let status = connection.request("POST", &path, &body).await?;
        ensure!(status == 200, "a turn was refused: status {status}");
        Ok(Self { connection, unread: Vec::new() })
    }

    /// Reads until all of these have arrived, in order.
    async fn until(&mut self, marks: &[&[u8]]) -> Result<()> {
        for mark in marks {
            loop {
                if let Some(at) = memmem::find(&self.unread, mark) {
                    self.unread.drain(..at + mark.len());
                    break;
                }
                // The end may be the beginning of a marker.
                self.unread.drain(..self.unread.len().saturating_sub(mark.len() - 1));
                let unread = &mut self.unread;
                let progress =
                    self.connection.read(|piece| unread.extend_from_slice(piece)).await?;
                ensure!(progress == Progress::More, "a turn ended before it was taken over");
            }
        }
        Ok(())
    }
}
