//! A model that plays by the dice: words, calls, errors, silence. It refuses every request whose history is not
//! well-formed, as strict providers do.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use ports::model::{
    ModelError, ModelErrorKind, ModelEvent, ModelMessage, ModelProvider, ModelRequest, ModelStream,
    OPERATION_MARK, StopReason, ToolUse,
};
use protocol::message::MessageRole;
use protocol::turn::ModelTier;
use protocol::usage::Usage;
use protocol::{CallId, TurnId};

use super::node::Node;
use super::tools::{DELEGATE, TOOLS};
use super::wishes;
use super::work::Work;

/// The longest pause between two words.
const PAUSE: Duration = Duration::from_millis(250);

pub struct SimModel {
    node: Arc<Node>,
}

impl SimModel {
    pub fn of(node: &Arc<Node>) -> Arc<Self> {
        Arc::new(Self { node: node.clone() })
    }

    fn judge(&self, request: &ModelRequest) -> Option<TurnId> {
        let sim = &self.node.sim;
        if let Err(fault) = well_formed(&request.messages) {
            sim.violated(format!("G26: {fault} in {:?}", request.messages));
        }
        let turn = self.turn(&request.messages);
        if turn.is_none() {
            sim.violated("G26: a request without a message of a user".into());
        }
        turn
    }

    /// The turn whose message comes last, or whose operation has ended.
    fn turn(&self, messages: &[ModelMessage]) -> Option<TurnId> {
        let state = self.node.sim.world.state();
        let asked = |text: &str| {
            let rows = state.sessions.values().flat_map(|row| &row.messages);
            let mut asked =
                rows.map(|row| &row.message).filter(|said| said.role == MessageRole::User);
            // What the engine says about the session stands around the words.
            asked.find(|said| text.contains(&said.content)).map(|said| said.turn_id.clone())
        };
        let carried_out = |text: &str| {
            let mut operations = state.operations.values();
            let ended = operations.find(|operation| text.contains(operation.id.as_str()));
            ended.map(|operation| operation.task_id.turn())
        };
        messages.iter().rev().find_map(|message| match message {
            ModelMessage::User { text } if text.starts_with(OPERATION_MARK) => carried_out(text),
            ModelMessage::User { text } => asked(text),
            _ => None,
        })
    }

    /// What will be said, with the pause before each of it, and how it ends.
    fn play(&self, turn: &TurnId, tool_use: ToolUse) -> Vec<(Duration, Act)> {
        let state = self.node.sim.world.state();
        let mut dice = self.node.sim.dice();
        let mut acts = Vec::new();
        if dice.chance(200) {
            acts.push((dice.up_to(PAUSE), Act::Say(ModelEvent::Reasoning("hm ".into()))));
        }
        // What follows from what has followed must come to an end some day.
        let derived = state.turns.get(turn).is_some_and(|row| row.turn.parent.is_some());
        let calling = if derived { 30 } else { 50 };
        let words = dice.below(8);
        let what = dice.below(100);
        if what >= 4 {
            for n in 0..words {
                let word = ModelEvent::Text(format!("word{n} "));
                acts.push((dice.up_to(PAUSE), Act::Say(word)));
            }
        }
        match what {
            // The first words are missing here: nothing at all is said.
            0..4 => {}
            4..8 => acts.push((dice.up_to(PAUSE), Act::Fail)),
            8..10 => acts.push((Duration::ZERO, Act::Hang)),
            10..50 if tool_use == ToolUse::Allowed && what < calling => {
                for index in 0..1 + dice.below(3) as usize {
                    // Every second call has an id that the model gives again and again.
                    let fresh = CallId(format!("call_{:016x}", dice.roll()));
                    let id = if dice.chance(500) { "call_1".into() } else { fresh };
                    let delegates = dice.chance(self.node.sim.delegating);
                    let name = if delegates { DELEGATE } else { *dice.pick(TOOLS) }.to_owned();
                    let delta = wishes::arguments(&state, turn, &name, &mut dice).to_string();
                    let call = ModelEvent::ToolCall { index, id, name };
                    acts.push((dice.up_to(PAUSE), Act::Say(call)));
                    let input = ModelEvent::ToolInput { index, delta };
                    acts.push((dice.up_to(PAUSE), Act::Say(input)));
                }
            }
            _ => {
                let word = ModelEvent::Text("done.".into());
                acts.push((dice.up_to(PAUSE), Act::Say(word)));
            }
        }
        let usage = Usage { prompt_tokens: 3, completion_tokens: words, ..Usage::default() };
        let end = ModelEvent::Finished { reason: StopReason::Stop, usage, provider_state: None };
        acts.push((dice.up_to(PAUSE), Act::Say(end)));
        acts
    }
}

