//! Simulated tools of every kind. Their effects are counted in the observations; some exceed their time budget, one
//! never returns.

mod background;
mod delegate;
mod long_running;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::Tool;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{ToolEffect, ToolSpec};
use serde_json::Value;

pub(crate) use self::background::BACKGROUND;
pub(crate) use self::delegate::DELEGATE;
use super::active_calls::ActiveCallGuard;
use super::node::SimNode;

/// The tools that the model calls; the last one does not exist.
pub(crate) const TOOLS: &[&str] = &[
    "look",
    "put",
    "book",
    "book",
    "stuck",
    BACKGROUND,
    DELEGATE,
    DELEGATE,
    long_running::LONG_ONCE,
    long_running::LONG_IDEMPOTENT,
    "nothing",
];

const MAX_DURATION: Duration = Duration::from_secs(3);

pub fn tools(node: &Arc<SimNode>) -> Vec<Arc<dyn Tool>> {
    let simple = [
        ("look", ToolEffect::None, ToolDuration::Finite),
        ("put", ToolEffect::Idempotent, ToolDuration::Finite),
        ("book", ToolEffect::Once, ToolDuration::Finite),
        ("stuck", ToolEffect::Once, ToolDuration::Never),
    ]
    .map(|(name, effect, duration)| {
        let spec = spec(name).effect(effect);
        Arc::new(SimpleTool { node: node.clone(), spec, duration }) as Arc<dyn Tool>
    });
    let others: [Arc<dyn Tool>; 4] = [
        Arc::new(background::SimBackgroundTool::of(node)),
        Arc::new(delegate::DelegateTool::of(node)),
        Arc::new(long_running::LongRunningTool::of(
            node,
            long_running::LONG_ONCE,
            ToolEffect::Once,
        )),
        Arc::new(long_running::LongRunningTool::of(
            node,
            long_running::LONG_IDEMPOTENT,
            ToolEffect::Idempotent,
        )),
    ];
    simple.into_iter().chain(others).collect()
}

fn spec(name: &'static str) -> ToolSpec {
    ToolSpec::new(name, "simulated")
}

struct SimpleTool {
    node: Arc<SimNode>,
    spec: ToolSpec,
    duration: ToolDuration,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ToolDuration {
    Finite,
    Never,
}

#[async_trait]
impl Tool for SimpleTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _: Value, context: ToolContext) -> Result<ToolResponse, ToolError> {
        let sim = &self.node.sim;
        self.node.wait_until_running().await;
        let _work = ActiveCallGuard::begin(
            &self.node,
            &context.turn_id,
            Some(&context.call_id),
            self.spec.name,
        );
        let (before, after, fails) = {
            let mut rng = sim.rng();
            let long = rng.chance(250);
            let most = if long { MAX_DURATION } else { MAX_DURATION / 30 };
            (rng.up_to(most), rng.up_to(most), rng.chance(100))
        };
        self.node.fault_point().await;
        tokio::time::sleep(before).await;
        self.node.wait_until_running().await;
        record_effect(&self.node, &self.spec, &context);
        self.node.fault_point().await;
        if self.duration == ToolDuration::Never {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(after).await;
        self.node.fault_point().await;
        if fails {
            return Err(ToolError::tell("unlucky", "The simulated tool failed."));
        }
        Ok(done())
    }

    fn examples(&self) -> Vec<ToolExample> {
        Vec::new()
    }
}

fn done() -> ToolResponse {
    ToolResponse::new("done", ResponseBody::NoResults { suggestions: Vec::new() })
}

/// Counts the effect of a call, and reports a violation when a call with effect `Once` takes effect twice.
fn record_effect(node: &SimNode, spec: &ToolSpec, context: &ToolContext) {
    let sim = &node.sim;
    let (turn, call) = (context.turn_id.clone(), context.call_id.clone());
    sim.trace_event(|| format!("node {} performs {} of {turn}", node.number, spec.name));
    let mut observations = sim.observations();
    observations.tool_calls += 1;
    let done = observations.effects.entry((turn, call)).or_default();
    done.count += 1;
    let (count, first_key) = (done.count, done.key.clone());
    done.key = context.idempotency_key.clone();
    drop(observations);
    if spec.effect == ToolEffect::Once && count > 1 {
        sim.report_violation(format!(
            "G10: {} of {} took effect twice",
            spec.name, context.turn_id
        ));
    }
    if count > 1 && first_key != context.idempotency_key {
        let keys = format!("{first_key} and {}", context.idempotency_key);
        sim.report_violation(format!("G10: one call has two idempotency keys, {keys}"));
    }
}
