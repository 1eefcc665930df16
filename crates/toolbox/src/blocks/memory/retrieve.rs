//! `RetrieveInformationBlock`: reads a value stored by an earlier run.

use std::sync::Arc;

use async_trait::async_trait;
use ports::Values;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::typed::{self, TypedBlock, TypedBlockAdapter};
use super::super::{BlockDependencies, failures};
use super::scope::ValueScope;

pub(super) struct RetrieveInformation {
    spec: BlockSpec,
    values: Arc<dyn Values>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct RetrieveInformationInput {
    /// The key the value was stored under.
    key: String,
    /// Where to look: `within_agent` (runs of this agent) or `across_agents` (all of the user's agents).
    #[serde(default)]
    scope: ValueScope,
    /// The value to use if nothing is stored.
    #[serde(default)]
    default_value: Value,
}

impl RetrieveInformation {
    pub(super) fn new(dependencies: &BlockDependencies) -> TypedBlockAdapter<Self> {
        let spec = BlockSpec {
            id: "d8710fc9-6e29-481e-a7d5-165eb16f8471",
            name: "RetrieveInformationBlock",
            description: "Reads a value stored by PersistInformationBlock, or returns a default.",
            categories: &[BlockCategory::Data],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<RetrieveInformationInput>(),
            outputs: typed::outputs([typed::any("value", "The stored value, or the default.")]),
            effect: ToolEffect::None,
            costs: &[],
            static_output: true,
            sensitive: false,
            coordinates: false,
        };
        TypedBlockAdapter(Self { spec, values: dependencies.values.clone() })
    }
}

#[async_trait]
impl TypedBlock for RetrieveInformation {
    type Input = RetrieveInformationInput;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: RetrieveInformationInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let key = input.scope.key(&input.key, &context)?;
        let found = self.values.get(&context.user, &key).await.map_err(failures::storage)?;
        let found = found.filter(|value| !value.is_null());
        out.emit("value", found.unwrap_or(input.default_value)).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        vec![BlockExample::exactly(
            json!({ "key": "never stored", "default_value": 7 }),
            vec![("value", json!(7))],
        )]
    }
}
