//! Message history: turns insert one row at a time, users read pages.

use std::collections::BTreeSet;

use ports::store::MessagePage;
use protocol::message::{Message, MessageRole, NewMessage};
use protocol::session::Owner;
use protocol::{SessionId, TurnId};

use super::{BackendState, MessageRow};

impl BackendState {
    pub(crate) fn insert_message(&mut self, turn: &TurnId, new: &NewMessage) {
        let created_at = self.wall();
        let Some(row) = self.turns.get(turn) else { return };
        let (session_id, ordinal) = (row.turn.session_id.clone(), row.ordinal);
        let Some(session) = self.sessions.get_mut(&session_id) else { return };
        // Messages of an operation that has no position yet belong to the last position of the session.
        let ordinal = if row.has_ordinal() { ordinal } else { session.last_ordinal };
        let new = new.clone();
        let message = Message {
            id: new.id,
            session_id,
            turn_id: turn.clone(),
            sequence: session.messages.len() as i64 + 1,
            created_at,
            role: new.role,
            content: new.content,
            reasoning: new.reasoning,
            tool_calls: new.tool_calls,
            tool_call_id: new.tool_call_id,
            name: new.name,
            outcome: new.outcome,
            model: new.model,
            duration_ms: None,
            metadata: new.metadata,
            provider_state: new.provider_state,
        };
        session.messages.push(MessageRow { message, ordinal, superseded: false });
    }

    /// Reads backwards until the page is full and the call of every result on it is on it, too.
    pub fn page(
        &self,
        owner: &Owner,
        session: &SessionId,
        limit: u32,
        before: Option<i64>,
    ) -> Option<MessagePage> {
        self.session(owner, session)?;
        let rows = self.sessions[session].messages.iter().rev().filter(|row| {
            let message = &row.message;
            let in_flight = self.turns.get(&message.turn_id).is_some_and(|turn| turn.is_open());
            !row.superseded
                && before.is_none_or(|before| message.sequence < before)
                && (message.role == MessageRole::User || !in_flight)
        });
        let mut messages = Vec::new();
        let mut wanted = BTreeSet::new();
        let mut has_more = false;
        for MessageRow { message, .. } in rows {
            if messages.len() >= limit as usize && wanted.is_empty() {
                has_more = true;
                break;
            }
            let turn = &message.turn_id;
            wanted.extend(message.tool_call_id.iter().map(|call| (turn.clone(), call.clone())));
            for call in &message.tool_calls {
                wanted.remove(&(turn.clone(), call.id.clone()));
            }
            messages.push(message.clone());
        }
        messages.reverse();
        let oldest_sequence = messages.first().map(|message| message.sequence);
        Some(MessagePage { messages, has_more, oldest_sequence })
    }
}
