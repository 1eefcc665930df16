//! One attempt at a turn: takes over the log, runs steps, and ends the turn once.

mod background;
mod call_services;
mod compaction;
mod context;
pub(crate) mod decide;
#[cfg(test)]
mod fixtures;
mod follow_ups;
pub(crate) mod halt;
pub(crate) mod lease;
mod log_ending;
mod model_step;
mod open_parts;
mod operation_step;
pub(crate) mod output;
mod recorder;
pub(crate) mod registry;
pub(crate) mod takeover;
mod tool_call;
pub(crate) mod tool_list;
mod tool_step;
mod turn_writer;
pub(crate) mod waiting_calls;
mod yield_worker;

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ports::Fenced;
use ports::store::{TurnFinished, TurnProgress};
use protocol::limits::CRASHED_ATTEMPTS;
use protocol::message::MessageRole;
use protocol::turn::{FailureCode, Turn, TurnClaim, TurnError};
use protocol::usage::Usage;
use protocol::{CallId, Seq};
use tokio::time::Instant;
use tracing::Instrument;

use self::compaction::WindowEstimate;
use self::decide::TurnAction;
use self::halt::TurnHalt;
pub(crate) use self::log_ending::{LogEnding, append_rest};
use self::model_step::StepEnd;
pub(crate) use self::model_step::{ModelAnswer, PartialResponse};
use self::open_parts::OpenParts;
use self::recorder::Recorder;
pub(crate) use self::registry::{StopCause, StopSignal};
use self::turn_writer::TurnWriter;
use crate::EngineInner;
use crate::end_turn::{self, AttemptOutcome};
use crate::tasks::TaskKind;
use crate::worker_permit::WorkerPermit;

/// One claim's work on one turn.
pub(crate) struct TurnAttempt {
    inner: Arc<EngineInner>,
    claim: TurnClaim,
    turn: Turn,
    stop: Arc<StopSignal>,
    recorder: Recorder,
    writer: TurnWriter,
    background_calls: background::OwnedBackgroundCalls,
    /// The worker permit; `None` while the turn only waits.
    permit: Mutex<Option<WorkerPermit>>,
    /// Whether the turn has released its concurrency permit.
    yielded: AtomicBool,
    partial: PartialResponse,
    journaled_now: HashSet<CallId>,
    /// Every call id of the session so far.
    used_calls: HashSet<CallId>,
    /// Usage of the steps before the current one.
    spent: Usage,
    /// Parts that earlier attempts left open in the log.
    inherited: OpenParts,
    title_source: Option<String>,
    /// What this attempt has learned about the model's window.
    window_estimate: WindowEstimate,
    started: Instant,
}

/// A claimed turn.
pub(crate) struct ClaimedTurn {
    pub(crate) claim: TurnClaim,
    pub(crate) turn: Turn,
    /// The last sequence number of its log, if the claim also took the log over.
    pub(crate) log_at: Option<Seq>,
    /// When the claim was requested: the lease counts from then.
    pub(crate) requested_at: Instant,
}

/// Runs the turn in its own task. The caller only notices when the permit is returned.
pub(crate) fn start(inner: &Arc<EngineInner>, claimed: ClaimedTurn, permit: WorkerPermit) {
    inner.tasks.spawn(TaskKind::AttemptGuard, run(inner.clone(), claimed, permit));
}

/// Returns when the turn has ended, was handed back, or was taken over by another worker.
pub(crate) async fn run(inner: Arc<EngineInner>, claimed: ClaimedTurn, permit: WorkerPermit) {
    let ClaimedTurn { claim, turn, requested_at, .. } = &claimed;
    let running = inner
        .registry
        .register((&turn.id).into(), *requested_at + lease::usable_for(inner.options.lease));
    let span = tracing::info_span!("turn", turn.id = %turn.id, session.id = %turn.session_id, fence = claim.fence);
    let (claim, turn) = (claim.clone(), turn.clone());
    let work = attempt(inner.clone(), claimed, running.stop.clone(), permit);
    let outcome = inner.tasks.spawn(TaskKind::Turn, work.instrument(span)).await;
    if outcome.is_err() {
        tracing::error!(turn.id = %turn.id, "a turn panicked");
        let error = TurnError::new(FailureCode::Internal, "The server failed while running this.");
        end_turn::end_abandoned(&inner, &claim, &turn, running.stop.clone(), error).await;
    }
    drop(running);
}

