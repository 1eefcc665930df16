//! Follow-ups: messages sent while the turn runs, added to the history and the model's input before the next step.

use ports::store::{JournalEntry, TurnProgress};
use protocol::chunk::{Chunk, DrainedData, DrainedMessage};

use super::halt::TurnHalt;
use super::{ModelAnswer, TurnAttempt};
use crate::retry::retry_fenced;

impl TurnAttempt {
    /// The end of a turn ends its background calls. So before an answer ends a turn that has any, this checks for
    /// follow-ups; `end_turn` handles those that arrive in between.
    pub(super) async fn unless_followed_up(
        &self,
        answer: ModelAnswer,
    ) -> Result<Option<ModelAnswer>, TurnHalt> {
        if self.background_calls.is_empty() || self.writer.progress().await?.waiting_follow_ups == 0
        {
            return Ok(Some(answer));
        }
        self.recorder.emit(Chunk::FinishStep).await?;
        self.recorder.flushed().await?;
        let ModelAnswer { message, usage, .. } = answer;
        self.writer
            .record(vec![JournalEntry::Message(message), JournalEntry::StepEnded { usage }])
            .await?;
        Ok(None)
    }

    pub(super) async fn drain(&self, progress: &TurnProgress) -> Result<(), TurnHalt> {
        let step = progress.steps_done + 1;
        let follow_ups = &self.inner.ports.follow_ups;
        let drained = retry_fenced(&self.stop, || follow_ups.drain(&self.claim, step)).await?;
        if drained.is_empty() {
            return Ok(());
        }
        let messages: Vec<DrainedMessage> =
            drained.into_iter().map(|one| DrainedMessage { id: one.id, text: one.text }).collect();
        let data = DrainedData { count: messages.len(), messages };
        self.recorder.emit(Chunk::DataPendingDrained { data }).await
    }
}
