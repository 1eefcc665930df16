//! One attempt at a turn: runs steps on the log it has taken over, until there is an answer.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use ports::model::ToolUse;
use ports::store::TurnProgress;
use protocol::Seq;
use protocol::turn::TurnError;
use tokio::time::Instant;

use super::background::OwnedBackgroundCalls;
use super::compaction::ContextWindow;
use super::decide::{self, TurnAction};
use super::end_turn::FinishedAttempt;
use super::leased_turn::LeasedTurn;
use super::model_step::{ModelAnswer, StepEnd, model_step};
use super::open_parts::OpenParts;
use super::recorder::Recorder;
use super::response_state::ResponseState;
use super::takeover::{self, TakenOverLog};
use super::tool_caller::ToolCaller;
use super::turn_permits::TurnPermits;
use super::turn_writer::TurnWriter;
use super::{background, follow_ups, operation_step, tool_step};
use crate::job::claim;
use crate::job::halt::TurnHalt;
use crate::job::stop::{StopCause, StopSignal};
use crate::job::worker_permit::WorkerPermit;

pub(crate) struct TurnAttempt {
    leased: Arc<LeasedTurn>,
    recorder: Recorder,
    writer: TurnWriter,
    permits: TurnPermits,
    calls: ToolCaller,
    window: ContextWindow,
    response: ResponseState,
    started: Instant,
}

impl TurnAttempt {
    /// Takes over the log without writing to it. Also returns the parts that earlier attempts left open in it.
    pub(crate) async fn open(
        leased: Arc<LeasedTurn>,
        log_at: Option<Seq>,
        permit: Option<WorkerPermit>,
        started: Instant,
    ) -> Result<(Self, OpenParts), TurnHalt> {
        let TakenOverLog { last, parts } = takeover::take_over_log(&leased, log_at).await?;
        let recorder = Recorder::new(&leased, last, parts.clone());
        let writer = TurnWriter::new(leased.clone(), recorder.chunk_writer());
        let background_calls = OwnedBackgroundCalls::new(writer.clone());
        let attempt = Self {
            permits: TurnPermits::new(leased.clone(), permit),
            calls: ToolCaller::new(writer.clone(), background_calls),
            window: ContextWindow::new(writer.clone()),
            response: ResponseState::new(leased.turn.usage),
            leased,
            recorder,
            writer,
            started,
        };
        Ok((attempt, parts))
    }

    /// Runs steps until there is an answer, and reports progress during long silences. The time limit also applies
    /// within a step: a model that keeps sending is never idle. `inherited` is the log to repair, if the attempt does
    /// not continue an answer of its own.
    pub(crate) async fn steps_within_time_limit(
        &mut self,
        inherited: Option<OpenParts>,
    ) -> Result<ModelAnswer, TurnHalt> {
        let silence_notices = self.writer.chunks.report_silence();
        let left = self.leased.inner.options.max_time.saturating_sub(self.started.elapsed());
        let overtime = stop_after_limit(self.leased.stop.clone(), left);
        tokio::select! {
            biased;
            never = silence_notices => match never {},
            never = overtime => match never {},
            result = self.run_steps(inherited) => result,
        }
    }

    async fn run_steps(&mut self, inherited: Option<OpenParts>) -> Result<ModelAnswer, TurnHalt> {
        let leased = self.leased.clone();
        claim::check_runnable::<TurnError>(leased.turn.cancel_requested, leased.turn.attempt)?;
        if let Some(inherited) = inherited {
            takeover::repair_log(&self.writer, &inherited).await?;
        }
        self.permits.reacquire().await?;
        let mut restored = false;
        let mut operation_done = leased.turn.operation.is_none();
        loop {
            leased.stop.check()?;
            let progress = leased.progress().await?;
            self.response.observe(&progress);
            if let (false, Some(operation)) = (operation_done, &progress.operation) {
                let journaled = &self.response.journaled_now;
                operation_step::operation_step(&self.calls, &progress, operation, journaled)
                    .await?;
                operation_done = true;
                continue;
            }
            if !std::mem::replace(&mut restored, true) {
                background::restore(&self.calls, &progress).await?;
            }
            match decide::next_action(
                &progress,
                &leased.turn.id,
                &self.response.journaled_now,
                self.started.elapsed(),
                &leased.inner.options,
            ) {
                TurnAction::Fail(error) => return Err(TurnHalt::Fail(error)),
                TurnAction::Tools(pending) => {
                    tool_step::tool_step(&self.calls, &mut self.permits, &progress, pending)
                        .await?;
                }
                // Journaled calls still run during a shutdown: otherwise they would count as interrupted. Before the
                // next model call is the safe point to hand the turn back.
                TurnAction::Model(_) if leased.inner.shutdown_signal.is_stopping() => {
                    return Err(TurnHalt::Stop(StopCause::Shutdown));
                }
                TurnAction::Model(_) if progress.waiting_follow_ups > 0 => {
                    follow_ups::drain(&self.writer, &progress).await?;
                }
                // The summary may have taken a step, so decide again.
                TurnAction::Model(_) if self.window.compact(&progress).await? => {}
                TurnAction::Model(tool_use) => {
                    if let Some(answer) = self.ask_model(&progress, tool_use).await? {
                        return Ok(answer);
                    }
                }
            }
        }
    }

    /// Makes a model step. `None` if the turn continues: with the calls of the step, with a follow-up, or with a request
    /// made smaller.
    async fn ask_model(
        &mut self,
        progress: &TurnProgress,
        tool_use: ToolUse,
    ) -> Result<Option<ModelAnswer>, TurnHalt> {
        let Self { calls, window, response, .. } = self;
        match model_step(calls, window, response, progress, tool_use).await {
            Ok(StepEnd::Answer(answer)) => follow_ups::unless_followed_up(calls, answer).await,
            Ok(StepEnd::Calls) => Ok(None),
            Err(halt)
                if halt.is_too_long()
                    && !response.partial.has_output()
                    && window.compact_after_refusal(progress).await? =>
            {
                Ok(None)
            }
            Err(halt) => Err(halt),
        }
    }

    /// Drops the attempt without writing anything more.
    pub(crate) async fn abandon(self) {
        self.calls.background_calls.drop_all();
        drop(self.recorder.close().await);
    }

    /// Ends the background calls and closes the log, for the end of the turn. Also returns the worker permit, if the
    /// attempt holds one.
    pub(crate) async fn finish(self) -> (FinishedAttempt, Option<WorkerPermit>) {
        self.calls.background_calls.close().await;
        let finished = FinishedAttempt {
            leased: self.leased,
            log_ending: self.recorder.close().await,
            response: self.response,
            started: self.started,
        };
        (finished, self.permits.into_worker())
    }
}

/// Runs beside the turn; never returns.
async fn stop_after_limit(stop: Arc<StopSignal>, limit: Duration) -> Infallible {
    tokio::time::sleep(limit).await;
    stop.stop(StopCause::OutOfTime);
    std::future::pending().await
}
