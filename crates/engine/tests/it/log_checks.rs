//! Reads a log like a strict client: every part that starts ends once, and the end matches the status.

use std::collections::BTreeMap;

use protocol::chunk::{Chunk, FinishReason};
use protocol::message::Message;
use protocol::turn::TurnStatus;
use testkit::sim::backend::{TaskLog, TurnRow};

pub(crate) fn faults(row: &TurnRow, log: &TaskLog, answer: Option<&Message>) -> Vec<String> {
    let mut reader = Reader::default();
    let chunks: Vec<Chunk> = log
        .segments
        .iter()
        .flat_map(|segment| segment.frames())
        .map(|frame| serde_json::from_slice(frame.json).expect("a chunk of ours"))
        .collect();
    let mut faults: Vec<String> =
        chunks.iter().filter_map(|chunk| reader.read(chunk).err()).collect();
    if !log.sealed {
        faults.push("the log is not sealed".into());
    }
    faults.extend(reader.left_open());
    faults.extend(end_fault(row.turn.status, &chunks));
    let starts = chunks.iter().filter(|chunk| matches!(chunk, Chunk::Start { .. })).count();
    if starts != 1 || !matches!(&chunks[..], [Chunk::Start { .. }, ..]) {
        faults.push(format!("{starts} starts, or not at the start"));
    }
    if row.turn.status == TurnStatus::Completed
        && answer.is_none_or(|answer| answer.content != reader.step_text)
    {
        faults.push(format!("the last step said {:?}, not the answer", reader.step_text));
    }
    faults.into_iter().map(|fault| format!("G5/G6: {}: {fault}", row.turn.id)).collect()
}

/// Terminal chunks must match the status and be last.
fn end_fault(status: TurnStatus, chunks: &[Chunk]) -> Option<String> {
    let terminal: Vec<&Chunk> = chunks.iter().filter(|chunk| chunk.is_terminal()).collect();
    let last = chunks.len().saturating_sub(terminal.len());
    let at_the_end = chunks[last..].iter().all(Chunk::is_terminal);
    let agrees = match (status, &terminal[..]) {
        (TurnStatus::Completed, [Chunk::Finish { finish_reason, .. }]) => {
            *finish_reason != Some(FinishReason::Error)
        }
        (TurnStatus::Failed, [Chunk::Error { .. }, Chunk::Finish { finish_reason, .. }]) => {
            *finish_reason == Some(FinishReason::Error)
        }
        (TurnStatus::Cancelled, [Chunk::Abort]) => true,
        _ => false,
    };
    (!at_the_end || !agrees).then(|| format!("{status:?} ends in {terminal:?}"))
}

#[derive(Default)]
struct Reader {
    in_step: bool,
    text: Option<String>,
    reasoning: Option<String>,
    calls: BTreeMap<String, Call>,
    /// Text of the current step, or of the last one.
    step_text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    Begun,
    Asked,
    Answered,
}

impl Reader {
    fn read(&mut self, chunk: &Chunk) -> Result<(), String> {
        let fine = match chunk {
            Chunk::StartStep => {
                self.step_text.clear();
                !std::mem::replace(&mut self.in_step, true)
            }
            Chunk::FinishStep => {
                let quiet = self.text.is_none() && self.reasoning.is_none();
                std::mem::replace(&mut self.in_step, false) && quiet
            }
            Chunk::TextStart { id } => self.text.replace(id.clone()).is_none() && self.in_step,
            Chunk::TextDelta { id, delta } => {
                self.step_text.push_str(delta);
                self.text.as_ref() == Some(id)
            }
            Chunk::TextEnd { id } => self.text.take().as_ref() == Some(id),
            Chunk::ReasoningStart { id } => self.reasoning.replace(id.clone()).is_none(),
            Chunk::ReasoningDelta { id, .. } => self.reasoning.as_ref() == Some(id),
            Chunk::ReasoningEnd { id } => self.reasoning.take().as_ref() == Some(id),
            Chunk::ToolInputStart { tool_call_id, .. } => {
                self.call(tool_call_id.as_str(), &[], Call::Begun)
            }
            Chunk::ToolInputDelta { tool_call_id, .. } => {
                self.call(tool_call_id.as_str(), &[Call::Begun], Call::Begun)
            }
            Chunk::ToolInputAvailable { tool_call_id, .. } => {
                // The input was streamed or sent at once.
                let begun = self.calls.contains_key(tool_call_id.as_str());
                let from: &[Call] = if begun { &[Call::Begun] } else { &[] };
                self.call(tool_call_id.as_str(), from, Call::Asked)
            }
            Chunk::ToolInputError { tool_call_id, .. } => {
                self.call(tool_call_id.as_str(), &[Call::Begun], Call::Answered)
            }
            Chunk::ToolOutputAvailable { tool_call_id, preliminary: true, .. } => {
                self.call(tool_call_id.as_str(), &[Call::Asked], Call::Asked)
            }
            Chunk::ToolOutputAvailable { tool_call_id, .. }
            | Chunk::ToolOutputError { tool_call_id, .. } => {
                self.call(tool_call_id.as_str(), &[Call::Asked], Call::Answered)
            }
            _ => true,
        };
        if fine { Ok(()) } else { Err(format!("out of place: {chunk:?}")) }
    }

    /// Moves the call to `to`. Returns whether it was in one of the states `from`, or was new if `from` is empty.
    fn call(&mut self, id: &str, from: &[Call], to: Call) -> bool {
        let before = self.calls.insert(id.to_owned(), to);
        match before {
            None => from.is_empty(),
            Some(before) => from.contains(&before),
        }
    }

    fn left_open(&self) -> Option<String> {
        let calls = self.calls.values().any(|call| *call != Call::Answered);
        let open = self.in_step || self.text.is_some() || self.reasoning.is_some() || calls;
        open.then(|| "a part was started and not ended".to_owned())
    }
}
