//! Operations: starts one for a call, and runs the turn that carries it out. That turn makes the call, shows the result
//! in its own log, and continues the conversation when it is next in line.

use std::sync::Arc;
use std::time::Duration;

use ports::Fenced;
use ports::store::{JournalEntry, NewOperation, OperationBegun, OperationKey, TurnProgress};
use protocol::OperationId;
use protocol::chunk::Chunk;
use protocol::message::{ToolCall, ToolOutcome};
use protocol::operation::{Operation, OperationResult, OperationState};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::text::scrub;
use serde_json::{Value, json};

use super::TurnAttempt;
use super::decide::{self, CallHandling};
use super::halt::TurnHalt;
use super::output::{self, INTERRUPTED, result_chunk, result_row};
use super::tool_call::CallEnd;
use super::tool_list::arguments;
use super::waiting_calls::WaitingCalls;
use crate::deterministic_id;
use crate::retry::{retry_fenced, retry_while_leased};
use crate::submit::PUSH_GRACE;

/// How often an operation is polled while its service has not answered.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

impl TurnAttempt {
    /// Answers the call with the operation's ids; a separate turn carries it out.
    pub(super) async fn begin_operation(
        &self,
        progress: &TurnProgress,
        call: &ToolCall,
    ) -> Result<(), TurnHalt> {
        let key = self.idempotency_key(progress, &call.id);
        let id = OperationId(deterministic_id::uuid("operation", &key));
        let turn_id = protocol::TurnId(deterministic_id::uuid("task", &key));
        let (operation_id, task_id) = (id.clone(), Some(turn_id.task()));
        let tool_name = call.name.clone();
        let pending = self.response(
            "The operation is running. Its result will appear here when it has ended.",
            ResponseBody::OperationPending {
                operation_id: operation_id.clone(),
                tool_name: tool_name.clone(),
                task_id: task_id.clone(),
            },
        );
        let started = self.response(
            "The operation was started. The conversation continues by itself when it has ended.",
            ResponseBody::OperationStarted { operation_id, tool_name, task_id },
        );
        let new = NewOperation {
            id,
            turn_id: turn_id.clone(),
            call: call.clone(),
            pending: result_row(call, &pending, ToolOutcome::Ok),
            request: self.turn.request.clone(),
            push_grace: PUSH_GRACE,
        };
        let _lock = self.writer.lock_writes().await;
        let begin = || self.inner.ports.operations.begin(&self.claim, new.clone());
        let (output, outcome) = match retry_fenced(&self.stop, begin).await? {
            OperationBegun::New { due, .. } => {
                metrics::counter!("pilothouse_operations_started_total").increment(1);
                if due {
                    self.inner.push(&turn_id).await;
                }
                (started, ToolOutcome::Ok)
            }
            OperationBegun::Exists(_) => {
                let body = ResponseBody::OperationInProgress { tool_call_id: call.id.clone() };
                (self.response("The operation is already running.", body), ToolOutcome::Ok)
            }
            OperationBegun::TooMany => {
                let words = "This session has the maximum number of running operations. Wait for one to end.";
                let refusal = json!(ToolResponse::error("too_many_operations", words));
                let row = JournalEntry::Result(result_row(call, &refusal, ToolOutcome::Error));
                self.writer.record_locked(vec![row]).await?;
                (refusal, ToolOutcome::Error)
            }
        };
        self.recorder.emit(result_chunk(call, output, outcome)).await
    }

    fn response(&self, words: &str, body: ResponseBody) -> Value {
        let mut response = ToolResponse::new(words, body);
        response.session_id = Some(self.writer.workspace.session.clone());
        json!(response)
    }

    /// Advances the operation as far as possible. Returns when the conversation can continue with its result.
    pub(super) async fn operation_step(
        &self,
        progress: &TurnProgress,
        operation: &Operation,
    ) -> Result<(), TurnHalt> {
        self.show_call(&operation.call).await?;
        let result = match (&operation.result, operation.state) {
            (Some(result), _) => result.clone(),
            (None, OperationState::Running | OperationState::Ended) => {
                let result = self.make_call(progress, operation).await?;
                self.complete(operation, result).await?
            }
            // No completion was reported within the time limit.
            (None, OperationState::Accepted) => {
                let words = "The operation was not completed in time.";
                let output = self.response(
                    words,
                    ResponseBody::Error {
                        error: Some("operation_timed_out".into()),
                        details: None,
                        execution_id: None,
                    },
                );
                let result =
                    OperationResult { output: output.to_string(), outcome: ToolOutcome::Error };
                self.complete(operation, result).await?
            }
        };
        self.show_result(&operation.call, &result).await?;
        self.recorder.flushed().await?;
        self.stop.begin_release();
        let line_up = || self.inner.ports.operations.line_up(&self.claim);
        match retry_while_leased(&self.stop, line_up).await? {
            Fenced::Done(true) => {
                self.stop.keep_claim();
                Ok(())
            }
            // Another turn goes first, and the claim is released. A lost answer looks the same.
            Fenced::Done(false) | Fenced::Stale => Err(TurnHalt::Released),
        }
    }

