//! Publishes to Redis what the store has committed: everything that waits in one pipeline, one pipeline after the
//! other, so that segments of a task stay in order. What cannot be sent is dropped; the next segment of the task then
//! finds a gap.

use std::sync::Arc;

use redis::{Pipeline, Value};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::backlog::{PublishBacklog, PublishBatch, count_dropped};
use super::connection::RedisConnection;
use super::refill::StreamRefills;
use super::script::{PublishMode, PublishOutcome, PublishScript};
use super::server::REPLY_TIMEOUT;
use super::{hints, keys, log_notice};

pub(crate) struct StreamPublisher {
    pub(crate) backlog: Arc<PublishBacklog>,
    pub(crate) link: Arc<RedisConnection>,
    pub(crate) script: Arc<PublishScript>,
    pub(crate) refills: Arc<StreamRefills>,
    /// Marks the messages of this process, so that it ignores its own.
    pub(crate) origin: String,
    pub(crate) health: PublishHealth,
}

/// Whether the server accepted the last batch, so that a change is logged once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PublishHealth {
    #[default]
    Accepting,
    Refusing,
}

impl StreamPublisher {
    pub(crate) async fn run(mut self, end: CancellationToken) {
        loop {
            tokio::select! {
                () = self.backlog.arrived() => self.send_all().await,
                () = end.cancelled() => break,
            }
        }
        // Sends the last segments of turns that have just ended.
        let _ = timeout(REPLY_TIMEOUT, self.send_all()).await;
    }

    async fn send_all(&mut self) {
        while let Some(batch) = self.backlog.take() {
            self.send(batch).await;
        }
    }

    async fn send(&mut self, batch: PublishBatch) {
        let pipeline = self.pipeline(&batch);
        let Ok(mut replies) = self.link.request(&pipeline, REPLY_TIMEOUT).await else {
            return count_dropped(batch.len());
        };
        if replies.iter().any(|answer| PublishOutcome::of(answer) == PublishOutcome::ScriptMissing)
        {
            // The server's script cache was flushed. Adding the same segment a second time changes nothing.
            let mut again = Pipeline::new();
            again.add_command(self.script.load());
            pipeline.cmd_iter().for_each(|command| {
                again.add_command(command.clone());
            });
            match self.link.request(&again, REPLY_TIMEOUT).await {
                Ok(all) => replies = all.into_iter().skip(1).collect(),
                Err(_) => return count_dropped(batch.len()),
            }
        }
        self.check_replies(&batch, &replies);
    }

    fn check_replies(&mut self, batch: &PublishBatch, replies: &[Value]) {
        let mut refusal = None;
        for (entry, answer) in batch.entries.iter().zip(replies) {
            match PublishOutcome::of(answer) {
                PublishOutcome::EndsAt(last) if last >= entry.segment.last => {}
                PublishOutcome::EndsAt(last) => self.refills.start(&entry.task, entry.fence, last),
                PublishOutcome::Fenced => {
                    tracing::debug!(task.id = %entry.task, "a segment of a superseded writer was rejected");
                }
                PublishOutcome::ScriptMissing => count_dropped(1),
                PublishOutcome::Refused(code) => {
                    count_dropped(1);
                    refusal = Some(code);
                }
            }
        }
        self.log_change(refusal);
    }

    /// A server that is out of memory, or a read-only replica, refuses for a long time.
    fn log_change(&mut self, refusal: Option<String>) {
        match (self.health, refusal) {
            (PublishHealth::Accepting, Some(code)) => {
                tracing::warn!(code, "Redis refuses writes; readers use the store");
                self.health = PublishHealth::Refusing;
            }
            (PublishHealth::Refusing, None) => {
                tracing::info!("Redis accepts writes again");
                self.health = PublishHealth::Accepting;
            }
            _ => {}
        }
    }

    fn pipeline(&self, batch: &PublishBatch) -> Pipeline {
        let mut pipeline = Pipeline::with_capacity(batch.len());
        for entry in &batch.entries {
            pipeline.add_command(self.script.command(entry, PublishMode::Notify));
        }
        for task in &batch.gone {
            pipeline.cmd("DEL").arg(keys::stream(task)).arg(keys::meta(task));
            pipeline.cmd("PUBLISH").arg(keys::news(task)).arg(&log_notice::gone()[..]);
        }
        for job in &batch.ended {
            pipeline.cmd("PUBLISH").arg(keys::ENDED).arg(hints::payload(&self.origin, job));
        }
        for run in &batch.moved {
            pipeline.cmd("PUBLISH").arg(keys::MOVED).arg(hints::payload(&self.origin, run));
        }
        pipeline
    }
}
