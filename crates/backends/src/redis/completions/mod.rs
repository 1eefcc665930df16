//! Messages that say what an operation came to, from other programs, by a stream that all processes share. Redis may
//! forget them: whoever sends one can send it again, or come by HTTP.

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

use self::entry::Entry;
use self::group::{Group, Refusal};
use super::link::Link;

/// A message that was not settled for so long comes back.
pub(crate) const RECLAIM: Duration = Duration::from_secs(60);
/// A server that is away for no longer than this is waited for.
const ABSENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(500);

type Looking = BoxFuture<'static, Result<Option<Entry>, Refusal>>;

pub(crate) struct RedisCompletions {
    group: Arc<Group>,
    /// The look that is under way. It outlives a caller who stops waiting, so that what it finds is given to the next
    /// one and not lost until it is reclaimed.
    looking: Mutex<Option<Looking>>,
    end: CancellationToken,
}

impl RedisCompletions {
    /// `reading` is held by the server while there is nothing to read, so it must be used by nobody else.
    pub(super) fn new(
        reading: Arc<Link>,
        telling: Arc<Link>,
        reclaim: Duration,
        end: CancellationToken,
    ) -> Self {
        let group = Arc::new(Group::new(reading, telling, reclaim));
        Self { group, looking: Mutex::default(), end }
    }

    /// To be called when nobody is given anything any more.
    pub(super) async fn leave(&self) {
        *self.looking.lock().await = None;
        if let Err(error) = self.group.leave().await {
            tracing::debug!(%error, "what was not settled comes back only by itself");
        }
    }

    async fn wait_for_next(&self) -> PortResult<CompletionMessage> {
        let mut looking = self.looking.lock().await;
        let mut away_since = None;
        loop {
            let group = self.group.clone();
            let look = looking.get_or_insert_with(|| async move { group.look().await }.boxed());
            let looked = look.await;
            *looking = None;
            match looked {
                Ok(Some(entry)) => return Ok(self.arrival(entry)),
                Ok(None) => away_since = None,
                Err(error) if away_since.get_or_insert_with(Instant::now).elapsed() < ABSENCE => {
                    tracing::debug!(%error, "completions cannot be read now");
                    let mut made = self.group.link().made();
                    // A new connection is tried at once, and one that refuses after a while.
                    let _ = timeout(PAUSE, made.changed()).await;
                }
                Err(error) => return Err(unavailable(error)),
            }
        }
    }

    fn arrival(&self, entry: Entry) -> CompletionMessage {
        let settle = Settle { group: self.group.clone(), id: entry.id };
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

struct Settle {
    group: Arc<Group>,
    id: String,
}

#[async_trait]
impl SettleCompletion for Settle {
    async fn ack(&self) -> PortResult<()> {
        self.group.settle(&self.id).await.map_err(unavailable)
    }
}

fn unavailable(error: Refusal) -> PortError {
    PortError::Unavailable(error.to_string())
}
