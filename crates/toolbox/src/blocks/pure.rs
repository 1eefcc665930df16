//! Pure blocks: a synchronous function from inputs to outputs, without side effects.

use std::sync::Arc;

use async_trait::async_trait;
use ports::Block;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::typed::{self, TypedBlock, TypedBlockAdapter};

/// Limit on a computed text, in bytes.
const MAX_TEXT_BYTES: usize = 16 * 1024 * 1024;
/// Limit on a computed list, in items.
const MAX_ITEMS: usize = 1_000_000;

/// The part of a block's spec that is not about its pins.
pub(super) struct BlockIdentity {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) categories: &'static [BlockCategory],
}

impl BlockIdentity {
    /// The spec of a standard block without side effects or cost.
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

/// Values with their output pins, in the order they are emitted.
pub(super) type PinValues = Vec<(&'static str, Value)>;

pub(super) fn pure<I>(
    spec: BlockSpec,
    compute: fn(I) -> Result<PinValues, BlockError>,
    examples: Vec<BlockExample>,
) -> Arc<dyn Block>
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
{
    Arc::new(TypedBlockAdapter(PureBlock { spec, compute, examples }))
}

struct PureBlock<I> {
    spec: BlockSpec,
    compute: fn(I) -> Result<PinValues, BlockError>,
    examples: Vec<BlockExample>,
}

#[async_trait]
impl<I: DeserializeOwned + JsonSchema + Send + 'static> TypedBlock for PureBlock<I> {
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

/// Rejects a text that would be too long, before it is built.
pub(super) fn text_fits(bytes: usize) -> Result<(), BlockError> {
    if bytes <= MAX_TEXT_BYTES {
        return Ok(());
    }
    let limit = MAX_TEXT_BYTES / 1024 / 1024;
    Err(BlockError::failed(format!("The result would exceed the limit of {limit} MiB.")))
}

/// Rejects a list that would be too long, before it is built.
pub(super) fn list_fits(items: usize) -> Result<(), BlockError> {
    if items <= MAX_ITEMS {
        return Ok(());
    }
    Err(BlockError::failed(format!("The result would exceed the limit of {MAX_ITEMS} items.")))
}
