//! The message history of a session.

use async_trait::async_trait;
use protocol::SessionId;
use protocol::message::Message;
use protocol::session::Owner;

use crate::error::PortResult;

/// Laws: pages are ascending and adjacent without gap or overlap (`pages_of_history_have_no_gap_or_overlap`); a page
/// never starts inside a tool call (`a_page_never_starts_inside_a_tool_exchange`); the output of a running turn is
/// omitted, its user message is not (`history_omits_the_running_turn`): a client gets the output from the stream, and
/// would otherwise have it twice.
#[async_trait]
pub trait Messages: Send + Sync {
    /// The newest `limit` messages before `before`; `None` when the owner has no such session. A page may be longer than
    /// `limit` to include the call of its first result.
    async fn page(
        &self,
        owner: &Owner,
        session: &SessionId,
        limit: u32,
        before: Option<i64>,
    ) -> PortResult<Option<MessagePage>>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct MessagePage {
    pub messages: Vec<Message>,
    pub has_more: bool,
    pub oldest_sequence: Option<i64>,
}
