//! Keeps the subscriptions of the listening connection equal to the logs that are watched in this process.

use std::sync::Arc;
use std::time::Duration;

use ports::BusSignal;
use protocol::TaskId;
use redis::Value;
use tokio::sync::broadcast;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::checker::TailChecker;
use super::connection::{PushHandler, RedisConnection, RedisUnreachable, SubscriptionChange};
use super::log_notice::LogNotice;
use super::{hints, keys, log_notice};
use crate::live::WatchedLogs;

/// Channels per command.
const CHANNELS_PER_COMMAND: usize = 500;
/// Retry delay when the server refuses a subscription.
const RETRY_DELAY: Duration = Duration::from_secs(5);

pub(crate) struct LogSubscriber {
    pub(crate) watched: Arc<WatchedLogs>,
    pub(crate) link: Arc<RedisConnection>,
    pub(crate) checker: Arc<TailChecker>,
}

impl LogSubscriber {
    pub(crate) async fn run(self, end: CancellationToken) {
        end.run_until_cancelled(self.keep_subscribed()).await;
    }

    async fn keep_subscribed(&self) {
        let mut made = self.link.connections();
        loop {
            made.mark_unchanged();
            let refused = self.subscribe_all().await.is_err();
            loop {
                tokio::select! {
                    // A new connection starts without subscriptions and gets all of them, including any that failed on
                    // the old one.
                    _ = made.changed() => break,
                    () = sleep(RETRY_DELAY), if refused => break,
                    () = self.watched.change() => drop(self.follow_changes().await),
                }
            }
        }
    }

    async fn subscribe_all(&self) -> Result<(), RedisUnreachable> {
        self.link
            .change_subscriptions(
                SubscriptionChange::Subscribe,
                &[keys::ENDED, keys::MOVED].map(String::from),
            )
            .await?;
        self.subscribe(self.watched.take_all()).await
    }

    async fn follow_changes(&self) -> Result<(), RedisUnreachable> {
        let changes = self.watched.take_changes();
        for tasks in changes.removed.chunks(CHANNELS_PER_COMMAND) {
            self.link
                .change_subscriptions(SubscriptionChange::Unsubscribe, &channels(tasks))
                .await?;
        }
        self.subscribe(changes.added).await
    }

    async fn subscribe(&self, tasks: Vec<TaskId>) -> Result<(), RedisUnreachable> {
        for tasks in tasks.chunks(CHANNELS_PER_COMMAND) {
            self.link.change_subscriptions(SubscriptionChange::Subscribe, &channels(tasks)).await?;
            // Segments from before the subscription are in the store; later ones are received.
            self.checker.check_soon(tasks.to_vec());
        }
        Ok(())
    }
}

fn channels(tasks: &[TaskId]) -> Vec<String> {
    tasks.iter().map(keys::news).collect()
}

/// Handles each received message.
pub(crate) fn listener(
    watched: Arc<WatchedLogs>,
    signals: broadcast::Sender<BusSignal>,
    origin: String,
) -> PushHandler {
    Arc::new(move |message: Vec<Value>| {
        let Ok([Value::BulkString(channel), Value::BulkString(payload)]) =
            <[Value; 2]>::try_from(message)
        else {
            return;
        };
        let Ok(channel) = String::from_utf8(channel) else { return };
        if let Some(task) = keys::task_of_news(&channel) {
            match log_notice::parse(payload) {
                Some(LogNotice::Grew { segment, end }) => watched.receive(&task, segment, end),
                Some(LogNotice::Gone) => watched.invalidate(&task),
                None => {}
            }
        } else if let Some(signal) = hints::parse(&channel, &payload, &origin) {
            // Without receivers this fails, which is not an error.
            let _ = signals.send(signal);
        }
    })
}
