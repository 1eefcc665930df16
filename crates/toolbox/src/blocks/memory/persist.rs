//! `PersistInformationBlock`: stores a value for later runs.

use std::sync::Arc;

use async_trait::async_trait;
use ports::Values;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::limits::VALUE_BYTES;
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::typed::{self, TypedBlock, TypedBlockAdapter};
use super::super::{BlockDependencies, failures};
use super::scope::ValueScope;

pub(super) struct PersistInformation {
    spec: BlockSpec,
    values: Arc<dyn Values>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct PersistInformationInput {
    /// The key to store the value under.
    key: String,
    /// The value to store.
    value: Value,
    /// Where the value is available: `within_agent` (runs of this agent) or `across_agents` (all of the user's agents).
    #[serde(default)]
    scope: ValueScope,
}

impl PersistInformation {
    pub(super) fn new(dependencies: &BlockDependencies) -> TypedBlockAdapter<Self> {
        let spec = BlockSpec {
            id: "1d055e55-a2b9-4547-8311-907d05b0304d",
            name: "PersistInformationBlock",
            description: "Stores a value under a key for later runs. Use RetrieveInformationBlock to read it.",
            categories: &[BlockCategory::Data],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<PersistInformationInput>(),
            outputs: typed::outputs([typed::any("value", "The stored value.")]),
            effect: ToolEffect::Idempotent,
            costs: &[],
            static_output: false,
            sensitive: false,
            coordinates: false,
        };
        TypedBlockAdapter(Self { spec, values: dependencies.values.clone() })
    }
}

#[async_trait]
impl TypedBlock for PersistInformation {
    type Input = PersistInformationInput;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: PersistInformationInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let key = input.scope.key(&input.key, &context)?;
        let bytes = input.value.to_string().len();
        if bytes > VALUE_BYTES {
            return Err(BlockError::failed(format!(
                "The value is too large: {bytes} bytes. The limit is {VALUE_BYTES} bytes."
            )));
        }
        // A dry run emits the value without storing it.
        let stored = context.dry_run
            || self
                .values
                .set(&context.user, &key, &input.value)
                .await
                .map_err(failures::storage)?;
        if !stored {
            return Err(BlockError::failed("The limit of stored values is reached."));
        }
        out.emit("value", input.value).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        let value = json!({ "theme": "dark" });
        vec![BlockExample::exactly(
            json!({ "key": "preference", "value": value }),
            vec![("value", value)],
        )]
    }
}
