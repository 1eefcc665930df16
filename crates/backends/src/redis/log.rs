//! Stream logs of the distributed backend: written to the store and read from it, with live updates through Redis.

use std::sync::Arc;

use async_trait::async_trait;
use ports::stream_log::{LogRead, LogWatch, SegmentAppended, StreamLog, TakenOver};
use ports::{PortError, PortResult};
use protocol::{Segment, Seq, TaskId};

use super::streams::StreamReader;
use crate::live::WatchedLogs;

pub(crate) struct RedisLog {
    /// Notifies the feed after every commit.
    pub(crate) store: Arc<dyn StreamLog>,
    pub(crate) watched: Arc<WatchedLogs>,
    pub(crate) streams: StreamReader,
    pub(crate) deaf: bool,
}

#[async_trait]
impl StreamLog for RedisLog {
    async fn take_over(&self, task: &TaskId, fence: u64) -> PortResult<TakenOver> {
        self.store.take_over(task, fence).await
    }

    async fn append(
        &self,
        task: &TaskId,
        fence: u64,
        segment: Segment,
    ) -> PortResult<SegmentAppended> {
        self.store.append(task, fence, segment).await
    }

    async fn seal(&self, task: &TaskId, fence: u64, last: Segment) -> PortResult<SegmentAppended> {
        self.store.seal(task, fence, last).await
    }

    /// Always from the store: another process may have written a moment ago, and only the store knows.
    async fn read(&self, task: &TaskId, after: Seq, max_bytes: usize) -> PortResult<LogRead> {
        self.store.read(task, after, max_bytes).await
    }

    async fn read_watched(
        &self,
        task: &TaskId,
        after: Seq,
        max_bytes: usize,
    ) -> PortResult<LogRead> {
        if self.deaf {
            return self.store.read(task, after, max_bytes).await;
        }
        if let Some(read) = self.watched.read(task, after, max_bytes) {
            // While the store is unreachable no process can write, which looks like an idle log. An error lets
            // followers tell the difference.
            if is_silent(&read) && self.watched.store_unreachable() {
                return Err(PortError::Unavailable("the store does not respond".to_owned()));
            }
            return Ok(read);
        }
        if let Some(read) = self.streams.read(task, after, max_bytes).await {
            return Ok(read);
        }
        let pending = self.watched.begin_read(task);
        let read = self.store.read(task, after, max_bytes).await?;
        pending.store_end(&read);
        Ok(read)
    }

    fn watch(&self, task: &TaskId) -> LogWatch {
        if self.deaf { LogWatch::deaf() } else { LogWatch::new(self.watched.watch(task)) }
    }
}

/// Whether there is nothing new although more may follow.
fn is_silent(read: &LogRead) -> bool {
    matches!(read, LogRead::Log { segments, sealed: false, .. } if segments.is_empty())
}
