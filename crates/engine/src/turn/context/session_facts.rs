//! What the model should know about the session it is in. It stands in front of the first message instead of in the
//! system prompt, which is the same for everybody, and it is made of facts that do not change while the session lasts,
//! so that it is the same in every step of every turn. Only the tools left out follow the permissions of the turn.

use ports::model::ModelMessage;
use protocol::message::Message;
use protocol::session::Session;
use serde_json::Value;

/// Where a session keeps what its parent wanted it to know.
const SYSTEM_CONTEXT: &str = "system_context";

pub(super) fn session(session: &Session, first: &Message, denied: &[String]) -> ModelMessage {
    // The day is enough, and by the minute nothing could be kept ready between sessions.
    let day = first.created_at.strftime("%Y-%m-%d");
    let mut text = format!("[About this session]\nIt began on {day} (UTC).");
    if session.dry_run {
        text.push_str("\nIt is a dry run: tools only pretend to have an effect.");
    }
    if session.depth > 0 || session.parent_session_id.is_some() {
        text.push_str(
            "\nIt is a sub-session: another session gave you a task and reads your last answer. Nobody is there to be asked.",
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
