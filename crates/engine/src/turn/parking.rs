//! Letting a call go on in the background, and finding it again after a crash.

use std::sync::Arc;

use ports::store::{BackgroundEnd, BackgroundRecord, JournalEntry, JournaledCall, TurnProgress};
use protocol::message::{ToolCall, ToolOutcome};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::ToolEffect;
use serde_json::json;

use super::Attempt;
use super::call::Work;
use super::halt::Halt;
use super::output::{INTERRUPTED, result_row, shown};
use super::pause::Pause;
use super::shelf::how_it_ended;
use crate::derived;

impl Attempt {
    /// The call's budget is over: it goes on, and the model gets a handle as its result.
    pub(super) async fn park(
        &self,
        progress: &TurnProgress,
        call: ToolCall,
        work: Work,
    ) -> Result<(), Halt> {
        let id = derived::background(&self.key(progress, &call.id));
        let seconds = work.started.elapsed().as_secs();
        let words = format!(
            "{} did not end within {seconds} seconds and goes on in the background. Use \
             check_background_tool with this background_id to wait for it or to cancel it.",
            work.tool
        );
        let body = ResponseBody::Background {
            tool: work.tool.to_owned(),
            timeout_seconds: seconds,
            background_id: id.clone(),
        };
        let mut response = ToolResponse::new(words, body);
        response.session_id = Some(self.desk.place.session.clone());
        let output = json!(response);
        let entries = vec![
            JournalEntry::Result(result_row(&call, &output, ToolOutcome::Ok)),
            JournalEntry::Parked { call_id: call.id.clone(), id: id.clone() },
        ];
        tracing::info!(tool.name = work.tool, background.id = %id, "a call goes on in the background");
        metrics::counter!("pilothouse_tool_parked_total", "tool" => work.tool).increment(1);
        self.desk.record_and_show(entries, shown(&call, output, ToolOutcome::Ok)).await?;
        self.shelf.put(id, call, work);
        Ok(())
    }

    /// Puts on the shelf what an attempt before this one had there. What may be repeated is started again; what may not
    /// has ended, one way or the other.
    pub(super) async fn restore_parked(&self, progress: &TurnProgress) -> Result<(), Halt> {
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
                Some(end) => self.shelf.put_ended(parked.id.clone(), call.clone(), end),
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
    ) -> Result<(), Halt> {
        let (id, effect) = (parked.id.clone(), journaled.effect);
        match self.check(progress, call) {
            Ok(checked) if effect != ToolEffect::Once => {
                let again = JournalEntry::Intent { call_id: call.id.clone(), effect };
                self.desk.record(vec![again]).await?;
                // No step waits for it.
                let work = self.begin_work(progress, call, checked, &Arc::new(Pause::of(0)));
                self.shelf.put(id, call.clone(), work);
            }
            _ => {
                let output = json!(ToolResponse::error("interrupted", INTERRUPTED));
                let outcome = ToolOutcome::Interrupted;
                let shown = how_it_ended(&id, call, outcome, &output);
                let end = BackgroundEnd { outcome, output: output.to_string() };
                let entry =
                    JournalEntry::ParkedEnded { call_id: call.id.clone(), end: end.clone() };
                self.desk.record_and_show(vec![entry], shown).await?;
                self.shelf.put_ended(id, call.clone(), &end);
            }
        }
        Ok(())
    }
}
