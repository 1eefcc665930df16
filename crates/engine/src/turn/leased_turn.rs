//! A turn under a lease of this process: what is fixed for the whole claim, and the attempts made under it.

use std::sync::Arc;

use ports::files::SessionWorkspace;
use ports::leases::GrantedTurn;
use ports::store::{TurnFinished, TurnProgress};
use protocol::session::Owner;
use protocol::turn::{Turn, TurnClaim, TurnError};
use protocol::{JobClaim, Seq};
use tokio::time::Instant;
use tracing::Span;

use super::decide;
use super::end_turn::{self, AttemptOutcome};
use super::turn_attempt::TurnAttempt;
use crate::EngineInner;
use crate::job::halt::TurnHalt;
use crate::job::lease;
use crate::job::retry::retry_fenced;
use crate::job::runner::LeasedJob;
use crate::job::stop::{StopCause, StopSignal};
use crate::job::worker_permit::WorkerPermit;

pub(crate) struct LeasedTurn {
    pub(crate) inner: Arc<EngineInner>,
    pub(crate) claim: TurnClaim,
    pub(crate) turn: Turn,
    pub(crate) workspace: SessionWorkspace,
    pub(crate) stop: Arc<StopSignal>,
    /// The last sequence number of its log, if the claim also took the log over.
    log_at: Option<Seq>,
}

impl LeasedJob for LeasedTurn {
    type Failure = TurnError;
    type Granted = GrantedTurn;
    type Permit = WorkerPermit;

    fn new(inner: Arc<EngineInner>, granted: GrantedTurn, stop: Arc<StopSignal>) -> Self {
        let GrantedTurn { claim, turn, log_at } = granted;
        let owner = turn.user_id.clone().map_or(Owner::Anonymous, Owner::User);
        let workspace = SessionWorkspace { owner, session: turn.session_id.clone() };
        Self { inner, claim, turn, workspace, stop, log_at }
    }

    fn claim(&self) -> JobClaim {
        (&self.claim).into()
    }

    fn span(&self) -> Span {
        let Self { claim, turn, .. } = self;
        tracing::info_span!("turn", turn.id = %turn.id, session.id = %turn.session_id, fence = claim.fence)
    }

    /// Makes attempts until the turn ends: an answer that was followed up is continued by another attempt.
    async fn run(self: Arc<Self>, permit: WorkerPermit) {
        self.record_claim_latency();
        // A turn that continues with a follow-up keeps its start time, so its time limit does not restart.
        let started = Instant::now();
        let (mut permit, mut log_at) = (Some(permit), self.log_at);
        let mut continued = false;
        loop {
            let opening = TurnAttempt::open(self.clone(), log_at.take(), permit.take(), started);
            let (mut attempt, inherited) = match opening.await {
                Ok(opened) => opened,
                // Nothing was emitted, so nothing has to be repaired: the next lease holder starts normally.
                Err(halt) => {
                    tracing::warn!(?halt, "could not start an attempt");
                    return;
                }
            };
            let inherited = (!continued).then_some(inherited);
            let outcome = match attempt.steps_within_time_limit(inherited).await {
                Ok(answer) => AttemptOutcome::Completed(answer),
                Err(TurnHalt::Stop(StopCause::Cancelled)) => AttemptOutcome::Cancelled,
                Err(TurnHalt::Fail(error)) => AttemptOutcome::Failed(error),
                Err(TurnHalt::Stop(StopCause::OutOfTime)) => {
                    AttemptOutcome::Failed(decide::out_of_time(&self.inner.options))
                }
                Err(TurnHalt::Stop(StopCause::LeaseLost) | TurnHalt::Released) => {
                    return attempt.abandon().await;
                }
                Err(TurnHalt::Stop(StopCause::Shutdown)) => {
                    attempt.abandon().await;
                    return lease::hand_back(&self.inner, &self.claim()).await;
                }
            };
            let (finished, kept_permit) = attempt.finish().await;
            match end_turn::end_turn(finished, outcome).await {
                Ok(TurnFinished::Ended(_)) | Err(_) => return,
                // A follow-up arrived before the end was stored: the turn continues with it.
                Ok(TurnFinished::FollowUpsWait) => {
                    permit = kept_permit;
                    continued = true;
                }
            }
        }
    }

    async fn fail_after_panic(self: Arc<Self>, error: TurnError) {
        end_turn::end_abandoned(self, error).await;
    }
}

impl LeasedTurn {
    pub(crate) async fn progress(&self) -> Result<TurnProgress, TurnHalt> {
        let turns = &self.inner.ports.turns;
        Ok(retry_fenced(&self.stop, || turns.progress(&self.claim)).await?)
    }

    /// The window that the configuration gives for the turn's model, in tokens.
    pub(crate) fn configured_window(&self) -> u64 {
        self.inner.model.window(self.turn.request.tier)
    }

    /// The name of the turn's model.
    pub(crate) fn model_name(&self) -> String {
        self.inner.model.model(self.turn.request.tier).to_owned()
    }

    fn record_claim_latency(&self) {
        let Turn { started_at, created_at, .. } = &self.turn;
        let waited = started_at.map(|at| at.duration_since(*created_at).as_secs_f64());
        if let (1, Some(seconds)) = (self.claim.fence, waited) {
            metrics::histogram!("pilothouse_claim_latency_seconds").record(seconds.max(0.0));
        }
    }
}
