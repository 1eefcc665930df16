//! What a conversation says about the agents that were built in it.

use ports::model::{ModelMessage, OPERATION_MARK};
use serde_json::{Map, Value};

/// The tool that must be called before agents are built.
pub(crate) const GUIDE: &str = "get_agent_building_guide";
pub(crate) const CREATE: &str = "create_agent";
pub(crate) const EDIT: &str = "edit_agent";
/// The tools that build agents.
pub(crate) const BUILDERS: [&str; 3] = [CREATE, EDIT, "customize_agent"];

#[derive(Default)]
pub(crate) struct BuildingHistory {
    pub(crate) guide_was_read: bool,
    /// The last call of a tool that builds agents.
    pub(crate) last: Option<BuilderCall>,
    /// The response about the agent that was saved last.
    pub(crate) saved: Option<Value>,
}

pub(crate) struct BuilderCall {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) response: Value,
    /// Messages of the user since then.
    pub(crate) messages_since: usize,
}

impl BuildingHistory {
    /// The last message of the user belongs to it.
    pub(crate) fn of(messages: &[ModelMessage]) -> Self {
        let mut history = Self::default();
        let mut announced: Vec<(&str, &str)> = Vec::new();
        for message in messages {
            match message {
                ModelMessage::User { text } if text.starts_with(OPERATION_MARK) => {}
                ModelMessage::User { .. } => {
                    history.last.iter_mut().for_each(|last| last.messages_since += 1);
                }
                ModelMessage::Assistant { tool_calls, .. } => {
                    announced = tool_calls
                        .iter()
                        .map(|call| (call.id.as_str(), call.arguments.as_str()))
                        .collect();
                }
                ModelMessage::ToolResult { call_id, name, content, is_error } => {
                    if name == GUIDE {
                        history.guide_was_read |= !is_error;
                    }
                    if BUILDERS.contains(&name.as_str()) {
                        let called = announced.iter().find(|(id, _)| *id == call_id.as_str());
                        let arguments = called.map_or("", |(_, arguments)| *arguments);
                        history.take(name, arguments, content);
                    }
                }
            }
        }
        history
    }

    fn take(&mut self, tool: &str, arguments: &str, content: &str) {
        let response: Value = serde_json::from_str(content).unwrap_or_default();
        if response["type"] == "agent_saved" {
            self.saved = Some(response.clone());
        }
        self.last = Some(BuilderCall {
            tool: tool.to_owned(),
            arguments: serde_json::from_str(arguments).unwrap_or_default(),
            response,
            messages_since: 0,
        });
    }

    /// The call whose questions the last message answers.
    pub(crate) fn asked(&self) -> Option<&BuilderCall> {
        self.last
            .as_ref()
            .filter(|last| last.messages_since == 1 && !questions(&last.response).is_empty())
    }

    /// The call that suggested another goal.
    pub(crate) fn suggested(&self) -> Option<&BuilderCall> {
        self.last.as_ref().filter(|last| last.response["suggested_goal"].is_string())
    }

    /// A text of the agent that was saved last.
    pub(crate) fn saved_text(&self, member: &str) -> Option<&str> {
        self.saved.as_ref()?[member].as_str()
    }
}

impl BuilderCall {
    /// The argument that says in words what to do.
    pub(crate) fn words_argument(&self) -> &'static str {
        match self.tool.as_str() {
            EDIT => "changes",
            CREATE => "description",
            _ => "modifications",
        }
    }
}

/// The questions in a response.
pub(crate) fn questions(response: &Value) -> Vec<&str> {
    let questions = response["questions"].as_array().into_iter().flatten();
    questions.filter_map(|question| question["question"].as_str()).collect()
}
