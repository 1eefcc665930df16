//! Converts a script into the actions that play it in one wire format. The formats are in `openai` and `anthropic`.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use ports::model::StopReason;
use serde_json::Value;

use super::gate::Gate;
use super::script::{ConnectionCut, Script, ScriptStep, ScriptedCall, ScriptedUsage};
use super::{anthropic, openai};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    OpenAi,
    Anthropic,
}

/// Writes the events of one response.
pub(crate) trait ResponseWriter {
    fn begin(&mut self, usage: ScriptedUsage) -> Vec<String>;
    fn text(&mut self, piece: &str) -> Vec<String>;
    fn reasoning(&mut self, piece: &str) -> Vec<String>;
    fn calls(&mut self, calls: &[ScriptedCall], pieces: usize) -> Vec<String>;
    fn finish(&mut self, reason: StopReason, usage: ScriptedUsage) -> Vec<String>;
    fn error(&mut self, kind: &str, message: &str) -> String;
}

pub(crate) enum ResponseAction {
    Send(Bytes),
    Wait(Gate),
    Delay(Duration),
    Hang,
    Cut(ConnectionCut),
}

impl Dialect {
    fn writer(self, model: &str) -> Box<dyn ResponseWriter> {
        match self {
            Self::OpenAi => Box::new(openai::OpenAiWriter::new(model)),
            Self::Anthropic => Box::new(anthropic::AnthropicWriter::new(model)),
        }
    }

    pub(crate) fn error_body(self, kind: &str, message: &str) -> Value {
        match self {
            Self::OpenAi => openai::error_body(kind, message),
            Self::Anthropic => anthropic::error_body(kind, message),
        }
    }

    pub(crate) fn actions(self, script: &Script, model: &str) -> VecDeque<ResponseAction> {
        let usage = script.steps.iter().find_map(|step| match step {
            ScriptStep::Usage(usage) => Some(*usage),
            _ => None,
        });
        let usage = usage.unwrap_or_default();
        let mut writer = self.writer(model);
        let mut actions: VecDeque<ResponseAction> =
            writer.begin(usage).into_iter().map(send).collect();
        let mut ended = false;
        let mut called = false;
        for step in &script.steps {
            match step {
                ScriptStep::Text { text, pieces } => {
                    let events = split(text, *pieces).flat_map(|piece| writer.text(piece));
                    actions.extend(events.map(send));
                }
                ScriptStep::Reasoning { text, pieces } => {
                    let events = split(text, *pieces).flat_map(|piece| writer.reasoning(piece));
                    actions.extend(events.map(send));
                }
                ScriptStep::Calls { calls, pieces } => {
                    called = true;
                    actions.extend(writer.calls(calls, *pieces).into_iter().map(send));
                }
                ScriptStep::Usage(_) => {}
                ScriptStep::Finish(reason) => {
                    ended = true;
                    actions.extend(writer.finish(*reason, usage).into_iter().map(send));
                }
                ScriptStep::Error { kind, message } => {
                    ended = true;
                    actions.push_back(send(writer.error(kind, message)));
                }
                ScriptStep::Wait(gate) => actions.push_back(ResponseAction::Wait(gate.clone())),
                ScriptStep::Delay(time) => actions.push_back(ResponseAction::Delay(*time)),
                ScriptStep::Hang => {
                    ended = true;
                    actions.push_back(ResponseAction::Hang);
                }
                ScriptStep::Cut(cut) => {
                    ended = true;
                    actions.push_back(ResponseAction::Cut(*cut));
                }
                ScriptStep::Raw(bytes) => actions.push_back(ResponseAction::Send(bytes.clone())),
            }
        }
        if !ended {
            let reason = if called { StopReason::ToolCalls } else { StopReason::Stop };
            actions.extend(writer.finish(reason, usage).into_iter().map(send));
        }
        actions
    }
}

fn send(event: String) -> ResponseAction {
    ResponseAction::Send(event.into())
}

/// At most `pieces` non-empty parts of about the same length, never in the middle of a character.
pub(crate) fn split(text: &str, pieces: usize) -> impl Iterator<Item = &str> {
    let size = text.len().div_ceil(pieces.max(1)).max(1);
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = size.min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (piece, left) = rest.split_at(end);
        rest = left;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_of_a_text_join_to_the_text() {
        for text in ["", "a", "hello", "öäüß€ and more"] {
            for pieces in 1..6 {
                let parts: Vec<&str> = split(text, pieces).collect();
                assert_eq!(parts.concat(), text);
                assert!(parts.len() <= pieces && parts.iter().all(|part| !part.is_empty()));
            }
        }
    }
}
