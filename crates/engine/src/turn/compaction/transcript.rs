//! A part of the history as plain text: complete, for a model that summarizes it, or only its first lines, when no
//! model does.

use std::fmt::Write;

use protocol::message::{Message, MessageRole, ToolOutcome};
use protocol::text::{cut_end, cut_middle};
use serde_json::Value;

use super::measure::{cut_to, fair_share};

/// Characters of one line of a digest.
const LINE: usize = 200;

/// The rows as text of at most about `bytes` bytes; long entries are cut in the middle.
pub(crate) fn whole(rows: &[&Message], bytes: usize) -> String {
    let entries: Vec<String> = rows.iter().flat_map(|row| entries(row)).collect();
    let share = fair_share(entries.iter().map(String::len), bytes);
    let cut: Vec<String> = entries.iter().map(|entry| cut_to(entry, share)).collect();
    // There may be so many entries that even their beginnings are too long.
    cut_to(&cut.join("\n\n"), bytes)
}

/// Less useful than a summary, but cannot fail.
pub(crate) fn digest(earlier: Option<&str>, rows: &[&Message], chars: usize) -> String {
    let mut text = String::new();
    if let Some(earlier) = earlier {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}\n", cut_middle(earlier, chars / 2));
    }
    for row in rows {
        match row.role {
            MessageRole::Tool => {
                let _ = writeln!(text, "- {}", outcome_line(row));
            }
            _ => {
                for entry in entries(row) {
                    let _ = writeln!(text, "- {}", first_line(&entry));
                }
            }
        }
    }
    cut_middle(text.trim_end(), chars)
}

/// One entry for the text of a row and one for each of its calls.
fn entries(row: &Message) -> Vec<String> {
    let calls =
        row.tool_calls.iter().map(|call| format!("Call of {}: {}", call.name, call.arguments));
    let words = match row.role {
        MessageRole::System => return Vec::new(),
        MessageRole::Tool => format!("{}: {}", answered(row), row.content),
        _ if row.content.trim().is_empty() => return calls.collect(),
        MessageRole::User => format!("Person: {}", row.content),
        MessageRole::Assistant => format!("Assistant: {}", row.content),
    };
    std::iter::once(words).chain(calls).collect()
}

fn outcome_line(row: &Message) -> String {
    let response: Value = serde_json::from_str(&row.content).unwrap_or_default();
    let text = response["message"].as_str().unwrap_or(&row.content);
    format!("{}: {}", answered(row), first_line(text))
}

fn answered(row: &Message) -> String {
    let how = match row.outcome {
        Some(ToolOutcome::Ok) | None => "answered",
        Some(ToolOutcome::Error) => "failed",
        Some(ToolOutcome::Denied) => "was refused",
        Some(ToolOutcome::Cancelled) => "was cancelled",
        Some(ToolOutcome::Interrupted) => "was interrupted",
    };
    format!("{} {how}", row.name.as_deref().unwrap_or("A tool"))
}

fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    cut_end(line.trim(), LINE)
}
