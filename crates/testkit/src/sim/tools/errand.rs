//! Tools that take long: they answer by themselves, or somebody outside does so later, early, twice or never.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::Tool;
use ports::tool::{OperationHandle, ToolContext, ToolError, ToolExample};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{ToolEffect, ToolSpec};
use serde_json::Value;

use super::super::facts::Callback;
use super::super::node::Node;
use super::super::work::Work;
use super::{LONGEST, carry_out, done, spec};

pub(super) const ONCE: &str = "errand";
pub(super) const AGAIN: &str = "errand_again";

/// The latest that somebody outside reports.
const LATE: Duration = Duration::from_secs(12);

pub(super) struct Errand {
    node: Arc<Node>,
    spec: ToolSpec,
}

/// How one errand goes.
enum Course {
    Answers,
    Fails,
    /// With what is reported from outside, and when.
    Elsewhere(Vec<Duration>),
    Never,
}

impl Errand {
    pub(super) fn of(node: &Arc<Node>, name: &'static str, effect: ToolEffect) -> Self {
        let spec = ToolSpec { effect, long_running: true, ..spec(name) };
        Self { node: node.clone(), spec }
    }

    fn course(&self) -> Course {
        let mut dice = self.node.sim.dice();
        match dice.below(100) {
            0..25 => Course::Answers,
            25..35 => Course::Fails,
            35..36 => Course::Never,
            36..45 => Course::Elsewhere(Vec::new()),
            _ => {
                let reports = 1 + dice.below(3);
                let early = dice.chance(300);
                let latest = if early { Duration::from_millis(50) } else { LATE };
                Course::Elsewhere((0..reports).map(|_| dice.up_to(latest)).collect())
            }
        }
    }

    fn tell_outside(&self, operation: &OperationHandle, reports: Vec<Duration>) {
        let now = self.node.sim.world.now();
        let callbacks = reports.into_iter().map(|after| Callback {
            at: now + after,
            operation_id: operation.operation_id.clone(),
            task_id: operation.task_id.clone(),
        });
        self.node.sim.facts().callbacks.extend(callbacks);
    }
}

#[async_trait]
impl Tool for Errand {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _: Value, context: ToolContext) -> Result<ToolResponse, ToolError> {
        let sim = &self.node.sim;
        self.node.alive().await;
        let Some(operation) = &context.operation else {
            sim.violated(format!("L3: {} is called as if it were short", self.spec.name));
            return Err(ToolError::tell("not_an_operation", "It takes long."));
        };
        let _work =
            Work::begin(&self.node, &context.turn_id, Some(&context.call_id), self.spec.name);
        let (before, after) = {
            let mut dice = sim.dice();
            (dice.up_to(LONGEST / 10), dice.up_to(LONGEST / 10))
        };
        self.node.step().await;
        tokio::time::sleep(before).await;
        self.node.alive().await;
        carry_out(&self.node, &self.spec, &context);
        let course = self.course();
        if let Course::Elsewhere(reports) = &course {
            self.tell_outside(operation, reports.clone());
        }
        self.node.step().await;
        tokio::time::sleep(after).await;
        self.node.step().await;
        match course {
            Course::Answers => Ok(done()),
            Course::Fails => Err(ToolError::tell("unlucky", "The dice say no.")),
            Course::Never => std::future::pending().await,
            Course::Elsewhere(_) => Ok(ToolResponse::new(
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
