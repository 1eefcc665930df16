//! Message histories for tests.

use jiff::Timestamp;
use ports::model::ModelMessage;
use ports::store::TurnProgress;
use protocol::message::{Message, MessageRole, NewMessage, ToolCall, ToolOutcome};
use protocol::session::{ChatStatus, Owner, Session};
use protocol::turn::{Turn, TurnRequest, TurnStatus};
use protocol::usage::Usage;

/// A history built row by row. New rows belong to the turn named last.
#[derive(Debug)]
pub(crate) struct TestHistory {
    pub(crate) rows: Vec<Message>,
    turn: &'static str,
}

impl TestHistory {
    pub(crate) fn new() -> Self {
        Self { rows: Vec::new(), turn: "t1" }
    }

    pub(crate) fn turn(&mut self, turn: &'static str) -> &mut Self {
        self.turn = turn;
        self
    }

    pub(crate) fn user(&mut self, text: &str) -> &mut Self {
        self.push(NewMessage::new(MessageRole::User, text))
    }

    pub(crate) fn assistant(&mut self, text: &str) -> &mut Self {
        self.push(NewMessage::new(MessageRole::Assistant, text))
    }

    /// A step with one call per result, with ids derived from its index in the history.
    pub(crate) fn step(&mut self, results: &[&str]) -> &mut Self {
        let at = self.rows.len();
        let call = |n: usize| ToolCall {
            id: format!("c{at}-{n}").into(),
            name: "bash_exec".into(),
            arguments: "{}".into(),
        };
        let mut asks = NewMessage::new(MessageRole::Assistant, "");
        asks.tool_calls = (0..results.len()).map(call).collect();
        let calls = asks.tool_calls.clone();
        self.push(asks);
        for (call, result) in calls.iter().zip(results) {
            let mut row = NewMessage::new(MessageRole::Tool, *result);
            row.tool_call_id = Some(call.id.clone());
            row.name = Some(call.name.clone());
            row.outcome = Some(ToolOutcome::Ok);
            self.push(row);
        }
        self
    }

    pub(crate) fn push(&mut self, new: NewMessage) -> &mut Self {
        let at = self.rows.len();
        self.rows.push(Message {
            id: format!("m{at}").into(),
            session_id: "s".into(),
            turn_id: self.turn.into(),
            sequence: at as i64 + 1,
            created_at: Timestamp::UNIX_EPOCH,
            role: new.role,
            content: new.content,
            reasoning: None,
            tool_calls: new.tool_calls,
            tool_call_id: new.tool_call_id,
            name: new.name,
            outcome: new.outcome,
            model: None,
            duration_ms: None,
            metadata: new.metadata,
            provider_state: None,
        });
        self
    }

    pub(crate) fn progress(&self) -> TurnProgress {
        TurnProgress {
            session: session(),
            owner: Owner::Anonymous,
            messages: self.rows.clone(),
            steps_done: 0,
            usage: Usage::default(),
            calls: Vec::new(),
            operation: None,
            waiting_follow_ups: 0,
        }
    }
}

pub(crate) fn session() -> Session {
    Session {
        id: "s".into(),
        user_id: None,
        title: None,
        is_pinned: false,
        dry_run: false,
        metadata: serde_json::Map::new(),
        parent_session_id: None,
        depth: 0,
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
        chat_status: ChatStatus::Running,
        total_prompt_tokens: 0,
        total_completion_tokens: 0,
        total_cost_microdollars: 0,
    }
}

pub(crate) fn turn(id: &str) -> Turn {
    Turn {
        id: id.into(),
        session_id: "s".into(),
        user_id: None,
        status: TurnStatus::Running,
        message_id: "m".into(),
        request: TurnRequest::default(),
        fence: 1,
        attempt: 1,
        admitted: true,
        aside: false,
        parent: None,
        operation: None,
        cancel_requested: false,
        error: None,
        usage: Usage::default(),
        created_at: Timestamp::UNIX_EPOCH,
        started_at: None,
        ended_at: None,
    }
}

/// The text of a user message.
pub(crate) fn words(message: &ModelMessage) -> &str {
    match message {
        ModelMessage::User { text } => text,
        other => panic!("{other:?}"),
    }
}

/// Whether every call is followed by its results, and every result belongs to a call.
pub(crate) fn is_paired(messages: &[ModelMessage]) -> bool {
    let mut open = Vec::new();
    for message in messages {
        match message {
            ModelMessage::ToolResult { call_id, .. } => {
                let Some(at) = open.iter().position(|id| id == call_id) else { return false };
                open.remove(at);
            }
            _ if !open.is_empty() => return false,
            ModelMessage::Assistant { tool_calls, .. } => {
                open.extend(tool_calls.iter().map(|call| call.id.clone()));
            }
            ModelMessage::User { .. } => {}
        }
    }
    open.is_empty()
}
