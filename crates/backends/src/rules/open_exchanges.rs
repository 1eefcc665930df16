//! Where a page of history may begin: not between a tool call and its result.

use std::collections::HashSet;

use protocol::message::{Message, MessageRole};
use protocol::{CallId, TurnId};

/// Results that were read, going backwards, before the call they belong to.
#[derive(Default)]
pub(crate) struct OpenExchanges(HashSet<(TurnId, CallId)>);

impl OpenExchanges {
    pub(crate) fn none(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn pass(&mut self, message: &Message) {
        match message.role {
            MessageRole::Tool => {
                let call = message.tool_call_id.clone();
                self.0.extend(call.map(|call| (message.turn_id.clone(), call)));
            }
            MessageRole::Assistant => {
                for call in &message.tool_calls {
                    self.0.remove(&(message.turn_id.clone(), call.id.clone()));
                }
            }
            // A turn begins with its user message: its calls cannot come before that.
            MessageRole::User => self.0.retain(|(turn, _)| *turn != message.turn_id),
            MessageRole::System => {}
        }
    }
}
