//! What the offline pilot does in one step, decided from the request alone.

use ports::model::{
    ModelErrorKind, ModelMessage, ModelRequest, OPERATION_MARK, StopReason, ToolUse,
};

use protocol::text::cut_end;

use super::command::{self, PilotCommand, StreamCommand};
use super::{replies, requests, sentences};

/// The tool that a question goes to when nobody understands it.
const LOOK_UP: &str = "search_docs";
const QUERY_CHARS: usize = 200;
/// The tool whose card sends what a person has answered, in the person's own words.
const ASK: &str = "ask_question";

#[derive(Clone, Debug, PartialEq)]
pub(super) enum PlanStep {
    Say(String),
    Think(String),
    Stream(StreamCommand),
    Call { name: String, arguments: String },
    Fail(ModelErrorKind),
    Finish(StopReason),
}

pub(super) fn plan(request: &ModelRequest) -> Vec<PlanStep> {
    let ConversationTail { before, last_words, since } = ConversationTail::of(&request.messages);
    let report = replies::report(since);
    if !report.is_empty() {
        return spoken(report);
    }
    if let Some(news) = last_words.strip_prefix(OPERATION_MARK) {
        // What came back may be anything; lines of it that look like commands are none.
        return spoken(replies::operation(news));
    }
    // A message that came while tools were at work has to be answered together with what they brought.
    let brought = replies::report(before);
    let commands = understood(last_words, request);
    let mut parts = match commands.is_empty() {
        true if brought.is_empty() && was_asked(&request.messages) => {
            spoken(replies::ANSWERED.to_owned())
        }
        true if brought.is_empty() => spoken(replies::introduction(request)),
        // The last words are the engine's: that this is the last step.
        true if request.tool_use == ToolUse::Forbidden => return spoken(brought),
        true => spoken(replies::also_read(last_words)),
        false => carry_out(commands, request),
    };
    if !brought.is_empty() {
        parts.insert(0, PlanStep::Say(brought + "\n\n"));
    }
    parts
}

/// Commands, a sentence that stands for some, what a card of the page asks for, or a question that the documentation may
/// answer.
fn understood(last_words: &str, request: &ModelRequest) -> Vec<PilotCommand> {
    let commands = command::parse(last_words);
    if !commands.is_empty() {
        return commands;
    }
    if let Some(known) = sentences::commands_for(last_words) {
        return command::parse(known);
    }
    if let Some(asked) = requests::read(last_words) {
        return vec![asked];
    }
    let can_look_up = request.tool_use != ToolUse::Forbidden
        && request.tools.iter().any(|tool| tool.name == LOOK_UP);
    if can_look_up && last_words.trim_end().ends_with('?') {
        let query = cut_end(last_words.trim(), QUERY_CHARS);
        let arguments = serde_json::json!({ "query": query }).to_string();
        return vec![PilotCommand::Tool { name: LOOK_UP.to_owned(), arguments }];
    }
    Vec::new()
}

/// Whether the person was asked something in answer to their message before the last one.
fn was_asked(messages: &[ModelMessage]) -> bool {
    let is_user = |message: &ModelMessage| matches!(message, ModelMessage::User { .. });
    let mut turns = messages.rsplit(is_user).skip(1);
    turns.next().unwrap_or_default().iter().any(|message| match message {
        ModelMessage::ToolResult { name, is_error, .. } => name == ASK && !is_error,
        _ => false,
    })
}

/// The conversation around the last message of the person.
struct ConversationTail<'a> {
    /// Results just before it that nobody has spoken about.
    before: &'a [ModelMessage],
    last_words: &'a str,
    since: &'a [ModelMessage],
}

impl<'a> ConversationTail<'a> {
    fn of(messages: &'a [ModelMessage]) -> Self {
        let said = |(at, message): (usize, &'a ModelMessage)| match message {
            ModelMessage::User { text } => Some((at, text.as_str())),
            _ => None,
        };
        let Some((at, last_words)) = messages.iter().enumerate().rev().find_map(said) else {
            return Self { before: &[], last_words: "", since: messages };
        };
        let is_user = |message: &ModelMessage| matches!(message, ModelMessage::User { .. });
        let is_result = |message: &ModelMessage| matches!(message, ModelMessage::ToolResult { .. });
        // Where the messages of one kind begin that stand together at the end.
        let run = |of: &[ModelMessage], is_of_kind: fn(&ModelMessage) -> bool| {
            of.iter().rposition(|message| !is_of_kind(message)).map_or(0, |other| other + 1)
        };
        // Several messages may have come at once.
        let before = &messages[..run(&messages[..at], is_user)];
        let before = &before[run(before, is_result)..];
        Self { before, last_words, since: &messages[at + 1..] }
    }
}

fn spoken(text: String) -> Vec<PlanStep> {
    vec![PlanStep::Say(text), PlanStep::Finish(StopReason::Stop)]
}

fn carry_out(commands: Vec<PilotCommand>, request: &ModelRequest) -> Vec<PlanStep> {
    let mut parts = Vec::new();
    let mut calls = Vec::new();
    for command in commands {
        match command {
            PilotCommand::Help => parts.push(PlanStep::Say(replies::help(request))),
            PilotCommand::Stream(deltas) => parts.push(PlanStep::Stream(deltas)),
            PilotCommand::Think(text) => {
                parts.push(PlanStep::Think(text));
                parts.push(PlanStep::Say(replies::THOUGHT.to_owned()));
            }
            PilotCommand::Say(words) => parts.push(PlanStep::Say(words.to_owned())),
            // The last step of a turn has to end in words.
            PilotCommand::Tool { name, .. } if request.tool_use == ToolUse::Forbidden => {
                parts.push(PlanStep::Say(replies::no_tools(&name)));
            }
            PilotCommand::Tool { name, arguments } => {
                calls.push(PlanStep::Call { name, arguments })
            }
            PilotCommand::Fail(kind) => parts.push(PlanStep::Fail(kind)),
            PilotCommand::Mistake(what) => parts.push(PlanStep::Say(replies::mistake(&what))),
        }
    }
    let reason = if calls.is_empty() { StopReason::Stop } else { StopReason::ToolCalls };
    parts.append(&mut calls);
    parts.push(PlanStep::Finish(reason));
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
