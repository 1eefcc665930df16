//! Completes operations from outside, with one path for the webhook, for queue messages and for the work itself.

use std::sync::Arc;
use std::time::Duration;

use ports::PortResult;
use ports::completions::CompletionMessage;
use ports::store::{OperationCompleted, OperationKey};
use protocol::message::ToolOutcome;
use protocol::operation::{OperationCompletion, OperationResult};
use protocol::response::ToolResponse;
use protocol::text::scrub;
use protocol::{OperationId, TaskId};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::reported_agent::result_of_agent;
use crate::turn::output::cut_output;
use crate::{Engine, EngineInner};

/// Delay after a completion could not be received or processed.
const RETRY_DELAY: Duration = Duration::from_secs(1);

impl Engine {
    /// The completion is stored when this returns, and the conversation continues by itself. A repeated or late
    /// completion, or one after a cancel, changes nothing.
    pub async fn complete_operation(
        &self,
        which: &OperationKey,
        completion: OperationCompletion,
    ) -> PortResult<OperationCompleted> {
        complete_reported(&self.inner, which, completion).await
    }
}

/// Stores what another service reported. An agent is saved first.
async fn complete_reported(
    inner: &Arc<EngineInner>,
    which: &OperationKey,
    completion: OperationCompletion,
) -> PortResult<OperationCompleted> {
    let result = match result_of_agent(inner, which, &completion).await? {
        Some(result) => result,
        None => operation_result(completion),
    };
    inner.complete(which, result).await
}

impl EngineInner {
    pub(crate) async fn complete(
        &self,
        which: &OperationKey,
        result: OperationResult,
    ) -> PortResult<OperationCompleted> {
        let completed = self.ports.operations.complete(which, result).await?;
        if let OperationCompleted::Done { task_id, due } = &completed {
            metrics::counter!("pilothouse_operations_completed_total").increment(1);
            if *due {
                self.push(task_id.turn()).await;
            }
        }
        Ok(completed)
    }
}

/// The idempotency key of the call that an operation carries out: the call was requested by another turn.
pub(crate) fn operation_key(operation: &OperationId) -> String {
    format!("operation/{operation}")
}

/// The tool result for a reported completion.
fn operation_result(completion: OperationCompletion) -> OperationResult {
    if !completion.success {
        let why = completion
            .error
            .unwrap_or_else(|| "The operation failed without giving a reason.".to_owned());
        let output = json!(ToolResponse::error("operation_failed", why));
        return OperationResult {
            output: bounded(scrub(output)).to_string(),
            outcome: ToolOutcome::Error,
        };
    }
    let output = match completion.result {
        None | Some(Value::Null) => json!({ "status": "completed" }),
        Some(result) => result,
    };
    OperationResult { output: bounded(scrub(output)).to_string(), outcome: ToolOutcome::Ok }
}

fn bounded(output: Value) -> Value {
    cut_output(output, "The result was cut to fit.")
}

/// A message of the completions queue.
#[derive(Deserialize)]
struct CompletionBody {
    operation_id: Option<OperationId>,
    task_id: Option<TaskId>,
    #[serde(flatten)]
    completion: OperationCompletion,
}

/// Runs until shutdown. A message is acknowledged once its completion is stored, or if it cannot be used.
pub(crate) async fn consume_completions(inner: Arc<EngineInner>) {
    loop {
        let arrival = tokio::select! {
            biased;
            () = inner.shutdown_signal.stopping() => return,
            arrival = inner.ports.completions.next() => arrival,
        };
        let handled = match arrival {
            Ok(arrival) => handle(&inner, arrival).await,
            Err(error) => Err(error),
        };
        if let Err(error) = handled {
            tracing::warn!(%error, "could not process a completion; it will be delivered again");
            tokio::select! {
                biased;
                () = inner.shutdown_signal.stopping() => return,
                () = tokio::time::sleep(RETRY_DELAY) => {}
            }
        }
    }
}

async fn handle(inner: &Arc<EngineInner>, arrival: CompletionMessage) -> PortResult<()> {
    let message: CompletionBody = match serde_json::from_str(&arrival.body) {
        Ok(message) => message,
        Err(error) => {
            // Log where the message is invalid, not its content.
            tracing::warn!(line = error.line(), column = error.column(), kind = ?error.classify(), "a completion cannot be read");
            return arrival.ack().await;
        }
    };
    let which = match (message.operation_id, message.task_id) {
        (Some(operation), _) => OperationKey::Operation(operation),
        (None, Some(task)) => OperationKey::Task(task),
        (None, None) => {
            tracing::warn!("a completion names no operation");
            return arrival.ack().await;
        }
    };
    let completed = complete_reported(inner, &which, message.completion).await?;
    if completed == OperationCompleted::Unknown {
        tracing::warn!("a completion is for an operation that is not known");
    }
    arrival.ack().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_completion_without_a_result_reports_that_it_completed() {
        let completion =
            OperationCompletion { success: true, result: Some(Value::Null), error: None };
        assert_eq!(operation_result(completion).output, r#"{"status":"completed"}"#);
    }

    #[test]
    fn a_message_is_parsed_with_its_ids_and_its_result() {
        let body =
            r#"{"operation_id":"o","task_id":"t","success":false,"error":"no luck","extra":1}"#;
        let message: CompletionBody = serde_json::from_str(body).expect("a message");
        assert_eq!(message.operation_id, Some(OperationId::from("o")));
        let result = operation_result(message.completion);
        assert_eq!(result.outcome, ToolOutcome::Error);
        assert!(result.output.contains("no luck"));
    }
}
