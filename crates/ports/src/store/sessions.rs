//! Sessions and who they belong to.

use async_trait::async_trait;
use protocol::session::{Owner, Session};
use protocol::{SessionId, UserId};
use serde_json::{Map, Value};

use crate::error::PortResult;

/// Laws: a session is seen by its owner only (`a_foreign_session_looks_missing`); a generated title never
/// replaces a user's (`a_generated_title_never_replaces_a_users`); an anonymous session is claimed once
/// (`an_anonymous_session_is_claimed_once`); deletion takes everything with it
/// (`a_deleted_session_leaves_nothing`); one with a chosen id is made once (`a_session_with_a_chosen_id_is_made_once`);
/// a search finds titles that have all of its words (`sessions_are_found_by_the_words_of_their_title`).
#[async_trait]
pub trait Sessions: Send + Sync {
    /// `Broken` when the id was chosen and belongs to somebody else.
    async fn create(&self, owner: &Owner, new: NewSession) -> PortResult<Session>;
    async fn get(&self, owner: &Owner, id: &SessionId) -> PortResult<Option<Session>>;
    /// Anonymous callers have no list: they know their sessions by id.
    async fn list(&self, owner: &Owner, wanted: ListSessions) -> PortResult<SessionPage>;
    /// `false` when there is no such session of this owner, or the title may not be replaced.
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
    /// Chosen by the caller: a session of this owner that has it is given back unchanged.
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
    /// Only those whose title has all of these in it, in any order, in capitals or not. Empty: all.
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
    /// Takes effect only while nobody has given a title.
    Generated(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionAssigned {
    Done,
    /// It belongs to this user already.
    Already,
    /// It belongs to somebody else, or there is none: the caller cannot tell.
    NotFound,
}
