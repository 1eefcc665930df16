//! Rows of sessions.

use protocol::session::{ChatStatus, Session};
use protocol::turn::TurnStatus;

use super::StoreRow;

/// Columns of a `Session`; the table `session` has the alias `s`.
macro_rules! session_columns {
    () => {
        "s.id, s.user_id, s.title, s.is_pinned, s.dry_run, s.metadata, s.parent_session_id, \
         s.depth, s.created_at, s.updated_at, s.total_prompt_tokens, s.total_completion_tokens, \
         s.total_cost_microdollars, \
         (SELECT o.status FROM turn AS o WHERE o.session_id = s.id AND o.ordinal > 0 \
          AND o.status IN ('queued', 'running') ORDER BY o.ordinal LIMIT 1) AS open_status"
    };
}

pub(crate) use session_columns;

pub(crate) fn session<R: StoreRow>(row: &R) -> Result<Session, R::Error> {
    Ok(Session {
        id: row.id("id")?,
        user_id: row.optional_id("user_id")?,
        title: row.optional_text("title")?,
        is_pinned: row.flag("is_pinned")?,
        dry_run: row.flag("dry_run")?,
        metadata: row.optional_json("metadata")?.unwrap_or_default(),
        parent_session_id: row.optional_id("parent_session_id")?,
        depth: row.small("depth")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        chat_status: match row.optional_word("open_status")? {
            None => ChatStatus::Idle,
            Some(TurnStatus::Running) => ChatStatus::Running,
            Some(_) => ChatStatus::Queued,
        },
        total_prompt_tokens: row.number("total_prompt_tokens")?,
        total_completion_tokens: row.number("total_completion_tokens")?,
        total_cost_microdollars: row.number("total_cost_microdollars")?,
    })
}