enum Act {
    Say(ModelEvent),
    Fail,
    Hang,
}

#[async_trait]
impl ModelProvider for SimModel {
    fn name(&self) -> &'static str {
        "simulated"
    }

    fn model(&self, _: ModelTier) -> &str {
        "dice"
    }

    fn window(&self, _: ModelTier) -> u64 {
        128_000
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let sim = self.node.sim.clone();
        self.node.alive().await;
        let Some(turn) = self.judge(&request) else { return Err(failed()) };
        let work = Work::begin(&self.node, &turn, None, "a model call");
        self.node.step().await;
        sim.tell(|| format!("node {} asks the model for {turn}", self.node.number));
        {
            let mut facts = sim.facts();
            facts.model_calls += 1;
            if !facts.asked.iter().any(|(asked, _)| *asked == turn) {
                facts.asked.push((turn.clone(), sim.world.now()));
            }
        }
        let overloaded = sim.dice().chance(60);
        if overloaded {
            return Err(failed());
        }
        let acts = self.play(&turn, request.tool_use);
        let node = self.node.clone();
        let acts = futures::stream::iter(acts).then(move |(pause, act)| {
            // The work goes on for as long as somebody listens.
            let _ = &work;
            let (node, turn) = (node.clone(), turn.clone());
            async move {
                tokio::time::sleep(pause).await;
                node.step().await;
                match act {
                    Act::Say(event @ ModelEvent::Finished { .. }) => {
                        *node.sim.facts().paid.entry(turn).or_default() += 1;
                        Ok(event)
                    }
                    Act::Say(event) => Ok(event),
                    Act::Fail => Err(failed()),
                    Act::Hang => std::future::pending().await,
                }
            }
        });
        Ok(acts.boxed())
    }

    fn gives_titles(&self) -> bool {
        self.node.number.is_multiple_of(2)
    }

    async fn title(&self, message: &str) -> Result<Option<String>, ModelError> {
        self.node.step().await;
        Ok(Some(message.to_owned()))
    }
}

fn failed() -> ModelError {
    ModelError::new(ModelErrorKind::Overloaded { after: None }, "overloaded")
}

/// Every call has exactly one result, right after the message that made it, and the last word is not the model's.
fn well_formed(messages: &[ModelMessage]) -> Result<(), String> {
    let mut open: BTreeSet<&CallId> = BTreeSet::new();
    let mut seen: BTreeSet<&CallId> = BTreeSet::new();
    for message in messages {
        match message {
            ModelMessage::ToolResult { call_id, .. } => {
                if !open.remove(call_id) {
                    return Err(format!("a result for {call_id}, which is not open"));
                }
            }
            _ if !open.is_empty() => return Err(format!("no result for {open:?}")),
            ModelMessage::Assistant { tool_calls, .. } => {
                for call in tool_calls {
                    if !seen.insert(&call.id) || !open.insert(&call.id) {
                        return Err(format!("two calls named {}", call.id));
                    }
                }
            }
            ModelMessage::User { .. } => {}
        }
    }
    if !open.is_empty() {
        return Err(format!("no result for {open:?}"));
    }
    match messages.last() {
        Some(ModelMessage::Assistant { .. }) | None => Err("the model has the last word".into()),
        Some(_) => Ok(()),
    }
}
