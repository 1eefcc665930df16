//! What waits to be told to Redis. Adding to it never waits; beyond its limits the oldest news are dropped, and whoever
//! needs them finds them in the store.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard};

use protocol::{ExecutionId, Job, Segment, TaskId};
use tokio::sync::Notify;

use super::merge::merged;
use super::script::Entry;
use crate::live::LogEnd;

/// Bytes that may wait, of all tasks together.
const BYTES: usize = 16 * 1024 * 1024;
/// What a waiting segment costs beside its bytes.
const OVERHEAD: usize = 128;
/// Hints and removals that may wait.
const WORDS: usize = 4096;
/// Bytes sent at a time, and of one task among them: a task with a lot to say does not hold up the others.
const BATCH_BYTES: usize = 1024 * 1024;
const TASK_BYTES: usize = 256 * 1024;

#[derive(Default)]
pub(super) struct Backlog {
    waiting: Mutex<Waiting>,
    arrived: Notify,
}

#[derive(Default)]
struct Waiting {
    /// Tasks with something to say, in the order in which they get the word.
    order: VecDeque<TaskId>,
    said: HashMap<TaskId, VecDeque<Said>>,
    bytes: usize,
    gone: Vec<TaskId>,
    ended: Vec<Job>,
    /// A run that moves on in small steps is named once for all of those that wait.
    moved: HashSet<ExecutionId>,
}

struct Said {
    fence: u64,
    segment: Segment,
    end: LogEnd,
}

/// What is sent at once, in this order.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) entries: Vec<Entry>,
    pub(super) gone: Vec<TaskId>,
    pub(super) ended: Vec<Job>,
    pub(super) moved: HashSet<ExecutionId>,
}

impl Backlog {
    pub(super) fn grew(&self, task: &TaskId, fence: u64, segment: Segment, end: LogEnd) {
        let mut waiting = self.waiting();
        waiting.bytes += segment.bytes.len() + OVERHEAD;
        let said = Said { fence, segment, end };
        match waiting.said.get_mut(task) {
            Some(before) => before.push_back(said),
            None => {
                waiting.said.insert(task.clone(), VecDeque::from([said]));
                waiting.order.push_back(task.clone());
            }
        }
        let dropped = waiting.keep_within(BYTES);
        drop(waiting);
        count_dropped(dropped);
        self.arrived.notify_one();
    }

    pub(super) fn gone(&self, tasks: &[TaskId]) {
        let mut waiting = self.waiting();
        for task in tasks {
            waiting.forget(task);
        }
        let room = WORDS - waiting.gone.len();
        waiting.gone.extend(tasks.iter().take(room).cloned());
        drop(waiting);
        count_dropped(tasks.len().saturating_sub(room));
        self.arrived.notify_one();
    }

    pub(super) fn ended(&self, job: Job) {
        let mut waiting = self.waiting();
        let full = waiting.ended.len() >= WORDS;
        if !full {
            waiting.ended.push(job);
        }
        drop(waiting);
        count_dropped(usize::from(full));
        self.arrived.notify_one();
    }

    pub(super) fn moved(&self, run: ExecutionId) {
        let mut waiting = self.waiting();
        let full = waiting.moved.len() >= WORDS && !waiting.moved.contains(&run);
        if !full {
            waiting.moved.insert(run);
        }
        drop(waiting);
        count_dropped(usize::from(full));
        self.arrived.notify_one();
    }

