//! `pilothouse agents rehearse`.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use protocol::rehearsal::RehearsalReport;
use serde_json::json;

use super::inputs::{self, NamedInput};
use super::problem_text::print_refusal;
use super::rehearsal_text::text;
use super::{agent_argument, print_error};
use crate::cli::client::{ApiClient, ServerFlags};
use crate::cli::print;
use crate::cli::terminal::escaped;
use crate::config::Settings;

/// How long the server rehearses before it responds with what it has.
const REHEARSAL_TIME: Duration = Duration::from_secs(60);

#[derive(Args)]
pub(crate) struct RehearseArguments {
    /// A spec (YAML or JSON) or a graph (JSON), - for standard input, or the name or id of an agent: NAME or NAME@VERSION
    #[arg(value_name = "FILE|NAME")]
    agent: String,
    /// An input. The value is parsed as JSON, or used as text if that fails. Required inputs that are absent are made up
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = inputs::parse)]
    inputs: Vec<NamedInput>,
    /// Make up other data. The same number always makes the same data
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Use the outputs of an earlier run of the agent, and its inputs where none are given
    #[arg(long, value_name = "RUN")]
    recording: Option<String>,
    /// Rehearse again for each step that was answered for, with that step failing
    #[arg(long)]
    fail_each: bool,
    #[command(flatten)]
    server: ServerFlags,
}

pub(crate) async fn run(
    settings: &Settings,
    arguments: RehearseArguments,
) -> anyhow::Result<ExitCode> {
    let client = ApiClient::for_long_requests(settings, arguments.server, REHEARSAL_TIME)?;
    let mut body = match agent_argument::body(&client, &arguments.agent).await? {
        Ok(body) => body,
        Err(failure) => return Ok(print_error(&client, &failure)),
    };
    body["inputs"] = inputs::object(arguments.inputs).into();
    body["seed"] = json!(arguments.seed);
    if let Some(recording) = &arguments.recording {
        body["recording"] = json!(recording);
    }
    body["fail_each"] = json!(arguments.fail_each);
    let request = client.post(&["agents", "rehearse"]).json(&body);
    match client.fetch::<RehearsalReport>(request).await {
        Ok(report) => {
            print(escaped(&text(&report)).trim_end())?;
            Ok(if report.state.is_ready() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Err(failure) => Ok(print_refusal(&client, &failure)),
    }
}
