//! Assembles the tool calls of one response from deltas. Servers differ: some omit the index or the id, give every call
//! the same index, repeat id and name with every delta, or send a whole call with its arguments as an object.

use std::collections::VecDeque;

use ports::model::{ModelError, ModelEvent};
use protocol::CallId;
use serde::Deserialize;
use serde_json::Value;

use crate::providers::http;

/// Limit of tool calls in one response, above what any step needs.
const MAX_CALLS: usize = 256;

#[derive(Debug, Deserialize)]
pub(crate) struct CallDelta {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Debug, Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    #[serde(default)]
    arguments: Value,
}

#[derive(Debug, Default)]
pub(crate) struct ToolCallAssembler {
    calls: Vec<PartialToolCall>,
}

#[derive(Debug)]
struct PartialToolCall {
    /// The server's index of the call, if it sends one.
    index: Option<u64>,
    given_id: Option<String>,
    name: String,
    /// Arguments that arrived before the name, which must be reported first.
    held_back: String,
    has_arguments: bool,
}

impl ToolCallAssembler {
    pub(crate) fn any(&self) -> bool {
        !self.calls.is_empty()
    }

    pub(crate) fn read(
        &mut self,
        delta: CallDelta,
        pending: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        let (name, arguments) = match delta.function {
            Some(function) => (function.name.unwrap_or_default(), text_of(function.arguments)),
            None => (String::new(), String::new()),
        };
        let id = delta.id.filter(|id| !id.is_empty());
        let at = match self.continued(delta.index, id.as_deref(), &name) {
            Some(at) => at,
            None => self.start_call(delta.index, id.clone())?,
        };
        if self.calls[at].name.is_empty() && !name.is_empty() {
            let id = self.unique_id(at, id);
            pending.push_back(ModelEvent::ToolCall { index: at, id, name: name.clone() });
            self.calls[at].name = name;
        }
        let call = &mut self.calls[at];
        call.held_back.push_str(&arguments);
        if !call.name.is_empty() && !call.held_back.is_empty() {
            call.has_arguments = true;
            let delta = std::mem::take(&mut call.held_back);
            pending.push_back(ModelEvent::ToolInput { index: at, delta });
        }
        Ok(())
    }

    /// Fails if a call has no name.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        if self.calls.iter().any(|call| call.name.is_empty()) {
            return Err(http::broken("a tool call has no name"));
        }
        Ok(())
    }

    /// The call that a delta continues; `None` when it starts a new one.
    fn continued(&self, index: Option<u64>, id: Option<&str>, name: &str) -> Option<usize> {
        let at = match (index, id) {
            (Some(_), _) => self.calls.iter().rposition(|call| call.index == index)?,
            (None, Some(_)) => {
                self.calls.iter().rposition(|call| call.given_id.as_deref() == id)?
            }
            // Without index and id, a name starts a call and anything else continues the last one.
            (None, None) if name.is_empty() => self.calls.len().checked_sub(1)?,
            (None, None) => return None,
        };
        let call = &self.calls[at];
        let another_id = match (id, call.given_id.as_deref()) {
            (Some(id), Some(known)) => id != known,
            // A late id belongs to the call, unless it arrives with a name after the arguments.
            (Some(_), None) => !name.is_empty() && call.has_arguments,
            (None, _) => false,
        };
        let another_name = !name.is_empty() && !call.name.is_empty() && name != call.name;
        (!another_id && !another_name).then_some(at)
    }

    fn start_call(&mut self, index: Option<u64>, id: Option<String>) -> Result<usize, ModelError> {
        if self.calls.len() == MAX_CALLS {
            return Err(http::broken("it has too many tool calls"));
        }
        self.calls.push(PartialToolCall {
            index,
            given_id: id,
            name: String::new(),
            held_back: String::new(),
            has_arguments: false,
        });
        Ok(self.calls.len() - 1)
    }

    /// Results are matched to calls by id, so a missing or repeated id is replaced.
    fn unique_id(&self, at: usize, id: Option<String>) -> CallId {
        let id = self.calls[at].given_id.clone().or(id);
        let taken =
            |id: &String| self.calls[..at].iter().any(|call| call.given_id.as_ref() == Some(id));
        match id.filter(|id| !taken(id)) {
            Some(id) => CallId(id),
            None => CallId(format!("call_{}", CallId::fresh())),
        }
    }
}

fn text_of(arguments: Value) -> String {
    match arguments {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => other.to_string(),
    }
}
