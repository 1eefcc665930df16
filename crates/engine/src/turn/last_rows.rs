//! The rows with which a turn ends.

use ports::store::TurnProgress;
use protocol::message::{Message, MessageRole, NewMessage, ToolCall, ToolOutcome};
use protocol::response::ToolResponse;
use protocol::text::without_nul;
use protocol::turn::Turn;
use protocol::usage::Usage;
use serde_json::{Value, json};

use super::end_turn::AttemptOutcome;
use super::leased_turn::LeasedTurn;
use super::response_state::PartialResponse;
use super::{decide, output};
use crate::job::halt::TurnHalt;

/// The last rows of the turn: the answer, or the partial response and a notice, with a result for every unanswered
/// call.
pub(crate) async fn last_rows(
    leased: &LeasedTurn,
    end: &AttemptOutcome,
    partial: PartialResponse,
) -> Result<Vec<NewMessage>, TurnHalt> {
    let (outcome, notice) = match end {
        AttemptOutcome::Completed(answer) => return Ok(vec![answer.message.clone()]),
        AttemptOutcome::Cancelled => {
            (ToolOutcome::Cancelled, notice("Stopped.", "stopped", "cancelled", true))
        }
        AttemptOutcome::Failed(error) => {
            let code = error.code;
            (
                ToolOutcome::Interrupted,
                notice(&error.message, "error", code.as_str(), code.worth_retrying()),
            )
        }
    };
    let progress = leased.progress().await?;
    let mut rows: Vec<NewMessage> = unanswered(&progress, &leased.turn)
        .iter()
        .map(|call| output::result_row(call, &missing_result(outcome), outcome))
        .collect();
    if !partial.text.trim().is_empty() {
        let mut row = NewMessage::new(MessageRole::Assistant, without_nul(&partial.text));
        row.reasoning = Some(partial.reasoning).filter(|text| !text.is_empty());
        row.model = Some(leased.model_name());
        row.metadata = Some(json!({ "partial": true }));
        rows.push(row);
    }
    rows.push(notice);
    Ok(rows)
}

/// Puts the usage of the whole turn on its last row, for readers of the history, which do not see chunks.
pub(crate) fn note_usage(row: Option<&mut NewMessage>, spent: Usage, last_step: Usage) {
    let mut used = spent;
    used += last_step;
    let Some(row) = row.filter(|_| used != Usage::default()) else { return };
    if let Value::Object(metadata) = row.metadata.get_or_insert_with(|| json!({})) {
        metadata.insert("usage".to_owned(), json!(used));
    }
}

fn unanswered(progress: &TurnProgress, turn: &Turn) -> Vec<ToolCall> {
    let rows: Vec<&Message> =
        progress.messages.iter().filter(|row| row.turn_id == turn.id).collect();
    decide::unanswered(&rows)
}

fn missing_result(outcome: ToolOutcome) -> Value {
    let response = match outcome {
        ToolOutcome::Cancelled => ToolResponse::error("cancelled", output::CANCELLED),
        _ => ToolResponse::error("interrupted", output::INTERRUPTED),
    };
    json!(response)
}

/// A row for the user that is never sent to the model.
fn notice(words: &str, kind: &str, code: &str, retry: bool) -> NewMessage {
    let mut row = NewMessage::new(MessageRole::System, words);
    row.metadata = Some(json!({ "kind": kind, "code": code, "retryable": retry }));
    row
}
