//! What the offline pilot does in one step, decided from the request alone.

use ports::model::{ModelErrorKind, ModelMessage, ModelRequest, StopReason, ToolUse};

use super::command::{self, Command, Deltas};
use super::words;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Say(String),
    Think(String),
    Deltas(Deltas),
    Call { name: String, arguments: String },
    Fail(ModelErrorKind),
    Finish(StopReason),
}

pub(super) fn plan(request: &ModelRequest) -> Vec<Part> {
    let last_words = |message: &ModelMessage| matches!(message, ModelMessage::User { .. });
    let at = request.messages.iter().rposition(last_words);
    let (message, since) = match at {
        Some(at) => (&request.messages[at..=at], &request.messages[at + 1..]),
        None => (&[][..], &request.messages[..]),
    };
    let report = words::report(since);
    if !report.is_empty() {
        return vec![Part::Say(report), Part::Finish(StopReason::Stop)];
    }
    let commands = match message {
        [ModelMessage::User { text }] => command::parse(text),
        _ => Vec::new(),
    };
    if commands.is_empty() {
        return vec![Part::Say(words::introduction(request)), Part::Finish(StopReason::Stop)];
    }
    carry_out(commands, request)
}

fn carry_out(commands: Vec<Command>, request: &ModelRequest) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut calls = Vec::new();
    for command in commands {
        match command {
            Command::Help => parts.push(Part::Say(words::help(request))),
            Command::Stream(deltas) => parts.push(Part::Deltas(deltas)),
            Command::Think(text) => {
                parts.push(Part::Think(text));
                parts.push(Part::Say(words::THOUGHT.to_owned()));
            }
            // The last step of a turn has to end in words.
            Command::Tool { name, .. } if request.tool_use == ToolUse::Forbidden => {
                parts.push(Part::Say(words::no_tools(&name)));
            }
            Command::Tool { name, arguments } => calls.push(Part::Call { name, arguments }),
            Command::Fail(kind) => parts.push(Part::Fail(kind)),
            Command::Mistake(what) => parts.push(Part::Say(words::mistake(&what))),
        }
    }
    let reason = if calls.is_empty() { StopReason::Stop } else { StopReason::ToolCalls };
    parts.append(&mut calls);
    parts.push(Part::Finish(reason));
    parts
}

/// What a real model would have had to read.
pub(super) fn prompt_chars(request: &ModelRequest) -> usize {
    let message = |message: &ModelMessage| match message {
        ModelMessage::User { text } => text.chars().count(),
        ModelMessage::Assistant { text, tool_calls, .. } => {
            let calls = tool_calls.iter().map(|call| call.arguments.chars().count());
            text.chars().count() + calls.sum::<usize>()
        }
        ModelMessage::ToolResult { content, .. } => content.chars().count(),
    };
    request.system.chars().count() + request.messages.iter().map(message).sum::<usize>()
}
