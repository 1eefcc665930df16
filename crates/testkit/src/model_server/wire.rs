//! Turns a script into the actions that play it in one wire format. The formats themselves are in
//! `openai` and `anthropic`.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use ports::model::StopReason;
use serde_json::Value;

use super::gate::Gate;
use super::script::{Cut, Script, ScriptedCall, ScriptedUsage, Step};
use super::{anthropic, openai};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    OpenAi,
    Anthropic,
}

/// Writes the events of one answer.
pub(super) trait Writer {
    fn begin(&mut self, usage: ScriptedUsage) -> Vec<String>;
    fn text(&mut self, piece: &str) -> Vec<String>;
    fn reasoning(&mut self, piece: &str) -> Vec<String>;
    fn calls(&mut self, calls: &[ScriptedCall], pieces: usize) -> Vec<String>;
    fn finish(&mut self, reason: StopReason, usage: ScriptedUsage) -> Vec<String>;
    fn error(&mut self, kind: &str, message: &str) -> String;
}

pub(super) enum Action {
    Send(Bytes),
    Wait(Gate),
    Delay(Duration),
    Hang,
    Cut(Cut),
}

impl Dialect {
    fn writer(self, model: &str) -> Box<dyn Writer> {
        match self {
            Self::OpenAi => Box::new(openai::Chunks::new(model)),
            Self::Anthropic => Box::new(anthropic::Events::new(model)),
        }
    }

    pub(super) fn error_body(self, kind: &str, message: &str) -> Value {
        match self {
            Self::OpenAi => openai::error_body(kind, message),
            Self::Anthropic => anthropic::error_body(kind, message),
        }
    }

    pub(super) fn actions(self, script: &Script, model: &str) -> VecDeque<Action> {
        let usage = script.steps.iter().find_map(|step| match step {
            Step::Usage(usage) => Some(*usage),
            _ => None,
        });
        let usage = usage.unwrap_or_default();
        let mut writer = self.writer(model);
        let mut actions: VecDeque<Action> = writer.begin(usage).into_iter().map(send).collect();
        let mut ended = false;
        let mut called = false;
        for step in &script.steps {
            match step {
                Step::Text { text, pieces } => {
                    let events = split(text, *pieces).flat_map(|piece| writer.text(piece));
                    actions.extend(events.map(send));
                }
                Step::Reasoning { text, pieces } => {
                    let events = split(text, *pieces).flat_map(|piece| writer.reasoning(piece));
                    actions.extend(events.map(send));
                }
                Step::Calls { calls, pieces } => {
                    called = true;
                    actions.extend(writer.calls(calls, *pieces).into_iter().map(send));
                }
                Step::Usage(_) => {}
                Step::Finish(reason) => {
                    ended = true;
                    actions.extend(writer.finish(*reason, usage).into_iter().map(send));
                }
                Step::Error { kind, message } => {
                    ended = true;
                    actions.push_back(send(writer.error(kind, message)));
                }
                Step::Wait(gate) => actions.push_back(Action::Wait(gate.clone())),
                Step::Delay(time) => actions.push_back(Action::Delay(*time)),
                Step::Hang => {
                    ended = true;
                    actions.push_back(Action::Hang);
                }
                Step::Cut(cut) => {
                    ended = true;
                    actions.push_back(Action::Cut(*cut));
                }
                Step::Raw(bytes) => actions.push_back(Action::Send(bytes.clone())),
            }
        }
        if !ended {
            let reason = if called { StopReason::ToolCalls } else { StopReason::Stop };
            actions.extend(writer.finish(reason, usage).into_iter().map(send));
        }
        actions
    }
}

fn send(event: String) -> Action {
    Action::Send(event.into())
}

/// At most `pieces` non-empty parts of about the same length, never in the middle of a character.
pub(super) fn split(text: &str, pieces: usize) -> impl Iterator<Item = &str> {
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
    fn the_pieces_of_a_text_are_the_text() {
        for text in ["", "a", "hello", "öäüß€ and more"] {
            for pieces in 1..6 {
                let parts: Vec<&str> = split(text, pieces).collect();
                assert_eq!(parts.concat(), text);
                assert!(parts.len() <= pieces && parts.iter().all(|part| !part.is_empty()));
            }
        }
    }
}
