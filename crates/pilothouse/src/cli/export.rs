//! `pilothouse export`: writes an agent to a file that another installation can import.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use serde_json::Value;

use super::agents::{graph_id, print_error};
use super::client::{ApiClient, ClientError, ServerFlags};
use super::terminal::note;
use crate::config::Settings;

#[derive(Args)]
pub(crate) struct ExportArguments {
    /// The agent's name or id
    #[arg(value_name = "ID")]
    agent: String,
    /// Export this version instead of the active one
    #[arg(long, value_name = "N")]
    version: Option<u32>,
    /// The file to write (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    server: ServerFlags,
}

pub(crate) async fn run(
    settings: &Settings,
    arguments: ExportArguments,
) -> anyhow::Result<ExitCode> {
    let client = ApiClient::new(settings, arguments.server)?;
    let graph = match export(&client, &arguments.agent, arguments.version).await {
        Ok(graph) => graph,
        Err(failure) => return Ok(print_error(&client, &failure)),
    };
    let text = serde_json::to_string_pretty(&graph)?;
    let Some(file) = arguments.output else { return super::print(&text) };
    let written = tokio::fs::write(&file, text + "\n").await;
    written.with_context(|| format!("could not write {}", file.display()))?;
    note(&format!("Wrote {}.", file.display()));
    Ok(ExitCode::SUCCESS)
}

async fn export(
    client: &ApiClient,
    agent: &str,
    version: Option<u32>,
) -> Result<Value, ClientError> {
    let graph = graph_id(client, agent).await?;
    let version = version.map(|version| version.to_string());
    let mut query = vec![("for_export", "true")];
    query.extend(version.as_deref().map(|version| ("version", version)));
    client.fetch(client.get_with(&["graphs", graph.as_str()], &query)).await
}
