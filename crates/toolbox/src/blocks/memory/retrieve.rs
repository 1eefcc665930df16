//! `RetrieveInformationBlock`: recalls what an earlier run has remembered.

use std::sync::Arc;

use async_trait::async_trait;
use ports::Values;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::typed::{self, Typed, TypedBlock};
use super::super::{Parts, failures};
use super::scope::Scope;

pub(super) struct RetrieveInformation {
    spec: BlockSpec,
    values: Arc<dyn Values>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// The name under which it was remembered.
    key: String,
    /// Where to look: `within_agent` (earlier runs of this agent) or `across_agents` (all agents of the user).
    #[serde(default)]
    scope: Scope,
    /// What is given when nothing was remembered.
    #[serde(default)]
    default_value: Value,
}

impl RetrieveInformation {
    pub(super) fn new(parts: &Parts) -> Typed<Self> {
        let spec = BlockSpec {
            id: "d8710fc9-6e29-481e-a7d5-165eb16f8471",
            name: "RetrieveInformationBlock",
            description: "Recalls a value that PersistInformationBlock has remembered, or gives a default.",
            categories: &[BlockCategory::Data],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([typed::any("value", "The value, or the default.")]),
            effect: ToolEffect::None,
            costs: &[],
            static_output: true,
            sensitive: false,
            coordinates: false,
        };
        Typed(Self { spec, values: parts.values.clone() })
    }
}

#[async_trait]
impl TypedBlock for RetrieveInformation {
    type Input = Given;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        given: Given,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let key = given.scope.key(&given.key, &context)?;
        let found = self.values.get(&context.user, &key).await.map_err(failures::storage)?;
        let found = found.filter(|value| !value.is_null());
        out.emit("value", found.unwrap_or(given.default_value)).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        vec![BlockExample::exactly(
            json!({ "key": "never remembered", "default_value": 7 }),
            vec![("value", json!(7))],
        )]
    }
}
