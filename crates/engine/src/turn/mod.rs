//! One attempt at a turn: take the log over, go from step to step, and end it once.

mod call;
mod closing;
mod compaction;
mod context;
pub(crate) mod decide;
mod desk;
#[cfg(test)]
mod fixtures;
mod follow_ups;
pub(crate) mod halt;
pub(crate) mod insist;
pub(crate) mod lease;
mod model_step;
mod open_parts;
mod operation_step;
pub(crate) mod output;
mod parking;
pub(crate) mod pause;
mod place;
mod recorder;
pub(crate) mod registry;
mod services;
mod shelf;
pub(crate) mod takeover;
pub(crate) mod tool_list;
mod tool_step;

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

pub(crate) use self::closing::{Closing, append};
use self::compaction::Gauge;
use self::decide::Next;
use self::desk::Desk;
use self::halt::Halt;
use self::model_step::StepEnd;
pub(crate) use self::model_step::{Answer, Said};
use self::open_parts::OpenParts;
use self::recorder::Recorder;
pub(crate) use self::registry::{Stop, StopReason};
use crate::Inner;
use crate::completion::{self, End};
use crate::slots::Slot;
use crate::tasks::Kind;

/// One claim's work on one turn.
pub(crate) struct Attempt {
    inner: Arc<Inner>,
    claim: TurnClaim,
    turn: Turn,
    stop: Arc<Stop>,
    recorder: Recorder,
    desk: Desk,
    shelf: shelf::Owned,
    /// The worker's time, while the turn does not just wait.
    slot: Mutex<Option<Slot>>,
    /// Whether the turn has given its place to others.
    aside: AtomicBool,
    said: Said,
    journaled_now: HashSet<CallId>,
    /// Every call id of the session so far.
    used_calls: HashSet<CallId>,
    /// What the steps before the present one have used.
    spent: Usage,
    /// What earlier attempts have left open in the log.
    inherited: OpenParts,
    untitled: Option<String>,
    /// What the provider has taught about its window.
    gauge: Gauge,
    started: Instant,
}

/// A turn that was claimed.
pub(crate) struct Won {
    pub(crate) claim: TurnClaim,
    pub(crate) turn: Turn,
    /// Where its log ends, when the claim has taken it over as well.
    pub(crate) log_at: Option<Seq>,
    /// When the claim was asked for: from then on its lease counts.
    pub(crate) asked: Instant,
}

/// Runs the turn beside the caller, who hears of it only when its slot is free again.
pub(crate) fn start(inner: &Arc<Inner>, won: Won, slot: Slot) {
    inner.tasks.spawn(Kind::Keeper, run(inner.clone(), won, slot));
}

/// Returns when the turn has ended, was handed back, or is no longer ours.
pub(crate) async fn run(inner: Arc<Inner>, won: Won, slot: Slot) {
    let Won { claim, turn, asked, .. } = &won;
    let running =
        inner.registry.enter((&turn.id).into(), *asked + lease::ours(inner.options.lease));
    let span = tracing::info_span!("turn", turn.id = %turn.id, session.id = %turn.session_id, fence = claim.fence);
    let (claim, turn) = (claim.clone(), turn.clone());
    let work = attempt(inner.clone(), won, running.stop.clone(), slot);
    let outcome = inner.tasks.spawn(Kind::Turn, work.instrument(span)).await;
    if outcome.is_err() {
        tracing::error!(turn.id = %turn.id, "a turn panicked");
        let error =
            TurnError::new(FailureCode::Internal, "The server failed while it worked on this.");
        completion::end_abandoned(&inner, &claim, &turn, running.stop.clone(), error).await;
    }
    drop(running);
}

async fn attempt(inner: Arc<Inner>, won: Won, stop: Arc<Stop>, slot: Slot) {
    let keep_inner = inner.clone();
    let keep_claim = won.claim.clone();
    let keep_stop = stop.clone();
    let renew = || keep_inner.ports.leases.renew(&keep_claim, keep_inner.options.lease);
    tokio::select! {
        biased;
        never = lease::keep(&keep_inner, &keep_stop, renew) => match never {},
        () = go(inner, won, stop, slot) => {}
    }
}

async fn go(inner: Arc<Inner>, won: Won, stop: Arc<Stop>, slot: Slot) {
    let Won { claim, turn, mut log_at, .. } = won;
    let waited = turn.started_at.map(|at| at.duration_since(turn.created_at).as_secs_f64());
    if let (1, Some(seconds)) = (claim.fence, waited) {
        metrics::histogram!("pilothouse_claim_latency_seconds").record(seconds.max(0.0));
    }
    // A turn that goes on with a follow-up is still the same one: its time does not begin anew.
    let started = Instant::now();
    let mut slot = Some(slot);
    let mut opening = Opening::Attempt;
    loop {
        let begun = Attempt::begin(
            inner.clone(),
            claim.clone(),
            turn.clone(),
            log_at.take(),
            stop.clone(),
            slot.take(),
        );
        let mut attempt = match begun.await {
            Ok(attempt) => attempt,
            // Nothing was said, so nothing has to be taken back: whoever has the turn next starts afresh.
            Err(halt) => {
                tracing::warn!(?halt, "an attempt could not begin");
                return;
            }
        };
        attempt.started = started;
        let end = match attempt.speak(opening).await {
            Ok(answer) => End::Completed(answer),
            Err(Halt::Stop(StopReason::Cancelled)) => End::Cancelled,
            Err(Halt::Fail(error)) => End::Failed(error),
            Err(Halt::Stop(StopReason::OutOfTime)) => {
                End::Failed(decide::out_of_time(&inner.options))
            }
            Err(Halt::Stop(StopReason::LeaseLost) | Halt::Rest) => {
                attempt.shelf.drop_all();
                drop(attempt.recorder.close().await);
                return;
            }
            Err(Halt::Stop(StopReason::Shutdown)) => return attempt.hand_back().await,
        };
        attempt.shelf.close().await;
        let (left, kept) = attempt.into_leftovers().await;
        match completion::end(left, end).await {
            Ok(TurnFinished::Ended(_)) | Err(_) => return,
            // A message came while the answer was being given: the turn goes on with it.
            Ok(TurnFinished::FollowUpsWait) => {
                slot = kept;
                opening = Opening::GoesOn;
            }
        }
    }
}

