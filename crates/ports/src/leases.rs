//! Claims of turns, with their time limits.

use std::time::Duration;

use async_trait::async_trait;
use protocol::turn::{Turn, TurnClaim};
use protocol::{Seq, TurnId, WorkerId};

use crate::error::PortResult;
use crate::store::Fenced;

/// Laws: one holder at a time (`a_turn_has_one_holder`); fences only grow (`every_claim_raises_the_fence`); a late renewal
/// fails (`a_renewal_after_a_new_claim_fails`); a session runs one turn at a time, in the order of acceptance
/// (`a_session_runs_one_turn_at_a_time`); an orderly hand-back is not a crashed attempt
/// (`a_handed_back_turn_does_not_count_as_crashed`); a claim repeated by the same worker is the same claim
/// (`a_claim_repeated_by_its_worker_is_the_same_claim`). Leases are judged by one monotonic clock: the database's, or the
/// process's.
#[async_trait]
pub trait Leases: Send + Sync {
    /// One conditional update: the turn becomes `running`, and its fence and attempt are incremented. A worker that already
    /// holds the turn gets its existing claim, so it can repeat a call whose response was lost. A turn with a requested cancel
    /// needs no concurrency permit: it is only claimed to be ended.
    async fn claim(
        &self,
        turn: &TurnId,
        worker: &WorkerId,
        ttl: Duration,
    ) -> PortResult<TurnClaimed>;

    async fn renew(&self, claim: &TurnClaim, ttl: Duration) -> PortResult<LeaseRenewal>;

    /// Sets the turn back to `queued`, due at once, without counting a crash.
    async fn hand_back(&self, claim: &TurnClaim) -> PortResult<Fenced<()>>;
}

#[derive(Clone, Debug, PartialEq)]
pub enum TurnClaimed {
    Granted {
        claim: TurnClaim,
        turn: Box<Turn>,
        /// The end of the turn's log, if the claim has also taken over the log.
        log_at: Option<Seq>,
    },
    /// Another worker holds it and has renewed in time.
    Held,
    /// Not admitted: an older turn of the session comes first, or the user has no free concurrency permit. The end of another turn makes it due.
    NotAdmitted,
    /// It has a final status, or was deleted with its session.
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseRenewal {
    Held { cancel_requested: bool },
    Lost,
}
