//! Makes the tool calls of a turn: checks them, gives them their context, and starts them.

use std::sync::Arc;
use std::time::Duration;

use ports::Tool;
use ports::call_services::CallServices;
use ports::store::{JournalEntry, TurnProgress};
use ports::tool::{OperationHandle, OperationWords, ToolContext, ToolError};
use protocol::CallId;
use protocol::message::{ToolCall, ToolOutcome};
use protocol::redact;
use protocol::response::{ResponseBody, ToolResponse};
use protocol::session::Owner;
use protocol::tool::TimeBudget;
use protocol::turn::OperationRef;

use super::background::{CANCEL_GRACE, OwnedBackgroundCalls};
use super::call_services::{OperationLookup, ProgressReporter};
use super::leased_turn::LeasedTurn;
use super::output;
use super::tool_call::{CheckedCall, RunningCall};
use super::turn_writer::TurnWriter;
use crate::execution::{self, AgentExecutionService};
use crate::graph::{AgentBuilder, called_tools};
use crate::job::stop::StopCause;
use crate::job::waiting_calls::WaitingCalls;
use crate::operations::operation_key;
use crate::sub_sessions::SubSessionService;
use crate::tasks::TaskKind;

pub(crate) struct ToolCaller {
    pub(crate) writer: TurnWriter,
    pub(crate) background_calls: OwnedBackgroundCalls,
}

impl ToolCaller {
    pub(crate) fn new(writer: TurnWriter, background_calls: OwnedBackgroundCalls) -> Self {
        Self { writer, background_calls }
    }

    pub(crate) fn leased(&self) -> &Arc<LeasedTurn> {
        &self.writer.leased
    }

    /// Checks the call. `Err` is the result to return instead of making it.
    pub(crate) fn check(
        &self,
        progress: &TurnProgress,
        call: &ToolCall,
    ) -> Result<CheckedCall, (ToolResponse, ToolOutcome)> {
        let LeasedTurn { inner, turn, .. } = &**self.leased();
        if !turn.request.permissions.allow_tool(&call.name) {
            let words = format!("{} may not be used here.", call.name);
            return Err((ToolResponse::error("permission_denied", words), ToolOutcome::Denied));
        }
        let (tool, arguments) =
            inner.tools.check(call).map_err(|refusal| (refusal, ToolOutcome::Error))?;
        if tool.spec().requires_auth && progress.owner == Owner::Anonymous {
            let words = format!("Sign in to use {}.", tool.spec().name);
            return Err((ToolResponse::new(words, ResponseBody::NeedLogin), ToolOutcome::Denied));
        }
        Ok(CheckedCall { tool, arguments })
    }

    /// Asks the tool whether the call may become an operation, and what to say about it.
    pub(crate) fn begin_operation(
        &self,
        progress: &TurnProgress,
        call: &ToolCall,
        checked: &CheckedCall,
        waiting_calls: &Arc<WaitingCalls>,
    ) -> Result<OperationWords, ToolError> {
        let context = self.context(progress, call, &*checked.tool, waiting_calls);
        checked.tool.begin_operation(&checked.arguments, &context)
    }

    /// Starts the call in a task of its own, because it may outlive its step.
    pub(crate) fn start_call(
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
        let stop = self.leased().stop.clone();
        let task = self.leased().inner.tasks.spawn(TaskKind::Tool, async move {
            // A process that slept for longer than its lease must not act for the turn any more. Checked here, because
            // it may have slept since the call was decided.
            if stop.cause().is_some() {
                return Err(ToolError::tell("cancelled", output::CANCELLED));
            }
            tool.call(arguments, context).await
        });
        RunningCall::new(name, cancel, task)
    }

    /// The journal entry that precedes the call.
    pub(crate) fn intent(&self, call: &ToolCall) -> JournalEntry {
        let effect = self.leased().inner.tools.effect(&call.name);
        JournalEntry::Intent { call_id: call.id.clone(), effect }
    }

