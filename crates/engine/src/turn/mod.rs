//! One attempt at a turn: take the log over, go from step to step, and end it once.

mod context;
pub(crate) mod decide;
pub(crate) mod halt;
pub(crate) mod insist;
mod lease;
mod model_step;
mod open_parts;
mod recorder;
pub(crate) mod registry;
pub(crate) mod takeover;
pub(crate) mod tool_list;
pub(crate) mod tool_step;

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use ports::Fenced;
use ports::store::{Entry, Progress, Record};
use protocol::limits::CRASHED_ATTEMPTS;
use protocol::message::Role;
use protocol::turn::{Claim, FailureCode, Turn, TurnError};
use protocol::usage::Usage;
use protocol::{CallId, Seq};
use tokio::time::Instant;
use tracing::Instrument;

use self::decide::Next;
use self::halt::Halt;
use self::insist::insist_fenced;
use self::model_step::StepEnd;
pub(crate) use self::model_step::{Answer, Said};
use self::open_parts::OpenParts;
pub(crate) use self::recorder::Closing;
use self::recorder::Recorder;
pub(crate) use self::registry::{Stop, StopReason};
use crate::Inner;
use crate::completion::{self, End};
use crate::tasks::Kind;

/// One claim's work on one turn.
pub(crate) struct Attempt {
    inner: Arc<Inner>,
    claim: Claim,
    turn: Turn,
    stop: Arc<Stop>,
    recorder: Recorder,
    said: Said,
    journaled_now: HashSet<CallId>,
    /// Every call id of the session so far.
    used_calls: HashSet<CallId>,
    /// What the steps before the present one have used.
    spent: Usage,
    /// What earlier attempts have left open in the log.
    inherited: OpenParts,
    untitled: Option<String>,
    started: Instant,
}

/// Returns when the turn has ended, was handed back, or is no longer ours. The claim was asked for at `asked`: from
/// then on its lease counts.
pub(crate) async fn run(
    inner: Arc<Inner>,
    claim: Claim,
    turn: Turn,
    log_at: Option<Seq>,
    asked: Instant,
) {
    let running = inner.registry.enter(&turn.id, asked + lease::ours(inner.options.lease));
    let span = tracing::info_span!("turn", turn.id = %turn.id, session.id = %turn.session_id, fence = claim.fence);
    let work = attempt(inner.clone(), claim.clone(), turn.clone(), log_at, running.stop.clone());
    let outcome = inner.tasks.spawn(Kind::Turn, work.instrument(span)).await;
    if outcome.is_err() {
        tracing::error!(turn.id = %turn.id, "a turn panicked");
        let error =
            TurnError::new(FailureCode::Internal, "The server failed while it worked on this.");
        completion::end_abandoned(&inner, &claim, &turn, running.stop.clone(), End::Failed(error))
            .await;
    }
    drop(running);
}

async fn attempt(
    inner: Arc<Inner>,
    claim: Claim,
    turn: Turn,
    log_at: Option<Seq>,
    stop: Arc<Stop>,
) {
    let keep_inner = inner.clone();
    let keep_claim = claim.clone();
    let keep_stop = stop.clone();
    tokio::select! {
        biased;
        never = lease::keep(&keep_inner, &keep_claim, &keep_stop) => match never {},
        () = go(inner, claim, turn, log_at, stop) => {}
    }
}

async fn go(inner: Arc<Inner>, claim: Claim, turn: Turn, log_at: Option<Seq>, stop: Arc<Stop>) {
    let waited = turn.started_at.map(|at| at.duration_since(turn.created_at).as_secs_f64());
    if let (1, Some(seconds)) = (claim.fence, waited) {
        metrics::histogram!("pilothouse_claim_latency_seconds").record(seconds.max(0.0));
    }
    let mut attempt = match Attempt::begin(inner.clone(), claim, turn, log_at, stop).await {
        Ok(attempt) => attempt,
        // Nothing was said, so nothing has to be taken back: whoever has the turn next starts afresh.
        Err(halt) => {
            tracing::warn!(?halt, "an attempt could not begin");
            return;
        }
    };
    let end = match attempt.speak().await {
        Ok(answer) => End::Completed(answer),
        Err(Halt::Stop(StopReason::Cancelled)) => End::Cancelled,
        Err(Halt::Fail(error)) => End::Failed(error),
        Err(Halt::Stop(StopReason::OutOfTime)) => End::Failed(decide::out_of_time(&inner.options)),
        Err(Halt::Stop(StopReason::LeaseLost)) => {
            drop(attempt.recorder.close().await);
            return;
        }
        Err(Halt::Stop(StopReason::Shutdown)) => return attempt.hand_back().await,
    };
    completion::end(attempt.into_leftovers().await, end).await;
}

