//! One execution, killed at many different points: it always ends once, with the same outputs.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::model_server::{ModelServer, RecordedRequest, Script};
use tokio::task::JoinSet;

use super::execution_fixtures::{
    ASK_MODEL, COUNT_DOWN, GraphBuilder, REMEMBER, STEP_THROUGH, SavedAgent, StartedExecution,
};
use super::execution_stream::{ExecutionEvent, numbered};
use super::server_for;
use crate::events::Ending;
use crate::server::TestServer;

/// Servers that are tested in parallel, and kills of each.
const SERVERS: usize = 3;
const KILLS: usize = 3;
const ITEMS: usize = 8;
const PAUSE: Duration = Duration::from_millis(40);

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_execution_killed_at_any_point_ends_once_with_the_same_outputs() {
    let mut tasks = JoinSet::new();
    for number in 0..SERVERS {
        tasks.spawn(async move {
            let mut killed = KilledServer::start(number).await;
            for kill in 0..KILLS {
                // Together the workers cover every stage of the execution, from its first event to its last.
                let stage = kill * SERVERS + killed.number;
                killed.run_with_kill(stage as f64 / (SERVERS * KILLS - 1) as f64).await;
            }
        });
    }
    tasks.join_all().await;
}

/// One server that is killed repeatedly, and its model.
struct KilledServer {
    number: usize,
    model: ModelServer,
    server: TestServer,
    agent: SavedAgent,
    /// Event count and outputs of an execution that is not killed.
    events: usize,
    outputs: Value,
}

impl KilledServer {
    async fn start(number: usize) -> Self {
        let model = ModelServer::start().await;
        model.respond_with(|request: &RecordedRequest| {
            let question = request.last_user_text();
            Script::default().delay(PAUSE).say(&format!("Answer to {question}"))
        });
        let server = server_for(&model, &[]);
        let agent = many_things().save(&server, "Many things").await;
        let run = agent.start(&server).await;
        let events = numbered(&run.follow(&server).await.all().await).len();
        let outputs = run.completed(&server).await["outputs"].clone();
        let answers = (0..ITEMS).map(|item| format!("Answer to item {item}"));
        assert_eq!(outputs["answers"], json!(answers.collect::<Vec<_>>()));
        assert_eq!(outputs["ticks"], json!(["tick", "tick", "tick"]));
        Self { number, model, server, agent, events, outputs }
    }

    /// Starts an execution and kills the server after this share of its events.
    async fn run_with_kill(&mut self, share: f64) {
        let before = self.model.requests().len();
        let run = self.agent.start(&self.server).await;
        let most = 1 + ((self.events - 1) as f64 * share) as usize;
        let mut seen = self.read(&run, most).await;
        let completed = answered(&seen);
        self.server.kill9();
        self.server.restart();
        let after = seen.last().map_or(0, |(number, _)| *number);
        let rest = run.follow_after(&self.server, after).await.all().await;
        let what = format!("killed after {most} events; log:\n{}", self.server.log());
        assert!(
            matches!(rest.last(), Some(ExecutionEvent::Execution(row)) if row["status"] == "COMPLETED"),
            "{what}"
        );
        seen.extend(numbered(&rest));
        let whole = numbered(&run.follow(&self.server).await.all().await);
        assert_eq!(
            seen, whole,
            "received events stay valid, nothing is lost and nothing is repeated; {what}"
        );
        let ended = run.completed(&self.server).await;
        assert_eq!(ended["outputs"], self.outputs, "{what}");
        assert_eq!(ended["stats"]["node_error_count"], 0, "{what}");

        let mut asked = BTreeMap::<String, usize>::new();
        for request in &self.model.requests()[before..] {
            *asked.entry(request.last_user_text()).or_default() += 1;
        }
        assert_eq!(asked.len(), ITEMS, "{what}");
        for (question, times) in asked {
            // A node that was seen to complete is not run again; the others run at most once more.
            let most = if completed.contains(&format!("Answer to {question}")) { 1 } else { 2 };
            assert!((1..=most).contains(&times), "{question} was asked {times} times; {what}");
        }
    }

    /// The first events of an execution.
    async fn read(&self, run: &StartedExecution, most: usize) -> Vec<(u64, Value)> {
        let mut stream = run.follow(&self.server).await;
        let mut seen = Vec::new();
        while seen.len() < most {
            match stream.next().await {
                Ok(event) => seen.extend(numbered(&[event])),
                Err(Ending::Complete) => break,
                Err(ending) => panic!("{ending:?} before the kill"),
            }
        }
        seen
    }
}

/// The model's answers in these events.
fn answered(events: &[(u64, Value)]) -> Vec<String> {
    let given = events
        .iter()
        .filter(|(_, data)| data["node_id"] == "think" && data["status"] == "COMPLETED");
    let given = given.filter_map(|(_, data)| data["output_data"]["response"][0].as_str());
    given.map(str::to_owned).collect()
}

/// A node without an effect, one whose start is stored first, and one that emits some outputs long before the rest.
fn many_things() -> GraphBuilder {
    GraphBuilder::default()
        .node("items", STEP_THROUGH, json!({"items": (0..ITEMS).collect::<Vec<_>>()}))
        .node("think", ASK_MODEL, json!({"prompt": "item {{ number }}"}))
        .node("remember", REMEMBER, json!({}))
        .node("tick", COUNT_DOWN, json!({"seconds": 1, "repeat": 3, "input_message": "tick"}))
        .link("items.item", "think.prompt_values_#_number")
        .link("items.key", "remember.key")
        .link("think.response", "remember.value")
        .output("answers", "remember.value")
        .output("ticks", "tick.output_message")
}