    async fn make_call(
        &self,
        progress: &TurnProgress,
        operation: &Operation,
    ) -> Result<OperationResult, TurnHalt> {
        let call = &operation.call;
        if decide::call_handling(progress, call, &self.journaled_now) == CallHandling::Interrupted {
            return Ok(self.interrupted());
        }
        let checked = match self.check(progress, call) {
            Ok(checked) => checked,
            Err((refusal, outcome)) => return Ok(self.result(call, refusal, outcome).await),
        };
        let effect = checked.tool.spec().effect;
        self.writer.record(vec![JournalEntry::Intent { call_id: call.id.clone(), effect }]).await?;
        if let Some(reason) = self.stop.cause() {
            return Err(TurnHalt::Stop(reason));
        }
        let mut running_call =
            self.start_call(progress, call, checked, &Arc::new(WaitingCalls::new(0)));
        let ended = tokio::select! {
            biased;
            ended = running_call.wait() => ended,
            reason = self.stopped_after_grace() => return Err(TurnHalt::Stop(reason)),
            // Dropping the running call ends it: its answer is no longer needed.
            result = self.completed_elsewhere(operation) => return Ok(result),
        };
        // The error of a stopped call is caused by the stop and is not a result of the operation.
        if let (Some(reason), CallEnd::Answer(_, ToolOutcome::Error) | CallEnd::Fatal) =
            (self.stop.cause(), &ended)
        {
            return Err(TurnHalt::Stop(reason));
        }
        match ended {
            CallEnd::Answer(response, _)
                if matches!(response.body, ResponseBody::OperationStarted { .. }) =>
            {
                self.release_until_completed().await
            }
            CallEnd::Answer(response, outcome) => Ok(self.result(call, response, outcome).await),
            CallEnd::Fatal => {
                let words = format!("The tool {} is not usable here.", call.name);
                let refusal = ToolResponse::error("tool_unusable", words);
                Ok(self.result(call, refusal, ToolOutcome::Error).await)
            }
        }
    }

    /// Returns when the operation was completed from outside while its service still holds the request.
    async fn completed_elsewhere(&self, operation: &Operation) -> OperationResult {
        let which = OperationKey::Operation(operation.id.clone());
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            let found = self.inner.ports.operations.get(&self.writer.workspace.owner, &which).await;
            // Keep polling while the store is unavailable; the lease limits how long.
            if let Ok(Some(Operation { result: Some(result), .. })) = found {
                return result;
            }
        }
    }

    /// The work continues elsewhere: releases the claim until the completion is reported.
    async fn release_until_completed(&self) -> Result<OperationResult, TurnHalt> {
        self.recorder.flushed().await?;
        let at_most = self.inner.options.operation_time;
        self.stop.begin_release();
        let accepted = || self.inner.ports.operations.accepted(&self.claim, at_most);
        if let Fenced::Done(()) = retry_while_leased(&self.stop, accepted).await? {
            tracing::info!("the operation was accepted and waits for its completion");
        }
        Err(TurnHalt::Released)
    }

    async fn result(
        &self,
        call: &ToolCall,
        mut response: ToolResponse,
        outcome: ToolOutcome,
    ) -> OperationResult {
        let workspace = &self.writer.workspace;
        response.session_id = Some(workspace.session.clone());
        let output =
            output::limit_output(&*self.inner.ports.files, workspace, call, &response).await;
        OperationResult { output: output.to_string(), outcome }
    }

    fn interrupted(&self) -> OperationResult {
        let output = json!(ToolResponse::error("interrupted", INTERRUPTED));
        OperationResult { output: output.to_string(), outcome: ToolOutcome::Interrupted }
    }

    /// Uses the same path as completions from outside. The first completion wins.
    async fn complete(
        &self,
        operation: &Operation,
        result: OperationResult,
    ) -> Result<OperationResult, TurnHalt> {
        let which = OperationKey::Operation(operation.id.clone());
        retry_while_leased(&self.stop, || self.inner.complete(&which, result.clone())).await?;
        let stored = self.writer.progress().await?.operation.and_then(|operation| operation.result);
        Ok(stored.unwrap_or(result))
    }

    /// The operation's stream needs the call as well as its result: clients reject a result without a call.
    async fn show_call(&self, call: &ToolCall) -> Result<(), TurnHalt> {
        if self.recorder.has_seen(&call.id) {
            return Ok(());
        }
        let input = scrub(arguments(call).unwrap_or(Value::Null));
        let (tool_call_id, tool_name) = (call.id.clone(), call.name.clone());
        self.recorder
            .emit_all(vec![
                Chunk::StartStep,
                Chunk::ToolInputAvailable { tool_call_id, tool_name, input },
            ])
            .await
    }

    async fn show_result(&self, call: &ToolCall, result: &OperationResult) -> Result<(), TurnHalt> {
        if !self.recorder.is_unanswered(&call.id) {
            return Ok(());
        }
        let output = serde_json::from_str(&result.output).unwrap_or(Value::Null);
        let chunks = vec![result_chunk(call, output, result.outcome), Chunk::FinishStep];
        self.recorder.emit_all(chunks).await
    }
}
