//! What an attempt has of its response so far. Handed to the end of the turn.

use std::collections::HashSet;

use ports::store::TurnProgress;
use protocol::CallId;
use protocol::message::{MessageRole, ToolCall};
use protocol::usage::Usage;

#[derive(Debug)]
pub(crate) struct ResponseState {
    pub(crate) partial: PartialResponse,
    /// Usage of the steps before the current one.
    pub(crate) spent: Usage,
    /// The calls that this attempt has journaled: no other worker can have started them.
    pub(crate) journaled_now: HashSet<CallId>,
    /// The text to derive a title from, if the session has none.
    pub(crate) title_source: Option<String>,
}

/// What a model call has sent so far. If the turn is stopped now, this is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartialResponse {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<Option<ToolCall>>,
}

impl ResponseState {
    pub(crate) fn new(spent: Usage) -> Self {
        Self {
            partial: PartialResponse::default(),
            spent,
            journaled_now: HashSet::new(),
            title_source: None,
        }
    }

    pub(crate) fn observe(&mut self, progress: &TurnProgress) {
        self.title_source = title_source(progress);
        self.spent = progress.usage;
    }
}

impl PartialResponse {
    pub(crate) fn has_output(&self) -> bool {
        !self.text.is_empty() || !self.reasoning.is_empty() || !self.calls.is_empty()
    }
}

/// The first user message of a session that has no title yet.
fn title_source(progress: &TurnProgress) -> Option<String> {
    if progress.session.title.is_some() {
        return None;
    }
    let first = progress.messages.iter().find(|message| message.role == MessageRole::User);
    first.map(|message| message.content.clone())
}
