//! Sessions and their owners.

use async_trait::async_trait;
use protocol::session::{Owner, Session};
use protocol::{SessionId, UserId};
use serde_json::{Map, Value};

use crate::error::PortResult;

/// Laws: a session is visible to its owner only (`a_session_of_another_owner_looks_missing`); a generated title never
/// replaces a user's (`a_generated_title_never_replaces_a_users`); an anonymous session is assigned once
/// (`an_anonymous_session_is_claimed_once`); deletion removes everything (`a_deleted_session_leaves_nothing`); one with
/// a chosen id is created once (`a_session_with_a_given_id_is_created_once`); a search finds titles that contain all
/// its words (`sessions_are_found_by_the_words_of_their_title`).
#[async_trait]
pub trait Sessions: Send + Sync {
    /// `Broken` when the chosen id belongs to another owner.
    async fn create(&self, owner: &Owner, new: NewSession) -> PortResult<Session>;
    async fn get(&self, owner: &Owner, id: &SessionId) -> PortResult<Option<Session>>;
    /// Anonymous callers have no list: they know their sessions by id.
    async fn list(&self, owner: &Owner, wanted: ListSessions) -> PortResult<SessionPage>;
    /// `false` when the owner has no such session, or the title may not be replaced.
    async fn set_title(
        &self,
        owner: &Owner,
        id: &SessionId,
        title: TitleChange,
    ) -> PortResult<bool>;
    async fn set_pinned(&self, owner: &Owner, id: &SessionId, pinned: bool) -> PortResult<bool>;
    async fn assign(&self, user: &UserId, id: &SessionId) -> PortResult<SessionAssigned>;
    /// With its messages, turns, journal and logs.
    async fn delete(&self, owner: &Owner, id: &SessionId) -> PortResult<bool>;
}

#[derive(Clone, Debug, Default)]
pub struct NewSession {
    /// Chosen by the caller: an existing session of this owner with this id is returned unchanged.
    pub id: Option<SessionId>,
    pub dry_run: bool,
    pub metadata: Map<String, Value>,
    pub parent_session_id: Option<SessionId>,
    pub depth: u32,
}

#[derive(Clone, Debug)]
pub struct ListSessions {
    pub limit: u32,
    pub offset: u32,
    pub pinned_first: bool,
    /// Only sessions whose title contains all of these, in any order, ignoring case. Empty: all.
    pub words: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SessionPage {
    pub sessions: Vec<Session>,
    pub total: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TitleChange {
    ByUser(String),
    /// Takes effect only while there is no title.
    Generated(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionAssigned {
    Done,
    /// It already belongs to this user.
    Already,
    /// It belongs to another user, or does not exist: the caller cannot tell.
    NotFound,
}
