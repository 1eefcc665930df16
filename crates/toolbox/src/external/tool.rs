//! Calls an external tool: one POST to the operator's service.

use std::time::Duration;

use async_trait::async_trait;
use ports::Tool;
use ports::tool::{OperationHandle, ToolContext, ToolError, ToolExample};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{LongRunning, TimeBudget, ToolSpec};
use protocol::{CallId, OperationId, SessionId, TaskId, TurnId, UserId};
use reqwest::Client;
use reqwest::header::AUTHORIZATION;
use serde::Serialize;
use serde_json::{Value, json};

use super::description::{ExternalToolDescription, ToolSecret};
use super::response;
use crate::operator_http;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Detects a dead peer while a response may still take long.
const KEEPALIVE: Duration = Duration::from_secs(30);

pub(crate) struct ExternalTool {
    spec: ToolSpec,
    client: Client,
    url: url::Url,
    secret: Option<ToolSecret>,
    /// Base URL at which the service reaches this server, without a trailing slash.
    callback_base: Option<String>,
}

/// The request body. Its field names are a contract with third-party services.
#[derive(Serialize)]
struct ExternalToolRequest<'a> {
    tool: &'a str,
    arguments: &'a Value,
    session_id: &'a SessionId,
    turn_id: &'a TurnId,
    tool_call_id: &'a CallId,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<&'a UserId>,
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation_id: Option<&'a OperationId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<&'a TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    callback_url: Option<String>,
}

impl ExternalTool {
    pub(crate) fn new(
        tool: ExternalToolDescription,
        callback_base: Option<&str>,
    ) -> Result<Self, String> {
        let client = operator_http::client(&tool.url, CONNECT_TIMEOUT)
            .tcp_keepalive(KEEPALIVE)
            .build()
            .map_err(|error| {
                let name = &tool.name;
                format!(
                    "Could not create an HTTPS client for the external tool \"{name}\": {error}."
                )
            })?;
        let budget = |seconds| TimeBudget::AtMost(Duration::from_secs(u64::from(seconds)));
        let effect = tool.effect();
        let long_running = if tool.long_running { LongRunning::Always } else { LongRunning::Never };
        // Leaked on purpose: tools are created once and live as long as the process.
        let spec = ToolSpec {
            parameters: tool.parameters,
            requires_auth: tool.requires_auth,
            long_running,
            budget: tool.budget_seconds.map_or(TimeBudget::Default, budget),
            effect,
            ..ToolSpec::new(tool.name.leak(), tool.description.leak())
        };
        let callback_base = callback_base.map(|base| base.trim_end_matches('/').to_owned());
        Ok(Self { spec, client, url: tool.url, secret: tool.secret, callback_base })
    }

    async fn send(
        &self,
        arguments: &Value,
        context: &ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let operation = context.operation.as_ref();
        let body = ExternalToolRequest {
            tool: self.spec.name,
            arguments,
            session_id: &context.session_id,
            turn_id: &context.turn_id,
            tool_call_id: &context.call_id,
            user_id: context.owner.user(),
            dry_run: context.dry_run,
            operation_id: operation.map(|operation| &operation.operation_id),
            task_id: operation.map(|operation| &operation.task_id),
            callback_url: operation.and_then(|operation| self.callback(operation)),
        };
        // The key contains text chosen by the model, and a header must not contain line breaks.
        let key = context.idempotency_key.escape_default().to_string();
        let mut request =
            self.client.post(self.url.clone()).header("idempotency-key", key).json(&body);
        if let Some(secret) = &self.secret {
            request = request.header(AUTHORIZATION, secret.bearer());
        }
        response::read(self.spec.name, request, self.secret.as_ref(), operation).await
    }

    fn callback(&self, operation: &OperationHandle) -> Option<String> {
        let base = self.callback_base.as_ref()?;
        Some(format!("{base}/api/chat/operations/{}/complete", operation.operation_id))
    }
}

#[async_trait]
impl Tool for ExternalTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(
        &self,
        arguments: Value,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let tool = self.spec.name;
        if context.dry_run {
            let message = format!("Dry run: {tool} would have been called like this. It was not.");
            let output = json!({"dry_run": true, "arguments": arguments});
            let body = ResponseBody::ExternalToolOutput { tool: tool.to_owned(), output };
            return Ok(ToolResponse::new(message, body));
        }
        // Dropping the request closes its connection.
        tokio::select! {
            answered = self.send(&arguments, &context) => answered,
            () = context.cancel.cancelled() => {
                Err(ToolError::tell("cancelled", format!("The call to {tool} was canceled.")))
            }
        }
    }

    /// None: the responses depend on the service.
    fn examples(&self) -> Vec<ToolExample> {
        Vec::new()
    }
}
