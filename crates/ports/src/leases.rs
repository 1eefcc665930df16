//! Who may act for a turn, and until when.

use std::time::Duration;

use async_trait::async_trait;
use protocol::turn::{Turn, TurnClaim};
use protocol::{Seq, TurnId, WorkerId};

use crate::error::PortResult;
use crate::store::Fenced;

/// Laws: one holder at a time (`a_turn_has_one_holder`); fences only grow (`every_claim_raises_the_fence`);
/// a late renew fails (`a_renewal_after_a_new_claim_fails`); one running turn per session, in the order
/// they were accepted (`a_session_runs_one_turn_at_a_time`); an orderly hand-back is not a crashed
/// attempt (`a_handed_back_turn_does_not_count_as_crashed`); a claim that is repeated by the same worker is the same
/// claim (`a_claim_repeated_by_its_worker_is_the_same_claim`). Leases are judged by one clock that never
/// jumps: the database's, or the process's monotonic one.
#[async_trait]
pub trait Leases: Send + Sync {
    /// One conditional update: the turn becomes `running`, its fence and its attempt go up by one. A worker that holds
    /// the turn already gets the claim it has, so one that did not hear the answer asks again. A turn whose cancel was
    /// requested needs no place of its user: it is only claimed to be ended.
    async fn claim(
        &self,
        turn: &TurnId,
        worker: &WorkerId,
        ttl: Duration,
    ) -> PortResult<TurnClaimed>;

    async fn renew(&self, claim: &TurnClaim, ttl: Duration) -> PortResult<LeaseRenewal>;

    /// Back to `queued`, due at once, and not counted as a crash.
    async fn hand_back(&self, claim: &TurnClaim) -> PortResult<Fenced<()>>;
}

#[derive(Clone, Debug, PartialEq)]
pub enum TurnClaimed {
    Won {
        claim: TurnClaim,
        turn: Box<Turn>,
        /// Where the turn's log ends, when the claim has taken it over as well.
        log_at: Option<Seq>,
    },
    /// Somebody holds it and has renewed in time.
    Held,
    /// It is not admitted: an older turn of the session comes first, or its user has no free place. An end makes it due.
    Waits,
    /// It has a final status, or is gone with its session.
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseRenewal {
    Held { cancel_requested: bool },
    Lost,
}
