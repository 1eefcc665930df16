//! A typed message.

use protocol::MessageId;

/// The id identifies the message, however often and on whichever route it is sent.
#[derive(Clone, Debug)]
pub(super) struct TypedMessage {
    pub(super) text: String,
    pub(super) id: MessageId,
}

impl TypedMessage {
    /// `None` for blank text.
    pub(super) fn new(text: String) -> Option<Self> {
        (!text.trim().is_empty()).then(|| Self { text, id: MessageId::fresh() })
    }
}
