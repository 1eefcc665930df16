//! Facts about the session for the model. They are a message before the first one instead of part of the system prompt,
//! which is the same for everyone, and contain only what does not change during the session, so that every step of
//! every turn sends the same text. Only the list of denied tools depends on the turn.

use ports::model::ModelMessage;
use protocol::message::Message;
use protocol::session::Session;
use serde_json::Value;

/// Session metadata key: instructions from the parent session.
const SYSTEM_CONTEXT: &str = "system_context";

pub(crate) fn session(session: &Session, first: &Message, denied: &[String]) -> ModelMessage {
    // The date only: with the time of day, no prompt prefix could be cached across sessions.
    let day = first.created_at.strftime("%Y-%m-%d");
    let mut text = format!("[About this session]\nIt began on {day} (UTC).");
    if session.dry_run {
        text.push_str("\nIt is a dry run: tools only pretend to have an effect.");
    }
    if session.depth > 0 || session.parent_session_id.is_some() {
        text.push_str(
            "\nIt is a sub-session: another session gave you a task and reads your last answer. There is no user to ask.",
        );
    }
    if !denied.is_empty() {
        text.push_str(&format!("\nThese tools may not be used here: {}.", denied.join(", ")));
    }
    if let Some(instructions) = session.metadata.get(SYSTEM_CONTEXT).and_then(Value::as_str) {
        text.push_str(&format!("\n[Standing instructions of this session]\n{instructions}"));
    }
    ModelMessage::User { text }
}
