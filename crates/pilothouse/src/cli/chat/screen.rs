//! Renders a chat in a terminal. Text from a model or a tool is escaped, so that it cannot control the terminal.

use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};

use protocol::response::BackgroundStatus;
use protocol::{CallId, Chunk, SessionId};
use serde_json::Value;

use super::api::PastMessage;
use crate::cli::terminal::{escaped, shortened};

const DIM: &str = "\x1b[2m";
const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const PLAIN: &str = "\x1b[0m";

pub(crate) struct ChatScreen {
    colors: ColorMode,
    at: CursorPosition,
    tools: HashMap<CallId, String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ColorMode {
    On,
    Off,
}

/// What is to the left of the cursor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CursorPosition {
    LineStart,
    Prompt,
    Text,
    Reasoning,
}

impl ChatScreen {
    pub(crate) fn new() -> Self {
        let colors = if io::stdout().is_terminal() { ColorMode::On } else { ColorMode::Off };
        Self { colors, at: CursorPosition::LineStart, tools: HashMap::new() }
    }

    pub(crate) fn welcome(&mut self, session: &SessionId) {
        self.line(
            DIM,
            &format!("Chat {session}. Ctrl-C stops a response; at the prompt it quits."),
        );
    }

    pub(crate) fn farewell(&mut self, session: &SessionId) {
        self.new_line();
        self.line(DIM, &format!("Resume with: pilothouse chat --session {session}"));
    }

    pub(crate) fn prompt(&mut self) {
        self.new_line();
        self.write(BOLD, "> ");
        self.at = CursorPosition::Prompt;
    }

    /// The user has ended the line.
    pub(crate) fn entered(&mut self) {
        self.at = CursorPosition::LineStart;
    }

    pub(crate) fn note(&mut self, text: &str) {
        self.line(DIM, &format!("({text})"));
    }

    /// A note that quotes a text of the user.
    pub(crate) fn note_with(&mut self, text: &str, about: &str) {
        self.note(&format!("{text}: {}", shortened(about)));
    }

    /// Shows a text behind the prompt as if it were typed there.
    pub(crate) fn typed(&mut self, text: &str) {
        self.write("", text);
        self.new_line();
    }

    pub(crate) fn complain(&mut self, text: &str) {
        self.line(RED, text);
    }

    pub(crate) fn show_history(&mut self, messages: &[PastMessage]) {
        for message in messages {
            match (message.role.as_str(), &message.name) {
                ("user", _) => self.line(BOLD, &format!("> {}", message.content)),
                ("tool", Some(name)) => {
                    self.line(DIM, &format!("[{name}] {}", shortened(&message.content)))
                }
                _ if message.content.is_empty() => {}
                _ => self.line("", &message.content),
            }
        }
    }

    pub(crate) fn end_turn(&mut self) {
        self.new_line();
        self.tools.clear();
    }

    pub(crate) fn show(&mut self, chunk: &Chunk) {
        match chunk {
            Chunk::TextDelta { delta, .. } => self.flow(CursorPosition::Text, "", delta),
            Chunk::ReasoningDelta { delta, .. } => self.flow(CursorPosition::Reasoning, DIM, delta),
            Chunk::TextEnd { .. } | Chunk::ReasoningEnd { .. } => self.new_line(),
            Chunk::ToolInputStart { tool_call_id, tool_name } => {
                self.tools.insert(tool_call_id.clone(), tool_name.clone());
            }
            Chunk::ToolInputAvailable { tool_call_id, tool_name, input } => {
                self.tools.insert(tool_call_id.clone(), tool_name.clone());
                self.line(DIM, &format!("[{tool_name}] running {}", shortened(&input.to_string())));
            }
            Chunk::ToolInputError { tool_name, error_text, .. } => {
                self.line(RED, &format!("[{tool_name}] not called: {}", shortened(error_text)));
            }
            Chunk::ToolOutputAvailable { tool_call_id, output, preliminary } => {
                let state = if *preliminary { "…" } else { "done" };
                let text = format!(
                    "[{}] {state}: {}",
                    self.tool(tool_call_id),
                    shortened(&output_text(output))
                );
                self.line(DIM, &text);
            }
            Chunk::ToolOutputError { tool_call_id, error_text } => {
                let text =
                    format!("[{}] failed: {}", self.tool(tool_call_id), shortened(error_text));
                self.line(RED, &text);
            }
            Chunk::DataStatus { data, .. } => self.line(DIM, &format!("({})", data.message)),
            Chunk::DataAttempt { .. } => self.note("another worker continues this response"),
            Chunk::DataPendingDrained { data } => {
                for message in &data.messages {
                    self.note_with("delivered", &message.text);
                }
            }
            Chunk::DataCompaction { data } => {
                self.note(&format!("{} earlier messages were summarized", data.folded));
            }
            Chunk::DataBackground { id, data } => {
                let status = match data.status {
                    BackgroundStatus::Completed => "done",
                    BackgroundStatus::StillRunning => "still running",
                    BackgroundStatus::Cancelled => "canceled",
                    BackgroundStatus::Error => "failed",
                };
                let output = data.output.as_ref().map(output_text).unwrap_or_default();
                let tool = &data.tool_name;
                let text = format!("[{tool} {id}] {status}: {}", shortened(&output));
                self.line(DIM, &text);
            }
            Chunk::Error { error_text } => self.complain(error_text),
            Chunk::Abort => self.note("stopped"),
            Chunk::Start { .. }
            | Chunk::StartStep
            | Chunk::FinishStep
            | Chunk::TextStart { .. }
            | Chunk::ReasoningStart { .. }
            | Chunk::ToolInputDelta { .. }
            | Chunk::DataUsage { .. }
            | Chunk::Finish { .. } => {}
        }
    }

    fn tool(&self, call: &CallId) -> &str {
        self.tools.get(call).map_or("tool", String::as_str)
    }

    fn flow(&mut self, at: CursorPosition, style: &str, text: &str) {
        if self.at != at {
            self.new_line();
        }
        self.write(style, text);
        self.at = at;
    }

    fn line(&mut self, style: &str, text: &str) {
        self.new_line();
        self.write(style, text);
        self.write("", "\n");
        self.at = CursorPosition::LineStart;
    }

    fn new_line(&mut self) {
        if self.at != CursorPosition::LineStart {
            self.write("", "\n");
        }
        self.at = CursorPosition::LineStart;
    }

    /// Write errors are ignored; when the terminal is closed, the next keyboard read ends the program.
    fn write(&self, style: &str, text: &str) {
        let mut out = io::stdout().lock();
        let text = escaped(text);
        let _ = match self.colors {
            ColorMode::On if !style.is_empty() => write!(out, "{style}{text}{PLAIN}"),
            _ => write!(out, "{text}"),
        };
        let _ = out.flush();
    }
}

/// The message of a tool output if it has one, otherwise the whole output.
fn output_text(output: &Value) -> String {
    output["message"].as_str().map_or_else(|| output.to_string(), str::to_owned)
}
