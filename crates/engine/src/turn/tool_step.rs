//! Runs the calls of a step concurrently, each within its time budget and the turn's stop signal. Each result is stored
//! and then shown as it arrives.

use std::sync::Arc;
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt};
use ports::store::{JournalEntry, TurnProgress};
use ports::tool::ToolError;
use protocol::chunk::Chunk;
use protocol::message::{ToolCall, ToolOutcome};
use protocol::response::{BackgroundStatus, ResponseBody, ToolResponse};
use protocol::tool::ToolEffect;
use protocol::turn::FailureCode;

use super::background::move_to_background;
use super::begin_operation::begin_operation;
use super::decide::{CallHandling, PendingCall};
use super::leased_turn::LeasedTurn;
use super::output::{self, INTERRUPTED, result_chunk, result_row};
use super::tool_call::CallEnd;
use super::tool_caller::ToolCaller;
use super::turn_permits::TurnPermits;
use crate::job::halt::TurnHalt;
use crate::job::stop::StopCause;
use crate::job::waiting_calls::WaitingCalls;

pub(crate) async fn tool_step(
    calls: &ToolCaller,
    permits: &mut TurnPermits,
    progress: &TurnProgress,
    pending: Vec<PendingCall>,
) -> Result<(), TurnHalt> {
    let leased = calls.leased();
    journal_repeats(calls, &pending).await?;
    let waiting_calls = Arc::new(WaitingCalls::new(pending.len()));
    let mut running = FuturesUnordered::new();
    for pending in pending {
        running.push(run_call(calls, progress, pending, &waiting_calls));
    }
    loop {
        let done = tokio::select! {
            biased;
            done = running.next() => done,
            () = waiting_calls.all_waiting(), if !permits.have_yielded() => {
                permits.yield_both().await?;
                continue;
            }
            // A turn that only waits can wait in another process.
            () = shut_down_while_waiting(leased, &waiting_calls), if permits.have_yielded() => {
                return Err(TurnHalt::Stop(StopCause::Shutdown));
            }
        };
        match done {
            None => break,
            Some(Ok(())) => waiting_calls.call_finished(),
            Some(Err(halt)) => {
                // Let a result that is being stored finish first: ending the turn adds a result to every call without
                // one.
                tokio::select! {
                    biased;
                    _free = calls.writer.lock_writes() => {}
                    () = running.map(drop).collect() => {}
                }
                return Err(halt);
            }
        }
    }
    drop(running);
    leased.stop.check()?;
    calls.writer.chunks.emit(Chunk::FinishStep).await?;
    permits.reacquire().await
}

/// A repeated call counts as started again, which is stored before it runs.
async fn journal_repeats(calls: &ToolCaller, pending: &[PendingCall]) -> Result<(), TurnHalt> {
    let again: Vec<JournalEntry> = pending
        .iter()
        .filter(|pending| pending.handling == CallHandling::RunAgain)
        .map(|PendingCall { call, .. }| calls.intent(call))
        .collect();
    if again.is_empty() {
        return Ok(());
    }
    calls.writer.record(again).await
}

async fn run_call(
    calls: &ToolCaller,
    progress: &TurnProgress,
    pending: PendingCall,
    waiting_calls: &Arc<WaitingCalls>,
) -> Result<(), TurnHalt> {
    let stop = &calls.leased().stop;
    let PendingCall { call, handling } = pending;
    if handling == CallHandling::Interrupted {
        let response = ToolResponse::error("interrupted", INTERRUPTED);
        return store_result(calls, &call, response, ToolOutcome::Interrupted).await;
    }
    let checked = match calls.check(progress, &call) {
        Ok(checked) => checked,
        Err((refusal, outcome)) => return store_result(calls, &call, refusal, outcome).await,
    };
    stop.check()?;
    if checked.tool.spec().is_long_running(&checked.arguments) {
        return match calls.begin_operation(progress, &call, &checked, waiting_calls) {
            Ok(words) => begin_operation(calls, progress, &call, words).await,
            Err(ToolError::TellModel { code, message }) => {
                let refusal = ToolResponse::error(code, message);
                store_result(calls, &call, refusal, ToolOutcome::Error).await
            }
            Err(ToolError::Fatal(message)) => Err(TurnHalt::fail(FailureCode::Internal, message)),
        };
    }
    let budget = calls.budget(&*checked.tool);
    let repeatable = checked.tool.spec().effect != ToolEffect::Once;
    let mut running_call = calls.start_call(progress, &call, checked, waiting_calls);
    let ended = tokio::select! {
        biased;
        ended = running_call.wait() => ended,
        () = budget_elapsed(budget) => {
            return move_to_background(calls, progress, call, running_call).await;
        }
        cause = calls.stopped_after_grace() => return Err(cause.into()),
    };
    match ended {
        // An error of a call that a shutdown stopped is caused by the stop: the call is repeated elsewhere.
        CallEnd::Answer(_, ToolOutcome::Error) | CallEnd::Fatal
            if repeatable && stop.cause() == Some(StopCause::Shutdown) =>
        {
            Err(TurnHalt::Stop(StopCause::Shutdown))
        }
        CallEnd::Answer(response, outcome) => store_result(calls, &call, response, outcome).await,
        CallEnd::Fatal => Err(TurnHalt::fail(
            FailureCode::Internal,
            format!("The tool {} is not usable here.", running_call.tool),
        )),
    }
}

/// Stores the result of a call, then shows it. If it delivers the end of a background call, the same record marks that
/// as taken.
async fn store_result(
    calls: &ToolCaller,
    call: &ToolCall,
    response: ToolResponse,
    outcome: ToolOutcome,
) -> Result<(), TurnHalt> {
    let ToolCaller { writer, background_calls } = calls;
    let taken = match &response.body {
        ResponseBody::BackgroundToolStatus { status, background_id, .. }
            if *status != BackgroundStatus::StillRunning =>
        {
            Some(background_id.clone())
        }
        _ => None,
    };
    let output = output::session_output(&writer.leased, call, response).await;
    let taken = taken.and_then(|id| background_calls.ended_call(&id));
    let mut entries = vec![JournalEntry::Result(result_row(call, &output, outcome))];
    entries.extend(
        taken.iter().map(|call_id| JournalEntry::BackgroundTaken { call_id: call_id.clone() }),
    );
    writer.record_and_show(entries, result_chunk(call, output, outcome)).await?;
    if let Some(call) = taken {
        background_calls.remove(&call);
    }
    Ok(())
}

async fn budget_elapsed(budget: Option<Duration>) {
    match budget {
        Some(budget) => tokio::time::sleep(budget).await,
        None => std::future::pending().await,
    }
}

async fn shut_down_while_waiting(leased: &LeasedTurn, waiting_calls: &WaitingCalls) {
    leased.inner.shutdown_signal.stopping().await;
    waiting_calls.all_waiting().await;
}
