//! Notifications waiting to be sent to Redis. Adding one never waits; beyond the limits the oldest are dropped, and
//! readers find the data in the store.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard};

use protocol::{ExecutionId, Job, Segment, TaskId};
use tokio::sync::Notify;

use super::merge::merged;
use super::script::PublishEntry;
use crate::live::LogEnd;

/// Bytes that may wait, of all tasks together.
const BYTES: usize = 16 * 1024 * 1024;
/// Cost of a waiting segment besides its bytes.
const OVERHEAD: usize = 128;
/// Hints and removals that may wait.
const MAX_HINTS: usize = 4096;
/// Bytes per batch, and of one task within it: a task with many segments does not delay the others.
const BATCH_BYTES: usize = 1024 * 1024;
const TASK_BYTES: usize = 256 * 1024;

#[derive(Default)]
pub(crate) struct PublishBacklog {
    waiting: Mutex<BacklogState>,
    arrived: Notify,
}

#[derive(Default)]
struct BacklogState {
    /// Tasks with waiting segments, in the order in which they are sent.
    order: VecDeque<TaskId>,
    segments: HashMap<TaskId, VecDeque<WaitingSegment>>,
    bytes: usize,
    gone: Vec<TaskId>,
    ended: Vec<Job>,
    /// A set, so that many small steps of one execution are announced once.
    moved: HashSet<ExecutionId>,
}

struct WaitingSegment {
    fence: u64,
    segment: Segment,
    end: LogEnd,
}

/// What is sent at once, in this order.
#[derive(Default)]
pub(crate) struct PublishBatch {
    pub(crate) entries: Vec<PublishEntry>,
    pub(crate) gone: Vec<TaskId>,
    pub(crate) ended: Vec<Job>,
    pub(crate) moved: HashSet<ExecutionId>,
}

impl PublishBacklog {
    pub(crate) fn grew(&self, task: &TaskId, fence: u64, segment: Segment, end: LogEnd) {
        let mut waiting = self.waiting();
        waiting.bytes += segment.bytes.len() + OVERHEAD;
        let segments = WaitingSegment { fence, segment, end };
        match waiting.segments.get_mut(task) {
            Some(before) => before.push_back(segments),
            None => {
                waiting.segments.insert(task.clone(), VecDeque::from([segments]));
                waiting.order.push_back(task.clone());
            }
        }
        let dropped = waiting.drop_beyond(BYTES);
        drop(waiting);
        count_dropped(dropped);
        self.arrived.notify_one();
    }

    pub(crate) fn gone(&self, tasks: &[TaskId]) {
        let mut waiting = self.waiting();
        for task in tasks {
            waiting.forget(task);
        }
        let room = MAX_HINTS - waiting.gone.len();
        waiting.gone.extend(tasks.iter().take(room).cloned());
        drop(waiting);
        count_dropped(tasks.len().saturating_sub(room));
        self.arrived.notify_one();
    }

    pub(crate) fn ended(&self, job: Job) {
        let mut waiting = self.waiting();
        let full = waiting.ended.len() >= MAX_HINTS;
        if !full {
            waiting.ended.push(job);
        }
        drop(waiting);
        count_dropped(usize::from(full));
        self.arrived.notify_one();
    }

    pub(crate) fn moved(&self, run: ExecutionId) {
        let mut waiting = self.waiting();
        let full = waiting.moved.len() >= MAX_HINTS && !waiting.moved.contains(&run);
        if !full {
            waiting.moved.insert(run);
        }
        drop(waiting);
        count_dropped(usize::from(full));
        self.arrived.notify_one();
    }

    /// Returns when something may be waiting.
    pub(crate) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// The next batch to send, if any.
    pub(crate) fn take(&self) -> Option<PublishBatch> {
        let mut waiting = self.waiting();
        metrics::gauge!("pilothouse_feed_lag_bytes").set(waiting.bytes as f64);
        let mut batch = PublishBatch {
            gone: std::mem::take(&mut waiting.gone),
            ended: std::mem::take(&mut waiting.ended),
            moved: std::mem::take(&mut waiting.moved),
            entries: Vec::new(),
        };
        let mut bytes = 0;
        while bytes < BATCH_BYTES
            && let Some(task) = waiting.order.pop_front()
        {
            bytes += waiting.take_from(task, &mut batch.entries);
        }
        let empty = batch.len() == 0;
        (!empty).then_some(batch)
    }

