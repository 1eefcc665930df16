//! Plans one step of the offline pilot from the request alone.

use ports::model::{
    ModelErrorKind, ModelMessage, ModelRequest, OPERATION_MARK, StopReason, ToolUse,
};

use protocol::text::cut_end;

use super::building_history::BuildingHistory;
use super::command::{self, PilotCommand, StreamCommand};
use super::{building_replies, building_requests, replies, requests, sentences};

/// The tool that is called for an unknown question.
const LOOK_UP: &str = "search_docs";
const QUERY_CHARS: usize = 200;
/// The tool whose card sends the user's answers as a message.
const ASK: &str = "ask_question";

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PlanStep {
    Say(String),
    Think(String),
    Stream(StreamCommand),
    Call { name: String, arguments: String },
    Fail(ModelErrorKind),
    Finish(StopReason),
}

pub(crate) fn plan(request: &ModelRequest) -> Vec<PlanStep> {
    let ConversationTail { before, last_message, since } = ConversationTail::of(&request.messages);
    let report = replies::report(since);
    if !report.is_empty() {
        return reply(report);
    }
    if let Some(notice) = last_message.strip_prefix(OPERATION_MARK) {
        // The result may contain anything; lines that look like commands must not be executed.
        let built = building_replies::operation(notice, &request.messages);
        return reply(built.unwrap_or_else(|| replies::operation(notice)));
    }
    // A follow-up sent while tools were running is answered together with their results.
    let results = replies::report(before);
    let commands = commands_in(last_message, request);
    let mut steps = match commands.is_empty() {
        true if results.is_empty() && was_asked(&request.messages) => {
            reply(replies::ANSWERED.to_owned())
        }
        true if results.is_empty() => reply(replies::introduction(request)),
        // The last message is the engine's notice that this is the last step.
        true if request.tool_use == ToolUse::Forbidden => return reply(results),
        true => reply(replies::also_read(last_message)),
        false => carry_out(commands, request),
    };
    if !results.is_empty() {
        steps.insert(0, PlanStep::Say(results + "\n\n"));
    }
    steps
}

/// The commands in a message: literal ones, those of a known sentence or of a card's message, or a documentation search
/// for a question.
fn commands_in(last_message: &str, request: &ModelRequest) -> Vec<PilotCommand> {
    let commands = command::parse(last_message);
    if !commands.is_empty() {
        return commands;
    }
    if let Some(known) = sentences::commands_for(last_message) {
        return command::parse(known);
    }
    let history = BuildingHistory::of(&request.messages);
    let understood = building_requests::read(last_message, &history);
    let understood =
        understood.or_else(|| requests::read(last_message).map(|command| vec![command]));
    if let Some(commands) = understood {
        return building_requests::with_guide(commands, || history);
    }
    let can_look_up = request.tool_use != ToolUse::Forbidden
        && request.tools.iter().any(|tool| tool.name == LOOK_UP);
    if can_look_up && last_message.trim_end().ends_with('?') {
        let query = cut_end(last_message.trim(), QUERY_CHARS);
        let arguments = serde_json::json!({ "query": query }).to_string();
        return vec![PilotCommand::Tool { name: LOOK_UP.to_owned(), arguments }];
    }
    Vec::new()
}

/// Whether the previous turn asked the user a question.
fn was_asked(messages: &[ModelMessage]) -> bool {
    let is_user = |message: &ModelMessage| matches!(message, ModelMessage::User { .. });
    let mut turns = messages.rsplit(is_user).skip(1);
    turns.next().unwrap_or_default().iter().any(|message| match message {
        ModelMessage::ToolResult { name, is_error, .. } => name == ASK && !is_error,
        _ => false,
    })
}

/// The conversation around the last user message.
struct ConversationTail<'a> {
    /// Unreported tool results just before it.
    before: &'a [ModelMessage],
    last_message: &'a str,
    since: &'a [ModelMessage],
}

impl<'a> ConversationTail<'a> {
    fn of(messages: &'a [ModelMessage]) -> Self {
        let user_text = |(at, message): (usize, &'a ModelMessage)| match message {
            ModelMessage::User { text } => Some((at, text.as_str())),
            _ => None,
        };
        let Some((at, last_message)) = messages.iter().enumerate().rev().find_map(user_text) else {
            return Self { before: &[], last_message: "", since: messages };
        };
        let is_user = |message: &ModelMessage| matches!(message, ModelMessage::User { .. });
        let is_result = |message: &ModelMessage| matches!(message, ModelMessage::ToolResult { .. });
        // Start of the run of messages of one kind at the end.
        let run = |of: &[ModelMessage], is_of_kind: fn(&ModelMessage) -> bool| {
            of.iter().rposition(|message| !is_of_kind(message)).map_or(0, |other| other + 1)
        };
        // Several follow-ups may have been delivered together.
        let before = &messages[..run(&messages[..at], is_user)];
        let before = &before[run(before, is_result)..];
        Self { before, last_message, since: &messages[at + 1..] }
    }
}

fn reply(text: String) -> Vec<PlanStep> {
    vec![PlanStep::Say(text), PlanStep::Finish(StopReason::Stop)]
}

fn carry_out(commands: Vec<PilotCommand>, request: &ModelRequest) -> Vec<PlanStep> {
    let mut steps = Vec::new();
    let mut calls = Vec::new();
    for command in commands {
        match command {
            PilotCommand::Help => steps.push(PlanStep::Say(replies::help(request))),
            PilotCommand::Stream(deltas) => steps.push(PlanStep::Stream(deltas)),
            PilotCommand::Think(text) => {
                steps.push(PlanStep::Think(text));
                steps.push(PlanStep::Say(replies::THOUGHT.to_owned()));
            }
            PilotCommand::Say(words) => steps.push(PlanStep::Say(words.to_owned())),
            // The last step of a turn must end with text.
            PilotCommand::Tool { name, .. } if request.tool_use == ToolUse::Forbidden => {
                steps.push(PlanStep::Say(replies::no_tools(&name)));
            }
            PilotCommand::Tool { name, arguments } => {
                calls.push(PlanStep::Call { name, arguments })
            }
            PilotCommand::Fail(kind) => steps.push(PlanStep::Fail(kind)),
            PilotCommand::Mistake(what) => steps.push(PlanStep::Say(replies::mistake(&what))),
        }
    }
    let reason = if calls.is_empty() { StopReason::Stop } else { StopReason::ToolCalls };
    steps.append(&mut calls);
    steps.push(PlanStep::Finish(reason));
    steps
}

/// Characters that a real model would have read.
pub(crate) fn prompt_chars(request: &ModelRequest) -> usize {
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
