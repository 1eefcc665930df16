//! `pilothouse agents diff`.

use std::process::ExitCode;

use clap::Args;
use protocol::graph_diff::AgentDiff;
use serde_json::json;

use super::problem_text::print_refusal;
use super::{agent_argument, print_error};
use crate::cli::client::{ApiClient, ClientError, ServerFlags};
use crate::cli::print;
use crate::cli::terminal::{escaped, note};
use crate::config::Settings;

#[derive(Args)]
pub(crate) struct DiffArguments {
    /// A file, - for standard input, or the name or id of an agent: NAME or NAME@VERSION
    #[arg(value_name = "FROM")]
    from: String,
    /// What it is compared with, given in the same way
    #[arg(value_name = "TO")]
    to: String,
    #[command(flatten)]
    server: ServerFlags,
}

pub(crate) async fn run(settings: &Settings, arguments: DiffArguments) -> anyhow::Result<ExitCode> {
    let DiffArguments { from, to, server } = arguments;
    let client = ApiClient::new(settings, server)?;
    let mut sides = Vec::new();
    for side in [&from, &to] {
        match agent_argument::body(&client, side).await? {
            Ok(body) => sides.push(body),
            Err(failure) => return Ok(print_error(&client, &failure)),
        }
    }
    let body = json!({"from": sides[0], "to": sides[1]});
    let request = client.post(&["agents", "diff"]).json(&body);
    match client.fetch::<AgentDiff>(request).await {
        Ok(diff) => print(escaped(&graphs::diff::to_text(&diff)).trim_end()),
        Err(failure) => {
            if let Some(side) = refused_side(&failure, &from, &to) {
                note(&format!("{}:", escaped(side)));
            }
            Ok(print_refusal(&client, &failure))
        }
    }
}

/// The argument that the server refused.
fn refused_side<'a>(failure: &ClientError, from: &'a str, to: &'a str) -> Option<&'a str> {
    let ClientError::Refused { body, .. } = failure else { return None };
    match body["side"].as_str()? {
        "from" => Some(from),
        "to" => Some(to),
        _ => None,
    }
}
