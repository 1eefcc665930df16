//! How a background call ends: by itself, by a cancel, or by being dropped when it does not stop.

use std::time::Duration;

use protocol::BackgroundId;
use protocol::chunk::{BackgroundData, Chunk};
use protocol::message::{ToolCall, ToolOutcome};
use protocol::response::{BackgroundStatus, ToolResponse};
use serde_json::Value;

use crate::turn::tool_call::{CallEnd, RunningCall};

/// How long a canceled call may take to stop by itself.
pub(crate) const CANCEL_GRACE: Duration = Duration::from_millis(500);

/// Waits until the call has ended, or was canceled and did not stop in time; then it is dropped.
pub(crate) async fn wait_for_outcome(mut running_call: RunningCall) -> (ToolResponse, ToolOutcome) {
    let cancel = running_call.cancel.clone();
    let stopped = async {
        cancel.cancelled().await;
        tokio::time::sleep(CANCEL_GRACE).await;
    };
    tokio::select! {
        biased;
        ended = running_call.wait() => match ended {
            // A call that completed despite being canceled reports its result.
            CallEnd::Answer(response, ToolOutcome::Ok) => (response, ToolOutcome::Ok),
            _ if running_call.cancel.is_cancelled() => cancelled(),
            CallEnd::Answer(response, outcome) => (response, outcome),
            CallEnd::Fatal => {
                let words = format!("The tool {} is not usable here.", running_call.tool);
                (ToolResponse::error("tool_unusable", words), ToolOutcome::Error)
            }
        },
        () = stopped => cancelled(),
    }
}

/// The chunk that reports the end of a background call to the client.
pub(crate) fn end_chunk(
    id: &BackgroundId,
    call: &ToolCall,
    outcome: ToolOutcome,
    output: &Value,
) -> Chunk {
    Chunk::DataBackground {
        id: id.clone(),
        data: BackgroundData {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            status: status(outcome),
            output: Some(output.clone()),
        },
    }
}

fn cancelled() -> (ToolResponse, ToolOutcome) {
    (ToolResponse::error("cancelled", "The call was canceled."), ToolOutcome::Cancelled)
}

pub(crate) fn status(outcome: ToolOutcome) -> BackgroundStatus {
    match outcome {
        ToolOutcome::Ok => BackgroundStatus::Completed,
        ToolOutcome::Cancelled => BackgroundStatus::Cancelled,
        ToolOutcome::Error | ToolOutcome::Denied | ToolOutcome::Interrupted => {
            BackgroundStatus::Error
        }
    }
}
