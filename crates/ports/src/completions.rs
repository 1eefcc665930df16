//! Messages of other services with results of operations. Their content is not parsed here.

use async_trait::async_trait;

use crate::error::PortResult;

/// Laws: a sent message arrives (`a_sent_message_arrives`), at one receiver at a time
/// (`a_message_is_delivered_to_one_consumer`); an unsettled message is redelivered
/// (`an_unsettled_message_is_delivered_again`); a settled one is not (`a_settled_message_is_never_delivered_again`).
#[async_trait]
pub trait Completions: Send + Sync {
    async fn send(&self, body: String) -> PortResult<()>;

    /// Waits for the next message. Dropping the future loses nothing.
    async fn next(&self) -> PortResult<CompletionMessage>;
}

/// A received message. If it is dropped without `ack`, it is redelivered after its visibility timeout.
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

    /// Settles the message: it is not redelivered.
    pub async fn ack(self) -> PortResult<()> {
        self.settle.ack().await
    }
}
