//! Completion messages of operations, from other programs, through a stream that all processes share. Redis may lose
//! them: a sender can repeat one, or use HTTP.

mod entry;
mod group;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use ports::completions::{CompletionMessage, SettleCompletion};
use ports::{Completions, PortError, PortResult};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use self::entry::CompletionEntry;
use self::group::{CompletionGroup, GroupError};
use super::connection::RedisConnection;

/// A message that is unacknowledged for this long is delivered again.
pub(crate) const RECLAIM: Duration = Duration::from_secs(60);
/// How long an unreachable server is tolerated before callers get an error.
const OUTAGE_LIMIT: Duration = Duration::from_secs(5);
const RETRY_PAUSE: Duration = Duration::from_millis(500);

type ReadInProgress = BoxFuture<'static, Result<Option<CompletionEntry>, GroupError>>;

pub(crate) struct RedisCompletions {
    group: Arc<CompletionGroup>,
    /// The read in progress. It outlives a caller that stops waiting, so that its message goes to the next caller and
    /// is not lost until it is reclaimed.
    reading: Mutex<Option<ReadInProgress>>,
    end: CancellationToken,
}

impl RedisCompletions {
    /// The server blocks `reading` while there is nothing to read, so nothing else may use it.
    pub(crate) fn new(
        reading: Arc<RedisConnection>,
        publishing: Arc<RedisConnection>,
        reclaim: Duration,
        end: CancellationToken,
    ) -> Self {
        let group = Arc::new(CompletionGroup::new(reading, publishing, reclaim));
        Self { group, reading: Mutex::default(), end }
    }

    /// Called once no more messages are given out.
    pub(crate) async fn leave(&self) {
        *self.reading.lock().await = None;
        if let Err(error) = self.group.leave().await {
            tracing::debug!(%error, "unacknowledged completions were not returned; they will be reclaimed later");
        }
    }

    async fn wait_for_next(&self) -> PortResult<CompletionMessage> {
        let mut reading = self.reading.lock().await;
        let mut away_since = None;
        loop {
            let group = self.group.clone();
            let look = reading.get_or_insert_with(|| async move { group.look().await }.boxed());
            let looked = look.await;
            *reading = None;
            match looked {
                Ok(Some(entry)) => return Ok(self.arrival(entry)),
                Ok(None) => away_since = None,
                Err(error)
                    if away_since.get_or_insert_with(Instant::now).elapsed() < OUTAGE_LIMIT =>
                {
                    tracing::debug!(%error, "completions cannot be read at the moment");
                    let mut made = self.group.link().connections();
                    // A new connection is used at once; otherwise a retry follows after a pause.
                    let _ = timeout(RETRY_PAUSE, made.changed()).await;
                }
                Err(error) => return Err(unavailable(error)),
            }
        }
    }

    fn arrival(&self, entry: CompletionEntry) -> CompletionMessage {
        let settle = SettleRedisCompletion { group: self.group.clone(), id: entry.id };
        CompletionMessage::new(entry.body, Box::new(settle))
    }
}

#[async_trait]
impl Completions for RedisCompletions {
    async fn send(&self, body: String) -> PortResult<()> {
        self.group.send(&body).await.map_err(unavailable)
    }

    async fn next(&self) -> PortResult<CompletionMessage> {
        let next = self.end.run_until_cancelled(self.wait_for_next()).await;
        next.unwrap_or(Err(PortError::Closed))
    }
}

struct SettleRedisCompletion {
    group: Arc<CompletionGroup>,
    id: String,
}

#[async_trait]
impl SettleCompletion for SettleRedisCompletion {
    async fn ack(&self) -> PortResult<()> {
        self.group.settle(&self.id).await.map_err(unavailable)
    }
}

fn unavailable(error: GroupError) -> PortError {
    PortError::Unavailable(error.to_string())
}
