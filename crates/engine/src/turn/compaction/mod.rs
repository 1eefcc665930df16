//! Keeps a conversation within the model's window: between two steps its older part is folded into a summary. What was
//! asked for, what is still open and the newest exchange stay as they are, every row stays in the history, and a fold
//! that goes wrong in part never fails a turn.

mod cut;
mod draft;
mod fold;
mod handles;
pub(super) mod measure;
mod summary;
#[cfg(test)]
mod tests;
mod transcript;

use ports::model::{ModelRequest, ToolUse};
use ports::store::{JournalEntry, TurnProgress};
use protocol::chunk::Chunk;

use self::draft::{Aim, Draft};
pub(super) use self::fold::Fold;
pub(super) use self::measure::Gauge;
use self::summary::Told;
use super::Attempt;
use super::halt::Halt;

/// How often a request that was refused as too long is made smaller before the turn fails.
const REFUSALS: u32 = 2;
/// Of the window, in percent: a fold that gains less is not worth its summary.
const LEAST_GAIN: u64 = 10;

impl Attempt {
    /// Before a model step. `true`: something was folded, and progress and decision are to be made anew, because the
    /// summary may have taken a step of its own.
    pub(crate) async fn compact(&mut self, progress: &TurnProgress) -> Result<bool, Halt> {
        let window = self.estimated_window();
        let request = self.request(progress, ToolUse::Allowed);
        if measure::request_tokens(&request) <= measure::full(window) {
            return Ok(false);
        }
        let least_gain = measure::percent(window, LEAST_GAIN);
        self.fold(progress, &request, Aim { left: measure::folded(window), least_gain }).await
    }

    /// In a model step that was refused as too long. `true`: the step has ended and the next one will be smaller, so
    /// that it is worth another try.
    pub(crate) async fn compact_hard(&mut self, progress: &TurnProgress) -> Result<bool, Halt> {
        if self.gauge.refusals >= REFUSALS || self.said.is_begun() {
            return Ok(false);
        }
        self.recorder.emit(Chunk::FinishStep).await?;
        let refused = measure::request_tokens(&self.request(progress, ToolUse::Allowed));
        self.gauge.refused(refused);
        tracing::warn!(
            estimated_tokens = refused,
            window_tokens = self.inner.model.window(self.turn.request.tier),
            "a request was too long for the model; is its window configured too large?"
        );
        // With the smaller window the results of a step are cut shorter, which may already do.
        let request = self.request(progress, ToolUse::Allowed);
        let smaller = measure::request_tokens(&request) <= measure::full(refused);
        let aim = Aim { left: measure::folded(self.estimated_window()), least_gain: 1 };
        Ok(self.fold(progress, &request, aim).await? || smaller)
    }

    /// What the model can take, in its own tokens.
    pub(super) fn hard_window(&self) -> u64 {
        self.gauge.window(self.inner.model.window(self.turn.request.tier))
    }

    fn estimated_window(&self) -> u64 {
        self.gauge.estimated_window(self.inner.model.window(self.turn.request.tier))
    }

    async fn fold(
        &mut self,
        progress: &TurnProgress,
        request: &ModelRequest,
        aim: Aim,
    ) -> Result<bool, Halt> {
        let window = self.hard_window();
        let Some(draft) = draft::draft(progress, request, &self.turn, window, aim) else {
            return Ok(false);
        };
        self.recorder.emit(Chunk::status("Folding earlier messages into a summary…")).await?;
        let Told { text, usage } = self.ask_for_summary(progress, &draft, window).await?;
        let by = if text.is_some() { "model" } else { "digest" };
        let chars = measure::bytes(draft::summary_tokens(window));
        let text = text
            .unwrap_or_else(|| transcript::digest(draft.earlier.as_deref(), &draft.rows, chars));
        let folded = draft.folded(text);

        // Stored before anybody sees it, the model included. The call for it was a call of the model like any other, so
        // that it counts as a step, for the limits as for the cost.
        let mut entries = vec![JournalEntry::Message(folded.row())];
        entries.extend(usage.map(|usage| JournalEntry::StepEnded { usage }));
        self.desk.record(entries).await?;
        metrics::counter!("pilothouse_compactions_total", "by" => by).increment(1);
        tracing::info!(
            folded = folded.folded,
            tokens_before = folded.tokens_before,
            tokens_after = folded.tokens_after,
            by,
            "earlier messages were folded"
        );
        self.recorder.emit(folded.chunk()).await?;
        Ok(true)
    }

    async fn ask_for_summary(
        &self,
        progress: &TurnProgress,
        draft: &Draft<'_>,
        window: u64,
    ) -> Result<Told, Halt> {
        let options = &self.inner.options;
        // The last step is for the answer.
        if !self.inner.model.summarises() || progress.steps_done + 1 >= options.max_steps {
            return Ok(Told::default());
        }
        let request = summary::request(draft, self.turn.request.tier, window);
        let chars = measure::bytes(draft::summary_tokens(window));
        summary::ask(&*self.inner.model, request, &self.stop, options.stream_idle(), chars).await
    }
}
