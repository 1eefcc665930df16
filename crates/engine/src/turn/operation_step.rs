//! Carries out an operation: the turn that was opened for it makes the call, shows the result in its own log, and
//! continues the conversation when it is next in line.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use ports::Fenced;
use ports::store::{JournalEntry, OperationKey, TurnProgress};
use protocol::CallId;
use protocol::chunk::Chunk;
use protocol::message::{ToolCall, ToolOutcome};
use protocol::operation::{Operation, OperationResult, OperationState};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::text::scrub;
use serde_json::{Value, json};

use super::decide::{self, CallHandling};
use super::leased_turn::LeasedTurn;
use super::output::{self, INTERRUPTED, result_chunk, session_response};
use super::recorder::ChunkWriter;
use super::tool_call::CallEnd;
use super::tool_caller::ToolCaller;
use super::tool_list::arguments;
use crate::job::halt::TurnHalt;
use crate::job::retry::retry_while_leased;
use crate::job::waiting_calls::WaitingCalls;

/// How often an operation is polled while its service has not answered.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Advances the operation as far as possible. Returns when the conversation can continue with its result.
/// `journaled_now` are the calls journaled by this attempt.
pub(crate) async fn operation_step(
    calls: &ToolCaller,
    progress: &TurnProgress,
    operation: &Operation,
    journaled_now: &HashSet<CallId>,
) -> Result<(), TurnHalt> {
    let leased = calls.leased();
    let LeasedTurn { inner, claim, stop, .. } = &**leased;
    let chunks = &calls.writer.chunks;
    show_call(chunks, &operation.call).await?;
    let result = match (&operation.result, operation.state) {
        (Some(result), _) => result.clone(),
        (None, OperationState::Running | OperationState::Ended) => {
            let result = make_call(calls, progress, operation, journaled_now).await?;
            complete(leased, operation, result).await?
        }
        // No completion was reported within the time limit.
        (None, OperationState::Accepted) => {
            let body = ResponseBody::Error {
                error: Some("operation_timed_out".into()),
                details: None,
                execution_id: None,
            };
            let words = "The operation was not completed in time.";
            let output = session_response(leased, words, body).to_string();
            let result = OperationResult { output, outcome: ToolOutcome::Error };
            complete(leased, operation, result).await?
        }
    };
    show_result(chunks, &operation.call, &result).await?;
    chunks.flushed().await?;
    stop.begin_release();
    match retry_while_leased(stop, || inner.ports.operations.line_up(claim)).await? {
        Fenced::Done(true) => {
            stop.keep_claim();
            Ok(())
        }
        // Another turn goes first, and the claim is released. A lost answer looks the same.
        Fenced::Done(false) | Fenced::Stale => Err(TurnHalt::Released),
    }
}

async fn make_call(
    calls: &ToolCaller,
    progress: &TurnProgress,
    operation: &Operation,
    journaled_now: &HashSet<CallId>,
) -> Result<OperationResult, TurnHalt> {
    let leased = calls.leased();
    let call = &operation.call;
    if decide::call_handling(progress, call, journaled_now) == CallHandling::Interrupted {
        let output = json!(ToolResponse::error("interrupted", INTERRUPTED)).to_string();
        return Ok(OperationResult { output, outcome: ToolOutcome::Interrupted });
    }
    let checked = match calls.check(progress, call) {
        Ok(checked) => checked,
        Err((refusal, outcome)) => return Ok(result(leased, call, refusal, outcome).await),
    };
    let effect = checked.tool.spec().effect;
    calls.writer.record(vec![JournalEntry::Intent { call_id: call.id.clone(), effect }]).await?;
    leased.stop.check()?;
    let mut running_call =
        calls.start_call(progress, call, checked, &Arc::new(WaitingCalls::new(0)));
    let ended = tokio::select! {
        biased;
        ended = running_call.wait() => ended,
        cause = calls.stopped_after_grace() => return Err(cause.into()),
        // Dropping the running call ends it: its answer is no longer needed.
        result = completed_elsewhere(leased, operation) => return Ok(result),
    };
    // The error of a stopped call is caused by the stop and is not a result of the operation.
    if let (Some(cause), CallEnd::Answer(_, ToolOutcome::Error) | CallEnd::Fatal) =
        (leased.stop.cause(), &ended)
    {
        return Err(cause.into());
    }
    match ended {
        CallEnd::Answer(response, _)
            if matches!(response.body, ResponseBody::OperationStarted { .. }) =>
        {
            release_until_completed(calls).await
        }
        CallEnd::Answer(response, outcome) => Ok(result(leased, call, response, outcome).await),
        CallEnd::Fatal => {
            let words = format!("The tool {} is not usable here.", call.name);
            let refusal = ToolResponse::error("tool_unusable", words);
            Ok(result(leased, call, refusal, ToolOutcome::Error).await)
        }
    }
}

