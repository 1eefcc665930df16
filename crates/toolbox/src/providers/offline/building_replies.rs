//! What the offline pilot says about agents that were built: what it is, how far it is, and what to do next.

use ports::model::ModelMessage;
use protocol::text::cut_end;
use serde_json::Value;

use super::building_history::{BUILDERS, EDIT, GUIDE, questions};

/// Characters shown of a list of changes.
const DIFF_CHARS: usize = 3_000;

/// The guide is read by the pilot, not by people.
pub(crate) fn is_silent(name: &str, is_error: bool) -> bool {
    name == GUIDE && !is_error
}

/// A paragraph about the response of a tool that builds agents; `None` for any other.
pub(crate) fn paragraph(tool: &str, response: &Value) -> Option<String> {
    if !BUILDERS.contains(&tool) {
        return None;
    }
    let is_edit = tool == EDIT;
    Some(match response["type"].as_str()? {
        "operation_started" | "operation_pending" => started(is_edit).to_owned(),
        "agent_saved" => saved(response),
        "agent_preview" => preview(response),
        "suggested_goal" => suggestion(response, is_edit),
        "error" => failure(response, is_edit),
        _ => match &questions(response)[..] {
            [] => return None,
            [one] => format!("One question first: {one}"),
            all => format!("A few questions first:\n\n- {}", all.join("\n- ")),
        },
    })
}

/// The paragraph about an operation that has ended. `notice` is the engine's message without its mark: the name of the
/// tool, and the beginning and the end of the output. The history has all of it.
pub(crate) fn operation(notice: &str, messages: &[ModelMessage]) -> Option<String> {
    let (tool, _) = notice.split_once(" (")?;
    if !BUILDERS.contains(&tool) {
        return None;
    }
    let (_, output) = notice.split_once("\n{").unwrap_or_default();
    let output = output.rsplit_once("\n\n").map_or(output, |(output, _)| output);
    let told = serde_json::from_str::<Value>(&format!("{{{output}")).ok();
    let stored = || {
        messages.iter().rev().find_map(|message| match message {
            ModelMessage::ToolResult { name, content, .. } if name == tool => {
                serde_json::from_str(content).ok()
            }
            _ => None,
        })
    };
    paragraph(tool, &told.or_else(stored)?)
}

fn started(is_edit: bool) -> &'static str {
    match is_edit {
        true => {
            "I'm changing the agent now: the change is written, checked and rehearsed. I'll say what \
             changed as soon as it is saved."
        }
        false => {
            "I'm building the agent now: it is planned, written, checked and rehearsed. I'll tell you \
             as soon as it is ready, or if I have a question."
        }
    }
}

fn text<'a>(response: &'a Value, member: &str) -> &'a str {
    response[member].as_str().unwrap_or_default()
}

fn saved(response: &Value) -> String {
    let name = text(response, "agent_name");
    let version = response["graph_version"].as_u64().unwrap_or(1);
    let did = match version {
        0 | 1 => format!("I've built **{name}** and saved it in your library."),
        version => format!("I've changed **{name}** and saved it as version {version}."),
    };
    let next = match text(response, "state") {
        "rehearsed" | "verified" => {
            "Say “Rehearse the agent” to try it without consequences, “Run the agent” to run it, or what to \
             change, for example “Rename it to …”."
        }
        _ => "Say “Rehearse the agent” to see what it does, or what to change.",
    };
    let about =
        Some(text(response, "description")).filter(|about| !about.is_empty() && version <= 1);
    let parts = [
        Some(did),
        about.map(str::to_owned),
        diff(response),
        Some(state(response)),
        Some(next.to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

fn preview(response: &Value) -> String {
    let did =
        format!("This is a preview of **{}**. Nothing is saved yet.", text(response, "agent_name"));
    let next = "Say “Save it” to keep it, or what to change.";
    let parts = [Some(did), diff(response), Some(state(response)), Some(next.to_owned())];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

fn diff(response: &Value) -> Option<String> {
    let diff = response["diff"].as_str().map(str::trim).filter(|diff| !diff.is_empty())?;
    Some(format!("What changed:\n\n```diff\n{}\n```", cut_end(diff, DIFF_CHARS)))
}

/// What its state means.
fn state(response: &Value) -> String {
    let means = match text(response, "state") {
        "verified" => {
            "It is ready to use: in its rehearsal every step ran and every output was filled."
        }
        "rehearsed" => {
            "It is ready to use: its rehearsal filled every output. Steps that act outside were only rehearsed."
        }
        "needs_setup" => {
            "It needs credentials before it can run. Open it in your library to add them."
        }
        "not_verifiable" => "Its rehearsal did not come to an end, so it is not proven to work.",
        "blocked" => "It needs blocks that this server does not have, so it cannot run here.",
        "draft" => "It still has errors and cannot run. Open it in the builder to see them.",
        _ => "It has no errors, but its rehearsal left an output empty or a step failed.",
    };
    let warnings = response["warnings"].as_array().into_iter().flatten();
    let warnings: Vec<&str> = warnings.filter_map(|warning| warning["message"].as_str()).collect();
    match warnings.is_empty() {
        true => means.to_owned(),
        false => format!("{means} Probably a mistake: {}", warnings.join(" ")),
    }
}

fn suggestion(response: &Value, is_edit: bool) -> String {
    let instead = if is_edit { "I could make this change" } else { "I could build this" };
    format!(
        "{}\n\n{instead}: “{}”. Accept it above, or tell me in other words what you want.",
        text(response, "reason"),
        text(response, "suggested_goal")
    )
}

fn failure(response: &Value, is_edit: bool) -> String {
    let what = if is_edit { "I couldn't change the agent." } else { "I couldn't build the agent." };
    format!("{what} {}", text(response, "message"))
}
