//! Follow-ups: messages sent while the turn runs, added to the history and the model's input before the next step.

use ports::store::{JournalEntry, TurnProgress};
use protocol::chunk::{Chunk, DrainedData, DrainedMessage};

use super::leased_turn::LeasedTurn;
use super::model_step::ModelAnswer;
use super::tool_caller::ToolCaller;
use super::turn_writer::TurnWriter;
use crate::job::halt::TurnHalt;
use crate::job::retry::retry_fenced;

/// The end of a turn ends its background calls. So before an answer ends a turn that has any, this checks for
/// follow-ups; `end_turn` handles those that arrive in between.
pub(crate) async fn unless_followed_up(
    calls: &ToolCaller,
    answer: ModelAnswer,
) -> Result<Option<ModelAnswer>, TurnHalt> {
    let ToolCaller { writer, background_calls } = calls;
    if background_calls.is_empty() || writer.leased.progress().await?.waiting_follow_ups == 0 {
        return Ok(Some(answer));
    }
    writer.chunks.emit(Chunk::FinishStep).await?;
    writer.chunks.flushed().await?;
    let ModelAnswer { message, usage, .. } = answer;
    writer.record(vec![JournalEntry::Message(message), JournalEntry::StepEnded { usage }]).await?;
    Ok(None)
}

pub(crate) async fn drain(writer: &TurnWriter, progress: &TurnProgress) -> Result<(), TurnHalt> {
    let LeasedTurn { inner, claim, stop, .. } = &*writer.leased;
    let step = progress.steps_done + 1;
    let drained = retry_fenced(stop, || inner.ports.follow_ups.drain(claim, step)).await?;
    if drained.is_empty() {
        return Ok(());
    }
    let messages: Vec<DrainedMessage> =
        drained.into_iter().map(|one| DrainedMessage { id: one.id, text: one.text }).collect();
    let data = DrainedData { count: messages.len(), messages };
    writer.chunks.emit(Chunk::DataPendingDrained { data }).await
}
