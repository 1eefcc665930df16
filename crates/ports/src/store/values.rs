//! Values that agents keep between executions.

use async_trait::async_trait;
use protocol::UserId;
use serde_json::Value;

use crate::error::PortResult;

/// Laws: the last value that was set is returned (`a_read_returns_the_last_value_written`); users see only their own
/// (`a_value_is_seen_by_its_user_only`); a user keeps at most `limits::VALUES` of them
/// (`values_are_limited_per_user`).
#[async_trait]
pub trait Values: Send + Sync {
    async fn get(&self, user: &UserId, key: &str) -> PortResult<Option<Value>>;

    /// `false`: the user has reached the limit. Nothing was stored.
    async fn set(&self, user: &UserId, key: &str, value: &Value) -> PortResult<bool>;
}
