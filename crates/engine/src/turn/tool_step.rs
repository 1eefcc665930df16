//! Running the calls of a step: all at once, each under its budget and the turn's stop, each result
//! stored and then shown as it arrives.

use std::sync::Arc;

use futures::stream::{FuturesUnordered, StreamExt};
use ports::store::{JournalEntry, TurnProgress};
use protocol::chunk::Chunk;
use protocol::message::{ToolCall, ToolOutcome};
use protocol::response::{BackgroundStatus, ResponseBody, ToolResponse};
use protocol::tool::ToolEffect;
use protocol::turn::FailureCode;

use super::Attempt;
use super::call::Ended;
use super::decide::{How, Pending};
use super::halt::Halt;
use super::output::{self, INTERRUPTED, result_row, shown};
use super::pause::Pause;
use super::registry::StopReason;
use super::shelf::GRACE;

impl Attempt {
    pub(crate) async fn tool_step(
        &mut self,
        progress: &TurnProgress,
        pending: Vec<Pending>,
    ) -> Result<(), Halt> {
        self.journal_repeats(&pending).await?;
        let pause = Arc::new(Pause::of(pending.len()));
        let mut running = FuturesUnordered::new();
        for pending in pending {
            running.push(self.carry_out(progress, pending, &pause));
        }
        loop {
            let done = tokio::select! {
                biased;
                done = running.next() => done,
                () = pause.all_wait(), if !self.is_aside() => {
                    self.step_aside().await?;
                    continue;
                }
                // Nothing is lost by waiting elsewhere.
                () = shut_down_while_waiting(self, &pause), if self.is_aside() => {
                    return Err(Halt::Stop(StopReason::Shutdown));
                }
            };
            match done {
                None => break,
                Some(Ok(())) => pause.finished_one(),
                Some(Err(halt)) => {
                    // A result that is on its way to the store gets there first: the end gives one to every call
                    // without.
                    tokio::select! {
                        biased;
                        _free = self.desk.quiet() => {}
                        () = running.map(drop).collect() => {}
                    }
                    return Err(halt);
                }
            }
        }
        drop(running);
        if let Some(reason) = self.stop.now() {
            return Err(Halt::Stop(reason));
        }
        self.recorder.emit(Chunk::FinishStep).await?;
        self.step_back().await
    }

    /// A call that is run again was started again: stored before it is.
    async fn journal_repeats(&self, pending: &[Pending]) -> Result<(), Halt> {
        let again: Vec<JournalEntry> = pending
            .iter()
            .filter(|pending| pending.how == How::RunAgain)
            .map(|Pending { call, .. }| JournalEntry::Intent {
                call_id: call.id.clone(),
                effect: self.inner.tools.effect(&call.name),
            })
            .collect();
        if again.is_empty() {
            return Ok(());
        }
        self.desk.record(again).await
    }

    async fn carry_out(
        &self,
        progress: &TurnProgress,
        pending: Pending,
        pause: &Arc<Pause>,
    ) -> Result<(), Halt> {
        let Pending { call, how } = pending;
        if how == How::Interrupted {
            let response = ToolResponse::error("interrupted", INTERRUPTED);
            return self.deliver(&call, response, ToolOutcome::Interrupted).await;
        }
        let checked = match self.check(progress, &call) {
            Ok(checked) => checked,
            Err((refusal, outcome)) => return self.deliver(&call, refusal, outcome).await,
        };
        if let Some(reason) = self.stop.now() {
            return Err(Halt::Stop(reason));
        }
        if checked.tool.spec().long_running {
            return self.begin_operation(progress, &call).await;
        }
        let budget = self.budget(&*checked.tool);
        let repeatable = checked.tool.spec().effect != ToolEffect::Once;
        let mut work = self.begin_work(progress, &call, checked, pause);
        let ended = tokio::select! {
            biased;
            ended = work.ended() => ended,
            () = over(budget) => return self.park(progress, call, work).await,
            reason = self.stop_and_grace() => return Err(Halt::Stop(reason)),
        };
        match ended {
            // What a call complains of that was stopped by a shutdown is the stop: it is made again elsewhere.
            Ended::Answer(_, ToolOutcome::Error)
                if repeatable && self.stop.now() == Some(StopReason::Shutdown) =>
            {
                Err(Halt::Stop(StopReason::Shutdown))
            }
            Ended::Answer(response, outcome) => self.deliver(&call, response, outcome).await,
            Ended::Fatal => Err(Halt::fail(
                FailureCode::Internal,
                format!("The tool {} cannot work here.", work.tool),
            )),
        }
    }

    /// After a stop a tool may still say what it did; what takes longer is dropped.
    pub(super) async fn stop_and_grace(&self) -> StopReason {
        let reason = self.stop.stopped().await;
        tokio::time::sleep(GRACE).await;
        reason
    }

    /// Stores the one result of a call, then shows it. The end of a parked call is consumed by the same record.
    async fn deliver(
        &self,
        call: &ToolCall,
        mut response: ToolResponse,
        outcome: ToolOutcome,
    ) -> Result<(), Halt> {
        let place = &self.desk.place;
        response.session_id = Some(place.session.clone());
        let output = output::bounded(&*self.inner.ports.files, place, call, &response).await;
        let mut entries = vec![JournalEntry::Result(result_row(call, &output, outcome))];
        let taken = match &response.body {
            ResponseBody::BackgroundToolStatus { status, background_id, .. }
                if *status != BackgroundStatus::StillRunning =>
            {
                self.shelf.ended_call(background_id)
            }
            _ => None,
        };
        entries.extend(
            taken.iter().map(|call_id| JournalEntry::ParkedTaken { call_id: call_id.clone() }),
        );
        self.desk.record_and_show(entries, shown(call, output, outcome)).await?;
        if let Some(call) = taken {
            self.shelf.take(&call);
        }
        Ok(())
    }
}

async fn over(budget: Option<std::time::Duration>) {
    match budget {
        Some(budget) => tokio::time::sleep(budget).await,
        None => std::future::pending().await,
    }
}

async fn shut_down_while_waiting(attempt: &Attempt, pause: &Pause) {
    attempt.inner.phase.stopping().await;
    pause.all_wait().await;
}
