//! What is answered about an agent that was built: the same for the tools that build agents and for a completion that
//! another service reports.

use protocol::graph::GraphProblem;
use protocol::response::{BuiltAgent, ResponseBody, ToolResponse};
use serde_json::{Value, json};

use crate::call_services::AgentBuilt;

/// Problems that an answer lists. A model repairs a few at a time.
const MAX_PROBLEMS: usize = 50;
/// Names that say nothing about an agent.
const GENERIC_NAMES: [&str; 7] =
    ["", "agent", "ai agent", "generated agent", "my agent", "new agent", "untitled"];

impl From<AgentBuilt> for ToolResponse {
    fn from(built: AgentBuilt) -> Self {
        match built {
            AgentBuilt::Preview(preview) => {
                let message = format!(
                    "This is a preview of “{}” ({}). Nothing was saved.{}",
                    preview.summary.agent_name,
                    preview.summary.state.as_str(),
                    naming_hint(&preview.summary)
                );
                Self::new(message, ResponseBody::AgentPreview(preview))
            }
            AgentBuilt::Saved(saved) => {
                let BuiltAgent { agent_name, state, diff, .. } = &saved.summary;
                let ready = match state.is_ready() {
                    true => "It is ready to run.",
                    false => "It is not ready: tell the user what its state means.",
                };
                let what = match diff.as_deref() == Some("") {
                    true => format!("“{agent_name}” already is like this as"),
                    false => format!("Saved “{agent_name}” as"),
                };
                let message = format!(
                    "{what} version {} ({}). {ready}{}",
                    saved.graph_version,
                    state.as_str(),
                    naming_hint(&saved.summary)
                );
                Self::new(message, ResponseBody::AgentSaved(saved))
            }
            AgentBuilt::Invalid(problems) => invalid_agent(&problems),
            AgentBuilt::Stale { newest, diff } => {
                let message = format!(
                    "The agent was changed meanwhile; its newest version is {newest}. Read it again and apply your \
                     change to that version."
                );
                error("stale_version", message, json!({ "newest_version": newest, "diff": diff }))
            }
            AgentBuilt::NotFound => Self::error(
                "agent_not_found",
                "The agent was not found among the user's own agents. find_library_agent lists them.",
            ),
            AgentBuilt::NoFolder => Self::error(
                "folder_not_found",
                "The library has no such folder. Nothing was saved; leave folder_id out or use the id of a folder.",
            ),
            AgentBuilt::LibraryFull => Self::error(
                "library_full",
                "The library is full. The user must remove an agent first.",
            ),
        }
    }
}

/// The answer for an agent with errors: each with its place and, where there is one, the edit that repairs it.
pub fn invalid_agent(problems: &[GraphProblem]) -> ToolResponse {
    let message = match problems.len() {
        1 => "The agent has an error. Repair it and try again.".to_owned(),
        count => format!("The agent has {count} errors. Repair them and try again."),
    };
    error("validation_failed", message, problem_details(problems))
}

/// Problems as the details of an error.
pub fn problem_details(problems: &[GraphProblem]) -> Value {
    let listed = &problems[..problems.len().min(MAX_PROBLEMS)];
    json!({ "errors": listed, "error_count": problems.len() })
}

fn error(code: &str, message: String, details: Value) -> ToolResponse {
    let body = ResponseBody::Error {
        error: Some(code.to_owned()),
        details: Some(details),
        execution_id: None,
    };
    ToolResponse::new(message, body)
}

/// Asks for what people need to find the agent again.
fn naming_hint(agent: &BuiltAgent) -> &'static str {
    let name = agent.agent_name.trim().to_lowercase();
    match (GENERIC_NAMES.contains(&name.as_str()), agent.description.trim().is_empty()) {
        (true, true) => " Give it a name and a description that say what it does.",
        (true, false) => " Give it a name that says what it does.",
        (false, true) => " Give it a description that says what it does.",
        (false, false) => "",
    }
}