async fn attempt(
    inner: Arc<EngineInner>,
    claimed: ClaimedTurn,
    stop: Arc<StopSignal>,
    permit: WorkerPermit,
) {
    let keep_inner = inner.clone();
    let keep_claim = claimed.claim.clone();
    let keep_stop = stop.clone();
    let renew = || keep_inner.ports.leases.renew(&keep_claim, keep_inner.options.lease);
    tokio::select! {
        biased;
        never = lease::keep_renewed(&keep_inner, &keep_stop, renew) => match never {},
        () = run_attempts(inner, claimed, stop, permit) => {}
    }
}

async fn run_attempts(
    inner: Arc<EngineInner>,
    claimed: ClaimedTurn,
    stop: Arc<StopSignal>,
    permit: WorkerPermit,
) {
    let ClaimedTurn { claim, turn, mut log_at, .. } = claimed;
    let waited = turn.started_at.map(|at| at.duration_since(turn.created_at).as_secs_f64());
    if let (1, Some(seconds)) = (claim.fence, waited) {
        metrics::histogram!("pilothouse_claim_latency_seconds").record(seconds.max(0.0));
    }
    // A turn that continues with a follow-up keeps its start time, so its time limit does not restart.
    let started = Instant::now();
    let mut permit = Some(permit);
    let mut opening = AttemptOpening::FirstStep;
    loop {
        let starting = TurnAttempt::start(
            inner.clone(),
            claim.clone(),
            turn.clone(),
            log_at.take(),
            stop.clone(),
            permit.take(),
        );
        let mut attempt = match starting.await {
            Ok(attempt) => attempt,
            // Nothing was emitted, so nothing has to be repaired: the next lease holder starts normally.
            Err(halt) => {
                tracing::warn!(?halt, "could not start an attempt");
                return;
            }
        };
        attempt.started = started;
        let end = match attempt.run_with_deadline(opening).await {
            Ok(answer) => AttemptOutcome::Completed(answer),
            Err(TurnHalt::Stop(StopCause::Cancelled)) => AttemptOutcome::Cancelled,
            Err(TurnHalt::Fail(error)) => AttemptOutcome::Failed(error),
            Err(TurnHalt::Stop(StopCause::OutOfTime)) => {
                AttemptOutcome::Failed(decide::out_of_time(&inner.options))
            }
            Err(TurnHalt::Stop(StopCause::LeaseLost) | TurnHalt::Released) => {
                attempt.background_calls.drop_all();
                drop(attempt.recorder.close().await);
                return;
            }
            Err(TurnHalt::Stop(StopCause::Shutdown)) => return attempt.hand_back().await,
        };
        attempt.background_calls.close().await;
        let (finished, kept_permit) = attempt.into_finished().await;
        match end_turn::end_turn(finished, end).await {
            Ok(TurnFinished::Ended(_)) | Err(_) => return,
            // A follow-up arrived before the end was stored: the turn continues with it.
            Ok(TurnFinished::FollowUpsWait) => {
                permit = kept_permit;
                opening = AttemptOpening::Continued;
            }
        }
    }
}

/// How an attempt starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AttemptOpening {
    /// Emits a start, or repairs what another attempt left.
    FirstStep,
    /// Continues the same attempt after an answer that was followed up.
    Continued,
}

impl TurnAttempt {
    /// Runs steps until there is an answer, and reports progress during long silences. The time limit also applies
    /// within a step: a model that keeps sending is never idle.
    async fn run_with_deadline(
        &mut self,
        opening: AttemptOpening,
    ) -> Result<ModelAnswer, TurnHalt> {
        let silence_notices = self.recorder.report_silence();
        let left = self.inner.options.max_time.saturating_sub(self.started.elapsed());
        let overtime = stop_after_limit(self.stop.clone(), left);
        tokio::select! {
            biased;
            never = silence_notices => match never {},
            never = overtime => match never {},
            result = self.steps(opening) => result,
        }
    }

