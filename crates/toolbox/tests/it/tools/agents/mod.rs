//! The tools that find, run and inspect agents and blocks.

mod blocks;
mod finding;
mod running;
mod runs;
mod shelf;
mod viewing;

use std::sync::Arc;

use jiff::Timestamp;
use pilothouse_toolbox::egress::{EgressClient, EgressOptions};
use pilothouse_toolbox::tools::{self, ToolServices};
use ports::tool::ToolContext;
use ports::{Block, Clock, Tool};
use serde_json::{Value, json};

use super::folder::Folder;
use super::services::Played;
use super::{answer, built_with, context};

pub(super) use runs::PlayedRuns;
pub(super) use shelf::Shelf;

pub(super) const NOW: &str = "2026-03-01T12:00:00Z";

/// A clock that stands still.
pub(super) struct Noon;

impl Clock for Noon {
    fn now(&self) -> Timestamp {
        NOW.parse().expect("a time")
    }
}

/// The tools with everything around them played, and nothing slow.
struct Desk {
    shelf: Arc<Shelf>,
    played: Arc<Played>,
    files: Arc<Folder>,
    tools: Vec<Arc<dyn Tool>>,
}

impl Desk {
    fn new() -> Self {
        Self::with_blocks(Vec::new())
    }

    fn with_blocks(blocks: Vec<Arc<dyn Block>>) -> Self {
        let (shelf, files) = (Arc::new(Shelf::default()), Arc::new(Folder::new()));
        let egress = EgressClient::new(EgressOptions::default()).expect("a client");
        let services = ToolServices {
            library: shelf.clone(),
            listings: shelf.clone(),
            reviews: shelf.clone(),
            blocks: blocks.into(),
            ..built_with(files.clone(), egress)
        };
        let tools = tools::all(&services).expect("good tools");
        Self { shelf, played: Arc::new(Played::default()), files, tools }
    }

    /// One agent in the library, `mine`, which takes a text, and one in the marketplace, `helm/letters`.
    fn with_agents() -> Self {
        let desk = Self::new();
        let entry = shelf::entry("mine", "Word counter", "Counts the words of a text.");
        desk.shelf.entries.lock().expect("free").push(entry);
        let listing = shelf::listing("letters", "Letter writer", "Writes letters to customers.");
        desk.shelf.listings.lock().expect("free").push(listing);
        let takes = json!({
            "type": "object",
            "properties": {"text": {"type": "string"}, "limit": {"type": "number", "default": 5}},
            "required": ["text"],
        });
        let nothing = json!({"type": "object", "properties": {}});
        *desk.runs().agents.lock().expect("free") =
            vec![runs::agent("graph-mine", takes), runs::agent("graph-letters", nothing)];
        desk
    }

    fn runs(&self) -> &PlayedRuns {
        &self.played.runs
    }

    fn context(&self) -> ToolContext {
        ToolContext { services: self.played.services(), ..context() }
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

/// What a response says, for comparisons.
fn said(response: &Value) -> &str {
    response["message"].as_str().expect("a message")
}
