//! `pilothouse import`: adds agents from files to the library of a server, and reports exactly why one is refused.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use protocol::graph::{Graph, GraphProblem};
use protocol::limits;
use serde::Deserialize;
use serde_json::Value;

use super::client::{ApiClient, ClientError, ServerFlags};
use super::terminal::escaped;
use crate::config::Settings;

/// The problem code of a node whose block does not exist.
const UNKNOWN_BLOCK: &str = "unknown_block";

#[derive(Args)]
pub(crate) struct ImportArguments {
    /// Files with one agent each, as written by `pilothouse export`
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    server: ServerFlags,
}

pub(crate) async fn run(
    settings: &Settings,
    arguments: ImportArguments,
) -> anyhow::Result<ExitCode> {
    let client = ApiClient::new(settings, arguments.server)?;
    let mut code = ExitCode::SUCCESS;
    for file in &arguments.files {
        let line = match import(&client, file).await {
            Ok(imported) => format!("{}: {imported}", file.display()),
            Err(why) => {
                code = ExitCode::FAILURE;
                format!("{}: not imported. {why}", file.display())
            }
        };
        super::print(escaped(&line).trim_end())?;
    }
    Ok(code)
}

/// The result as a sentence.
async fn import(client: &ApiClient, file: &Path) -> Result<String, String> {
    let document = read(file).await?;
    let request = client.post(&["graphs"]).json(&document);
    match client.fetch::<ImportedGraph>(request).await {
        Ok(graph) => {
            Ok(format!("imported “{}” as {}, version {}.", graph.name, graph.id, graph.version))
        }
        Err(ClientError::Refused { body, .. }) if body["code"] == "INVALID_GRAPH" => {
            let problems: Vec<GraphProblem> =
                Deserialize::deserialize(&body["errors"]).unwrap_or_default();
            Err(report(&document, &problems))
        }
        Err(failure) => Err(client.explain(&failure)),
    }
}

#[derive(Deserialize)]
struct ImportedGraph {
    id: String,
    version: u32,
    name: String,
}

async fn read(file: &Path) -> Result<Value, String> {
    let unreadable = |error: std::io::Error| format!("The file could not be read: {error}.");
    let about = tokio::fs::metadata(file).await.map_err(unreadable)?;
    if about.len() > limits::GRAPH_BYTES as u64 {
        return Err(format!("The file is larger than {} bytes.", limits::GRAPH_BYTES));
    }
    let text = tokio::fs::read(file).await.map_err(unreadable)?;
    serde_json::from_slice(&text).map_err(|error| format!("The file is not valid JSON: {error}."))
}

/// The problems by node, and the missing blocks.
fn report(document: &Value, problems: &[GraphProblem]) -> String {
    let mut text = match problems.len() {
        1 => "1 problem:\n".to_owned(),
        count => format!("{count} problems:\n"),
    };
    let blocks = blocks_by_node(document);
    let mut missing: BTreeMap<&str, usize> = BTreeMap::new();
    for problem in problems {
        let node = problem.node_id.as_ref().map(|id| id.as_str());
        let location = node.or(problem.link_id.as_deref()).unwrap_or("the agent");
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {location}: {} ({})", problem.message, problem.code);
        if problem.code == UNKNOWN_BLOCK
            && let Some(block) = node.and_then(|node| blocks.get(node))
        {
            *missing.entry(block).or_default() += 1;
        }
    }
    if !missing.is_empty() {
        text.push_str("Blocks missing on this server:\n");
    }
    for (block, nodes) in missing {
        let nodes = if nodes == 1 { "one node".to_owned() } else { format!("{nodes} nodes") };
        let _ = writeln!(text, "  {block}, in {nodes}");
    }
    text
}

/// The blocks of the agent and of its sub-graphs.
fn blocks_by_node(document: &Value) -> BTreeMap<String, String> {
    let document = document.get("graph").unwrap_or(document);
    let Ok(graph) = Graph::deserialize(document) else { return BTreeMap::new() };
    let graphs = std::iter::once(&graph).chain(&graph.sub_graphs);
    let nodes = graphs.flat_map(|graph| &graph.nodes);
    nodes.map(|node| (node.id.0.clone(), node.block_id.0.clone())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refused_agent_lists_its_nodes_and_missing_blocks() {
        let document = json!({"nodes": [
            {"id": "n1", "block_id": "b-gone"}, {"id": "n2", "block_id": "b-gone"},
            {"id": "n3", "block_id": "b-here"},
        ]});
        let problem = |node: &str, code: &str, message: &str| GraphProblem {
            node_id: Some(node.into()),
            code: code.to_owned(),
            message: message.to_owned(),
            ..GraphProblem::default()
        };
        let problems = [
            problem("n1", UNKNOWN_BLOCK, "There is no block b-gone."),
            problem("n2", UNKNOWN_BLOCK, "There is no block b-gone."),
            problem("n3", "missing_input", "It needs `a`."),
        ];
        let expected = "\
3 problems:
  n1: There is no block b-gone. (unknown_block)
  n2: There is no block b-gone. (unknown_block)
  n3: It needs `a`. (missing_input)
Blocks missing on this server:
  b-gone, in 2 nodes
";
        assert_eq!(report(&document, &problems), expected);
    }
}
