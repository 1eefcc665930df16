//! Starts an operation for a call of a long-running tool: the call is answered with the operation's ids, and a separate
//! turn carries it out.

use ports::store::{JournalEntry, NewOperation, OperationBegun, TurnProgress};
use ports::tool::OperationWords;
use protocol::message::{ToolCall, ToolOutcome};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::{OperationId, TurnId};
use serde_json::json;

use super::leased_turn::LeasedTurn;
use super::output::{result_chunk, result_row, session_response};
use super::tool_caller::ToolCaller;
use crate::deterministic_id;
use crate::job::halt::TurnHalt;
use crate::job::push::PUSH_GRACE;
use crate::job::retry::retry_fenced;

pub(crate) async fn begin_operation(
    calls: &ToolCaller,
    progress: &TurnProgress,
    call: &ToolCall,
    words: OperationWords,
) -> Result<(), TurnHalt> {
    let leased = calls.leased();
    let LeasedTurn { inner, claim, turn, stop, .. } = &**leased;
    let key = calls.idempotency_key(progress, &call.id);
    let id = OperationId(deterministic_id::uuid("operation", &key));
    let turn_id = TurnId(deterministic_id::uuid("task", &key));
    let (operation_id, task_id) = (id.clone(), Some(turn_id.task()));
    let tool_name = call.name.clone();
    let pending = session_response(
        leased,
        &words.pending,
        ResponseBody::OperationPending {
            operation_id: operation_id.clone(),
            tool_name: tool_name.clone(),
            task_id: task_id.clone(),
        },
    );
    let started = session_response(
        leased,
        &words.started,
        ResponseBody::OperationStarted { operation_id, tool_name, task_id },
    );
    let new = NewOperation {
        id,
        turn_id: turn_id.clone(),
        call: call.clone(),
        pending: result_row(call, &pending, ToolOutcome::Ok),
        request: turn.request.clone(),
        push_grace: PUSH_GRACE,
    };
    let _lock = calls.writer.lock_writes().await;
    let begin = || inner.ports.operations.begin(claim, new.clone());
    let (output, outcome) = match retry_fenced(stop, begin).await? {
        OperationBegun::New { due, .. } => {
            metrics::counter!("pilothouse_operations_started_total").increment(1);
            if due {
                inner.push(&turn_id).await;
            }
            (started, ToolOutcome::Ok)
        }
        OperationBegun::Exists(_) => {
            let body = ResponseBody::OperationInProgress { tool_call_id: call.id.clone() };
            let words = "The operation is already running.";
            (session_response(leased, words, body), ToolOutcome::Ok)
        }
        OperationBegun::TooMany => {
            let words =
                "This session has the maximum number of running operations. Wait for one to end.";
            let refusal = json!(ToolResponse::error("too_many_operations", words));
            let row = JournalEntry::Result(result_row(call, &refusal, ToolOutcome::Error));
            calls.writer.record_locked(vec![row]).await?;
            (refusal, ToolOutcome::Error)
        }
    };
    calls.writer.chunks.emit(result_chunk(call, output, outcome)).await
}
