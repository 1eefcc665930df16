//! Messages from outside that say what an operation came to. What is in them is not looked at here.

use async_trait::async_trait;

use crate::error::PortResult;

/// Laws: what is sent arrives (`what_is_sent_arrives`), at one taker at a time (`a_message_goes_to_one_taker`); one that
/// is not settled comes back (`an_unsettled_message_comes_back`); a settled one never does
/// (`a_settled_message_never_comes_back`).
#[async_trait]
pub trait Completions: Send + Sync {
    async fn send(&self, body: String) -> PortResult<()>;

    /// Waits for the next message. Dropping the future loses nothing.
    async fn next(&self) -> PortResult<CompletionMessage>;
}

/// A message in our hands. Dropped without a word it comes back, when it has been out for as long as a message may.
pub struct CompletionMessage {
    pub body: String,
    settle: Box<dyn SettleCompletion>,
}

#[async_trait]
pub trait SettleCompletion: Send + Sync {
    async fn ack(&self) -> PortResult<()>;
}

impl CompletionMessage {
    pub fn new(body: String, settle: Box<dyn SettleCompletion>) -> Self {
        Self { body, settle }
    }

    /// Done with it: it never comes back.
    pub async fn ack(self) -> PortResult<()> {
        self.settle.ack().await
    }
}
