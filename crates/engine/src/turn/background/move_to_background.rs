//! Moves a call to the background, and restores background calls after a crash.

use std::sync::Arc;

use ports::store::{BackgroundEnd, BackgroundRecord, JournalEntry, JournaledCall, TurnProgress};
use protocol::message::{ToolCall, ToolOutcome};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::ToolEffect;
use serde_json::json;

use super::call_list::end_chunk;
use crate::deterministic_id;
use crate::turn::TurnAttempt;
use crate::turn::halt::TurnHalt;
use crate::turn::output::{INTERRUPTED, result_chunk, result_row};
use crate::turn::tool_call::RunningCall;
use crate::turn::waiting_calls::WaitingCalls;

impl TurnAttempt {
    /// The call exceeded its time budget: it continues, and the model gets its background id as the result.
    pub(in crate::turn) async fn move_to_background(
        &self,
        progress: &TurnProgress,
        call: ToolCall,
        running_call: RunningCall,
    ) -> Result<(), TurnHalt> {
        let id = deterministic_id::background_id(&self.idempotency_key(progress, &call.id));
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
        let mut response = ToolResponse::new(words, body);
        response.session_id = Some(self.writer.workspace.session.clone());
        let output = json!(response);
        let entries = vec![
            JournalEntry::Result(result_row(&call, &output, ToolOutcome::Ok)),
            JournalEntry::Parked { call_id: call.id.clone(), id: id.clone() },
        ];
        tracing::info!(tool.name = running_call.tool, background.id = %id, "a call continues in the background");
        metrics::counter!("pilothouse_tool_parked_total", "tool" => running_call.tool).increment(1);
        self.writer.record_and_show(entries, result_chunk(&call, output, ToolOutcome::Ok)).await?;
        self.background_calls.add(id, call, running_call);
        Ok(())
    }

    /// Restores the background calls of an earlier attempt. Calls that may be repeated are started again; the others
    /// are marked as interrupted.
    pub(in crate::turn) async fn restore_background_calls(
        &self,
        progress: &TurnProgress,
    ) -> Result<(), TurnHalt> {
        for journaled in &progress.calls {
            let Some(parked) = journaled.parked.as_ref().filter(|parked| !parked.taken) else {
                continue;
            };
            let rows = progress.messages.iter().filter(|row| row.turn_id == self.turn.id);
            let asked = rows.flat_map(|row| &row.tool_calls);
            let Some(call) = asked.into_iter().find(|call| call.id == journaled.call_id) else {
                continue;
            };
            match &parked.end {
                Some(end) => self.background_calls.add_ended(parked.id.clone(), call.clone(), end),
                None => self.restore(progress, journaled, parked, call).await?,
            }
        }
        Ok(())
    }

    async fn restore(
        &self,
        progress: &TurnProgress,
        journaled: &JournaledCall,
        parked: &BackgroundRecord,
        call: &ToolCall,
    ) -> Result<(), TurnHalt> {
        let (id, effect) = (parked.id.clone(), journaled.effect);
        match self.check(progress, call) {
            Ok(checked) if effect != ToolEffect::Once => {
                let again = JournalEntry::Intent { call_id: call.id.clone(), effect };
                self.writer.record(vec![again]).await?;
                // No step waits for this call.
                let running_call =
                    self.start_call(progress, call, checked, &Arc::new(WaitingCalls::new(0)));
                self.background_calls.add(id, call.clone(), running_call);
            }
            _ => {
                let output = json!(ToolResponse::error("interrupted", INTERRUPTED));
                let outcome = ToolOutcome::Interrupted;
                let shown = end_chunk(&id, call, outcome, &output);
                let end = BackgroundEnd { outcome, output: output.to_string() };
                let entry =
                    JournalEntry::ParkedEnded { call_id: call.id.clone(), end: end.clone() };
                self.writer.record_and_show(vec![entry], shown).await?;
                self.background_calls.add_ended(id, call.clone(), &end);
            }
        }
        Ok(())
    }
}
