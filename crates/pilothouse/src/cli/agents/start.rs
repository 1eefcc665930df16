//! `pilothouse agents run`.

use std::process::ExitCode;

use clap::Args;
use protocol::GraphId;
use protocol::execution::ExecutionStatus;
use serde_json::json;

use super::execution::{self, ExecutionSummary, NodeDetail};
use super::inputs::{self, NamedInput};
use super::node_names::NodeNames;
use super::{follow, graph_id, marketplace, print_error};
use crate::cli::client::{ApiClient, ClientError, ServerFlags};
use crate::cli::print;
use crate::cli::terminal::{escaped, note};
use crate::config::Settings;

/// The exit code of a run that needs approval.
const NEEDS_REVIEW: u8 = 3;

#[derive(Args)]
pub(crate) struct RunArguments {
    /// The agent's name or id, or USER/SLUG of a marketplace agent, which is added to your library
    #[arg(value_name = "NAME|ID|USER/SLUG")]
    agent: String,
    /// An input. The value is parsed as JSON, or used as text if that fails
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = inputs::parse)]
    inputs: Vec<NamedInput>,
    /// Run this version instead of the active one
    #[arg(long, value_name = "N")]
    version: Option<u32>,
    /// Show the progress until the run has ended
    #[arg(long)]
    wait: bool,
    /// Blocks with side effects only report what they would do
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    server: ServerFlags,
}

pub(crate) async fn run(settings: &Settings, arguments: RunArguments) -> anyhow::Result<ExitCode> {
    let client = ApiClient::new(settings, arguments.server)?;
    let request = RunRequest {
        agent: arguments.agent,
        version: arguments.version,
        inputs: arguments.inputs,
        dry_run: arguments.dry_run,
    };
    let started = match request.start(&client).await {
        Ok(started) => started,
        Err(failure) => return Ok(print_error(&client, &failure)),
    };
    if !arguments.wait {
        let (id, how) = (&started.id, "Show it with: pilothouse agents show");
        return print(&escaped(&format!("Started run {id}.\n{how} {id}")));
    }
    note(&format!("Run {}", started.id));
    match follow_to_result(&client, &started).await {
        Ok(ended) => {
            note(&ended.summary());
            let result = ended.result();
            if !result.is_empty() {
                print(escaped(&result).trim_end())?;
            }
            if ended.status == ExecutionStatus::Review {
                note(
                    "This run needs your approval: GET /api/review/pending lists the requests, POST /api/review/action decides them.",
                );
                note(&format!("Then show it with: pilothouse agents show {}", ended.id));
            }
            Ok(exit_code(ended.status))
        }
        Err(failure) => Ok(print_error(&client, &failure)),
    }
}

struct RunRequest {
    agent: String,
    version: Option<u32>,
    inputs: Vec<NamedInput>,
    dry_run: bool,
}

impl RunRequest {
    async fn start(self, client: &ApiClient) -> Result<ExecutionSummary, ClientError> {
        let graph = self.graph(client).await?;
        let version = self.version.map(|version| version.to_string());
        let path: Vec<&str> =
            ["graphs", graph.as_str(), "execute"].into_iter().chain(version.as_deref()).collect();
        let body = json!({"inputs": inputs::object(self.inputs), "dry_run": self.dry_run});
        client.fetch(client.post(&path).json(&body)).await
    }

    /// A name may contain a slash, so the library is searched first.
    async fn graph(&self, client: &ApiClient) -> Result<GraphId, ClientError> {
        match (graph_id(client, &self.agent).await, marketplace::address(&self.agent)) {
            (Err(ClientError::Refused { status: 404, .. }), Some(address)) => {
                marketplace::add(client, address).await
            }
            (found, _) => found,
        }
    }
}

async fn follow_to_result(
    client: &ApiClient,
    started: &ExecutionSummary,
) -> Result<ExecutionSummary, ClientError> {
    let names = NodeNames::of(client, &started.graph_id, started.graph_version).await?;
    follow::follow_to_end(client, started, names).await?;
    execution::read(client, &started.id, NodeDetail::Omitted).await
}

fn exit_code(status: ExecutionStatus) -> ExitCode {
    match status {
        ExecutionStatus::Completed => ExitCode::SUCCESS,
        ExecutionStatus::Review => ExitCode::from(NEEDS_REVIEW),
        ExecutionStatus::Failed
        | ExecutionStatus::Terminated
        | ExecutionStatus::Incomplete
        | ExecutionStatus::Queued
        | ExecutionStatus::Running => ExitCode::FAILURE,
    }
}
