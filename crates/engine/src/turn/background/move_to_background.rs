//! Moves a call to the background, and restores background calls after a crash.

use std::sync::Arc;

use ports::store::{BackgroundEnd, BackgroundRecord, JournalEntry, JournaledCall, TurnProgress};
use protocol::message::{ToolCall, ToolOutcome};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::ToolEffect;
use serde_json::json;

use super::call_end::end_chunk;
use crate::deterministic_id;
use crate::job::halt::TurnHalt;
use crate::job::waiting_calls::WaitingCalls;
use crate::turn::output::{INTERRUPTED, result_chunk, result_row, session_response};
use crate::turn::tool_call::RunningCall;
use crate::turn::tool_caller::ToolCaller;

/// The call exceeded its time budget: it continues, and the model gets its background id as the result.
pub(crate) async fn move_to_background(
    calls: &ToolCaller,
    progress: &TurnProgress,
    call: ToolCall,
    running_call: RunningCall,
) -> Result<(), TurnHalt> {
    let id = deterministic_id::background_id(&calls.idempotency_key(progress, &call.id));
    let seconds = running_call.started.elapsed().as_secs();
    let words = format!(
        "{} did not finish within {seconds} seconds and continues in the background. Use \
         check_background_tool with this background_id to wait for it or to cancel it.",
        running_call.tool
    );
    let body = ResponseBody::Background {
        tool: running_call.tool.to_owned(),
        timeout_seconds: seconds,
        background_id: id.clone(),
    };
    let output = session_response(calls.leased(), &words, body);
    let entries = vec![
        JournalEntry::Result(result_row(&call, &output, ToolOutcome::Ok)),
        JournalEntry::MovedToBackground { call_id: call.id.clone(), id: id.clone() },
    ];
    tracing::info!(tool.name = running_call.tool, background.id = %id, "a call continues in the background");
    metrics::counter!("pilothouse_tool_parked_total", "tool" => running_call.tool).increment(1);
    calls.writer.record_and_show(entries, result_chunk(&call, output, ToolOutcome::Ok)).await?;
    calls.background_calls.add(id, call, running_call);
    Ok(())
}

/// Restores the background calls of an earlier attempt. Calls that may be repeated are started again; the others
/// are marked as interrupted.
pub(crate) async fn restore(calls: &ToolCaller, progress: &TurnProgress) -> Result<(), TurnHalt> {
    for journaled in &progress.calls {
        let Some(background) = journaled.background.as_ref().filter(|background| !background.taken)
        else {
            continue;
        };
        let rows = progress.messages.iter().filter(|row| row.turn_id == calls.leased().turn.id);
        let asked = rows.flat_map(|row| &row.tool_calls);
        let Some(call) = asked.into_iter().find(|call| call.id == journaled.call_id) else {
            continue;
        };
        match &background.end {
            Some(end) => calls.background_calls.add_ended(background.id.clone(), call.clone(), end),
            None => restore_running(calls, progress, journaled, background, call).await?,
        }
    }
    Ok(())
}

async fn restore_running(
    calls: &ToolCaller,
    progress: &TurnProgress,
    journaled: &JournaledCall,
    background: &BackgroundRecord,
    call: &ToolCall,
) -> Result<(), TurnHalt> {
    let (id, effect) = (background.id.clone(), journaled.effect);
    match calls.check(progress, call) {
        Ok(checked) if effect != ToolEffect::Once => {
            let again = JournalEntry::Intent { call_id: call.id.clone(), effect };
            calls.writer.record(vec![again]).await?;
            // No step waits for this call.
            let running_call =
                calls.start_call(progress, call, checked, &Arc::new(WaitingCalls::new(0)));
            calls.background_calls.add(id, call.clone(), running_call);
        }
        _ => {
            let output = json!(ToolResponse::error("interrupted", INTERRUPTED));
            let outcome = ToolOutcome::Interrupted;
            let shown = end_chunk(&id, call, outcome, &output);
            let end = BackgroundEnd { outcome, output: output.to_string() };
            let entry =
                JournalEntry::BackgroundEnded { call_id: call.id.clone(), end: end.clone() };
            calls.writer.record_and_show(vec![entry], shown).await?;
            calls.background_calls.add_ended(id, call.clone(), &end);
        }
    }
    Ok(())
}
