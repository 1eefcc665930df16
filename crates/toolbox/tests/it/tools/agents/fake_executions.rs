//! Fake executions of agents and blocks: they end as the test chooses, and calls are recorded.

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
pub(crate) struct FakeExecutions {
    pub(crate) agents: Mutex<Vec<AgentDescription>>,
    /// The newest first.
    pub(crate) runs: Mutex<Vec<ExecutionView>>,
    /// Result of the next start, if not a new run.
    pub(crate) next_start: Mutex<Option<AgentExecutionStarted>>,
    /// Status that a run reaches during a wait.
    pub(crate) becomes: Mutex<Option<ExecutionStatus>>,
    /// Whether waits never end.
    pub(crate) hangs: Mutex<bool>,
    /// How the next block calls end.
    pub(crate) block_end: Mutex<Option<BlockCallEnd>>,
    asked: Mutex<Vec<RecordedCall>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RecordedCall {
    Start(NewAgentExecution),
    Wait(Duration),
    List(ListExecutions),
    Block(BlockCall),
}

pub(crate) fn agent(graph: &str, input_schema: Value) -> AgentDescription {
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

pub(crate) fn run(id: &str, graph: &str, status: ExecutionStatus, created: &str) -> ExecutionView {
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

pub(crate) fn failure(error: &str) -> NodeFailure {
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

impl FakeExecutions {
    pub(crate) fn asked(&self) -> Vec<RecordedCall> {
        self.asked.lock().expect("not poisoned").clone()
    }

    fn note(&self, asked: RecordedCall) {
        self.asked.lock().expect("not poisoned").push(asked);
    }

    pub(crate) fn started(&self) -> Option<NewAgentExecution> {
        self.asked().into_iter().find_map(|asked| match asked {
            RecordedCall::Start(new) => Some(new),
            _ => None,
        })
    }

    /// Changes the newest run.
    pub(crate) fn newest(&self, change: impl FnOnce(&mut ExecutionView)) {
        change(self.runs.lock().expect("not poisoned").first_mut().expect("a run"));
    }
}

#[async_trait]
impl AgentExecutions for FakeExecutions {
    async fn describe(
        &self,
        graph: &GraphId,
        _: Option<u32>,
    ) -> Result<Option<AgentDescription>, ToolError> {
        let agents = self.agents.lock().expect("not poisoned");
        Ok(agents.iter().find(|agent| agent.graph.id == *graph).cloned())
    }

    async fn start(&self, new: NewAgentExecution) -> Result<AgentExecutionStarted, ToolError> {
        self.note(RecordedCall::Start(new.clone()));
        if let Some(end) = self.next_start.lock().expect("not poisoned").take() {
            return Ok(end);
        }
        let created = "2026-03-01T12:00:00Z";
        let mut view = run("run-new", new.graph_id.as_str(), ExecutionStatus::Queued, created);
        view.execution.request.dry_run = new.dry_run;
        let execution = view.execution.clone();
        self.runs.lock().expect("not poisoned").insert(0, view);
        Ok(AgentExecutionStarted::Started(Box::new(execution)))
    }

    async fn wait(
        &self,
        id: &ExecutionId,
        at_most: Duration,
    ) -> Result<Option<Execution>, ToolError> {
        self.note(RecordedCall::Wait(at_most));
        if *self.hangs.lock().expect("not poisoned") {
            std::future::pending::<()>().await;
        }
        let becomes = *self.becomes.lock().expect("not poisoned");
        let mut runs = self.runs.lock().expect("not poisoned");
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
        self.note(RecordedCall::List(wanted.clone()));
        let fits = |run: &&Execution| {
            wanted.graph.as_ref().is_none_or(|graph| run.graph_id == *graph)
                && (wanted.statuses.is_empty() || wanted.statuses.contains(&run.status))
                && wanted.from.is_none_or(|from| run.created_at >= from)
                && wanted.until.is_none_or(|until| run.created_at < until)
        };
        let runs = self.runs.lock().expect("not poisoned");
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
        let runs = self.runs.lock().expect("not poisoned");
        let mut view = runs.iter().find(|view| view.execution.id == *id).cloned();
        if let Some(view) = &mut view
            && nodes != NodeRange::None
        {
            view.nodes = vec![node(&view.execution)];
        }
        Ok(view)
    }

    async fn run_block(&self, run: BlockCall) -> Result<BlockCallEnd, ToolError> {
        self.note(RecordedCall::Block(run));
        let end = self.block_end.lock().expect("not poisoned").clone();
        end.ok_or_else(|| ToolError::tell("not_set", "The test has not set how the block ends."))
    }
}
