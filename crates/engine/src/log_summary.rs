//! The result of a turn as read from its log: the text of the last step with text, its tool calls and its usage. How
//! the turn ended is in its row.

use protocol::response::SubSessionCall;
use protocol::usage::Usage;
use protocol::{CallId, Chunk, Segment};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LogSummary {
    /// Text of the last step that emitted text.
    pub(crate) text: String,
    pub(crate) calls: Vec<SubSessionCall>,
    pub(crate) usage: Usage,
    /// Whether the next text delta starts a new step.
    new_step: bool,
}

impl LogSummary {
    pub(crate) fn read(&mut self, segment: &Segment) {
        for frame in segment.frames() {
            // Unknown chunks of a newer version are skipped.
            if let Ok(chunk) = serde_json::from_slice(frame.json) {
                self.observe(chunk);
            }
        }
    }

    fn observe(&mut self, chunk: Chunk) {
        match chunk {
            Chunk::StartStep => self.new_step = true,
            Chunk::TextDelta { delta, .. } => {
                if std::mem::take(&mut self.new_step) {
                    self.text.clear();
                }
                self.text.push_str(&delta);
            }
            Chunk::ToolInputAvailable { tool_call_id, tool_name, .. } => {
                self.calls.push(SubSessionCall { tool_call_id, tool_name, done: false });
            }
            Chunk::ToolOutputAvailable { tool_call_id, preliminary: false, .. }
            | Chunk::ToolOutputError { tool_call_id, .. } => self.done(&tool_call_id),
            Chunk::DataUsage { data } => self.usage = data,
            _ => {}
        }
    }

    fn done(&mut self, call: &CallId) {
        for known in self.calls.iter_mut().filter(|known| known.tool_call_id == *call) {
            known.done = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::SegmentBuilder;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_summary_keeps_the_text_of_the_last_step_and_every_call() {
        let text = |delta: &str| Chunk::TextDelta { id: "t".into(), delta: delta.to_owned() };
        let mut log = SegmentBuilder::following(0);
        for chunk in [
            Chunk::StartStep,
            text("Let me "),
            text("look."),
            Chunk::ToolInputAvailable {
                tool_call_id: "a".into(),
                tool_name: "web_fetch".into(),
                input: json!({}),
            },
            Chunk::ToolOutputAvailable {
                tool_call_id: "a".into(),
                output: json!(1),
                preliminary: true,
            },
            Chunk::ToolOutputAvailable {
                tool_call_id: "a".into(),
                output: json!(2),
                preliminary: false,
            },
            Chunk::FinishStep,
            Chunk::StartStep,
            text("It is "),
            text("42."),
            Chunk::FinishStep,
            Chunk::StartStep,
        ] {
            log.push(&chunk);
        }
        let mut summary = LogSummary::default();
        summary.read(&log.take().expect("chunks"));
        assert_eq!(summary.text, "It is 42.");
        assert_eq!(summary.calls.len(), 1);
        assert!(summary.calls[0].done);
    }
}
