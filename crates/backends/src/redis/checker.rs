//! Compares the cached tails of watched logs with the store: twice a second those without an update, and at once those
//! just subscribed to. A lost notification thus costs a second at most, and so does a silent Redis.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use protocol::TaskId;
use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::server::REPLY_TIMEOUT;
use crate::live::WatchedLogs;
use crate::log_feed::LogEnds;

const EVERY: Duration = Duration::from_millis(500);

pub(crate) struct TailChecker {
    watched: Arc<WatchedLogs>,
    store: Arc<dyn LogEnds>,
    /// Logs to check at once.
    urgent: Mutex<HashSet<TaskId>>,
    asked: Notify,
}

impl TailChecker {
    pub(crate) fn new(watched: Arc<WatchedLogs>, store: Arc<dyn LogEnds>) -> Self {
        Self { watched, store, urgent: Mutex::default(), asked: Notify::new() }
    }

    /// Requests a check of logs that may have grown without a notification.
    pub(crate) fn check_soon(&self, tasks: Vec<TaskId>) {
        self.urgent().extend(tasks);
        self.asked.notify_one();
    }

    pub(crate) async fn run(self: Arc<Self>, end: CancellationToken) {
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let checking = async {
            loop {
                let tasks = tokio::select! {
                    _ = ticks.tick() => {
                        self.watched.sweep();
                        self.watched.without_update()
                    }
                    () = self.asked.notified() => std::mem::take(&mut *self.urgent()).into_iter().collect(),
                };
                self.check(tasks).await;
            }
        };
        end.run_until_cancelled(checking).await;
    }

    async fn check(&self, tasks: Vec<TaskId>) {
        if tasks.is_empty() {
            return;
        }
        // If the store does not respond, the next tick asks again, for these logs and for any new ones.
        let ends = timeout(REPLY_TIMEOUT, self.store.ends(&tasks)).await;
        self.watched.note_store(matches!(ends, Ok(Ok(_))));
        if let Ok(Ok(ends)) = ends {
            self.watched.checked(&tasks, &ends);
        }
    }

    fn urgent(&self) -> MutexGuard<'_, HashSet<TaskId>> {
        self.urgent.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
