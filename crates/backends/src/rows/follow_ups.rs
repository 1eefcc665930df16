//! Rows of follow-ups.

use protocol::follow_up::FollowUp;
use protocol::message::{MessageRole, NewMessage};

use super::StoreRow;

/// Columns of a `FollowUp`; the table `follow_up` has the alias `f`.
macro_rules! follow_up_columns {
    () => {
        "f.id, f.session_id, f.turn_id, f.content, f.state, f.step, f.created_at"
    };
}

pub(crate) use follow_up_columns;

pub(crate) fn follow_up<R: StoreRow>(row: &R) -> Result<FollowUp, R::Error> {
    Ok(FollowUp {
        id: row.id("id")?,
        session_id: row.id("session_id")?,
        turn_id: row.id("turn_id")?,
        text: row.text("content")?,
        state: row.word("state")?,
        step: row.optional_small("step")?,
        created_at: row.time("created_at")?,
    })
}

/// A follow-up with the message that delivers it, from a row that also has the column `metadata`.
pub(crate) fn delivered_message<R: StoreRow>(row: &R) -> Result<(FollowUp, NewMessage), R::Error> {
    let follow_up = follow_up(row)?;
    let message = NewMessage {
        id: follow_up.id.clone(),
        metadata: row.optional_json("metadata")?,
        ..NewMessage::new(MessageRole::User, follow_up.text.clone())
    };
    Ok((follow_up, message))
}
