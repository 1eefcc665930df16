//! `StreamLog` of a node.

use async_trait::async_trait;
use ports::stream_log::{LogRead, LogWatch, SegmentAppended, TakenOver};
use ports::{PortResult, StreamLog};
use protocol::{Segment, Seq, TaskId, TurnId};

use super::backend::{AppendMode, BackendState};
use super::fault_schedule::SimService;
use super::fence_check::WriteEffect;
use super::node::{PortCall, SimNode};

fn log(name: &'static str, about: impl ToString) -> PortCall {
    PortCall::new(SimService::Log, name, about)
}

#[async_trait]
impl StreamLog for SimNode {
    async fn take_over(&self, task: &TaskId, fence: u64) -> PortResult<TakenOver> {
        let (call, task) = (log("takes over", format_args!("{task} {fence}")), task.clone());
        self.call(call, move |backend| Ok(backend.take_over(&task, fence)), |at| format!("{at:?}"))
            .await
    }

    async fn append(
        &self,
        task: &TaskId,
        fence: u64,
        segment: Segment,
    ) -> PortResult<SegmentAppended> {
        self.write(task, fence, segment, AppendMode::KeepOpen).await
    }

    async fn seal(&self, task: &TaskId, fence: u64, last: Segment) -> PortResult<SegmentAppended> {
        self.write(task, fence, last, AppendMode::Seal).await
    }

    async fn read(&self, task: &TaskId, after: Seq, max_bytes: usize) -> PortResult<LogRead> {
        let (call, task) = (log("reads", format_args!("{task} after {after}")), task.clone());
        let read = move |backend: &mut BackendState| Ok(backend.read(&task, after, max_bytes));
        self.call(call, read, |_| String::new()).await
    }

    fn watch(&self, task: &TaskId) -> LogWatch {
        LogWatch::new(self.sim.backend.state().watch(task))
    }
}

impl SimNode {
    async fn write(
        &self,
        task: &TaskId,
        fence: u64,
        segment: Segment,
        end: AppendMode,
    ) -> PortResult<SegmentAppended> {
        let range = format!("{task} {fence} {}..={}", segment.first, segment.last);
        let (call, to) = (log("appends", range), task.clone());
        let sim = self.sim.clone();
        let append = move |backend: &mut BackendState| {
            let turn = TurnId(to.0.clone());
            let append = |backend: &mut BackendState| backend.append(&to, fence, &segment, end);
            sim.checked_fenced_write(backend, (&turn, fence), append, |appended| match appended {
                Ok(SegmentAppended::Stored) => WriteEffect::Changed,
                _ => WriteEffect::Unchanged,
            })
        };
        let stored = self.call(call, append, |appended| format!("{appended:?}")).await;
        self.hint_of_growth(task);
        stored
    }

    /// Wakes the watchers of a log. A hint may be lost; a crashed node sends none.
    pub(crate) fn hint_of_growth(&self, task: &TaskId) {
        let faults = &self.sim.faults;
        let lost =
            !faults.has_ended(self.sim.backend.now()) && self.sim.rng().chance(faults.hint_lost);
        if !lost && !self.is_crashed() {
            self.sim.backend.state().wake(task);
        }
    }
}
