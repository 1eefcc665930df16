//! `pilothouse agents run`.

use std::process::ExitCode;

use clap::Args;
use protocol::GraphId;
use protocol::execution::ExecutionStatus;
use serde_json::json;

use super::super::client::{Client, Failure, Server};
use super::super::print;
use super::super::terminal::{escaped, note};
use super::execution::{self, Execution, Nodes};
use super::inputs::{self, Input};
use super::names::Names;
use super::{complain, follow, graph_id, store};
use crate::config::Settings;

/// How the program ends when a person has to decide.
const NEEDS_A_PERSON: u8 = 3;

#[derive(Args)]
pub(super) struct Arguments {
    /// The agent: its name, its id, or the address of one of the marketplace, which is added to your library.
    #[arg(value_name = "NAME|ID|USER/SLUG")]
    agent: String,
    /// An input. The value is read as JSON, and as text if it is none.
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = inputs::parse)]
    inputs: Vec<Input>,
    /// Run this version instead of the active one.
    #[arg(long, value_name = "N")]
    version: Option<u32>,
    /// Show what happens until the run has ended.
    #[arg(long)]
    wait: bool,
    /// Blocks that act on the world only say what they would do.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    server: Server,
}

pub(super) async fn run(settings: &Settings, arguments: Arguments) -> anyhow::Result<ExitCode> {
    let client = Client::new(settings, arguments.server)?;
    let wanted = Wanted {
        agent: arguments.agent,
        version: arguments.version,
        inputs: arguments.inputs,
        dry_run: arguments.dry_run,
    };
    let started = match wanted.start(&client).await {
        Ok(started) => started,
        Err(failure) => return Ok(complain(&client, &failure)),
    };
    if !arguments.wait {
        let (id, how) = (&started.id, "To look at it: pilothouse agents show");
        return print(&escaped(&format!("Started the run {id}.\n{how} {id}")));
    }
    note(&format!("Run {}", started.id));
    match follow_up(&client, &started).await {
        Ok(ended) => {
            note(&ended.summary());
            let result = ended.result();
            if !result.is_empty() {
                print(escaped(&result).trim_end())?;
            }
            if ended.status == ExecutionStatus::Review {
                note(
                    "A person has to decide: GET /api/review/pending says what, POST /api/review/action decides.",
                );
                note(&format!("Then look at it with: pilothouse agents show {}", ended.id));
            }
            Ok(exit_code(ended.status))
        }
        Err(failure) => Ok(complain(&client, &failure)),
    }
}

struct Wanted {
    agent: String,
    version: Option<u32>,
    inputs: Vec<Input>,
    dry_run: bool,
}

impl Wanted {
    async fn start(self, client: &Client) -> Result<Execution, Failure> {
        let graph = self.graph(client).await?;
        let version = self.version.map(|version| version.to_string());
        let path: Vec<&str> =
            ["graphs", graph.as_str(), "execute"].into_iter().chain(version.as_deref()).collect();
        let body = json!({"inputs": inputs::object(self.inputs), "dry_run": self.dry_run});
        client.answer(client.post(&path).json(&body)).await
    }

    /// A name may have a slash in it, so that the library is asked first.
    async fn graph(&self, client: &Client) -> Result<GraphId, Failure> {
        match (graph_id(client, &self.agent).await, store::address(&self.agent)) {
            (Err(Failure::Refused { status: 404, .. }), Some(address)) => {
                store::add(client, address).await
            }
            (found, _) => found,
        }
    }
}

async fn follow_up(client: &Client, started: &Execution) -> Result<Execution, Failure> {
    let names = Names::of(client, &started.graph_id, started.graph_version).await?;
    follow::to_the_end(client, started, names).await?;
    execution::read(client, &started.id, Nodes::LeftOut).await
}

fn exit_code(status: ExecutionStatus) -> ExitCode {
    match status {
        ExecutionStatus::Completed => ExitCode::SUCCESS,
        ExecutionStatus::Review => ExitCode::from(NEEDS_A_PERSON),
        ExecutionStatus::Failed
        | ExecutionStatus::Terminated
        | ExecutionStatus::Incomplete
        | ExecutionStatus::Queued
        | ExecutionStatus::Running => ExitCode::FAILURE,
    }
}
