//! API keys for programs. Only a digest is stored; the key itself is shown once.

use async_trait::async_trait;
use jiff::Timestamp;
use protocol::UserId;

use crate::error::PortResult;

/// Laws: a key is found by its digest until it is revoked (`a_revoked_key_identifies_no_user`); users see and revoke
/// only their own (`keys_are_seen_by_their_user_only`).
#[async_trait]
pub trait ApiKeys: Send + Sync {
    async fn create(&self, user: &UserId, new: NewApiKey) -> PortResult<ApiKey>;
    async fn list(&self, user: &UserId) -> PortResult<Vec<ApiKey>>;
    async fn revoke(&self, user: &UserId, id: &str) -> PortResult<bool>;
    async fn find(&self, digest: &str) -> PortResult<Option<UserId>>;
}

#[derive(Clone, Debug)]
pub struct NewApiKey {
    pub name: String,
    /// SHA-256 of the key, in hex.
    pub digest: String,
    /// The first characters, to identify a key.
    pub head: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ApiKey {
    pub id: String,
    pub name: String,
    pub head: String,
    pub created_at: Timestamp,
}
