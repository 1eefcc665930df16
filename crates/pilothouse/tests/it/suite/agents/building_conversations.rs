//! Recorded conversations in which agents are built (`fixtures/conversations/`), replayed through the real tools: the
//! model's part is played from the recording, everything else happens. Each recording says what the tools must answer.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde::Deserialize;
use serde_json::{Map, Value};
use testkit::model_server::{Dialect, RecordedRequest, Script, ScriptedCall};

use super::scripted::ScriptedServer;
use crate::history::{history, rows};
use crate::server::{eventually, json_of};

/// A recorded conversation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Conversation {
    /// What the recording shows.
    #[allow(dead_code)]
    about: String,
    turns: Vec<RecordedTurn>,
    /// How many agents the library has at the end.
    library: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedTurn {
    user: String,
    /// The steps of the chat model, those after the end of an operation among them.
    model: Vec<ModelStep>,
    /// The answers of the model that plays the generator, in order.
    #[serde(default)]
    generator: Vec<String>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum ModelStep {
    Says { says: String },
    Calls { calls: Vec<ModelCall> },
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelCall {
    tool: String,
    /// `"$name"` stands for a value that an earlier call has kept.
    arguments: Value,
    /// What the final answer must contain. A text must be contained in the text there.
    answer: Value,
    /// Values of the answer that later calls use, by JSON pointer.
    #[serde(default)]
    keep: BTreeMap<String, String>,
}

/// Plays the model: what it has left to say, and what its calls have kept of their answers.
#[derive(Default)]
struct Prompter {
    chat: VecDeque<ModelStep>,
    generator: VecDeque<String>,
    /// The calls so far, in order; the id of a call is `call_` and its index.
    calls: Vec<ModelCall>,
    kept: Map<String, Value>,
}

impl Prompter {
    /// Requests without tools are those of the generator.
    fn next(&mut self, request: &RecordedRequest) -> Script {
        if request.tool_names().is_empty() {
            let answer = self.generator.pop_front();
            return answer.map_or_else(Script::server_error, |answer| Script::text(&answer));
        }
        // All of them: the result of an operation takes the place of an earlier answer.
        for message in request.messages().iter().filter(|message| message["role"] == "tool") {
            let text = |name: &str| message[name].as_str().unwrap_or_default();
            self.keep(text("tool_call_id"), text("content"));
        }
        match self.chat.pop_front() {
            None => Script::server_error(),
            Some(ModelStep::Says { says }) => Script::text(&says),
            Some(ModelStep::Calls { calls }) => {
                let calls = calls.into_iter().map(|call| {
                    let id = format!("call_{}", self.calls.len());
                    let arguments = filled(&call.arguments, &self.kept);
                    let scripted = ScriptedCall::new(&id, &call.tool, &arguments);
                    self.calls.push(call);
                    scripted
                });
                Script::default().call(&calls.collect::<Vec<_>>())
            }
        }
    }

    fn keep(&mut self, id: &str, content: &str) {
        let index = id.strip_prefix("call_").and_then(|index| index.parse::<usize>().ok());
        let Some(call) = index.and_then(|index| self.calls.get(index)) else { return };
        let answer: Value = serde_json::from_str(content).unwrap_or_default();
        for (name, pointer) in &call.keep {
            if let Some(value) = answer.pointer(pointer) {
                self.kept.insert(name.clone(), value.clone());
            }
        }
    }

    fn is_done(&self) -> bool {
        self.chat.is_empty() && self.generator.is_empty()
    }
}

#[tokio::test]
async fn every_recorded_conversation_about_an_agent_ends_as_it_was_recorded() {
    let files = recordings();
    assert!(files.len() >= 6, "{files:?}");
    for file in files {
        replay(&file).await;
    }
}

async fn replay(file: &Path) {
    let name = file.display();
    let text = std::fs::read_to_string(file).expect("a recording can be read");
    let conversation: Conversation =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let prompter = Arc::new(Mutex::new(Prompter::default()));
    let locked = || prompter.lock().expect("not poisoned");
    let shared = prompter.clone();
    setup.model.respond_with(move |request| shared.lock().expect("not poisoned").next(request));
    for turn in conversation.turns {
        locked().chat.extend(turn.model);
        locked().generator.extend(turn.generator);
        setup.turn(&session, &turn.user).await;
        // The end of an operation continues the conversation by itself.
        eventually("the model to have said everything, and the session to be idle", async || {
            // In this order: the turn of the last step may begin between the two looks.
            if !locked().is_done() {
                return None;
            }
            setup.server.read_session(&session).await["active_stream"].is_null().then_some(())
        })
        .await;
    }
    let history = history(&setup.server, &session).await;
    for (index, call) in locked().calls.iter().enumerate() {
        let answer = answer_to(&history, &format!("call_{index}"));
        let ModelCall { tool, answer: expected, .. } = call;
        assert!(contains(&answer, expected), "{name}, {tool}: not {expected:#} but {answer:#}");
    }
    setup.model.assert_no_violations();
    let library = setup.server.get("/library/agents?page_size=50").send().await;
    let library = json_of(library.expect("an answer")).await;
    let agents = library["agents"].as_array().map_or(0, Vec::len);
    assert_eq!(agents, conversation.library, "{name}: {library:#}");
}

fn recordings() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/conversations");
    let files = std::fs::read_dir(folder).expect("the recordings are there");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    files
}

/// The final answer to a call, as the history has it.
fn answer_to(history: &[Value], call: &str) -> Value {
    let answers = rows(history, "tool");
    let row = answers.into_iter().find(|row| row["tool_call_id"] == call);
    let content = row.and_then(|row| row["content"].as_str()).expect("every call has an answer");
    serde_json::from_str(content).unwrap_or_default()
}

/// The arguments with what earlier calls have kept.
fn filled(arguments: &Value, kept: &Map<String, Value>) -> Value {
    match arguments {
        Value::String(text) => {
            let word = text.strip_prefix('$').and_then(|word| kept.get(word));
            word.cloned().unwrap_or_else(|| arguments.clone())
        }
        Value::Array(items) => items.iter().map(|item| filled(item, kept)).collect(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| (name.clone(), filled(value, kept));
            Value::Object(members.iter().map(member).collect())
        }
        other => other.clone(),
    }
}

/// Whether a value has everything of `expected`: members of objects, items of lists by index, parts of texts.
fn contains(value: &Value, expected: &Value) -> bool {
    match (value, expected) {
        (Value::Object(_), Value::Object(members)) => members
            .iter()
            .all(|(name, expected)| value.get(name).is_some_and(|value| contains(value, expected))),
        (Value::Array(items), Value::Array(expected)) => {
            items.len() >= expected.len()
                && items.iter().zip(expected).all(|(item, expected)| contains(item, expected))
        }
        (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
        _ => value == expected,
    }
}
