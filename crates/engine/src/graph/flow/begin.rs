//! Beginning node runs: as many as may work at the same time, those with an effect only once that is stored.

use protocol::execution::ExecutionStatus;
use protocol::tool::ToolEffect;

use super::in_flight::InFlight;
use super::{ANNOUNCE, AT_WORK, Flow};
use crate::graph::halt::Halt;
use crate::graph::plan::NodeAt;

impl Flow {
    /// Says how many began.
    pub(super) fn begin_ready(&mut self) -> Result<usize, Halt> {
        let room = self.room_for_work();
        let mut began = 0;
        while began < room && !self.journal.is_full() {
            let Some(at) = self.next_to_begin() else { break };
            if self.plan.next_run() >= self.inner.options.node_runs {
                return Err(Halt::fail(
                    "too_many_node_runs",
                    format!("A run may have {} node runs.", self.inner.options.node_runs),
                ));
            }
            let Some(run) = self.plan.start(at) else { break };
            self.lanes.push(at, run);
            match self.plan.node(at).block.spec().effect {
                // What has no effect can be made again: nobody has to know that it began.
                ToolEffect::None => self.launch(run, at, 0),
                ToolEffect::Idempotent | ToolEffect::Once => {
                    let mut event = self.event(run, at);
                    event.status = Some(ExecutionStatus::Running);
                    let number = self.record(event)?;
                    self.held.push_back((number, run));
                }
            }
            began += 1;
        }
        Ok(began)
    }

    /// How many node runs may begin to work. One that only waits for its outputs to flow does not count as work:
    /// otherwise those that would take them could not begin.
    fn room_for_work(&self) -> usize {
        if self.inner.phase.is_stopping() || self.plan.ready() == 0 {
            return 0;
        }
        let at_work = self.in_flight.values().filter(|run| run.is_at_work()).count();
        AT_WORK.saturating_sub(at_work + self.held.len())
    }

    pub(super) fn next_to_begin(&self) -> Option<NodeAt> {
        self.plan.next_of(|at| self.lanes.has_room(at))
    }

    /// Begins what was held until it was stored that it begins.
    pub(super) fn release_held(&mut self) {
        while let Some((number, run)) = self.held.front().copied() {
            if !self.journal.has_stored(number) {
                return;
            }
            self.held.pop_front();
            if let Some((at, emitted)) =
                self.plan.open_run(run).map(|open| (open.node, open.emitted))
            {
                self.launch(run, at, emitted);
            }
        }
    }

    /// People see what takes its time.
    pub(super) fn announce_slow(&mut self) -> Result<(), Halt> {
        let slow = |flight: &InFlight| !flight.announced && flight.began.elapsed() >= ANNOUNCE;
        if !self.in_flight.values().any(slow) {
            return Ok(());
        }
        // All of a lane, in order: the journal must not have a later run of a node begin before an earlier one.
        let mut silent: Vec<u64> = self.in_flight.keys().copied().collect();
        silent.retain(|run| !self.in_flight[run].announced);
        silent.sort_unstable();
        for run in silent {
            let Some(at) = self.plan.open_run(run).map(|open| open.node) else { continue };
            let mut event = self.event(run, at);
            event.status = Some(ExecutionStatus::Running);
            self.record(event)?;
            if let Some(flight) = self.in_flight.get_mut(&run) {
                flight.announced = true;
            }
        }
        Ok(())
    }
}
