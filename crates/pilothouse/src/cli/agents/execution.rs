//! An execution as the terminal shows it.

use std::fmt::Write;

use protocol::execution::{
    ExecutionError, ExecutionStats, ExecutionStatus, NodeExecution, NodeFailure,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::cli::client::{ApiClient, ClientError};
use crate::cli::terminal::shortened;

/// The fields of an execution that the terminal uses.
#[derive(Deserialize)]
pub(crate) struct ExecutionSummary {
    pub(crate) id: String,
    pub(crate) graph_id: String,
    pub(crate) graph_version: u32,
    pub(crate) status: ExecutionStatus,
    stats: ExecutionStats,
    error: Option<ExecutionError>,
    #[serde(default)]
    outputs: Map<String, Value>,
    #[serde(default)]
    outputs_cut: bool,
    #[serde(default)]
    node_executions: Vec<NodeExecution>,
    #[serde(default)]
    node_total: u64,
    #[serde(default)]
    failed_nodes: Vec<NodeFailure>,
}

/// Whether to fetch the node executions.
#[derive(Clone, Copy)]
pub(crate) enum NodeDetail {
    Shown,
    Omitted,
}

pub(crate) async fn read(
    client: &ApiClient,
    id: &str,
    nodes: NodeDetail,
) -> Result<ExecutionSummary, ClientError> {
    let limit = match nodes {
        NodeDetail::Shown => "500",
        NodeDetail::Omitted => "0",
    };
    client.fetch(client.get_with(&["executions", id], &[("node_limit", limit)])).await
}

impl ExecutionSummary {
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{}  {}\n", self.id, self.summary());
        let shown = self.node_executions.len() as u64;
        for node in &self.node_executions {
            let status = node.status.as_str();
            line(&mut text, &format!("  {status:<10} {}", node.block_name));
        }
        if shown > 0 && shown < self.node_total {
            line(&mut text, &format!("  … and {} more steps", self.node_total - shown));
        }
        text.push_str(&self.result());
        text
    }

    /// The state in one line.
    pub(crate) fn summary(&self) -> String {
        let stats = &self.stats;
        let mut text = format!(
            "{}: {} steps, {} failed, {:.1} s",
            self.status.as_str(),
            stats.node_count,
            stats.node_error_count,
            stats.duration
        );
        if stats.cost > 0 {
            let _ = write!(text, ", {} credits", stats.cost);
        }
        if stats.is_dry_run {
            text.push_str(", dry run");
        }
        text
    }

    /// The outputs and errors.
    pub(crate) fn result(&self) -> String {
        let mut text = String::new();
        for (name, values) in &self.outputs {
            let values = values.as_array().map_or(std::slice::from_ref(values), Vec::as_slice);
            values.iter().for_each(|value| line(&mut text, &format!("{name}: {}", plain(value))));
        }
        if self.outputs_cut {
            line(&mut text, "(more outputs are not shown)");
        }
        for failed in &self.failed_nodes {
            line(
                &mut text,
                &format!("failed: {}: {}", failed.block_name, shortened(&failed.error)),
            );
        }
        if let Some(error) = &self.error {
            line(&mut text, &format!("error: {} ({})", error.message, error.code));
        }
        text
    }
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Text unchanged, everything else as JSON.
pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_execution_shows_its_outputs_and_failures() {
        let execution = json!({
            "id": "e", "graph_id": "g", "graph_version": 1, "status": "COMPLETED",
            "stats": {"node_count": 3, "node_error_count": 1, "duration": 1.25, "cost": 2},
            "error": null, "outputs": {"line": ["a", "b"], "total": [{"sum": 1}]},
            "failed_nodes": [{"node_id": "n", "block_name": "CalculatorBlock", "error": "not a\nnumber"}],
        });
        let execution: ExecutionSummary = serde_json::from_value(execution).expect("a run");
        let expected = "\
e  COMPLETED: 3 steps, 1 failed, 1.2 s, 2 credits
line: a
line: b
total: {\"sum\":1}
failed: CalculatorBlock: not a number
";
        assert_eq!(execution.text(), expected);
    }
}
