//! One tool call: the checks before it, its context, and the running call itself, which may outlive its step.

use std::sync::Arc;

use ports::Tool;
use ports::call_services::CallServices;
use ports::store::TurnProgress;
use ports::tool::{OperationHandle, ToolContext, ToolError};
use protocol::CallId;
use protocol::message::{ToolCall, ToolOutcome};
use protocol::redact;
use protocol::response::{ResponseBody, ToolResponse};
use protocol::session::Owner;
use protocol::tool::TimeBudget;
use protocol::turn::OperationRef;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::call_services::{OperationLookup, ProgressReporter};
use super::waiting_calls::WaitingCalls;
use super::{TurnAttempt, output};
use crate::graph::{self, AgentExecutionService};
use crate::sub_sessions::SubSessionService;
use crate::tasks::TaskKind;

/// A running call. Dropping it aborts the call.
pub(super) struct RunningCall {
    pub(super) tool: &'static str,
    pub(super) cancel: CancellationToken,
    pub(super) started: Instant,
    handle: AbortOnDropHandle<Result<ToolResponse, ToolError>>,
}

/// How a call ended by itself.
pub(super) enum CallEnd {
    Answer(ToolResponse, ToolOutcome),
    /// The turn cannot continue.
    Fatal,
}

/// A call that passed all checks.
pub(super) struct CheckedCall {
    pub(super) tool: Arc<dyn Tool>,
    arguments: serde_json::Value,
}

impl TurnAttempt {
    /// Checks the call. `Err` is the result to return instead of making it.
    pub(super) fn check(
        &self,
        progress: &TurnProgress,
        call: &ToolCall,
    ) -> Result<CheckedCall, (ToolResponse, ToolOutcome)> {
        if !self.turn.request.permissions.allow_tool(&call.name) {
            let words = format!("{} may not be used here.", call.name);
            return Err((ToolResponse::error("permission_denied", words), ToolOutcome::Denied));
        }
        let (tool, arguments) =
            self.inner.tools.check(call).map_err(|refusal| (refusal, ToolOutcome::Error))?;
        if tool.spec().requires_auth && progress.owner == Owner::Anonymous {
            let words = format!("Sign in to use {}.", tool.spec().name);
            return Err((ToolResponse::new(words, ResponseBody::NeedLogin), ToolOutcome::Denied));
        }
        Ok(CheckedCall { tool, arguments })
    }

    /// Starts the call in a task of its own, because it may outlive its step.
    pub(super) fn start_call(
        &self,
        progress: &TurnProgress,
        call: &ToolCall,
        checked: CheckedCall,
        waiting_calls: &Arc<WaitingCalls>,
    ) -> RunningCall {
        let CheckedCall { tool, arguments } = checked;
        let name = tool.spec().name;
        tracing::debug!(tool.name = name, call.id = %call.id, arguments = redact::for_log(&arguments), "tool call");
        let context = self.context(progress, call, &*tool, waiting_calls);
        let cancel = context.cancel.clone();
        let stop = self.stop.clone();
        let handle = self.inner.tasks.spawn(TaskKind::Tool, async move {
            // A process that slept for longer than its lease must not act for the turn any more. Checked here, because
            // it may have slept since the call was decided.
            if stop.cause().is_some() {
                return Err(ToolError::tell("cancelled", output::CANCELLED));
            }
            tool.call(arguments, context).await
        });
        let handle = AbortOnDropHandle::new(handle);
        RunningCall { tool: name, cancel, started: Instant::now(), handle }
    }

    /// How long the call may hold up its step.
    pub(super) fn budget(&self, tool: &dyn Tool) -> Option<std::time::Duration> {
        let most = self.inner.options.tool_budget;
        match tool.spec().budget {
            TimeBudget::Default => Some(most),
            TimeBudget::AtMost(limit) => Some(limit.min(most)),
            TimeBudget::Own => None,
        }
    }

