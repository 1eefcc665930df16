//! Events outside the store: lease renewals as each node saw them, tool effects, model calls and violations.

use std::collections::BTreeMap;

use protocol::{CallId, OperationId, TaskId, TurnId};

use super::backend::SimTime;

#[derive(Default)]
pub struct SimObservations {
    pub violations: Vec<String>,
    /// When each node last claimed or renewed each turn, by the clock of the backend.
    pub(crate) last_renewed: BTreeMap<(TurnId, u32), SimTime>,
    /// How often each call took effect, and its idempotency key.
    pub effects: BTreeMap<(TurnId, CallId), CallEffects>,
    /// Turns in the order of their first model call, with the time of that call.
    pub first_model_calls: Vec<(TurnId, SimTime)>,
    /// Model calls and tool calls that are running now.
    pub(crate) active_calls: Vec<ActiveCall>,
    /// Operation results that external services will report, and when.
    pub callbacks: Vec<OperationCallback>,
    /// When the last suspension of everything ended.
    pub(crate) resumed_at: SimTime,
    /// Model calls that finished and were billed.
    pub completed_model_calls: BTreeMap<TurnId, u64>,
    /// Writes that were refused because their fence was stale.
    pub stale_writes: u64,
    /// Counters that show whether a simulation exercised anything.
    pub model_calls: u64,
    pub tool_calls: u64,
}

#[derive(Clone, Debug, Default)]
pub struct CallEffects {
    pub key: String,
    pub count: u32,
}

/// A running call: its node, turn, tool call (`None` for a model call) and start time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ActiveCall {
    pub(crate) node: u32,
    pub(crate) turn: TurnId,
    pub(crate) call: Option<CallId>,
    pub(crate) since: SimTime,
}

/// An external service's report that an operation is complete.
#[derive(Clone, Debug)]
pub struct OperationCallback {
    pub at: SimTime,
    pub operation_id: OperationId,
    pub task_id: TaskId,
}

impl SimObservations {
    pub(crate) fn record_renewal(&mut self, node: u32, turn: &TurnId, now: SimTime) {
        self.last_renewed.insert((turn.clone(), node), now);
    }
}
