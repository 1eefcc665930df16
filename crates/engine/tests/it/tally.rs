//! What many seeds together were about: a simulation in which nothing happens proves nothing.

use std::ops::AddAssign;

use protocol::turn::{FailureCode, TurnStatus};
use testkit::sim::Simulation;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) completed: u64,
    pub(crate) failed: u64,
    pub(crate) cancelled: u64,
    /// Turns that more than one attempt has worked on.
    pub(crate) taken_over: u64,
    pub(crate) crash_loops: u64,
    pub(crate) model_calls: u64,
    pub(crate) tool_calls: u64,
    pub(crate) stale_writes: u64,
}

impl Tally {
    pub(crate) fn of(sim: &Simulation) -> Self {
        let facts = sim.facts();
        let mut tally = Self {
            model_calls: facts.model_calls,
            tool_calls: facts.tool_calls,
            stale_writes: facts.stale_writes,
            ..Self::default()
        };
        drop(facts);
        for row in sim.world.state().turns.values() {
            match row.turn.status {
                TurnStatus::Completed => tally.completed += 1,
                TurnStatus::Failed => tally.failed += 1,
                TurnStatus::Cancelled => tally.cancelled += 1,
                TurnStatus::Queued | TurnStatus::Running => {}
            }
            tally.taken_over += u64::from(row.turn.fence > 1);
            let code = row.turn.error.as_ref().map(|error| error.code);
            tally.crash_loops += u64::from(code == Some(FailureCode::CrashLoop));
        }
        tally
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.completed += other.completed;
        self.failed += other.failed;
        self.cancelled += other.cancelled;
        self.taken_over += other.taken_over;
        self.crash_loops += other.crash_loops;
        self.model_calls += other.model_calls;
        self.tool_calls += other.tool_calls;
        self.stale_writes += other.stale_writes;
    }
}
