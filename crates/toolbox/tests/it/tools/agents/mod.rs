//! The tools that find, run and inspect agents and blocks.

mod agent_documents;
mod blocks;
mod fake_executions;
mod find_agents;
mod from_words;
mod from_words_refused;
mod memory_store;
mod run_agents;
mod scripted_generator;
mod view_outputs;

use std::sync::Arc;

use jiff::Timestamp;
use pilothouse_toolbox::egress::{EgressClient, EgressOptions};
use pilothouse_toolbox::tools::{self, ToolServices};
use ports::tool::ToolContext;
use ports::{Block, Clock, Tool};
use serde_json::{Value, json};

use super::fake_services::FakeServices;
use super::folder::Folder;
use super::{answer, built_with, context};

pub(crate) use fake_executions::FakeExecutions;
pub(crate) use memory_store::MemoryStore;
use scripted_generator::ScriptedGenerator;

pub(crate) const NOW: &str = "2026-03-01T12:00:00Z";

/// A clock that always returns `NOW`.
pub(crate) struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        NOW.parse().expect("a time")
    }
}

/// The tools with fake services and in-memory stores.
struct AgentTools {
    store: Arc<MemoryStore>,
    fake: Arc<FakeServices>,
    files: Arc<Folder>,
    generator: Arc<ScriptedGenerator>,
    tools: Vec<Arc<dyn Tool>>,
}

impl AgentTools {
    fn with_blocks(blocks: Vec<Arc<dyn Block>>) -> Self {
        Self::with(blocks, FakeServices::default())
    }

    fn with(blocks: Vec<Arc<dyn Block>>, fake: FakeServices) -> Self {
        let generator = Arc::new(ScriptedGenerator::default());
        let (store, files) = (Arc::new(MemoryStore::default()), Arc::new(Folder::new()));
        let egress = EgressClient::new(EgressOptions::default()).expect("a client");
        let services = ToolServices {
            library: store.clone(),
            listings: store.clone(),
            reviews: store.clone(),
            blocks: blocks.into(),
            generator: generator.clone(),
            ..built_with(files.clone(), egress)
        };
        let tools = tools::all(&services).expect("good tools");
        Self { store, fake: Arc::new(fake), files, generator, tools }
    }

    /// One agent in the library, `mine`, with a `text` input, and one in the marketplace, `helm/letters`.
    fn with_agents() -> Self {
        Self::with_agents_in(FakeServices::default())
    }

    fn with_agents_in(fake: FakeServices) -> Self {
        let fixture = Self::with(Vec::new(), fake);
        let entry = memory_store::entry("mine", "Word counter", "Counts the words of a text.");
        fixture.store.entries.lock().expect("not poisoned").push(entry);
        let listing =
            memory_store::listing("letters", "Letter writer", "Writes letters to customers.");
        fixture.store.listings.lock().expect("not poisoned").push(listing);
        let inputs = json!({
            "type": "object",
            "properties": {"text": {"type": "string"}, "limit": {"type": "number", "default": 5}},
            "required": ["text"],
        });
        let no_inputs = json!({"type": "object", "properties": {}});
        *fixture.runs().agents.lock().expect("not poisoned") = vec![
            fake_executions::agent("graph-mine", inputs),
            fake_executions::agent("graph-letters", no_inputs),
        ];
        fixture
    }

    fn runs(&self) -> &FakeExecutions {
        &self.fake.runs
    }

    fn context(&self) -> ToolContext {
        ToolContext { services: self.fake.services(), ..context() }
    }

    async fn call(&self, name: &str, arguments: Value) -> Value {
        self.call_in(self.context(), name, arguments).await
    }

    async fn call_in(&self, context: ToolContext, name: &str, arguments: Value) -> Value {
        let tool = self.tools.iter().find(|tool| tool.spec().name == name).expect(name);
        let schema = jsonschema::validator_for(&tool.spec().parameters).expect("a schema");
        assert!(schema.is_valid(&arguments), "{name} refuses {arguments}");
        answer(tool.call(arguments, context).await)
    }
}

/// The message of a response.
fn message_of(response: &Value) -> &str {
    response["message"].as_str().expect("a message")
}