    fn waiting(&self) -> MutexGuard<'_, BacklogState> {
        // Every change above is complete before anything in it can panic.
        self.waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl BacklogState {
    /// Drops all segments of the task at the front of the order, and so on, until the rest fits. Returns their number.
    fn drop_beyond(&mut self, most: usize) -> usize {
        let mut dropped = 0;
        while self.bytes > most
            && let Some(task) = self.order.front().cloned()
        {
            dropped += self.forget(&task);
        }
        dropped
    }

    fn forget(&mut self, task: &TaskId) -> usize {
        let Some(segments) = self.segments.remove(task) else { return 0 };
        self.order.retain(|waiting| waiting != task);
        self.bytes -= segments.iter().map(WaitingSegment::cost).sum::<usize>();
        segments.len()
    }

    /// Moves segments of `task` into `entries`, at most about `TASK_BYTES`; the rest is sent later.
    fn take_from(&mut self, task: TaskId, entries: &mut Vec<PublishEntry>) -> usize {
        let Some(mut segments) = self.segments.remove(&task) else { return 0 };
        let mut taken: Vec<WaitingSegment> = Vec::new();
        let mut bytes = 0;
        while bytes < TASK_BYTES
            && let Some(next) = segments.pop_front()
        {
            bytes += next.cost();
            taken.push(next);
        }
        self.bytes -= bytes;
        for same in
            taken.chunk_by(|before, after| (before.fence, before.end) == (after.fence, after.end))
        {
            let [WaitingSegment { fence, end, .. }, ..] = same else { continue };
            for segment in merged(same.iter().map(|segments| segments.segment.clone())) {
                entries.push(PublishEntry {
                    task: task.clone(),
                    fence: *fence,
                    segment,
                    end: *end,
                });
            }
        }
        if !segments.is_empty() {
            self.segments.insert(task.clone(), segments);
            self.order.push_back(task);
        }
        bytes
    }
}

impl WaitingSegment {
    fn cost(&self) -> usize {
        self.segment.bytes.len() + OVERHEAD
    }
}

impl PublishBatch {
    pub(crate) fn len(&self) -> usize {
        self.entries.len() + self.gone.len() + self.ended.len() + self.moved.len()
    }
}

pub(crate) fn count_dropped(dropped: usize) {
    if dropped > 0 {
        metrics::counter!("pilothouse_feed_dropped_total").increment(dropped as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn append(backlog: &PublishBacklog, task: &str, seq: u64, size: usize) {
        let segment = Segment { first: seq, last: seq, bytes: vec![b'x'; size].into() };
        backlog.grew(&task.into(), 1, segment, LogEnd::Open);
    }

    fn spans(batch: &PublishBatch) -> Vec<(&str, u64, u64)> {
        batch
            .entries
            .iter()
            .map(|entry| (entry.task.as_str(), entry.segment.first, entry.segment.last))
            .collect()
    }

    #[test]
    fn waiting_segments_of_one_task_are_sent_as_one_entry() {
        let backlog = PublishBacklog::default();
        for seq in 1..=10 {
            append(&backlog, "a", seq, 100);
            append(&backlog, "b", seq, 100);
        }
        let batch = backlog.take().expect("something");
        assert_eq!(spans(&batch), [("a", 1, 10), ("b", 1, 10)]);
        assert!(backlog.take().is_none());
        assert_eq!(backlog.waiting().bytes, 0);
    }

    #[test]
    fn a_task_with_many_segments_does_not_delay_the_others() {
        let backlog = PublishBacklog::default();
        for seq in 1..=40 {
            append(&backlog, "loud", seq, 50 * 1024);
        }
        append(&backlog, "quiet", 1, 10);
        let batch = backlog.take().expect("something");
        assert!(spans(&batch).contains(&("quiet", 1, 1)));
        let mut next = 1;
        let mut taken = Some(batch);
        while let Some(batch) = taken {
            for (task, first, last) in spans(&batch) {
                if task == "loud" {
                    assert_eq!(first, next, "in order");
                    next = last + 1;
                }
            }
            taken = backlog.take();
        }
        assert_eq!(next, 41);
        assert_eq!(backlog.waiting().bytes, 0);
    }

    #[test]
    fn a_burst_of_one_execution_is_announced_once() {
        let backlog = PublishBacklog::default();
        for _ in 0..10 {
            backlog.moved("run".into());
        }
        backlog.moved("another".into());
        assert_eq!(backlog.take().expect("something").moved.len(), 2);
        assert!(backlog.take().is_none());
    }

    #[test]
    fn a_backlog_that_is_never_drained_stays_bounded() {
        let backlog = PublishBacklog::default();
        for seq in 1..=100_000 {
            append(&backlog, &format!("task {}", seq % 100), seq, 1000);
            backlog.ended(Job::Turn("turn".into()));
            backlog.moved(format!("run {seq}").into());
            backlog.gone(&["gone".into()]);
            assert!(backlog.waiting().bytes <= BYTES);
        }
        assert!(
            backlog.waiting().ended.len() <= MAX_HINTS && backlog.waiting().gone.len() <= MAX_HINTS
        );
        assert!(backlog.waiting().moved.len() <= MAX_HINTS);
        assert!(backlog.waiting().order.len() <= 100);
        while backlog.take().is_some() {}
        assert_eq!(backlog.waiting().bytes, 0);
    }
}
