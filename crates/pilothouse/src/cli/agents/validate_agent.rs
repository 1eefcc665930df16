//! `pilothouse agents validate`.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use protocol::graph::GraphProblem;
use protocol::rehearsal::AgentState;
use serde::Deserialize;

use super::problem_text::{count, line, lines, print_refusal};
use super::{agent_argument, print_error};
use crate::cli::client::{ApiClient, ServerFlags};
use crate::cli::print;
use crate::cli::terminal::escaped;
use crate::config::Settings;

#[derive(Args)]
pub(crate) struct ValidateArguments {
    /// A spec (YAML or JSON) or a graph (JSON), - for standard input, or the name or id of an agent: NAME or NAME@VERSION
    #[arg(value_name = "FILE|NAME")]
    agent: String,
    #[command(flatten)]
    server: ServerFlags,
}

#[derive(Deserialize)]
struct ValidationReport {
    valid: bool,
    state: AgentState,
    errors: Vec<GraphProblem>,
    warnings: Vec<GraphProblem>,
    needs: NeedsReport,
}

#[derive(Default, Deserialize)]
struct NeedsReport {
    credentials: Vec<NeedReport>,
    blocks: Vec<NeedReport>,
    agents: Vec<NeedReport>,
}

/// One thing that an agent needs. Each kind has some of these fields.
#[derive(Default, Deserialize)]
struct NeedReport {
    #[serde(default)]
    id: String,
    name: Option<String>,
    title: Option<String>,
    step: Option<String>,
}

pub(crate) async fn run(
    settings: &Settings,
    arguments: ValidateArguments,
) -> anyhow::Result<ExitCode> {
    let client = ApiClient::new(settings, arguments.server)?;
    let body = match agent_argument::body(&client, &arguments.agent).await? {
        Ok(body) => body,
        Err(failure) => return Ok(print_error(&client, &failure)),
    };
    let request = client.post(&["agents", "validate"]).json(&body);
    match client.fetch::<ValidationReport>(request).await {
        Ok(report) => {
            print(escaped(&report.text()).trim_end())?;
            Ok(if report.valid { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Err(failure) => Ok(print_refusal(&client, &failure)),
    }
}

impl ValidationReport {
    fn text(&self) -> String {
        let mut text = lines(&self.errors);
        for warning in &self.warnings {
            text.push_str("warning: ");
            text.push_str(&line(warning));
        }
        let NeedsReport { credentials, blocks, agents } = &self.needs;
        let needs = [("credentials", credentials), ("block", blocks), ("agent", agents)];
        for (kind, need) in
            needs.iter().flat_map(|(kind, all)| all.iter().map(move |one| (kind, one)))
        {
            let what = need.title.as_ref().or(need.name.as_ref()).unwrap_or(&need.id);
            let by = need.step.as_ref().map(|step| format!(" (step {step})")).unwrap_or_default();
            // Writing to a string does not fail.
            let _ = writeln!(text, "needs {kind}: {what}{by}");
        }
        let warnings = match self.warnings.len() {
            0 => String::new(),
            number => format!(", {}", count(number, "warning")),
        };
        let state = self.state.as_str();
        let _ = match self.valid {
            true => writeln!(text, "No errors{warnings}. State: {state}"),
            false => {
                let errors = count(self.errors.len(), "error");
                writeln!(text, "{errors}{warnings}. State: {state}")
            }
        };
        text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_ends_with_its_counts_and_the_state() {
        let report = json!({
            "valid": false, "state": "blocked",
            "errors": [{"code": "unknown_block", "path": "steps.a.block", "message": "No such block."}],
            "warnings": [{"code": "unused_step", "path": "steps.b", "message": "Nothing uses it."}],
            "needs": {
                "credentials": [{"node_id": "n", "step": "mail", "pin": "key", "title": "Mail key"}],
                "blocks": [{"id": "b1"}], "agents": [{"id": "g1", "version": 2}],
            },
        });
        let report: ValidationReport = serde_json::from_value(report).expect("a report");
        let expected = "\
steps.a.block: No such block. (unknown_block)
warning: steps.b: Nothing uses it. (unused_step)
needs credentials: Mail key (step mail)
needs block: b1
needs agent: g1
1 error, 1 warning. State: blocked
";
        assert_eq!(report.text(), expected);
    }
}
