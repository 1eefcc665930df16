//! Running nodes: launched with their context and watched until they end.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use graphs::{AGENT_EXECUTOR, AGENT_EXECUTOR_PINS};
use ports::block::{BlockContext, BlockError, BlockServices, UsageMeter};
use protocol::limits;
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::ExecutionScheduler;
use crate::execution::child_executions::ChildExecutions;
use crate::execution::node_copilot::NodeCopilot;
use crate::execution::node_task::NodeTask;
use crate::execution::output_buffer::OutputBuffer;
use crate::execution::plan::NodeAt;

const _: () = assert!(limits::NODE_TIME.as_secs() < limits::EXECUTION_TIME.as_secs());

pub(crate) type NodeFuture = BoxFuture<'static, (u64, Result<(), BlockError>)>;

pub(crate) struct RunningNode {
    pub(crate) outputs: Arc<OutputBuffer>,
    pub(crate) ended: Option<Result<(), BlockError>>,
    pub(crate) began: Instant,
    /// Whether the journal contains the start of this run.
    pub(crate) announced: bool,
    /// How many outputs were passed on before a takeover; they are emitted again and skipped.
    pub(crate) skip: u64,
    pub(crate) meter: Arc<UsageMeter>,
    /// Whether the run has emitted anything, in this or an earlier attempt.
    pub(crate) emitted: bool,
    /// Cancels the block when the run is dropped.
    _cancel: DropGuard,
}

impl RunningNode {
    /// Whether the block is working, not just waiting for its outputs to be taken.
    pub(crate) fn is_working(&self) -> bool {
        self.ended.is_none() && self.outputs.is_empty()
    }
}

impl ExecutionScheduler {
    /// Launches a node run that is open in the plan. The first `skip` outputs were already passed on.
    pub(crate) fn launch(&mut self, run: u64, at: NodeAt, skip: u64) {
        let execution = &self.leased.execution;
        let node = self.plan.node(at);
        let (block, spec) = (node.block.clone(), node.block.spec());
        let cancel = CancellationToken::new();
        let outputs = Arc::new(OutputBuffer::new(self.waiting.notifier()));
        let meter = Arc::new(UsageMeter::default());
        let key = self.key(run);
        let decision = self.plan.open_run(run).and_then(|open| open.decision.clone());
        let announced =
            skip > 0 || decision.is_some() || spec.effect != protocol::tool::ToolEffect::None;
        let context = BlockContext {
            user: execution.user_id.clone(),
            node: Some(self.place(at)),
            session: None,
            idempotency_key: key.clone(),
            dry_run: execution.request.dry_run,
            cancel: cancel.clone(),
            permissions: execution.request.permissions.clone(),
            decision,
            ask_first: execution.request.safe_mode.human_in_the_loop && !execution.request.dry_run,
            meter: meter.clone(),
            tools: node.tools.clone(),
            services: BlockServices {
                agents: Arc::new(ChildExecutions {
                    inner: self.leased.inner.clone(),
                    execution: execution.clone(),
                    node: node.id.clone(),
                    key: key.clone(),
                    waiting: self.waiting.clone(),
                }),
                copilot: Arc::new(NodeCopilot {
                    inner: self.leased.inner.clone(),
                    execution: execution.clone(),
                    stop: self.leased.stop.clone(),
                    key,
                    waiting: self.waiting.clone(),
                }),
            },
        };
        let mut inputs = self.plan.inputs(run);
        if block.spec().id == AGENT_EXECUTOR {
            gather_child_inputs(&mut inputs);
        }
        let task = NodeTask {
            inner: self.leased.inner.clone(),
            block,
            inputs,
            context,
            safe_mode: execution.request.safe_mode,
            answers: self.answers.clone(),
        };
        let out = outputs.clone();
        self.node_futures.push(async move { (run, task.run(out).await) }.boxed());
        let node_run = RunningNode {
            outputs,
            ended: None,
            began: Instant::now(),
            announced,
            skip,
            meter,
            emitted: skip > 0,
            _cancel: cancel.drop_guard(),
        };
        self.running_nodes.insert(run, node_run);
    }
}

/// Links name the child's inputs directly, while the block takes them in one object.
fn gather_child_inputs(inputs: &mut serde_json::Map<String, Value>) {
    let linked: Vec<String> =
        inputs.keys().filter(|pin| !AGENT_EXECUTOR_PINS.contains(&pin.as_str())).cloned().collect();
    let mut gathered = match inputs.remove("inputs") {
        Some(Value::Object(given)) => given,
        _ => serde_json::Map::new(),
    };
    for pin in linked {
        if let Some(value) = inputs.remove(&pin) {
            gathered.insert(pin, value);
        }
    }
    inputs.insert("inputs".to_owned(), Value::Object(gathered));
}
