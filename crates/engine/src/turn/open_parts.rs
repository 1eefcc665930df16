//! The parts of a log that were started and not ended. Tracked while chunks are written, and rebuilt from the log after
//! a takeover, so that closing works the same in both cases.

use std::collections::HashSet;

use protocol::chunk::{Chunk, SupersededRange};
use protocol::{CallId, Segment, Seq};
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OpenParts {
    pub(crate) started: bool,
    /// Sequence number at which the open step started.
    step: Option<Seq>,
    text: Option<String>,
    reasoning: Option<String>,
    tools: Vec<OpenTool>,
    /// Every call of the log, and those of the open step.
    seen: HashSet<CallId>,
    step_calls: HashSet<CallId>,
    last: Seq,
}

#[derive(Clone, Debug, PartialEq)]
struct OpenTool {
    call: CallId,
    name: String,
    /// Whether the complete input was shown.
    input_complete: bool,
}

impl OpenParts {
    pub(crate) fn read(&mut self, segment: &Segment) {
        for frame in segment.frames() {
            // Unknown chunks of a newer version open nothing that this one could close.
            if let Ok(chunk) = serde_json::from_slice(frame.json) {
                self.observe(&chunk, frame.seq);
            }
        }
    }

    pub(crate) fn observe(&mut self, chunk: &Chunk, seq: Seq) {
        self.last = seq;
        match chunk {
            Chunk::Start { .. } => self.started = true,
            Chunk::StartStep => {
                self.step = Some(seq);
                self.step_calls.clear();
            }
            Chunk::FinishStep => self.step = None,
            Chunk::TextStart { id } => self.text = Some(id.clone()),
            Chunk::TextEnd { .. } => self.text = None,
            Chunk::ReasoningStart { id } => self.reasoning = Some(id.clone()),
            Chunk::ReasoningEnd { .. } => self.reasoning = None,
            Chunk::ToolInputStart { tool_call_id, tool_name } => {
                self.open_tool(tool_call_id, tool_name, false);
            }
            Chunk::ToolInputAvailable { tool_call_id, tool_name, .. } => {
                match self.tools.iter_mut().find(|tool| tool.call == *tool_call_id) {
                    Some(tool) => tool.input_complete = true,
                    None => self.open_tool(tool_call_id, tool_name, true),
                }
            }
            Chunk::ToolInputError { tool_call_id, .. }
            | Chunk::ToolOutputAvailable { tool_call_id, preliminary: false, .. }
            | Chunk::ToolOutputError { tool_call_id, .. } => {
                self.tools.retain(|tool| tool.call != *tool_call_id);
            }
            _ => {}
        }
    }

    fn open_tool(&mut self, call: &CallId, name: &str, input_complete: bool) {
        self.seen.insert(call.clone());
        self.step_calls.insert(call.clone());
        self.tools.push(OpenTool { call: call.clone(), name: name.to_owned(), input_complete });
    }

    pub(crate) fn has_seen(&self, call: &CallId) -> bool {
        self.seen.contains(call)
    }

    /// Whether the open step contains any of these calls.
    pub(crate) fn step_has_any(&self, calls: &[CallId]) -> bool {
        calls.iter().any(|call| self.step_calls.contains(call))
    }

    /// Calls that were shown and have no result.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = &CallId> {
        self.tools.iter().map(|tool| &tool.call)
    }

    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    pub(crate) fn reasoning(&self) -> Option<&str> {
        self.reasoning.as_deref()
    }

    pub(crate) fn in_step(&self) -> bool {
        self.step.is_some()
    }

    /// Range of the chunks of the open step.
    pub(crate) fn step_range(&self) -> Option<SupersededRange> {
        self.step.map(|from| SupersededRange { from, to: self.last })
    }

    /// Ends for open text and reasoning parts.
    pub(crate) fn end_text(&self) -> Vec<Chunk> {
        let text = self.text.iter().map(|id| Chunk::TextEnd { id: id.clone() });
        let reasoning = self.reasoning.iter().map(|id| Chunk::ReasoningEnd { id: id.clone() });
        reasoning.chain(text).collect()
    }

    /// Ends for all open parts and the step itself.
    pub(crate) fn end_all(&self, why: &str) -> Vec<Chunk> {
        let mut ends = self.end_text();
        ends.extend(self.tools.iter().map(|tool| end_tool(tool, why)));
        if self.in_step() {
            ends.push(Chunk::FinishStep);
        }
        ends
    }

    /// Ends for the calls that were never journaled, which will get no result.
    pub(crate) fn end_unjournaled(&self, journaled: &[CallId], why: &str) -> Vec<Chunk> {
        let unjournaled = self.tools.iter().filter(|tool| !journaled.contains(&tool.call));
        unjournaled.map(|tool| end_tool(tool, why)).collect()
    }
}

fn end_tool(tool: &OpenTool, why: &str) -> Chunk {
    if tool.input_complete {
        Chunk::ToolOutputError { tool_call_id: tool.call.clone(), error_text: why.to_owned() }
    } else {
        Chunk::ToolInputError {
            tool_call_id: tool.call.clone(),
            tool_name: tool.name.clone(),
            input: Value::Null,
            error_text: why.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::SegmentBuilder;
    use serde_json::json;

    use super::*;

    fn parts(chunks: &[Chunk]) -> OpenParts {
        let mut log = SegmentBuilder::following(0);
        for chunk in chunks {
            log.push(chunk);
        }
        let mut parts = OpenParts::default();
        parts.read(&log.take().expect("chunks"));
        parts
    }

    fn asked(call: &str) -> Chunk {
        Chunk::ToolInputAvailable {
            tool_call_id: call.into(),
            tool_name: "web_fetch".into(),
            input: json!({}),
        }
    }

    #[test]
    fn every_open_part_is_ended_in_an_order_the_client_accepts() {
        let parts = parts(&[
            Chunk::Start { message_id: "m".into(), message_metadata: None },
            Chunk::StartStep,
            Chunk::ReasoningStart { id: "r2".into() },
            Chunk::TextStart { id: "t3".into() },
            Chunk::ToolInputStart { tool_call_id: "a".into(), tool_name: "x".into() },
            asked("b"),
            asked("c"),
            Chunk::ToolOutputError { tool_call_id: "c".into(), error_text: "no".into() },
        ]);
        let kinds: Vec<String> = parts
            .end_all("stopped")
            .iter()
            .map(|chunk| serde_json::to_value(chunk).expect("JSON")["type"].to_string())
            .collect();
        assert_eq!(
            kinds.join(" "),
            r#""reasoning-end" "text-end" "tool-input-error" "tool-output-error" "finish-step""#
        );
        assert_eq!(parts.step_range(), Some(SupersededRange { from: 2, to: 8 }));
    }

    #[test]
    fn a_finished_log_has_nothing_open() {
        let parts = parts(&[
            Chunk::StartStep,
            Chunk::TextStart { id: "t".into() },
            Chunk::TextEnd { id: "t".into() },
            Chunk::FinishStep,
        ]);
        assert!(parts.end_all("x").is_empty());
    }
}
