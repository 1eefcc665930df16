//! Creates agents and executes them over the HTTP API.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::graphs::Agent;
use crate::http::Connection;
use crate::load::READ_BYTES;
use crate::server::Server;

/// Time limit of an execution.
const AT_MOST: Duration = Duration::from_secs(600);
/// The end of an execution is noticed late by at most this share of its duration, and at most this long.
const LATE: u32 = 100;
const LOOK: Duration = Duration::from_millis(1);

pub(crate) struct Client {
    connection: Connection,
}

/// The statistics of an execution.
pub(crate) struct Ran {
    pub(crate) nodes: u64,
    /// Time that workers spent on it.
    pub(crate) seconds: f64,
}

impl Client {
    pub(crate) async fn connect(server: &Server<'_>) -> Result<Self> {
        Ok(Self { connection: Connection::open(server.address, READ_BYTES).await? })
    }

    /// Returns the id of the graph.
    pub(crate) async fn create(&mut self, agent: &Agent) -> Result<String> {
        let body = json!({ "graph": agent.graph }).to_string();
        let created = self.ask("POST", "/api/graphs", &body).await?;
        Ok(created["id"].as_str().context("a graph has no id")?.to_owned())
    }

    /// Returns the id of the execution.
    pub(crate) async fn start(&mut self, graph: &str) -> Result<String> {
        let started = self.ask("POST", &format!("/api/graphs/{graph}/execute"), "{}").await?;
        Ok(started["id"].as_str().context("a run has no id")?.to_owned())
    }

    /// Polls until the latest execution of the graph has ended. Only the row is requested: outputs would be computed from the
    /// journal, in the measured process.
    pub(crate) async fn ended(&mut self, graph: &str, id: &str, agent: &Agent) -> Result<Ran> {
        let path = format!("/api/graphs/{graph}/executions?page_size=1");
        let start = Instant::now();
        while start.elapsed() < AT_MOST {
            let answer = self.ask("GET", &path, "").await?;
            let run = &answer["executions"][0];
            ensure!(run["id"] == id, "another run was started beside");
            if let Some(ran) = judged(run, agent)? {
                return Ok(ran);
            }
            sleep((start.elapsed() / LATE).max(LOOK)).await;
        }
        bail!("a run takes too long")
    }

    /// Lets the server report the end, for many small executions.
    pub(crate) async fn waited_for(&mut self, graph: &str, id: &str, agent: &Agent) -> Result<Ran> {
        let path = format!("/api/graphs/{graph}/executions/{id}/wait?timeout=120");
        let run = self.ask("GET", &path, "").await?;
        judged(&run, agent)?.context("a run takes too long")
    }

    async fn ask(&mut self, method: &str, path: &str, body: &str) -> Result<Value> {
        let (status, answer) = self.connection.ask(method, path, body).await?;
        let said = || String::from_utf8_lossy(&answer[..answer.len().min(500)]).into_owned();
        ensure!(status == 200, "{method} {path} was answered with {status}: {}", said());
        Ok(serde_json::from_slice(&answer)?)
    }
}

/// `None` while it has not ended. An execution that did not do all its work is an error.
fn judged(run: &Value, agent: &Agent) -> Result<Option<Ran>> {
    match run["status"].as_str() {
        Some("QUEUED" | "RUNNING") => return Ok(None),
        Some("COMPLETED") => {}
        _ => bail!("a run ended otherwise: {} {}", run["status"], run["error"]),
    }
    let stats = &run["stats"];
    let nodes = stats["node_count"].as_u64().context("a run does not count its nodes")?;
    ensure!(nodes == agent.node_runs, "a run had {nodes} node runs, not {}", agent.node_runs);
    ensure!(stats["node_error_count"] == 0, "nodes of a run have failed");
    let seconds = stats["duration"].as_f64().context("a run does not say how long it took")?;
    Ok(Some(Ran { nodes, seconds }))
}
