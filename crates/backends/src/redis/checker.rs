//! Compares what is known of the watched logs with the store: twice a second those that were quiet, and at once those that
//! have just been subscribed to. So lost news cost a second at most, and a Redis that is silent costs nothing else.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use protocol::TaskId;
use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::server::PATIENCE;
use crate::feed::LogEnds;
use crate::live::Watched;

const EVERY: Duration = Duration::from_millis(500);

pub(super) struct Checker {
    watched: Arc<Watched>,
    store: Arc<dyn LogEnds>,
    /// Logs to ask for at once.
    urgent: Mutex<HashSet<TaskId>>,
    asked: Notify,
}

impl Checker {
    pub(super) fn new(watched: Arc<Watched>, store: Arc<dyn LogEnds>) -> Self {
        Self { watched, store, urgent: Mutex::default(), asked: Notify::new() }
    }

    /// These logs may have grown unheard until now.
    pub(super) fn check_soon(&self, tasks: Vec<TaskId>) {
        self.urgent().extend(tasks);
        self.asked.notify_one();
    }

    pub(super) async fn run(self: Arc<Self>, end: CancellationToken) {
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let checking = async {
            loop {
                let tasks = tokio::select! {
                    _ = ticks.tick() => {
                        self.watched.sweep();
                        self.watched.quiet()
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
        // A store that does not answer is asked again at the next tick, for these logs and for any that came meanwhile.
        let ends = timeout(PATIENCE, self.store.ends(&tasks)).await;
        self.watched.note_store(matches!(ends, Ok(Ok(_))));
        if let Ok(Ok(ends)) = ends {
            self.watched.checked(&tasks, &ends);
        }
    }

    fn urgent(&self) -> MutexGuard<'_, HashSet<TaskId>> {
        self.urgent.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
