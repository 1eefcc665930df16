//! `pilothouse agents new`.

use std::process::ExitCode;

use clap::Args;
use serde::Deserialize;
use serde_json::json;

use super::agent_file::{AgentContent, AgentFile};
use super::problem_text::print_refusal;
use crate::cli::client::{ApiClient, ServerFlags};
use crate::cli::print;
use crate::cli::terminal::escaped;
use crate::config::Settings;

#[derive(Args)]
pub(crate) struct NewArguments {
    /// A spec (YAML or JSON) or a graph (JSON); - reads standard input
    #[arg(value_name = "FILE")]
    file: String,
    /// Also save an agent that cannot run yet
    #[arg(long)]
    draft: bool,
    #[command(flatten)]
    server: ServerFlags,
}

#[derive(Deserialize)]
struct SavedAgent {
    id: String,
    version: u32,
    name: String,
}

pub(crate) async fn run(settings: &Settings, arguments: NewArguments) -> anyhow::Result<ExitCode> {
    let file = AgentFile::read(&arguments.file)?;
    let client = ApiClient::new(settings, arguments.server)?;
    let query: &[(&str, &str)] = if arguments.draft { &[("draft", "true")] } else { &[] };
    let body = match &file.content {
        AgentContent::Graph(graph) => json!({"graph": graph}),
        AgentContent::YamlSpec | AgentContent::JsonSpec => file.body(),
    };
    let request = client.post_with(&["graphs"], query).json(&body);
    match client.fetch::<SavedAgent>(request).await {
        Ok(SavedAgent { id, version, name }) => {
            print(&escaped(&format!("Saved “{name}” as {id}, version {version}.")))
        }
        Err(failure) => Ok(print_refusal(&client, &failure)),
    }
}
