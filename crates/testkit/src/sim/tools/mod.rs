//! Tools of every kind. What they do is counted in the world; some take longer than their step may wait, one never
//! ends.

mod background;
mod delegate;
mod errand;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::Tool;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{TimeBudget, ToolEffect, ToolSpec};
use serde_json::{Value, json};

pub(super) use self::background::BACKGROUND;
pub(super) use self::delegate::DELEGATE;
use super::node::Node;
use super::work::Work;

/// What the model asks for; the last one does not exist.
pub(super) const TOOLS: &[&str] = &[
    "look",
    "put",
    "book",
    "book",
    "stuck",
    BACKGROUND,
    DELEGATE,
    DELEGATE,
    errand::ONCE,
    errand::AGAIN,
    "nothing",
];

const LONGEST: Duration = Duration::from_secs(3);

pub fn tools(node: &Arc<Node>) -> Vec<Arc<dyn Tool>> {
    let simple = [
        ("look", ToolEffect::None, Ends::InTime),
        ("put", ToolEffect::Idempotent, Ends::InTime),
        ("book", ToolEffect::Once, Ends::InTime),
        ("stuck", ToolEffect::Once, Ends::Never),
    ]
    .map(|(name, effect, ends)| {
        let spec = ToolSpec { effect, ..spec(name) };
        Arc::new(Simple { node: node.clone(), spec, ends }) as Arc<dyn Tool>
    });
    let others: [Arc<dyn Tool>; 4] = [
        Arc::new(background::Background::of(node)),
        Arc::new(delegate::Delegate::of(node)),
        Arc::new(errand::Errand::of(node, errand::ONCE, ToolEffect::Once)),
        Arc::new(errand::Errand::of(node, errand::AGAIN, ToolEffect::Idempotent)),
    ];
    simple.into_iter().chain(others).collect()
}

fn spec(name: &'static str) -> ToolSpec {
    ToolSpec {
        name,
        description: "simulated",
        parameters: json!({ "type": "object" }),
        requires_auth: false,
        budget: TimeBudget::Default,
        effect: ToolEffect::Idempotent,
        long_running: false,
    }
}

struct Simple {
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
impl Tool for Simple {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _: Value, context: ToolContext) -> Result<ToolResponse, ToolError> {
        let sim = &self.node.sim;
        self.node.alive().await;
        let _work =
            Work::begin(&self.node, &context.turn_id, Some(&context.call_id), self.spec.name);
        let (before, after, fails) = {
            let mut dice = sim.dice();
            let long = dice.chance(250);
            let most = if long { LONGEST } else { LONGEST / 30 };
            (dice.up_to(most), dice.up_to(most), dice.chance(100))
        };
        self.node.step().await;
        tokio::time::sleep(before).await;
        self.node.alive().await;
        carry_out(&self.node, &self.spec, &context);
        self.node.step().await;
        if self.ends == Ends::Never {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(after).await;
        self.node.step().await;
        if fails {
            return Err(ToolError::tell("unlucky", "The dice say no."));
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

/// The effect of a call, which is what must not happen twice when it says so.
fn carry_out(node: &Node, spec: &ToolSpec, context: &ToolContext) {
    let sim = &node.sim;
    let (turn, call) = (context.turn_id.clone(), context.call_id.clone());
    sim.tell(|| format!("node {} carries out {} of {turn}", node.number, spec.name));
    let mut facts = sim.facts();
    facts.tool_calls += 1;
    let done = facts.effects.entry((turn, call)).or_default();
    done.count += 1;
    let (count, first_key) = (done.count, done.key.clone());
    done.key = context.idempotency_key.clone();
    drop(facts);
    if spec.effect == ToolEffect::Once && count > 1 {
        sim.violated(format!("G10: {} of {} happened twice", spec.name, context.turn_id));
    }
    if count > 1 && first_key != context.idempotency_key {
        let keys = format!("{first_key} and {}", context.idempotency_key);
        sim.violated(format!("G10: one call has two keys, {keys}"));
    }
}