/// Returns when the operation was completed from outside while its service still holds the request.
async fn completed_elsewhere(leased: &LeasedTurn, operation: &Operation) -> OperationResult {
    let LeasedTurn { inner, workspace, .. } = leased;
    let which = OperationKey::Operation(operation.id.clone());
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let found = inner.ports.operations.get(&workspace.owner, &which).await;
        // Keep polling while the store is unavailable; the lease limits how long.
        if let Ok(Some(Operation { result: Some(result), .. })) = found {
            return result;
        }
    }
}

/// The work continues elsewhere: releases the claim until the completion is reported.
async fn release_until_completed(calls: &ToolCaller) -> Result<OperationResult, TurnHalt> {
    let LeasedTurn { inner, claim, stop, .. } = &**calls.leased();
    calls.writer.chunks.flushed().await?;
    let at_most = inner.options.operation_time;
    stop.begin_release();
    let accepted = || inner.ports.operations.accepted(claim, at_most);
    if let Fenced::Done(()) = retry_while_leased(stop, accepted).await? {
        tracing::info!("the operation was accepted and waits for its completion");
    }
    Err(TurnHalt::Released)
}

async fn result(
    leased: &LeasedTurn,
    call: &ToolCall,
    response: ToolResponse,
    outcome: ToolOutcome,
) -> OperationResult {
    let output = output::session_output(leased, call, response).await;
    OperationResult { output: output.to_string(), outcome }
}

/// Uses the same path as completions from outside. The first completion wins.
async fn complete(
    leased: &LeasedTurn,
    operation: &Operation,
    result: OperationResult,
) -> Result<OperationResult, TurnHalt> {
    let which = OperationKey::Operation(operation.id.clone());
    retry_while_leased(&leased.stop, || leased.inner.complete(&which, result.clone())).await?;
    let stored = leased.progress().await?.operation.and_then(|operation| operation.result);
    Ok(stored.unwrap_or(result))
}

/// The operation's stream needs the call as well as its result: clients reject a result without a call.
async fn show_call(chunks: &ChunkWriter, call: &ToolCall) -> Result<(), TurnHalt> {
    if chunks.has_seen(&call.id) {
        return Ok(());
    }
    let input = scrub(arguments(call).unwrap_or(Value::Null));
    let (tool_call_id, tool_name) = (call.id.clone(), call.name.clone());
    let call = Chunk::ToolInputAvailable { tool_call_id, tool_name, input };
    chunks.emit_all(vec![Chunk::StartStep, call]).await
}

async fn show_result(
    chunks: &ChunkWriter,
    call: &ToolCall,
    result: &OperationResult,
) -> Result<(), TurnHalt> {
    if !chunks.is_unanswered(&call.id) {
        return Ok(());
    }
    let output = serde_json::from_str(&result.output).unwrap_or(Value::Null);
    chunks.emit_all(vec![result_chunk(call, output, result.outcome), Chunk::FinishStep]).await
}