    /// How long the call may hold up its step.
    pub(crate) fn budget(&self, tool: &dyn Tool) -> Option<Duration> {
        let most = self.leased().inner.options.tool_budget;
        match tool.spec().budget {
            TimeBudget::Default => Some(most),
            TimeBudget::AtMost(limit) => Some(limit.min(most)),
            TimeBudget::Own => None,
        }
    }

    /// After a stop a tool has a short time to return its result; then it is dropped.
    pub(crate) async fn stopped_after_grace(&self) -> StopCause {
        let cause = self.leased().stop.stopped().await;
        tokio::time::sleep(CANCEL_GRACE).await;
        cause
    }

    fn context(
        &self,
        progress: &TurnProgress,
        call: &ToolCall,
        tool: &dyn Tool,
        waiting_calls: &Arc<WaitingCalls>,
    ) -> ToolContext {
        let LeasedTurn { inner, turn, stop, .. } = &**self.leased();
        let idempotency_key = self.idempotency_key(progress, &call.id);
        let cancel = stop.token().child_token();
        let reports = Arc::new(ProgressReporter::new(&self.writer, call));
        let operation = self.own_operation(&call.id).map(|operation| OperationHandle {
            operation_id: operation.id.clone(),
            task_id: turn.id.task(),
        });
        let services = CallServices {
            sub_sessions: Arc::new(SubSessionService {
                inner: inner.clone(),
                owner: progress.owner.clone(),
                session: progress.session.clone(),
                turn: turn.id.clone(),
                request: turn.request.clone(),
                key: idempotency_key.clone(),
                waiting_calls: waiting_calls.clone(),
                cancel: cancel.clone(),
            }),
            background: self.background_calls.shared(),
            operations: Arc::new(OperationLookup::new(self.leased().clone())),
            reports: reports.clone(),
            building: Arc::new(AgentBuilder {
                inner: inner.clone(),
                owner: progress.owner.clone(),
                key: idempotency_key.clone(),
                called: called_tools(&progress.messages),
                reports: operation.is_some().then_some(reports),
            }),
            agents: Arc::new(AgentExecutionService {
                inner: inner.clone(),
                owner: progress.owner.clone(),
                session: progress.session.clone(),
                permissions: turn.request.permissions.clone(),
                key: idempotency_key.clone(),
                waiting_calls: waiting_calls.clone(),
                cancel: cancel.clone(),
                started: execution::count_started(&progress.messages),
            }),
        };
        ToolContext {
            owner: progress.owner.clone(),
            session_id: progress.session.id.clone(),
            turn_id: turn.id.clone(),
            call_id: call.id.clone(),
            idempotency_key,
            dry_run: progress.session.dry_run,
            budget: self.budget(tool),
            cancel,
            permissions: turn.request.permissions.clone(),
            operation,
            services,
        }
    }

    /// The operation that this call carries out, if any: a turn that carries one out makes other calls too, when it
    /// continues the conversation.
    fn own_operation(&self, call: &CallId) -> Option<&OperationRef> {
        self.leased().turn.operation.as_ref().filter(|operation| operation.call_id == *call)
    }

    /// `turn/step/call`: the same whenever the call is repeated. The call of an operation was requested by another
    /// turn, so its key is the operation's id.
    pub(crate) fn idempotency_key(&self, progress: &TurnProgress, call: &CallId) -> String {
        if let Some(operation) = self.own_operation(call) {
            return operation_key(&operation.id);
        }
        let turn = &self.leased().turn.id;
        let asked = progress
            .messages
            .iter()
            .filter(|row| row.turn_id == *turn && !row.tool_calls.is_empty())
            .position(|row| row.tool_calls.iter().any(|asked| asked.id == *call));
        format!("{turn}/{}/{call}", asked.map_or(0, |at| at + 1))
    }
}
