//! A message as the person typed it.

use protocol::MessageId;

/// The id makes it one message, however often and by whichever way it is sent.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) text: String,
    pub(super) id: MessageId,
}

impl Message {
    /// `None` when there is nothing to say.
    pub(super) fn typed(text: String) -> Option<Self> {
        (!text.trim().is_empty()).then(|| Self { text, id: MessageId::fresh() })
    }
}
