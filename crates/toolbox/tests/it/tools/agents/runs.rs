//! Runs of agents and of blocks, played: they end as a test says, and what was asked for is kept.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use ports::call_services::{
    AgentDescription, AgentExecutionStarted, AgentExecutions, BlockCall, BlockCallEnd,
    NewAgentExecution,
};
use ports::store::ListExecutions;
use ports::tool::ToolError;
use protocol::execution::{
    Execution, ExecutionRequest, ExecutionStats, ExecutionStatus, ExecutionView, NodeExecution,
    NodeFailure, NodeRange,
};
use protocol::graph::{Graph, GraphFlags};
use protocol::{ExecutionId, GraphId};
use serde_json::{Map, Value, json};

#[derive(Default)]
pub(crate) struct PlayedRuns {
    pub(super) agents: Mutex<Vec<AgentDescription>>,
    /// The newest first.
    pub(super) runs: Mutex<Vec<ExecutionView>>,
    /// How the next start ends, if not with a new run.
    pub(super) next_start: Mutex<Option<AgentExecutionStarted>>,
    /// What a run comes to while somebody waits for it.
    pub(super) becomes: Mutex<Option<ExecutionStatus>>,
    /// Whether waits never end.
    pub(super) hangs: Mutex<bool>,
    /// How a block ends.
    pub(super) block_end: Mutex<Option<BlockCallEnd>>,
    asked: Mutex<Vec<Asked>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Asked {
    Start(NewAgentExecution),
    Wait(Duration),
    List(ListExecutions),
    Block(BlockCall),
}

pub(super) fn agent(graph: &str, input_schema: Value) -> AgentDescription {
    AgentDescription {
        graph: Graph {
            id: graph.into(),
            name: format!("Graph of {graph}"),
            description: "What it does.".into(),
            ..serde_json::from_value(json!({"version": 2})).expect("a graph")
        },
        input_schema,
        output_schema: json!({"type": "object", "properties": {"result": {}}}),
        flags: GraphFlags::default(),
    }
}

pub(super) fn run(id: &str, graph: &str, status: ExecutionStatus, created: &str) -> ExecutionView {
    let created_at: Timestamp = created.parse().expect("a time");
    let outputs = match status {
        ExecutionStatus::Completed => json!({"result": ["forty", 42]}),
        _ => json!({}),
    };
    ExecutionView {
        execution: Execution {
            id: id.into(),
            user_id: "tester".into(),
            graph_id: graph.into(),
            graph_version: 2,
            status,
            request: ExecutionRequest {
                inputs: json!({"text": "hello"}).as_object().expect("an object").clone(),
                ..ExecutionRequest::default()
            },
            parent: None,
            depth: 0,
            fence: 0,
            attempt: 0,
            stop_requested: false,
            events: 0,
            stats: ExecutionStats::default(),
            error: None,
            created_at,
            started_at: Some(created_at),
            ended_at: status.is_final().then_some(created_at),
        },
        outputs: outputs.as_object().expect("an object").clone(),
        outputs_cut: false,
        nodes: Vec::new(),
        node_total: 1,
        failed: Vec::new(),
    }
}

pub(super) fn failure(error: &str) -> NodeFailure {
    NodeFailure { node_id: "n".into(), block_name: "CalculatorBlock".into(), error: error.into() }
}

fn node(execution: &Execution) -> NodeExecution {
    NodeExecution {
        node_exec_id: format!("{}:0", execution.id).into(),
        node_id: "n".into(),
        block_id: "b".into(),
        block_name: "CalculatorBlock".into(),
        status: execution.status,
        input_data: Map::new(),
        output_data: Map::new(),
        error: None,
        cost: 0,
        start_time: None,
        end_time: None,
    }
}

impl PlayedRuns {
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("free").clone()
    }

    fn note(&self, asked: Asked) {
        self.asked.lock().expect("free").push(asked);
    }

    pub(super) fn started(&self) -> Option<NewAgentExecution> {
        self.asked().into_iter().find_map(|asked| match asked {
            Asked::Start(new) => Some(new),
            _ => None,
        })
    }

    /// Changes the newest run.
    pub(super) fn newest(&self, change: impl FnOnce(&mut ExecutionView)) {
        change(self.runs.lock().expect("free").first_mut().expect("a run"));
    }
}

#[async_trait]
impl AgentExecutions for PlayedRuns {
    async fn describe(
        &self,
        graph: &GraphId,
        _: Option<u32>,
    ) -> Result<Option<AgentDescription>, ToolError> {
        let agents = self.agents.lock().expect("free");
        Ok(agents.iter().find(|agent| agent.graph.id == *graph).cloned())
    }

    async fn start(&self, new: NewAgentExecution) -> Result<AgentExecutionStarted, ToolError> {
        self.note(Asked::Start(new.clone()));
        if let Some(end) = self.next_start.lock().expect("free").take() {
            return Ok(end);
        }
        let created = "2026-03-01T12:00:00Z";
        let mut view = run("run-new", new.graph_id.as_str(), ExecutionStatus::Queued, created);
        view.execution.request.dry_run = new.dry_run;
        let execution = view.execution.clone();
        self.runs.lock().expect("free").insert(0, view);
        Ok(AgentExecutionStarted::Started(Box::new(execution)))
    }

    async fn wait(
        &self,
        id: &ExecutionId,
        at_most: Duration,
    ) -> Result<Option<Execution>, ToolError> {
        self.note(Asked::Wait(at_most));
        if *self.hangs.lock().expect("free") {
            std::future::pending::<()>().await;
        }
        let becomes = *self.becomes.lock().expect("free");
        let mut runs = self.runs.lock().expect("free");
        let Some(view) = runs.iter_mut().find(|view| view.execution.id == *id) else {
            return Ok(None);
        };
        if let Some(status) = becomes.filter(|_| !at_most.is_zero()) {
            view.execution.status = status;
            if status == ExecutionStatus::Completed && view.failed.is_empty() {
                view.outputs = json!({"result": [1]}).as_object().expect("an object").clone();
            }
        }
        Ok(Some(view.execution.clone()))
    }

    async fn list(&self, wanted: &ListExecutions) -> Result<(Vec<Execution>, u64), ToolError> {
        self.note(Asked::List(wanted.clone()));
        let fits = |run: &&Execution| {
            wanted.graph.as_ref().is_none_or(|graph| run.graph_id == *graph)
                && (wanted.statuses.is_empty() || wanted.statuses.contains(&run.status))
                && wanted.from.is_none_or(|from| run.created_at >= from)
                && wanted.until.is_none_or(|until| run.created_at < until)
        };
        let runs = self.runs.lock().expect("free");
        let all: Vec<Execution> =
            runs.iter().map(|view| &view.execution).filter(fits).cloned().collect();
        let total = all.len() as u64;
        Ok((all.into_iter().take(wanted.limit as usize).collect(), total))
    }

    async fn view(
        &self,
        id: &ExecutionId,
        nodes: NodeRange,
    ) -> Result<Option<ExecutionView>, ToolError> {
        let runs = self.runs.lock().expect("free");
        let mut view = runs.iter().find(|view| view.execution.id == *id).cloned();
        if let Some(view) = &mut view
            && nodes != NodeRange::None
        {
            view.nodes = vec![node(&view.execution)];
        }
        Ok(view)
    }

    async fn run_block(&self, run: BlockCall) -> Result<BlockCallEnd, ToolError> {
        self.note(Asked::Block(run));
        let end = self.block_end.lock().expect("free").clone();
        end.ok_or_else(|| ToolError::tell("not_played", "No test has said how it ends."))
    }
}
