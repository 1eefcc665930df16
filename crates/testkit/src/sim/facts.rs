//! What was seen to happen outside the store: who believed to hold which turn, what tools have done, what went wrong.

use std::collections::BTreeMap;

use protocol::turn::TurnClaim;
use protocol::{CallId, OperationId, TaskId, TurnId};

use super::world::Moment;

#[derive(Default)]
pub struct Facts {
    pub violations: Vec<String>,
    /// When each process last heard from the store that it holds a turn, by the clock of the store.
    pub(super) held: BTreeMap<(TurnId, u32), Moment>,
    /// How often each call was carried out, and under which key.
    pub effects: BTreeMap<(TurnId, CallId), Effects>,
    /// Turns in the order in which a model was first asked for them, and when.
    pub asked: Vec<(TurnId, Moment)>,
    /// What is under way at this moment.
    pub(super) at_work: Vec<Doing>,
    /// What somebody outside has to report about operations, and when.
    pub callbacks: Vec<Callback>,
    /// When everything last woke up after it was asleep.
    pub(super) woke: Moment,
    /// Model calls that came to their end and were paid for.
    pub paid: BTreeMap<TurnId, u64>,
    /// Writes that came too late and were refused.
    pub stale_writes: u64,
    /// How much work was seen, to know that a simulation is about something.
    pub model_calls: u64,
    pub tool_calls: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Effects {
    pub key: String,
    pub count: u32,
}

/// A piece of work: by whom, for which turn, for which of its calls (or for none: the model), and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Doing {
    pub(super) node: u32,
    pub(super) turn: TurnId,
    pub(super) call: Option<CallId>,
    pub(super) since: Moment,
}

/// Somebody outside has done what an operation asked for.
#[derive(Clone, Debug)]
pub struct Callback {
    pub at: Moment,
    pub operation_id: OperationId,
    pub task_id: TaskId,
}

impl Facts {
    pub(super) fn claimed(&mut self, node: u32, claim: &TurnClaim, now: Moment) {
        self.held.insert((claim.turn_id.clone(), node), now);
    }
}
