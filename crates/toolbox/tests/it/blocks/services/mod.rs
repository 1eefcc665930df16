//! Blocks that need something around them, run as the engine runs them: by their names, with inputs as JSON.

mod agents;
mod ai;
mod files;
mod interface;
mod memory;
mod orchestrator;
mod played;
mod site;
mod web;

use std::sync::Arc;

use pilothouse_toolbox::blocks::{self, Parts};
use pilothouse_toolbox::egress::EgressClient;
use ports::block::{BlockContext, BlockError, BlockServices, NodePlace};
use ports::{Block, ModelProvider};
use serde_json::{Value, json};

use super::{run, world};
use crate::tools::folder::Folder;
use played::{Listed, Services};

/// Every block, with what it was built with.
struct Bench {
    blocks: Vec<Arc<dyn Block>>,
    files: Arc<Folder>,
    listed: Arc<Listed>,
    services: Arc<Services>,
}

impl Bench {
    /// Without a model and without a network.
    fn new() -> Self {
        Self::built(world::parts())
    }

    fn online(egress: EgressClient) -> Self {
        Self::built(Parts { egress, ..world::parts() })
    }

    fn asking(model: Arc<dyn ModelProvider>) -> Self {
        Self::built(Parts { model, ..world::parts() })
    }

    fn built(parts: Parts) -> Self {
        let (files, listed) = (Arc::new(Folder::new()), Arc::new(Listed::default()));
        let parts = Parts {
            files: files.clone(),
            library: listed.clone(),
            listings: listed.clone(),
            ..parts
        };
        let services = Arc::new(Services::default());
        Self { blocks: blocks::all(&parts), files, listed, services }
    }

    fn block(&self, name: &str) -> &Arc<dyn Block> {
        self.blocks.iter().find(|block| block.spec().name == name).expect(name)
    }

    fn context(&self) -> BlockContext {
        let node = NodePlace {
            graph_id: "graph".into(),
            graph_version: 1,
            execution_id: "execution".into(),
            node_id: "node".into(),
        };
        let (agents, copilot) = (self.services.clone(), self.services.clone());
        BlockContext {
            node: Some(node),
            session: None,
            services: BlockServices { agents, copilot },
            ..world::context()
        }
    }

    /// What it gives, in order.
    async fn run(&self, name: &str, input: Value) -> Result<Vec<(String, Value)>, BlockError> {
        self.run_in(self.context(), name, input).await
    }

    async fn run_in(
        &self,
        context: BlockContext,
        name: &str,
        input: Value,
    ) -> Result<Vec<(String, Value)>, BlockError> {
        let block = self.block(name);
        let schema = jsonschema::validator_for(&block.spec().inputs).expect("a schema");
        assert!(schema.is_valid(&input), "{name} refuses {input}");
        run(&**block, input, context).await
    }

    /// The sentence it fails with.
    async fn failure(&self, name: &str, input: Value) -> String {
        match self.run(name, input).await {
            Err(BlockError::Failed(message)) => message,
            other => panic!("{name} does not fail: {other:?}"),
        }
    }
}

fn one(pin: &str, value: Value) -> Result<Vec<(String, Value)>, BlockError> {
    Ok(vec![(pin.to_owned(), value)])
}

fn pins(given: &[(String, Value)]) -> Value {
    given.iter().map(|(pin, value)| json!([pin, value])).collect()
}
