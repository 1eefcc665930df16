//! What was seen to happen outside the store: who believed to hold which turn, what tools have done, what went wrong.

use std::collections::BTreeMap;

use protocol::turn::Claim;
use protocol::{CallId, TurnId};

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
    /// Who works on which turn at this moment, and since when.
    pub(super) at_work: Vec<(u32, TurnId, Moment)>,
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

impl Facts {
    pub(super) fn claimed(&mut self, node: u32, claim: &Claim, now: Moment) {
        self.held.insert((claim.turn_id.clone(), node), now);
    }
}
