//! Makes the one connection that listens hear of every log that is watched here, and of no other.

use std::sync::Arc;
use std::time::Duration;

use ports::BusSignal;
use protocol::TaskId;
use redis::Value;
use tokio::sync::broadcast;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::checker::Checker;
use super::link::{Interest, Link, Listener, Unreachable};
use super::news::News;
use super::{hints, keys, news};
use crate::live::Watched;

/// Channels named in one command.
const AT_ONCE: usize = 500;
/// When the server is there and refuses, it is asked again after this long.
const AGAIN: Duration = Duration::from_secs(5);

pub(super) struct Subscriber {
    pub(super) watched: Arc<Watched>,
    pub(super) link: Arc<Link>,
    pub(super) checker: Arc<Checker>,
}

impl Subscriber {
    pub(super) async fn run(self, end: CancellationToken) {
        end.run_until_cancelled(self.subscribe_for_ever()).await;
    }

    async fn subscribe_for_ever(&self) {
        let mut made = self.link.made();
        loop {
            made.mark_unchanged();
            let refused = self.subscribe_all().await.is_err();
            loop {
                tokio::select! {
                    // A new connection begins from nothing, and whatever failed on the old one is contained in that.
                    _ = made.changed() => break,
                    () = sleep(AGAIN), if refused => break,
                    () = self.watched.change() => drop(self.follow_changes().await),
                }
            }
        }
    }

    async fn subscribe_all(&self) -> Result<(), Unreachable> {
        self.link
            .listen(Interest::Subscribe, &[keys::ENDED, keys::MOVED].map(String::from))
            .await?;
        self.subscribe(self.watched.take_all()).await
    }

    async fn follow_changes(&self) -> Result<(), Unreachable> {
        let changes = self.watched.take_changes();
        for tasks in changes.went.chunks(AT_ONCE) {
            self.link.listen(Interest::Unsubscribe, &channels(tasks)).await?;
        }
        self.subscribe(changes.came).await
    }

    async fn subscribe(&self, tasks: Vec<TaskId>) -> Result<(), Unreachable> {
        for tasks in tasks.chunks(AT_ONCE) {
            self.link.listen(Interest::Subscribe, &channels(tasks)).await?;
            // Whatever was said before the subscription is in the store, and whatever is committed later is heard.
            self.checker.check_soon(tasks.to_vec());
        }
        Ok(())
    }
}

fn channels(tasks: &[TaskId]) -> Vec<String> {
    tasks.iter().map(keys::news).collect()
}

/// What is done with each message.
pub(super) fn listener(
    watched: Arc<Watched>,
    signals: broadcast::Sender<BusSignal>,
    origin: String,
) -> Listener {
    Arc::new(move |message: Vec<Value>| {
        let Ok([Value::BulkString(channel), Value::BulkString(said)]) =
            <[Value; 2]>::try_from(message)
        else {
            return;
        };
        let Ok(channel) = String::from_utf8(channel) else { return };
        if let Some(task) = keys::task_of_news(&channel) {
            match news::parse(said) {
                Some(News::Grew { segment, end }) => watched.heard(&task, segment, end),
                Some(News::Gone) => watched.doubt(&task),
                None => {}
            }
        } else if let Some(signal) = hints::heard(&channel, &said, &origin) {
            // No receivers is not a failure: nobody wanted the hint.
            let _ = signals.send(signal);
        }
    })
}
