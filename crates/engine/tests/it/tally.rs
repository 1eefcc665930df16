//! Counts what happened across many seeds: a simulation in which nothing happens proves nothing.

use std::ops::AddAssign;

use protocol::follow_up::FollowUpState;
use protocol::operation::Operation;
use protocol::turn::{FailureCode, TurnStatus};
use testkit::sim::Simulation;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) completed: u64,
    pub(crate) failed: u64,
    pub(crate) cancelled: u64,
    /// Turns that more than one attempt worked on.
    pub(crate) taken_over: u64,
    pub(crate) crash_loops: u64,
    pub(crate) model_calls: u64,
    pub(crate) tool_calls: u64,
    pub(crate) stale_writes: u64,
    /// Turns started by a call of another turn.
    pub(crate) delegated: u64,
    /// Sessions at depth two or more.
    pub(crate) deep: u64,
    pub(crate) operations: u64,
    /// Operations completed from outside.
    pub(crate) called_back: u64,
    /// Background calls.
    pub(crate) background: u64,
    pub(crate) delivered: u64,
    pub(crate) returned: u64,
    pub(crate) dropped: u64,
}

impl Tally {
    pub(crate) fn of(sim: &Simulation) -> Self {
        let observations = sim.observations();
        let mut tally = Self {
            model_calls: observations.model_calls,
            tool_calls: observations.tool_calls,
            stale_writes: observations.stale_writes,
            ..Self::default()
        };
        drop(observations);
        let state = sim.backend.state();
        for row in &state.follow_ups {
            match row.follow_up.state {
                FollowUpState::Delivered => tally.delivered += 1,
                FollowUpState::Returned => tally.returned += 1,
                FollowUpState::Dropped => tally.dropped += 1,
                FollowUpState::Pending => {}
            }
        }
        let depths = state.sessions.values().map(|row| row.session.depth);
        tally.deep = depths.filter(|depth| *depth >= 2).count() as u64;
        tally.operations = state.operations.len() as u64;
        tally.called_back =
            state.operations.values().filter(|operation| is_called_back(operation)).count() as u64;
        for row in state.turns.values() {
            let delegated = row.turn.parent.is_some() && row.turn.operation.is_none();
            tally.delegated += u64::from(delegated);
            tally.background +=
                row.calls.iter().filter(|call| call.background.is_some()).count() as u64;
            match row.turn.status {
                TurnStatus::Completed => tally.completed += 1,
                TurnStatus::Failed => tally.failed += 1,
                TurnStatus::Cancelled => tally.cancelled += 1,
                TurnStatus::Queued | TurnStatus::Running => {}
            }
            // A turn of an operation that waited for its completion is claimed twice without a takeover.
            tally.taken_over += u64::from(row.turn.fence > 1 && row.turn.operation.is_none());
            let code = row.turn.error.as_ref().map(|error| error.code);
            tally.crash_loops += u64::from(code == Some(FailureCode::CrashLoop));
        }
        tally
    }
}

/// Only a completion from outside has this result.
fn is_called_back(operation: &Operation) -> bool {
    operation.result.as_ref().is_some_and(|result| result.output == r#"{"status":"completed"}"#)
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
        self.delegated += other.delegated;
        self.deep += other.deep;
        self.operations += other.operations;
        self.called_back += other.called_back;
        self.background += other.background;
        self.delivered += other.delivered;
        self.returned += other.returned;
        self.dropped += other.dropped;
    }
}