    async fn steps(&mut self, opening: AttemptOpening) -> Result<ModelAnswer, TurnHalt> {
        self.check_turn()?;
        if opening == AttemptOpening::FirstStep {
            self.repair_log().await?;
        }
        self.reacquire_worker().await?;
        let mut restored = false;
        let mut operation_done = self.turn.operation.is_none();
        loop {
            if let Some(reason) = self.stop.cause() {
                return Err(TurnHalt::Stop(reason));
            }
            let progress = self.writer.progress().await?;
            self.title_source = title_source(&progress);
            self.spent = progress.usage;
            if let (false, Some(operation)) = (operation_done, &progress.operation) {
                self.operation_step(&progress, operation).await?;
                operation_done = true;
                continue;
            }
            if !std::mem::replace(&mut restored, true) {
                self.restore_background_calls(&progress).await?;
            }
            let elapsed = self.started.elapsed();
            let options = &self.inner.options;
            match decide::next_action(
                &progress,
                &self.turn.id,
                &self.journaled_now,
                elapsed,
                options,
            ) {
                TurnAction::Fail(error) => return Err(TurnHalt::Fail(error)),
                TurnAction::Tools(pending) => self.tool_step(&progress, pending).await?,
                // Journaled calls still run during a shutdown: otherwise they would count as interrupted. Before the
                // next model call is the safe point to hand the turn back.
                TurnAction::Model(_) if self.inner.shutdown_signal.is_stopping() => {
                    return Err(TurnHalt::Stop(StopCause::Shutdown));
                }
                TurnAction::Model(_) if progress.waiting_follow_ups > 0 => {
                    self.drain(&progress).await?
                }
                // The summary may have taken a step, so decide again.
                TurnAction::Model(_) if self.compact(&progress).await? => {}
                TurnAction::Model(tool_use) => match self.model_step(&progress, tool_use).await {
                    Ok(StepEnd::Answer(answer)) => {
                        if let Some(answer) = self.unless_followed_up(answer).await? {
                            return Ok(answer);
                        }
                    }
                    Ok(StepEnd::Calls) => {}
                    Err(halt)
                        if halt.is_too_long() && self.compact_after_refusal(&progress).await? => {}
                    Err(halt) => return Err(halt),
                },
            }
        }
    }

    /// Refuses a turn that was canceled before it started or that has crashed too many workers.
    fn check_turn(&self) -> Result<(), TurnHalt> {
        if self.turn.cancel_requested {
            return Err(TurnHalt::Stop(StopCause::Cancelled));
        }
        if self.turn.attempt > CRASHED_ATTEMPTS {
            return Err(TurnHalt::fail(
                FailureCode::CrashLoop,
                format!("The server stopped {CRASHED_ATTEMPTS} times while running this."),
            ));
        }
        Ok(())
    }

    async fn hand_back(self) {
        self.background_calls.drop_all();
        drop(self.recorder.close().await);
        match self.inner.ports.leases.hand_back(&self.claim).await {
            Ok(Fenced::Done(())) => tracing::info!("turn handed back"),
            Ok(Fenced::Stale) => {}
            Err(error) => {
                tracing::warn!(%error, "could not hand a turn back; its lease will expire")
            }
        }
    }

    async fn into_finished(self) -> (end_turn::FinishedAttempt, Option<WorkerPermit>) {
        let permit = self.permit.into_inner().expect("no code panics while it holds this lock");
        let finished = end_turn::FinishedAttempt {
            log_ending: self.recorder.close().await,
            inner: self.inner,
            claim: self.claim,
            turn: self.turn,
            stop: self.stop,
            partial: self.partial,
            spent: self.spent,
            started: self.started,
            title_source: self.title_source,
        };
        (finished, permit)
    }
}

/// Runs beside the turn; never returns.
async fn stop_after_limit(stop: Arc<StopSignal>, limit: Duration) -> Infallible {
    tokio::time::sleep(limit).await;
    stop.stop(StopCause::OutOfTime);
    std::future::pending().await
}

/// The first user message of a session that has no title yet.
fn title_source(progress: &TurnProgress) -> Option<String> {
    if progress.session.title.is_some() {
        return None;
    }
    let first = progress.messages.iter().find(|message| message.role == MessageRole::User);
    first.map(|message| message.content.clone())
}
