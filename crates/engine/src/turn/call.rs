//! One tool call: what must hold before it is made, what it is told, and the work itself, which may outlive its step.

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

use super::pause::Pause;
use super::services::{Report, States};
use super::{Attempt, output};
use crate::graph::{self, Runs};
use crate::sub_sessions::Delegation;
use crate::tasks::Kind;

/// A call that is being made. Dropping it ends it.
pub(super) struct Work {
    pub(super) tool: &'static str,
    pub(super) cancel: CancellationToken,
    pub(super) started: Instant,
    handle: AbortOnDropHandle<Result<ToolResponse, ToolError>>,
}

/// How a call ended by itself.
pub(super) enum Ended {
    Answer(ToolResponse, ToolOutcome),
    /// The turn cannot go on.
    Fatal,
}

/// A call that passed every check.
pub(super) struct Checked {
    pub(super) tool: Arc<dyn Tool>,
    arguments: serde_json::Value,
}

impl Attempt {
    /// What the call may be made with, or what to answer instead of making it.
    pub(super) fn check(
        &self,
        progress: &TurnProgress,
        call: &ToolCall,
    ) -> Result<Checked, (ToolResponse, ToolOutcome)> {
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
        Ok(Checked { tool, arguments })
    }

    /// Makes the call, as a task of its own: it must be able to outlive its step.
    pub(super) fn begin_work(
        &self,
        progress: &TurnProgress,
        call: &ToolCall,
        checked: Checked,
        pause: &Arc<Pause>,
    ) -> Work {
        let Checked { tool, arguments } = checked;
        let name = tool.spec().name;
        tracing::debug!(tool.name = name, call.id = %call.id, arguments = redact::for_log(&arguments), "tool call");
        let context = self.context(progress, call, &*tool, pause);
        let cancel = context.cancel.clone();
        let stop = self.stop.clone();
        let handle = self.inner.tasks.spawn(Kind::Tool, async move {
            // A process that was asleep for longer than its lease must not act for the turn any more. Looked at here,
            // because it may have slept since the call was decided on.
            if stop.now().is_some() {
                return Err(ToolError::tell("cancelled", output::CANCELLED));
            }
            tool.call(arguments, context).await
        });
        let handle = AbortOnDropHandle::new(handle);
        Work { tool: name, cancel, started: Instant::now(), handle }
    }

    /// How long the call may hold its step.
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
        pause: &Arc<Pause>,
    ) -> ToolContext {
        let idempotency_key = self.key(progress, &call.id);
        let cancel = self.stop.token().child_token();
        let services = CallServices {
            sub_sessions: Arc::new(Delegation {
                inner: self.inner.clone(),
                owner: progress.owner.clone(),
                session: progress.session.clone(),
                turn: self.turn.id.clone(),
                request: self.turn.request.clone(),
                key: idempotency_key.clone(),
                pause: pause.clone(),
                cancel: cancel.clone(),
            }),
            background: self.shelf.shared(),
            operations: Arc::new(States::new(&self.desk)),
            reports: Arc::new(Report::new(&self.desk, call)),
            agents: Arc::new(Runs {
                inner: self.inner.clone(),
                owner: progress.owner.clone(),
                session: progress.session.clone(),
                permissions: self.turn.request.permissions.clone(),
                key: idempotency_key.clone(),
                pause: pause.clone(),
                cancel: cancel.clone(),
                started: graph::started(&progress.messages),
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
            operation: self.carried_out(&call.id).map(|operation| OperationHandle {
                operation_id: operation.id.clone(),
                task_id: self.turn.id.task(),
            }),
            services,
        }
    }

    /// The operation whose call this is: a turn that carries one out makes other calls too, when it goes on with the
    /// conversation.
    fn carried_out(&self, call: &CallId) -> Option<&OperationRef> {
        self.turn.operation.as_ref().filter(|operation| operation.call_id == *call)
    }

    /// `turn/step/call`: the same whenever the call is made again. The call of an operation was asked for by another
    /// turn, and its operation is made for it alone.
    pub(super) fn key(&self, progress: &TurnProgress, call: &CallId) -> String {
        if let Some(operation) = self.carried_out(call) {
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

impl Work {
    /// Returns when the call has ended. Dropping the future leaves it at work.
    pub(super) async fn ended(&mut self) -> Ended {
        let ended = (&mut self.handle).await;
        metrics::histogram!("pilothouse_tool_seconds", "tool" => self.tool)
            .record(self.started.elapsed());
        match ended {
            Ok(Ok(response)) => {
                let outcome =
                    if response.is_error() { ToolOutcome::Error } else { ToolOutcome::Ok };
                Ended::Answer(response, outcome)
            }
            Ok(Err(ToolError::TellModel { code, message })) => {
                Ended::Answer(ToolResponse::error(code, message), ToolOutcome::Error)
            }
            Ok(Err(ToolError::Fatal(message))) => {
                tracing::error!(tool.name = self.tool, error = message, "a tool failed for good");
                Ended::Fatal
            }
            Err(_panic) => {
                tracing::error!(tool.name = self.tool, "a tool panicked");
                let words = format!("{} crashed.", self.tool);
                Ended::Answer(ToolResponse::error("tool_crashed", words), ToolOutcome::Error)
            }
        }
    }
}
