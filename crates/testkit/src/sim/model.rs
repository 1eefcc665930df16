//! A model with random responses: words, tool calls, errors, hangs. It reports a violation for every request whose
//! history is malformed, as strict providers do.

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

use super::active_calls::ActiveCallGuard;
use super::node::SimNode;
use super::tool_arguments;
use super::tools::{DELEGATE, TOOLS};

/// The longest pause between two words.
const PAUSE: Duration = Duration::from_millis(250);

pub struct SimModel {
    node: Arc<SimNode>,
}

impl SimModel {
    pub fn of(node: &Arc<SimNode>) -> Arc<Self> {
        Arc::new(Self { node: node.clone() })
    }

    fn check_request(&self, request: &ModelRequest) -> Option<TurnId> {
        let sim = &self.node.sim;
        if let Err(fault) = well_formed(&request.messages) {
            sim.report_violation(format!("G26: {fault} in {:?}", request.messages));
        }
        let turn = self.turn(&request.messages);
        if turn.is_none() {
            sim.report_violation("G26: a request without a user message".into());
        }
        turn
    }

    /// The turn of the last user message, or of the operation whose result is the last user message.
    fn turn(&self, messages: &[ModelMessage]) -> Option<TurnId> {
        let state = self.node.sim.backend.state();
        let asking_turn = |text: &str| {
            let rows = state.sessions.values().flat_map(|row| &row.messages);
            let mut asked =
                rows.map(|row| &row.message).filter(|message| message.role == MessageRole::User);
            // The engine adds text about the session around the message.
            asked
                .find(|message| text.contains(&message.content))
                .map(|message| message.turn_id.clone())
        };
        let operation_turn = |text: &str| {
            let mut operations = state.operations.values();
            let ended = operations.find(|operation| text.contains(operation.id.as_str()));
            ended.map(|operation| operation.task_id.turn())
        };
        messages.iter().rev().find_map(|message| match message {
            ModelMessage::User { text } if text.starts_with(OPERATION_MARK) => operation_turn(text),
            ModelMessage::User { text } => asking_turn(text),
            _ => None,
        })
    }

    /// The events of a response, each with the pause before it.
    fn plan_response(&self, turn: &TurnId, tool_use: ToolUse) -> Vec<(Duration, ModelAction)> {
        let state = self.node.sim.backend.state();
        let mut rng = self.node.sim.rng();
        let mut actions = Vec::new();
        if rng.chance(200) {
            actions
                .push((rng.up_to(PAUSE), ModelAction::Emit(ModelEvent::Reasoning("hm ".into()))));
        }
        // Turns started by other turns call fewer tools, so that delegation ends.
        let derived = state.turns.get(turn).is_some_and(|row| row.turn.parent.is_some());
        let calling = if derived { 30 } else { 50 };
        let words = rng.below(8);
        let what = rng.below(100);
        if what >= 4 {
            for n in 0..words {
                let word = ModelEvent::Text(format!("word{n} "));
                actions.push((rng.up_to(PAUSE), ModelAction::Emit(word)));
            }
        }
        match what {
            // An empty response.
            0..4 => {}
            4..8 => actions.push((rng.up_to(PAUSE), ModelAction::Fail)),
            8..10 => actions.push((Duration::ZERO, ModelAction::Hang)),
            10..50 if tool_use == ToolUse::Allowed && what < calling => {
                for index in 0..1 + rng.below(3) as usize {
                    // Half of the calls reuse the same id.
                    let fresh = CallId(format!("call_{:016x}", rng.next_u64()));
                    let id = if rng.chance(500) { "call_1".into() } else { fresh };
                    let delegates = rng.chance(self.node.sim.delegations_per_mille);
                    let name = if delegates { DELEGATE } else { *rng.pick(TOOLS) }.to_owned();
                    let delta =
                        tool_arguments::arguments(&state, turn, &name, &mut rng).to_string();
                    let call = ModelEvent::ToolCall { index, id, name };
                    actions.push((rng.up_to(PAUSE), ModelAction::Emit(call)));
                    let input = ModelEvent::ToolInput { index, delta };
                    actions.push((rng.up_to(PAUSE), ModelAction::Emit(input)));
                }
            }
            _ => {
                let word = ModelEvent::Text("done.".into());
                actions.push((rng.up_to(PAUSE), ModelAction::Emit(word)));
            }
        }
        let usage = Usage { prompt_tokens: 3, completion_tokens: words, ..Usage::default() };
        let end = ModelEvent::Finished { reason: StopReason::Stop, usage, provider_state: None };
        actions.push((rng.up_to(PAUSE), ModelAction::Emit(end)));
        actions
    }
}

enum ModelAction {
    Emit(ModelEvent),
    Fail,
    Hang,
}

#[async_trait]
impl ModelProvider for SimModel {
    fn name(&self) -> &'static str {
        "simulated"
    }

    fn model(&self, _: ModelTier) -> &str {
        "random"
    }

    fn window(&self, _: ModelTier) -> u64 {
        128_000
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let sim = self.node.sim.clone();
        self.node.wait_until_running().await;
        let Some(turn) = self.check_request(&request) else { return Err(failed()) };
        let work = ActiveCallGuard::begin(&self.node, &turn, None, "a model call");
        self.node.fault_point().await;
        sim.trace_event(|| format!("node {} asks the model for {turn}", self.node.number));
        {
            let mut observations = sim.observations();
            observations.model_calls += 1;
            if !observations.first_model_calls.iter().any(|(asked, _)| *asked == turn) {
                observations.first_model_calls.push((turn.clone(), sim.backend.now()));
            }
        }
        let overloaded = sim.rng().chance(60);
        if overloaded {
            return Err(failed());
        }
        let actions = self.plan_response(&turn, request.tool_use);
        let node = self.node.clone();
        let actions = futures::stream::iter(actions).then(move |(pause, action)| {
            // The call is active for as long as the stream is read.
            let _ = &work;
            let (node, turn) = (node.clone(), turn.clone());
            async move {
                tokio::time::sleep(pause).await;
                node.fault_point().await;
                match action {
                    ModelAction::Emit(event @ ModelEvent::Finished { .. }) => {
                        *node.sim.observations().completed_model_calls.entry(turn).or_default() +=
                            1;
                        Ok(event)
                    }
                    ModelAction::Emit(event) => Ok(event),
                    ModelAction::Fail => Err(failed()),
                    ModelAction::Hang => std::future::pending().await,
                }
            }
        });
        Ok(actions.boxed())
    }

    fn gives_titles(&self) -> bool {
        self.node.number.is_multiple_of(2)
    }

    async fn title(&self, message: &str) -> Result<Option<String>, ModelError> {
        self.node.fault_point().await;
        Ok(Some(message.to_owned()))
    }
}

fn failed() -> ModelError {
    ModelError::new(ModelErrorKind::Overloaded { after: None }, "overloaded")
}

/// Checks that every call has exactly one result, right after the message that made it, and that the last message is
/// not the model's.
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
                        return Err(format!("two calls with id {}", call.id));
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
        Some(ModelMessage::Assistant { .. }) | None => {
            Err("the last message is the model's".into())
        }
        Some(_) => Ok(()),
    }
}
