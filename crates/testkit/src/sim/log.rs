//! The logs as one process reaches them.

use async_trait::async_trait;
use ports::stream_log::{LogRead, LogWatch, SegmentAppended, TakenOver};
use ports::{PortResult, StreamLog};
use protocol::{Segment, Seq, TaskId, TurnId};

use super::fences::Wrote;
use super::node::{Call, Node};
use super::weather::Service;
use super::world::{End, State};

fn log(name: &'static str, about: impl ToString) -> Call {
    Call::new(Service::Log, name, about)
}

#[async_trait]
impl StreamLog for Node {
    async fn take_over(&self, task: &TaskId, fence: u64) -> PortResult<TakenOver> {
        let (call, task) = (log("takes over", format_args!("{task} {fence}")), task.clone());
        self.call(call, move |world| Ok(world.take_over(&task, fence)), |at| format!("{at:?}"))
            .await
    }

    async fn append(
        &self,
        task: &TaskId,
        fence: u64,
        segment: Segment,
    ) -> PortResult<SegmentAppended> {
        self.write(task, fence, segment, End::Open).await
    }

    async fn seal(&self, task: &TaskId, fence: u64, last: Segment) -> PortResult<SegmentAppended> {
        self.write(task, fence, last, End::Sealed).await
    }

    async fn read(&self, task: &TaskId, after: Seq, max_bytes: usize) -> PortResult<LogRead> {
        let (call, task) = (log("reads", format_args!("{task} after {after}")), task.clone());
        let read = move |world: &mut State| Ok(world.read(&task, after, max_bytes));
        self.call(call, read, |_| String::new()).await
    }

    fn watch(&self, task: &TaskId) -> LogWatch {
        LogWatch::new(self.sim.world.state().watch(task))
    }
}

impl Node {
    async fn write(
        &self,
        task: &TaskId,
        fence: u64,
        segment: Segment,
        end: End,
    ) -> PortResult<SegmentAppended> {
        let range = format!("{task} {fence} {}..={}", segment.first, segment.last);
        let (call, to) = (log("appends", range), task.clone());
        let sim = self.sim.clone();
        let append = move |world: &mut State| {
            let turn = TurnId(to.0.clone());
            let append = |world: &mut State| world.append(&to, fence, &segment, end);
            sim.under_fence(world, (&turn, fence), append, |appended| match appended {
                Ok(SegmentAppended::Stored) => Wrote::Something,
                _ => Wrote::Nothing,
            })
        };
        let stored = self.call(call, append, |appended| format!("{appended:?}")).await;
        self.hint_of_growth(task);
        stored
    }

    /// Hints may be lost, and those of a dead process are.
    pub(super) fn hint_of_growth(&self, task: &TaskId) {
        let weather = &self.sim.weather;
        let lost =
            !weather.is_over(self.sim.world.now()) && self.sim.dice().chance(weather.unhinted);
        if !lost && !self.is_dead() {
            self.sim.world.state().wake(task);
        }
    }
}
