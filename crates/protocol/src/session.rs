//! Sessions and their owners.

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::ids::{SessionId, UserId};
use crate::text_enum::text_enum;

#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    pub id: SessionId,
    /// `None` for an anonymous session.
    pub user_id: Option<UserId>,
    pub title: Option<String>,
    pub is_pinned: bool,
    pub dry_run: bool,
    pub metadata: Map<String, Value>,
    pub parent_session_id: Option<SessionId>,
    /// 0 for one started by a person, 1 for its sub-sessions, and so on.
    pub depth: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub chat_status: ChatStatus,
    pub total_prompt_tokens: u64,
    pub total_completion_tokens: u64,
    pub total_cost_microdollars: u64,
}

text_enum! {
    #[derive(utoipa::ToSchema)]
    pub enum ChatStatus {
        Idle = "idle",
        Queued = "queued",
        Running = "running",
    }
}

/// The caller. Users see only what they own; an anonymous session can be used by everyone who has its unguessable id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    User(UserId),
    Anonymous,
}

impl Owner {
    pub fn user(&self) -> Option<&UserId> {
        match self {
            Self::User(user) => Some(user),
            Self::Anonymous => None,
        }
    }
}