    /// Returns when something may be waiting.
    pub(super) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// The next things to send, or nothing.
    pub(super) fn take(&self) -> Option<Batch> {
        let mut waiting = self.waiting();
        metrics::gauge!("pilothouse_feed_lag_bytes").set(waiting.bytes as f64);
        let mut batch = Batch {
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

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Every change above is complete before anything in it can panic.
        self.waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Waiting {
    /// Drops all that the task waits with that got the word last, and so on. Gives how many segments that were.
    fn keep_within(&mut self, most: usize) -> usize {
        let mut dropped = 0;
        while self.bytes > most
            && let Some(task) = self.order.front().cloned()
        {
            dropped += self.forget(&task);
        }
        dropped
    }

    fn forget(&mut self, task: &TaskId) -> usize {
        let Some(said) = self.said.remove(task) else { return 0 };
        self.order.retain(|waiting| waiting != task);
        self.bytes -= said.iter().map(Said::cost).sum::<usize>();
        said.len()
    }

    /// Moves what `task` has to say into `entries`, at most about `TASK_BYTES`; the rest gets the word later.
    fn take_from(&mut self, task: TaskId, entries: &mut Vec<Entry>) -> usize {
        let Some(mut said) = self.said.remove(&task) else { return 0 };
        let mut taken: Vec<Said> = Vec::new();
        let mut bytes = 0;
        while bytes < TASK_BYTES
            && let Some(next) = said.pop_front()
        {
            bytes += next.cost();
            taken.push(next);
        }
        self.bytes -= bytes;
        for same in
            taken.chunk_by(|before, after| (before.fence, before.end) == (after.fence, after.end))
        {
            let [Said { fence, end, .. }, ..] = same else { continue };
            for segment in merged(same.iter().map(|said| said.segment.clone())) {
                entries.push(Entry { task: task.clone(), fence: *fence, segment, end: *end });
            }
        }
        if !said.is_empty() {
            self.said.insert(task.clone(), said);
            self.order.push_back(task);
        }
        bytes
    }
}

impl Said {
    fn cost(&self) -> usize {
        self.segment.bytes.len() + OVERHEAD
    }
}

impl Batch {
    pub(super) fn len(&self) -> usize {
        self.entries.len() + self.gone.len() + self.ended.len() + self.moved.len()
    }
}

pub(super) fn count_dropped(dropped: usize) {
    if dropped > 0 {
        metrics::counter!("pilothouse_feed_dropped_total").increment(dropped as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(backlog: &Backlog, task: &str, seq: u64, size: usize) {
        let segment = Segment { first: seq, last: seq, bytes: vec![b'x'; size].into() };
        backlog.grew(&task.into(), 1, segment, LogEnd::Open);
    }

    fn spans(batch: &Batch) -> Vec<(&str, u64, u64)> {
        batch
            .entries
            .iter()
            .map(|entry| (entry.task.as_str(), entry.segment.first, entry.segment.last))
            .collect()
    }

    #[test]
    fn what_waits_of_one_task_is_sent_as_one_entry() {
        let backlog = Backlog::default();
        for seq in 1..=10 {
            say(&backlog, "a", seq, 100);
            say(&backlog, "b", seq, 100);
        }
        let batch = backlog.take().expect("something");
        assert_eq!(spans(&batch), [("a", 1, 10), ("b", 1, 10)]);
        assert!(backlog.take().is_none());
        assert_eq!(backlog.waiting().bytes, 0);
    }

    #[test]
    fn a_talker_does_not_hold_up_the_others() {
        let backlog = Backlog::default();
        for seq in 1..=40 {
            say(&backlog, "loud", seq, 50 * 1024);
        }
        say(&backlog, "quiet", 1, 10);
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
    fn a_burst_of_one_run_is_told_once() {
        let backlog = Backlog::default();
        for _ in 0..10 {
            backlog.moved("run".into());
        }
        backlog.moved("another".into());
        assert_eq!(backlog.take().expect("something").moved.len(), 2);
        assert!(backlog.take().is_none());
    }

    #[test]
    fn a_backlog_that_nobody_takes_from_does_not_grow() {
        let backlog = Backlog::default();
        for seq in 1..=100_000 {
            say(&backlog, &format!("task {}", seq % 100), seq, 1000);
            backlog.ended(Job::Turn("turn".into()));
            backlog.moved(format!("run {seq}").into());
            backlog.gone(&["gone".into()]);
            assert!(backlog.waiting().bytes <= BYTES);
        }
        assert!(backlog.waiting().ended.len() <= WORDS && backlog.waiting().gone.len() <= WORDS);
        assert!(backlog.waiting().moved.len() <= WORDS);
        assert!(backlog.waiting().order.len() <= 100);
        while backlog.take().is_some() {}
        assert_eq!(backlog.waiting().bytes, 0);
    }
}
