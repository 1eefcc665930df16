//! What agents remember from run to run.

use async_trait::async_trait;
use protocol::UserId;
use serde_json::Value;

use crate::error::PortResult;

/// Laws: the last value that was set is the one that is found (`the_last_value_is_found`); a user sees only their own
/// (`a_value_is_seen_by_its_user_only`); a user keeps at most `limits::VALUES` of them
/// (`a_user_keeps_no_more_values_than_allowed`).
#[async_trait]
pub trait Values: Send + Sync {
    async fn get(&self, user: &UserId, key: &str) -> PortResult<Option<Value>>;

    /// `false`: the user keeps as many as a user may keep. Nothing was stored.
    async fn set(&self, user: &UserId, key: &str, value: &Value) -> PortResult<bool>;
}
