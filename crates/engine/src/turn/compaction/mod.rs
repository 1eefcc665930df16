//! Keeps a conversation within the model's window: between two steps its older part is replaced by a summary. User
//! requests, open items and the newest exchange are kept unchanged, every row stays in the history, and a partly failed
//! compaction never fails a turn.

mod cut;
mod draft;
pub(crate) mod measure;
mod open_items;
mod record;
mod summary;
#[cfg(test)]
mod tests;
mod transcript;

use ports::model::{ModelRequest, ToolUse};
use ports::store::{JournalEntry, TurnProgress};
use protocol::chunk::Chunk;

use self::draft::{CompactionDraft, CompactionTarget};
use self::measure::WindowEstimate;
pub(crate) use self::record::StoredCompaction;
use self::summary::SummaryReply;
use super::context::{self, ToolSelection};
use super::leased_turn::LeasedTurn;
use super::turn_writer::TurnWriter;
use crate::job::halt::TurnHalt;

/// How often a request that was refused as too long is made smaller before the turn fails.
const MAX_REFUSALS: u32 = 2;
/// Percent of the window; a compaction that gains less is not worth its summary.
const MIN_GAIN_PERCENT: u64 = 10;

/// The context window of a turn's model, as far as this attempt knows it, and what fits into it.
pub(crate) struct ContextWindow {
    writer: TurnWriter,
    estimate: WindowEstimate,
}

impl ContextWindow {
    pub(crate) fn new(writer: TurnWriter) -> Self {
        Self { writer, estimate: WindowEstimate::default() }
    }

    /// The model request for the history, with the results of a step cut to what fits.
    pub(crate) fn request(&self, progress: &TurnProgress, tool_use: ToolUse) -> ModelRequest {
        let LeasedTurn { inner, turn, .. } = &*self.writer.leased;
        let tools = ToolSelection::new(&inner.tools, &turn.request.permissions);
        context::request(progress, turn, tools, tool_use, self.hard_window())
    }

    /// Records that the provider counted `prompt_tokens` for this request.
    pub(crate) fn observe_count(&mut self, request: &ModelRequest, prompt_tokens: u64) {
        self.estimate.observe_count(request, prompt_tokens);
    }

    /// Compacts before a model step if necessary. Returns `true` if it did: progress must be read again, because the
    /// summary may have taken a step of its own.
    pub(crate) async fn compact(&self, progress: &TurnProgress) -> Result<bool, TurnHalt> {
        let window = self.estimated_window();
        let request = self.request(progress, ToolUse::Allowed);
        if measure::request_tokens(&request) <= measure::compaction_threshold(window) {
            return Ok(false);
        }
        let min_gain = measure::percent(window, MIN_GAIN_PERCENT);
        self.summarize(
            progress,
            &request,
            CompactionTarget { tokens_left: measure::compaction_target(window), min_gain },
        )
        .await
    }

    /// Compacts after the model refused a request as too long. Returns `true` if the step has ended and the next
    /// request will be smaller, so that it is worth another attempt.
    pub(crate) async fn compact_after_refusal(
        &mut self,
        progress: &TurnProgress,
    ) -> Result<bool, TurnHalt> {
        if self.estimate.refusals >= MAX_REFUSALS {
            return Ok(false);
        }
        self.writer.chunks.emit(Chunk::FinishStep).await?;
        let refused = measure::request_tokens(&self.request(progress, ToolUse::Allowed));
        self.estimate.observe_refusal(refused);
        tracing::warn!(
            estimated_tokens = refused,
            window_tokens = self.writer.leased.configured_window(),
            "a request was too long for the model; is its window configured too large?"
        );
        // With the smaller window the results of a step are cut shorter, which may be enough.
        let request = self.request(progress, ToolUse::Allowed);
        let smaller = measure::request_tokens(&request) <= measure::compaction_threshold(refused);
        let target = CompactionTarget {
            tokens_left: measure::compaction_target(self.estimated_window()),
            min_gain: 1,
        };
        Ok(self.summarize(progress, &request, target).await? || smaller)
    }

    /// The model's window in its own tokens.
    fn hard_window(&self) -> u64 {
        self.estimate.window(self.writer.leased.configured_window())
    }

    fn estimated_window(&self) -> u64 {
        self.estimate.estimated_window(self.writer.leased.configured_window())
    }

    async fn summarize(
        &self,
        progress: &TurnProgress,
        request: &ModelRequest,
        target: CompactionTarget,
    ) -> Result<bool, TurnHalt> {
        let turn = &self.writer.leased.turn;
        let window = self.hard_window();
        let Some(draft) = draft::draft(progress, request, turn, window, target) else {
            return Ok(false);
        };
        self.writer.chunks.emit(Chunk::status("Summarizing earlier messages…")).await?;
        let SummaryReply { text, usage } = self.ask_for_summary(progress, &draft, window).await?;
        let by = if text.is_some() { "model" } else { "digest" };
        let chars = measure::bytes(draft::summary_tokens(window));
        let text = text
            .unwrap_or_else(|| transcript::digest(draft.earlier.as_deref(), &draft.rows, chars));
        let record = draft.record(text);

        // Stored before it is shown or sent to the model. The summary call is a model call like any other, so it counts
        // as a step for limits and cost.
        let mut entries = vec![JournalEntry::Message(record.row())];
        entries.extend(usage.map(|usage| JournalEntry::StepEnded { usage }));
        self.writer.record(entries).await?;
        metrics::counter!("pilothouse_compactions_total", "by" => by).increment(1);
        tracing::info!(
            folded = record.folded,
            tokens_before = record.tokens_before,
            tokens_after = record.tokens_after,
            by,
            "earlier messages were summarized"
        );
        self.writer.chunks.emit(record.chunk()).await?;
        Ok(true)
    }

    async fn ask_for_summary(
        &self,
        progress: &TurnProgress,
        draft: &CompactionDraft<'_>,
        window: u64,
    ) -> Result<SummaryReply, TurnHalt> {
        let LeasedTurn { inner, turn, stop, .. } = &*self.writer.leased;
        let options = &inner.options;
        // The last step is reserved for the answer.
        if !inner.model.summarizes() || progress.steps_done + 1 >= options.max_steps {
            return Ok(SummaryReply::default());
        }
        let request = summary::request(draft, turn.request.tier, window);
        let chars = measure::bytes(draft::summary_tokens(window));
        summary::ask(&*inner.model, request, stop, options.stream_idle(), chars).await
    }
}
