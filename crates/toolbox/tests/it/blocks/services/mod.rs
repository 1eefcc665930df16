//! Blocks that use services, run as the engine runs them: by name, with JSON inputs.

mod agents;
mod ai;
mod fakes;
mod files;
mod interface;
mod memory;
mod orchestrator;
mod site;
mod web;

use std::sync::Arc;

use pilothouse_toolbox::blocks::{self, BlockDependencies};
use pilothouse_toolbox::egress::EgressClient;
use ports::block::{BlockContext, BlockError, BlockServices, NodePlace};
use ports::{Block, ModelProvider};
use serde_json::{Value, json};

use super::{context, run, world};
use crate::tools::folder::Folder;
use fakes::{FakeMarketplace, FakeServices};

/// All blocks, with their fake dependencies.
struct Bench {
    blocks: Vec<Arc<dyn Block>>,
    files: Arc<Folder>,
    marketplace: Arc<FakeMarketplace>,
    services: Arc<FakeServices>,
}

impl Bench {
    /// Without a model or network access.
    fn new() -> Self {
        Self::with_dependencies(world::dependencies())
    }

    fn with_egress(egress: EgressClient) -> Self {
        Self::with_dependencies(BlockDependencies { egress, ..world::dependencies() })
    }

    fn with_model(model: Arc<dyn ModelProvider>) -> Self {
        Self::with_dependencies(BlockDependencies { model, ..world::dependencies() })
    }

    fn with_dependencies(dependencies: BlockDependencies) -> Self {
        let (files, marketplace) = (Arc::new(Folder::new()), Arc::new(FakeMarketplace::default()));
        let dependencies = BlockDependencies {
            files: files.clone(),
            library: marketplace.clone(),
            listings: marketplace.clone(),
            ..dependencies
        };
        let services = Arc::new(FakeServices::default());
        Self { blocks: blocks::all(&dependencies), files, marketplace, services }
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
            ..context()
        }
    }

    /// The emitted outputs, in order.
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
        assert!(schema.is_valid(&input), "{name} rejects {input}");
        run(&**block, input, context).await
    }

    /// The message the block fails with.
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

fn pins(outputs: &[(String, Value)]) -> Value {
    outputs.iter().map(|(pin, value)| json!([pin, value])).collect()
}
