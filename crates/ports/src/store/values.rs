//! Values that agents keep between executions.

use async_trait::async_trait;
use protocol::UserId;
use serde_json::Value;

use crate::error::PortResult;

/// Laws: the last value that was set is returned (`the_last_value_is_found`); users see only their own
/// (`a_value_is_seen_by_its_user_only`); a user keeps at most `limits::VALUES` of them
/// (`a_user_keeps_no_more_values_than_allowed`).
#[async_trait]
pub trait Values: Send + Sync {
    async fn get(&self, user: &UserId, key: &str) -> PortResult<Option<Value>>;

    /// `false`: the user has reached the limit. Nothing was stored.
    async fn set(&self, user: &UserId, key: &str, value: &Value) -> PortResult<bool>;
}