impl Attempt {
    /// Steps until there is an answer, with a word now and then while nothing else is said. The time limit holds in
    /// the middle of a step too: a model that never stops talking is never silent.
    async fn speak(&mut self) -> Result<Answer, Halt> {
        let silence = self.recorder.break_silence();
        let overtime = stop_after(self.stop.clone(), self.inner.options.max_time);
        tokio::select! {
            biased;
            never = silence => match never {},
            never = overtime => match never {},
            result = self.steps() => result,
        }
    }

    async fn steps(&mut self) -> Result<Answer, Halt> {
        self.check()?;
        self.tidy().await?;
        loop {
            if let Some(reason) = self.stop.now() {
                return Err(Halt::Stop(reason));
            }
            let progress = self.progress().await?;
            self.untitled = untitled(&progress);
            self.spent = progress.usage;
            let elapsed = self.started.elapsed();
            match decide::next(
                &progress,
                &self.turn.id,
                &self.journaled_now,
                elapsed,
                &self.inner.options,
            ) {
                Next::Fail(error) => return Err(Halt::Fail(error)),
                Next::Tools(pending) => self.tool_step(&progress, pending).await?,
                // A call that was journaled is run even now: left alone it would count as interrupted. Before the
                // model is asked again is the safe point where a shutdown takes a turn away.
                Next::Model(_) if self.inner.phase.is_stopping() => {
                    return Err(Halt::Stop(StopReason::Shutdown));
                }
                Next::Model(tool_use) => {
                    if let StepEnd::Answer(answer) = self.model_step(&progress, tool_use).await? {
                        return Ok(answer);
                    }
                }
            }
        }
    }

    async fn progress(&self) -> Result<Progress, Halt> {
        insist_fenced(&self.stop, || self.inner.ports.turns.progress(&self.claim)).await
    }

    /// Journals, as often as it takes to hear that it is stored.
    async fn record(&self, entries: Vec<Entry>) -> Result<(), Halt> {
        let record = Record::new(entries);
        let write = || self.inner.ports.turns.record(&self.claim, record.clone());
        insist_fenced(&self.stop, write).await
    }

    /// Refuses a turn that was cancelled before it began or that has killed too many workers.
    fn check(&self) -> Result<(), Halt> {
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
        drop(self.recorder.close().await);
        match self.inner.ports.leases.hand_back(&self.claim).await {
            Ok(Fenced::Done(())) => tracing::info!("turn handed back"),
            Ok(Fenced::Stale) => {}
            Err(error) => {
                tracing::warn!(%error, "a turn could not be handed back; its lease will run out")
            }
        }
    }

    async fn into_leftovers(self) -> completion::Leftovers {
        completion::Leftovers {
            closing: self.recorder.close().await,
            inner: self.inner,
            claim: self.claim,
            turn: self.turn,
            stop: self.stop,
            said: self.said,
            spent: self.spent,
            started: self.started,
            untitled: self.untitled,
        }
    }
}

/// Runs beside the turn; never returns.
async fn stop_after(stop: Arc<Stop>, limit: Duration) -> Infallible {
    tokio::time::sleep(limit).await;
    stop.stop(StopReason::OutOfTime);
    std::future::pending().await
}

/// The first words of a session that has no title yet.
fn untitled(progress: &Progress) -> Option<String> {
    if progress.session.title.is_some() {
        return None;
    }
    let first = progress.messages.iter().find(|message| message.role == Role::User);
    first.map(|message| message.content.clone())
}
