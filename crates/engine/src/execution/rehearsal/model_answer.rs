//! The model plays a block in a rehearsal.

use futures::StreamExt;
use ports::model::{ModelEvent, ModelMessage, ModelRequest, ToolUse};
use protocol::block::BlockSpec;
use protocol::text::cut_end;
use protocol::turn::{ModelTier, TurnMode};
use serde_json::{Map, Value, json};

use crate::EngineInner;

const SYSTEM: &str = "You simulate one block of an automation during a dry run: nothing real happens. You are given what the \
                      block does, its schemas and its inputs. Answer with one JSON object that holds a plausible value \
                      for every output pin that the block would emit, and nothing else.";
const MAX_TRIES: u32 = 5;
const INPUT_CHARS: usize = 20_000;
const ANSWER_BYTES: usize = 256 * 1024;

/// The outputs that the model thinks the block would emit. `Err` says why there are none.
pub(crate) async fn model_answer(
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
