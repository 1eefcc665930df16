//! Long-running tools: they return a result themselves, or an external service reports it late, early, twice or never.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::Tool;
use ports::tool::{OperationHandle, ToolContext, ToolError, ToolExample};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{LongRunning, ToolEffect, ToolSpec};
use serde_json::Value;

use super::{MAX_DURATION, done, record_effect, spec};
use crate::sim::active_calls::ActiveCallGuard;
use crate::sim::node::SimNode;
use crate::sim::observations::OperationCallback;

pub(crate) const LONG_ONCE: &str = "long_once";
pub(crate) const LONG_IDEMPOTENT: &str = "long_idempotent";

/// The latest time after which an external service reports.
const LATEST_CALLBACK: Duration = Duration::from_secs(12);

pub(crate) struct LongRunningTool {
    node: Arc<SimNode>,
    spec: ToolSpec,
}

/// How one call ends.
enum LongRunningOutcome {
    Answers,
    Fails,
    /// An external service continues, and reports after each of these times.
    External(Vec<Duration>),
    Never,
}

impl LongRunningTool {
    pub(crate) fn of(node: &Arc<SimNode>, name: &'static str, effect: ToolEffect) -> Self {
        let spec = spec(name).effect(effect).long_running(LongRunning::Always);
        Self { node: node.clone(), spec }
    }

    fn choose_outcome(&self) -> LongRunningOutcome {
        let mut rng = self.node.sim.rng();
        match rng.below(100) {
            0..25 => LongRunningOutcome::Answers,
            25..35 => LongRunningOutcome::Fails,
            35..36 => LongRunningOutcome::Never,
            36..45 => LongRunningOutcome::External(Vec::new()),
            _ => {
                let reports = 1 + rng.below(3);
                let early = rng.chance(300);
                let latest = if early { Duration::from_millis(50) } else { LATEST_CALLBACK };
                LongRunningOutcome::External((0..reports).map(|_| rng.up_to(latest)).collect())
            }
        }
    }

    fn schedule_callbacks(&self, operation: &OperationHandle, reports: Vec<Duration>) {
        let now = self.node.sim.backend.now();
        let callbacks = reports.into_iter().map(|after| OperationCallback {
            at: now + after,
            operation_id: operation.operation_id.clone(),
            task_id: operation.task_id.clone(),
        });
        self.node.sim.observations().callbacks.extend(callbacks);
    }
}

#[async_trait]
impl Tool for LongRunningTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _: Value, context: ToolContext) -> Result<ToolResponse, ToolError> {
        let sim = &self.node.sim;
        self.node.wait_until_running().await;
        let Some(operation) = &context.operation else {
            sim.report_violation(format!("L3: {} is called without an operation", self.spec.name));
            return Err(ToolError::tell("not_an_operation", "This tool runs as an operation."));
        };
        let _work = ActiveCallGuard::begin(
            &self.node,
            &context.turn_id,
            Some(&context.call_id),
            self.spec.name,
        );
        let (before, after) = {
            let mut rng = sim.rng();
            (rng.up_to(MAX_DURATION / 10), rng.up_to(MAX_DURATION / 10))
        };
        self.node.fault_point().await;
        tokio::time::sleep(before).await;
        self.node.wait_until_running().await;
        record_effect(&self.node, &self.spec, &context);
        let outcome = self.choose_outcome();
        if let LongRunningOutcome::External(reports) = &outcome {
            self.schedule_callbacks(operation, reports.clone());
        }
        self.node.fault_point().await;
        tokio::time::sleep(after).await;
        self.node.fault_point().await;
        match outcome {
            LongRunningOutcome::Answers => Ok(done()),
            LongRunningOutcome::Fails => {
                Err(ToolError::tell("unlucky", "The simulated tool failed."))
            }
            LongRunningOutcome::Never => std::future::pending().await,
            LongRunningOutcome::External(_) => Ok(ToolResponse::new(
                "begun",
                ResponseBody::OperationStarted {
                    operation_id: operation.operation_id.clone(),
                    tool_name: self.spec.name.to_owned(),
                    task_id: Some(operation.task_id.clone()),
                },
            )),
        }
    }

    fn examples(&self) -> Vec<ToolExample> {
        Vec::new()
    }
}
