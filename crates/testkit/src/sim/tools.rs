//! Tools of every effect. What they do is counted in the world; some take long, one never ends.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::Tool;
use ports::tool::{Example, ToolContext, ToolError};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{Effect, ToolSpec};
use serde_json::{Value, json};

use super::node::Node;
use super::work::Work;

/// What the model asks for; the last one does not exist.
pub(super) const TOOLS: &[&str] = &["look", "put", "book", "book", "stuck", "nothing"];

const BUDGET: Duration = Duration::from_secs(4);
const LONGEST: Duration = Duration::from_secs(3);

pub fn tools(node: &Arc<Node>) -> Vec<Arc<dyn Tool>> {
    [
        ("look", Effect::None, Ends::InTime),
        ("put", Effect::Idempotent, Ends::InTime),
        ("book", Effect::Once, Ends::InTime),
        ("stuck", Effect::Once, Ends::Never),
    ]
    .map(|(name, effect, ends)| {
        let spec = ToolSpec {
            name,
            description: "simulated",
            parameters: json!({ "type": "object" }),
            requires_auth: false,
            budget: BUDGET,
            effect,
        };
        Arc::new(SimTool { node: node.clone(), spec, ends }) as Arc<dyn Tool>
    })
    .into()
}

struct SimTool {
    node: Arc<Node>,
    spec: ToolSpec,
    ends: Ends,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    InTime,
    Never,
}

#[async_trait]
impl Tool for SimTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _: Value, context: ToolContext) -> Result<ToolResponse, ToolError> {
        let sim = &self.node.sim;
        self.node.alive().await;
        let _work = Work::begin(&self.node, &context.turn_id, self.spec.name);
        let (before, after, fails) = {
            let mut dice = sim.dice();
            let long = dice.chance(250);
            let most = if long { LONGEST } else { LONGEST / 30 };
            (dice.up_to(most), dice.up_to(most), dice.chance(100))
        };
        self.node.step().await;
        tokio::time::sleep(before).await;
        self.node.alive().await;
        self.carry_out(&context);
        self.node.step().await;
        if self.ends == Ends::Never {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(after).await;
        self.node.step().await;
        if fails {
            return Err(ToolError::tell("unlucky", "The dice say no."));
        }
        Ok(ToolResponse::new("done", ResponseBody::NoResults { suggestions: Vec::new() }))
    }

    fn examples(&self) -> Vec<Example> {
        Vec::new()
    }
}

impl SimTool {
    fn carry_out(&self, context: &ToolContext) {
        let sim = &self.node.sim;
        let (turn, call) = (context.turn_id.clone(), context.call_id.clone());
        sim.tell(|| format!("node {} carries out {} of {turn}", self.node.number, self.spec.name));
        let mut facts = sim.facts();
        facts.tool_calls += 1;
        let done = facts.effects.entry((turn, call)).or_default();
        done.count += 1;
        let (count, first_key) = (done.count, done.key.clone());
        done.key = context.idempotency_key.clone();
        drop(facts);
        if self.spec.effect == Effect::Once && count > 1 {
            sim.violated(format!("G10: {} of {} happened twice", self.spec.name, context.turn_id));
        }
        if count > 1 && first_key != context.idempotency_key {
            let keys = format!("{first_key} and {}", context.idempotency_key);
            sim.violated(format!("G10: one call has two keys, {keys}"));
        }
    }
}
