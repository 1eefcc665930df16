//! Blocks that only compute: a function from inputs to outputs. They wait for nothing and touch nothing.

use std::sync::Arc;

use async_trait::async_trait;
use ports::Block;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::typed::{self, Typed, TypedBlock};

/// The longest text, in bytes, that a computation may make out of shorter ones.
const MADE_TEXT: usize = 16 * 1024 * 1024;
/// The most items that it may make out of fewer.
const MADE_ITEMS: usize = 1_000_000;

/// What a block says about itself besides its pins.
pub(super) struct About {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) categories: &'static [BlockCategory],
}

impl About {
    /// A standard block without effects and costs.
    pub(super) fn spec<I: JsonSchema>(self, outputs: Value) -> BlockSpec {
        BlockSpec {
            id: self.id,
            name: self.name,
            description: self.description,
            categories: self.categories,
            kind: BlockKind::Standard,
            inputs: typed::inputs::<I>(),
            outputs,
            effect: ToolEffect::None,
            costs: &[],
            static_output: false,
            sensitive: false,
            coordinates: false,
        }
    }
}

/// The values of pins, in the order in which they are emitted.
pub(super) type Outputs = Vec<(&'static str, Value)>;

pub(super) fn pure<I>(
    spec: BlockSpec,
    compute: fn(I) -> Result<Outputs, BlockError>,
    examples: Vec<BlockExample>,
) -> Arc<dyn Block>
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
{
    Arc::new(Typed(Pure { spec, compute, examples }))
}

struct Pure<I> {
    spec: BlockSpec,
    compute: fn(I) -> Result<Outputs, BlockError>,
    examples: Vec<BlockExample>,
}

#[async_trait]
impl<I: DeserializeOwned + JsonSchema + Send + 'static> TypedBlock for Pure<I> {
    type Input = I;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: I,
        _context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        for (pin, value) in (self.compute)(input)? {
            out.emit(pin, value).await?;
        }
        Ok(())
    }

    fn examples(&self) -> Vec<BlockExample> {
        self.examples.clone()
    }
}

/// Refuses a text before it is made.
pub(super) fn text_fits(bytes: usize) -> Result<(), BlockError> {
    if bytes <= MADE_TEXT {
        return Ok(());
    }
    let limit = MADE_TEXT / 1024 / 1024;
    Err(BlockError::failed(format!("The result would be longer than {limit} MiB.")))
}

/// Refuses a list before it is made.
pub(super) fn list_fits(items: usize) -> Result<(), BlockError> {
    if items <= MADE_ITEMS {
        return Ok(());
    }
    Err(BlockError::failed(format!("The result would have more than {MADE_ITEMS} items.")))
}