/// How an attempt begins to speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    /// With a start, or by mending what another attempt has left.
    Attempt,
    /// The same attempt, after an answer that was not the last word.
    GoesOn,
}

impl Attempt {
    /// Steps until there is an answer, with a word now and then while nothing else is said. The time limit holds in
    /// the middle of a step too: a model that never stops talking is never silent.
    async fn speak(&mut self, opening: Opening) -> Result<Answer, Halt> {
        let silence = self.recorder.break_silence();
        let left = self.inner.options.max_time.saturating_sub(self.started.elapsed());
        let overtime = stop_after(self.stop.clone(), left);
        tokio::select! {
            biased;
            never = silence => match never {},
            never = overtime => match never {},
            result = self.steps(opening) => result,
        }
    }

    async fn steps(&mut self, opening: Opening) -> Result<Answer, Halt> {
        self.check_turn()?;
        if opening == Opening::Attempt {
            self.tidy().await?;
        }
        self.step_back().await?;
        let mut restored = false;
        let mut lined_up = self.turn.operation.is_none();
        loop {
            if let Some(reason) = self.stop.now() {
                return Err(Halt::Stop(reason));
            }
            let progress = self.desk.progress().await?;
            self.untitled = untitled(&progress);
            self.spent = progress.usage;
            if let (false, Some(operation)) = (lined_up, &progress.operation) {
                self.operation_step(&progress, operation).await?;
                lined_up = true;
                continue;
            }
            if !std::mem::replace(&mut restored, true) {
                self.restore_parked(&progress).await?;
            }
            let elapsed = self.started.elapsed();
            let options = &self.inner.options;
            match decide::next(&progress, &self.turn.id, &self.journaled_now, elapsed, options) {
                Next::Fail(error) => return Err(Halt::Fail(error)),
                Next::Tools(pending) => self.tool_step(&progress, pending).await?,
                // A call that was journaled is run even now: left alone it would count as interrupted. Before the
                // model is asked again is the safe point where a shutdown takes a turn away.
                Next::Model(_) if self.inner.phase.is_stopping() => {
                    return Err(Halt::Stop(StopReason::Shutdown));
                }
                Next::Model(_) if progress.waiting_follow_ups > 0 => self.drain(&progress).await?,
                // A summary may have taken a step, so that everything is decided anew.
                Next::Model(_) if self.compact(&progress).await? => {}
                Next::Model(tool_use) => match self.model_step(&progress, tool_use).await {
                    Ok(StepEnd::Answer(answer)) => {
                        if let Some(answer) = self.unless_followed_up(answer).await? {
                            return Ok(answer);
                        }
                    }
                    Ok(StepEnd::Calls) => {}
                    Err(halt) if halt.is_too_long() && self.compact_hard(&progress).await? => {}
                    Err(halt) => return Err(halt),
                },
            }
        }
    }

    /// Refuses a turn that was cancelled before it began or that has killed too many workers.
    fn check_turn(&self) -> Result<(), Halt> {
        if self.turn.cancel_requested {
            return Err(Halt::Stop(StopReason::Cancelled));
        }
        if self.turn.attempt > CRASHED_ATTEMPTS {
            return Err(Halt::fail(
                FailureCode::CrashLoop,
                format!("The server stopped {CRASHED_ATTEMPTS} times while it worked on this."),
            ));
        }
        Ok(())
    }

    async fn hand_back(self) {
        self.shelf.drop_all();
        drop(self.recorder.close().await);
        match self.inner.ports.leases.hand_back(&self.claim).await {
            Ok(Fenced::Done(())) => tracing::info!("turn handed back"),
            Ok(Fenced::Stale) => {}
            Err(error) => {
                tracing::warn!(%error, "a turn could not be handed back; its lease will run out")
            }
        }
    }

    async fn into_leftovers(self) -> (completion::Leftovers, Option<Slot>) {
        let slot = self.slot.into_inner().expect("no code panics while it holds this lock");
        let left = completion::Leftovers {
            closing: self.recorder.close().await,
            inner: self.inner,
            claim: self.claim,
            turn: self.turn,
            stop: self.stop,
            said: self.said,
            spent: self.spent,
            started: self.started,
            untitled: self.untitled,
        };
        (left, slot)
    }
}

/// Runs beside the turn; never returns.
async fn stop_after(stop: Arc<Stop>, limit: Duration) -> Infallible {
    tokio::time::sleep(limit).await;
    stop.stop(StopReason::OutOfTime);
    std::future::pending().await
}

/// The first words of a session that has no title yet.
fn untitled(progress: &TurnProgress) -> Option<String> {
    if progress.session.title.is_some() {
        return None;
    }
    let first = progress.messages.iter().find(|message| message.role == MessageRole::User);
    first.map(|message| message.content.clone())
}
