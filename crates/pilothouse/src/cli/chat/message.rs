//! A typed message.

use protocol::MessageId;

/// The id identifies the message, however often and on whichever route it is sent.
#[derive(Clone, Debug)]
pub(crate) struct TypedMessage {
    pub(crate) text: String,
    pub(crate) id: MessageId,
}

impl TypedMessage {
    /// `None` for blank text.
    pub(crate) fn new(text: String) -> Option<Self> {
        (!text.trim().is_empty()).then(|| Self { text, id: MessageId::fresh() })
    }
}
