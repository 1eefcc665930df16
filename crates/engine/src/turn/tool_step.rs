//! Runs the calls of a step concurrently, each within its time budget and the turn's stop signal. Each result is stored
//! and then shown as it arrives.

use std::sync::Arc;

use futures::stream::{FuturesUnordered, StreamExt};
use ports::store::{JournalEntry, TurnProgress};
use protocol::chunk::Chunk;
use protocol::message::{ToolCall, ToolOutcome};
use protocol::response::{BackgroundStatus, ResponseBody, ToolResponse};
use protocol::tool::ToolEffect;
use protocol::turn::FailureCode;

use super::TurnAttempt;
use super::background::CANCEL_GRACE;
use super::decide::{CallHandling, PendingCall};
use super::halt::TurnHalt;
use super::output::{self, INTERRUPTED, result_chunk, result_row};
use super::registry::StopCause;
use super::tool_call::CallEnd;
use super::waiting_calls::WaitingCalls;

impl TurnAttempt {
    pub(crate) async fn tool_step(
        &mut self,
        progress: &TurnProgress,
        pending: Vec<PendingCall>,
    ) -> Result<(), TurnHalt> {
        self.journal_repeats(&pending).await?;
        let waiting_calls = Arc::new(WaitingCalls::new(pending.len()));
        let mut running = FuturesUnordered::new();
        for pending in pending {
            running.push(self.run_call(progress, pending, &waiting_calls));
        }
        loop {
            let done = tokio::select! {
                biased;
                done = running.next() => done,
                () = waiting_calls.all_waiting(), if !self.has_yielded() => {
                    self.yield_worker().await?;
                    continue;
                }
                // A turn that only waits can wait in another process.
                () = shut_down_while_waiting(self, &waiting_calls), if self.has_yielded() => {
                    return Err(TurnHalt::Stop(StopCause::Shutdown));
                }
            };
            match done {
                None => break,
                Some(Ok(())) => waiting_calls.call_finished(),
                Some(Err(halt)) => {
                    // Let a result that is being stored finish first: ending the turn adds a result to every call
                    // without one.
                    tokio::select! {
                        biased;
                        _free = self.writer.lock_writes() => {}
                        () = running.map(drop).collect() => {}
                    }
                    return Err(halt);
                }
            }
        }
        drop(running);
        if let Some(reason) = self.stop.cause() {
            return Err(TurnHalt::Stop(reason));
        }
        self.recorder.emit(Chunk::FinishStep).await?;
        self.reacquire_worker().await
    }

    /// A repeated call counts as started again, which is stored before it runs.
    async fn journal_repeats(&self, pending: &[PendingCall]) -> Result<(), TurnHalt> {
        let again: Vec<JournalEntry> = pending
            .iter()
            .filter(|pending| pending.handling == CallHandling::RunAgain)
            .map(|PendingCall { call, .. }| JournalEntry::Intent {
                call_id: call.id.clone(),
                effect: self.inner.tools.effect(&call.name),
            })
            .collect();
        if again.is_empty() {
            return Ok(());
        }
        self.writer.record(again).await
    }

    async fn run_call(
        &self,
        progress: &TurnProgress,
        pending: PendingCall,
        waiting_calls: &Arc<WaitingCalls>,
    ) -> Result<(), TurnHalt> {
        let PendingCall { call, handling } = pending;
        if handling == CallHandling::Interrupted {
            let response = ToolResponse::error("interrupted", INTERRUPTED);
            return self.store_result(&call, response, ToolOutcome::Interrupted).await;
        }
        let checked = match self.check(progress, &call) {
            Ok(checked) => checked,
            Err((refusal, outcome)) => return self.store_result(&call, refusal, outcome).await,
        };
        if let Some(reason) = self.stop.cause() {
            return Err(TurnHalt::Stop(reason));
        }
        if checked.tool.spec().long_running {
            return self.begin_operation(progress, &call).await;
        }
        let budget = self.budget(&*checked.tool);
        let repeatable = checked.tool.spec().effect != ToolEffect::Once;
        let mut running_call = self.start_call(progress, &call, checked, waiting_calls);
        let ended = tokio::select! {
            biased;
            ended = running_call.wait() => ended,
            () = budget_elapsed(budget) => return self.move_to_background(progress, call, running_call).await,
            reason = self.stopped_after_grace() => return Err(TurnHalt::Stop(reason)),
        };
        match ended {
            // An error of a call that a shutdown stopped is caused by the stop: the call is repeated elsewhere.
            CallEnd::Answer(_, ToolOutcome::Error)
                if repeatable && self.stop.cause() == Some(StopCause::Shutdown) =>
            {
                Err(TurnHalt::Stop(StopCause::Shutdown))
            }
            CallEnd::Answer(response, outcome) => self.store_result(&call, response, outcome).await,
            CallEnd::Fatal => Err(TurnHalt::fail(
                FailureCode::Internal,
                format!("The tool {} is not usable here.", running_call.tool),
            )),
        }
    }

    /// After a stop a tool has a short time to return its result; then it is dropped.
    pub(super) async fn stopped_after_grace(&self) -> StopCause {
        let reason = self.stop.stopped().await;
        tokio::time::sleep(CANCEL_GRACE).await;
        reason
    }

    /// Stores the result of a call, then shows it. If it delivers the end of a background call, the same record marks
    /// that as taken.
    async fn store_result(
        &self,
        call: &ToolCall,
        mut response: ToolResponse,
        outcome: ToolOutcome,
    ) -> Result<(), TurnHalt> {
        let workspace = &self.writer.workspace;
        response.session_id = Some(workspace.session.clone());
        let output =
            output::limit_output(&*self.inner.ports.files, workspace, call, &response).await;
        let mut entries = vec![JournalEntry::Result(result_row(call, &output, outcome))];
        let taken = match &response.body {
            ResponseBody::BackgroundToolStatus { status, background_id, .. }
                if *status != BackgroundStatus::StillRunning =>
            {
                self.background_calls.ended_call(background_id)
            }
            _ => None,
        };
        entries.extend(
            taken.iter().map(|call_id| JournalEntry::ParkedTaken { call_id: call_id.clone() }),
        );
        self.writer.record_and_show(entries, result_chunk(call, output, outcome)).await?;
        if let Some(call) = taken {
            self.background_calls.remove(&call);
        }
        Ok(())
    }
}

async fn budget_elapsed(budget: Option<std::time::Duration>) {
    match budget {
        Some(budget) => tokio::time::sleep(budget).await,
        None => std::future::pending().await,
    }
}

async fn shut_down_while_waiting(attempt: &TurnAttempt, waiting_calls: &WaitingCalls) {
    attempt.inner.shutdown_signal.stopping().await;
    waiting_calls.all_waiting().await;
}