    fn context(
        &self,
        progress: &TurnProgress,
        call: &ToolCall,
        tool: &dyn Tool,
        waiting_calls: &Arc<WaitingCalls>,
    ) -> ToolContext {
        let idempotency_key = self.idempotency_key(progress, &call.id);
        let cancel = self.stop.token().child_token();
        let services = CallServices {
            sub_sessions: Arc::new(SubSessionService {
                inner: self.inner.clone(),
                owner: progress.owner.clone(),
                session: progress.session.clone(),
                turn: self.turn.id.clone(),
                request: self.turn.request.clone(),
                key: idempotency_key.clone(),
                waiting_calls: waiting_calls.clone(),
                cancel: cancel.clone(),
            }),
            background: self.background_calls.shared(),
            operations: Arc::new(OperationLookup::new(&self.writer)),
            reports: Arc::new(ProgressReporter::new(&self.writer, call)),
            agents: Arc::new(AgentExecutionService {
                inner: self.inner.clone(),
                owner: progress.owner.clone(),
                session: progress.session.clone(),
                permissions: self.turn.request.permissions.clone(),
                key: idempotency_key.clone(),
                waiting_calls: waiting_calls.clone(),
                cancel: cancel.clone(),
                started: graph::count_started(&progress.messages),
            }),
        };
        ToolContext {
            owner: progress.owner.clone(),
            session_id: progress.session.id.clone(),
            turn_id: self.turn.id.clone(),
            call_id: call.id.clone(),
            idempotency_key,
            dry_run: progress.session.dry_run,
            budget: self.budget(tool),
            cancel,
            permissions: self.turn.request.permissions.clone(),
            operation: self.own_operation(&call.id).map(|operation| OperationHandle {
                operation_id: operation.id.clone(),
                task_id: self.turn.id.task(),
            }),
            services,
        }
    }

    /// The operation that this call carries out, if any: a turn that carries one out makes other calls too, when it
    /// continues the conversation.
    fn own_operation(&self, call: &CallId) -> Option<&OperationRef> {
        self.turn.operation.as_ref().filter(|operation| operation.call_id == *call)
    }

    /// `turn/step/call`: the same whenever the call is repeated. The call of an operation was requested by another
    /// turn, so its key is the operation's id.
    pub(super) fn idempotency_key(&self, progress: &TurnProgress, call: &CallId) -> String {
        if let Some(operation) = self.own_operation(call) {
            return format!("operation/{}", operation.id);
        }
        let asked = progress
            .messages
            .iter()
            .filter(|row| row.turn_id == self.turn.id && !row.tool_calls.is_empty())
            .position(|row| row.tool_calls.iter().any(|asked| asked.id == *call));
        format!("{}/{}/{call}", self.turn.id, asked.map_or(0, |at| at + 1))
    }
}

impl RunningCall {
    /// Returns when the call has ended. Dropping the future does not stop the call.
    pub(super) async fn wait(&mut self) -> CallEnd {
        let ended = (&mut self.handle).await;
        metrics::histogram!("pilothouse_tool_seconds", "tool" => self.tool)
            .record(self.started.elapsed());
        match ended {
            Ok(Ok(response)) => {
                let outcome =
                    if response.is_error() { ToolOutcome::Error } else { ToolOutcome::Ok };
                CallEnd::Answer(response, outcome)
            }
            Ok(Err(ToolError::TellModel { code, message })) => {
                CallEnd::Answer(ToolResponse::error(code, message), ToolOutcome::Error)
            }
            Ok(Err(ToolError::Fatal(message))) => {
                tracing::error!(
                    tool.name = self.tool,
                    error = message,
                    "a tool failed with a fatal error"
                );
                CallEnd::Fatal
            }
            Err(_panic) => {
                tracing::error!(tool.name = self.tool, "a tool panicked");
                let words = format!("{} crashed.", self.tool);
                CallEnd::Answer(ToolResponse::error("tool_crashed", words), ToolOutcome::Error)
            }
        }
    }
}
