//! Dry runs: the model simulates blocks that would have side effects or cost something. All other blocks run normally.

use std::time::Duration;

use futures::StreamExt;
use ports::block::{BlockContext, BlockError, OutputSink};
use ports::model::{ModelEvent, ModelMessage, ModelRequest, ToolUse};
use protocol::block::{BlockKind, BlockSpec};
use protocol::text::cut_end;
use protocol::tool::ToolEffect;
use protocol::turn::{ModelTier, TurnMode};
use serde_json::{Map, Value, json};

use crate::EngineInner;

const SYSTEM: &str = "You simulate one block of an automation during a dry run: nothing real happens. You are given what the \
                      block does, its schemas and its inputs. Answer with one JSON object that holds a plausible value \
                      for every output pin that the block would emit, and nothing else.";
/// Prefix of errors of the simulation itself.
const ERROR_PREFIX: &str = "[SIMULATOR ERROR]";
const MAX_TRIES: u32 = 5;
const INPUT_CHARS: usize = 20_000;
const ANSWER_BYTES: usize = 256 * 1024;
const MODEL_TIMEOUT: Duration = Duration::from_secs(120);

/// Whether a dry run simulates the block instead of running it.
pub(super) fn is_simulated(spec: &BlockSpec) -> bool {
    let coordinates = matches!(spec.kind, BlockKind::Agent | BlockKind::Input | BlockKind::Output);
    let acts = spec.effect != ToolEffect::None || spec.kind == BlockKind::Ai || spec.sensitive;
    acts && !coordinates && spec.id != super::AUTOPILOT
}

pub(super) async fn run(
    inner: &EngineInner,
    spec: &BlockSpec,
    inputs: &Map<String, Value>,
    context: &BlockContext,
    out: &dyn OutputSink,
) -> Result<(), BlockError> {
    let outputs = match inner.model.summarizes() {
        // Without a model, use sample values of the right types.
        false => samples(spec),
        true => tokio::select! {
            biased;
            () = context.cancel.cancelled() => return Err(BlockError::Stopped),
            simulated = tokio::time::timeout(MODEL_TIMEOUT, simulate_block(inner, spec, inputs)) => {
                simulated.unwrap_or_else(|_| Err("the model took too long".to_owned()))
                    .map_err(|why| BlockError::failed(format!("{ERROR_PREFIX} {why}.")))?
            }
        },
    };
    for (pin, value) in outputs {
        out.emit(&pin, value).await?;
    }
    Ok(())
}

async fn simulate_block(
    inner: &EngineInner,
    spec: &BlockSpec,
    inputs: &Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    let question = json!({
        "block": spec.name,
        "does": spec.description,
        "input_schema": spec.inputs,
        "output_schema": spec.outputs,
        "inputs": cut_end(&Value::Object(without_credentials(inputs)).to_string(), INPUT_CHARS),
    });
    let mut why = String::new();
    for _ in 0..MAX_TRIES {
        let request = ModelRequest {
            system: SYSTEM.to_owned(),
            messages: vec![ModelMessage::User { text: question.to_string() }],
            tools: [].into(),
            tool_use: ToolUse::Forbidden,
            tier: ModelTier::Standard,
            mode: TurnMode::Fast,
        };
        let answer = answer(inner, request).await?;
        match read(&answer, spec) {
            Some(outputs) => return Ok(outputs),
            None => why = "the model did not answer with the block's outputs".to_owned(),
        }
    }
    Err(why)
}

async fn answer(inner: &EngineInner, request: ModelRequest) -> Result<String, String> {
    let mut stream = inner.model.stream(request).await.map_err(|error| error.message)?;
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        if let ModelEvent::Text(delta) = event.map_err(|error| error.message)? {
            text.push_str(&delta);
        }
        if text.len() > ANSWER_BYTES {
            return Err("the model's answer was too long".to_owned());
        }
    }
    Ok(text)
}

/// The JSON object in the answer, reduced to the block's output pins.
fn read(answer: &str, spec: &BlockSpec) -> Option<Map<String, Value>> {
    let (from, to) = (answer.find('{')?, answer.rfind('}')?);
    let found: Value = serde_json::from_str(answer.get(from..=to)?).ok()?;
    let Value::Object(mut found) = found else { return None };
    found.retain(|pin, _| spec.output(pin).is_some() && pin != "error");
    (!found.is_empty()).then_some(found)
}

fn without_credentials(inputs: &Map<String, Value>) -> Map<String, Value> {
    let secret = |pin: &String| pin.contains("credential") || pin.contains("secret");
    inputs.iter().filter(|(pin, _)| !secret(pin)).map(|(k, v)| (k.clone(), v.clone())).collect()
}

/// A sample value for every pin, of the type in its schema.
fn samples(spec: &BlockSpec) -> Map<String, Value> {
    let pins = spec.outputs.get("properties").and_then(Value::as_object);
    let sample = |schema: &Value| match schema.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("(dry run)"),
    };
    let outputs = pins.into_iter().flatten().filter(|(pin, _)| *pin != "error");
    outputs.map(|(pin, schema)| (pin.clone(), sample(schema))).collect()
}
