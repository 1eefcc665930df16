//! `pilothouse export`: writes an agent of a server to a file that another installation can import.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use serde_json::Value;

use super::agents::{complain, graph_id};
use super::client::{Client, Failure, Server};
use super::terminal::note;
use crate::config::Settings;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The agent: its id, or its name.
    #[arg(value_name = "ID")]
    agent: String,
    /// This version instead of the active one.
    #[arg(long, value_name = "N")]
    version: Option<u32>,
    /// The file to write; the terminal when not given.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    server: Server,
}

pub(crate) async fn run(settings: &Settings, arguments: Arguments) -> anyhow::Result<ExitCode> {
    let client = Client::new(settings, arguments.server)?;
    let graph = match export(&client, &arguments.agent, arguments.version).await {
        Ok(graph) => graph,
        Err(failure) => return Ok(complain(&client, &failure)),
    };
    let text = serde_json::to_string_pretty(&graph)?;
    let Some(file) = arguments.output else { return super::print(&text) };
    let written = tokio::fs::write(&file, text + "\n").await;
    written.with_context(|| format!("{} cannot be written", file.display()))?;
    note(&format!("Wrote {}.", file.display()));
    Ok(ExitCode::SUCCESS)
}

async fn export(client: &Client, agent: &str, version: Option<u32>) -> Result<Value, Failure> {
    let graph = graph_id(client, agent).await?;
    let version = version.map(|version| version.to_string());
    let mut query = vec![("for_export", "true")];
    query.extend(version.as_deref().map(|version| ("version", version)));
    client.answer(client.get_with(&["graphs", graph.as_str()], &query)).await
}
