//! `pilothouse agents fix`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use protocol::graph::GraphProblem;
use serde::Deserialize;
use serde_json::Value;

use super::agent_file::{AgentContent, AgentFile};
use super::problem_text::{lines, print_refusal};
use crate::cli::client::{ApiClient, ServerFlags};
use crate::cli::print;
use crate::cli::terminal::note;
use crate::config::Settings;

#[derive(Args)]
pub(crate) struct FixArguments {
    /// A spec (YAML or JSON) or a graph (JSON); - reads standard input
    #[arg(value_name = "FILE")]
    file: String,
    /// Write the repaired agent to the file instead of standard output, if something was repaired
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    server: ServerFlags,
}

#[derive(Deserialize)]
struct FixReport {
    agent_json: Value,
    spec: String,
    fixes: Vec<FixLine>,
    valid_after_fix: bool,
    remaining: Vec<GraphProblem>,
}

#[derive(Deserialize)]
struct FixLine {
    code: String,
    path: Option<String>,
    message: String,
}

pub(crate) async fn run(settings: &Settings, arguments: FixArguments) -> anyhow::Result<ExitCode> {
    let file = AgentFile::read(&arguments.file)?;
    let target = match (arguments.write, &file.path) {
        (true, None) => anyhow::bail!("--write needs a file; standard input cannot be written"),
        (true, Some(path)) => Some(path.clone()),
        (false, _) => None,
    };
    let client = ApiClient::new(settings, arguments.server)?;
    let request = client.post(&["agents", "fix"]).json(&file.body());
    let report: FixReport = match client.fetch(request).await {
        Ok(report) => report,
        Err(failure) => return Ok(print_refusal(&client, &failure)),
    };
    for fix in &report.fixes {
        let place = fix.path.as_deref().unwrap_or("agent");
        note(&format!("fixed {place}: {} ({})", fix.message, fix.code));
    }
    if !report.remaining.is_empty() {
        note("Left to repair:");
        note(lines(&report.remaining).trim_end());
    }
    hand_over(&file, &report, target).await?;
    Ok(if report.valid_after_fix { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn hand_over(
    file: &AgentFile,
    report: &FixReport,
    target: Option<PathBuf>,
) -> anyhow::Result<()> {
    if report.fixes.is_empty() {
        note("Nothing to repair automatically.");
    }
    let text = repaired(file, report)?;
    match target {
        None => {
            print(text.trim_end())?;
        }
        // A file without repairs keeps its comments and its order.
        Some(_) if report.fixes.is_empty() => {}
        Some(path) => {
            let written = tokio::fs::write(&path, text.trim_end().to_owned() + "\n").await;
            written.with_context(|| format!("could not write {}", path.display()))?;
            note(&format!("Wrote {}.", path.display()));
        }
    }
    Ok(())
}

/// The repaired agent in the format of the file.
fn repaired(file: &AgentFile, report: &FixReport) -> anyhow::Result<String> {
    if report.fixes.is_empty() {
        return Ok(file.text.clone());
    }
    Ok(match file.content {
        AgentContent::Graph(_) => serde_json::to_string_pretty(&report.agent_json)?,
        AgentContent::YamlSpec => report.spec.clone(),
        AgentContent::JsonSpec => {
            let spec = graphs::spec::parse(&report.spec);
            let spec = spec.ok().context("the repaired spec of the server cannot be read")?;
            serde_json::to_string_pretty(&graphs::spec::to_value(&spec))?
        }
    })
}
