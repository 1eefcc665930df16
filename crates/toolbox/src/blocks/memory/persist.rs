//! `PersistInformationBlock`: remembers a value for later runs.

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

use super::super::typed::{self, Typed, TypedBlock};
use super::super::{Parts, failures};
use super::scope::Scope;

pub(super) struct PersistInformation {
    spec: BlockSpec,
    values: Arc<dyn Values>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// The name under which it is remembered.
    key: String,
    /// What to remember.
    value: Value,
    /// Who can recall it: `within_agent` (later runs of this agent) or `across_agents` (all agents of the user).
    #[serde(default)]
    scope: Scope,
}

impl PersistInformation {
    pub(super) fn new(parts: &Parts) -> Typed<Self> {
        let spec = BlockSpec {
            id: "1d055e55-a2b9-4547-8311-907d05b0304d",
            name: "PersistInformationBlock",
            description: "Remembers a value under a name, beyond the end of the run. RetrieveInformationBlock recalls \
                it.",
            categories: &[BlockCategory::Data],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([typed::any("value", "What is remembered now.")]),
            effect: ToolEffect::Idempotent,
            costs: &[],
            static_output: false,
            sensitive: false,
            coordinates: false,
        };
        Typed(Self { spec, values: parts.values.clone() })
    }
}

#[async_trait]
impl TypedBlock for PersistInformation {
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
        let bytes = given.value.to_string().len();
        if bytes > VALUE_BYTES {
            return Err(BlockError::failed(format!(
                "The value has {bytes} bytes; {VALUE_BYTES} can be remembered."
            )));
        }
        // A dry run shows what would flow and changes nothing.
        let kept = context.dry_run
            || self
                .values
                .set(&context.user, &key, &given.value)
                .await
                .map_err(failures::storage)?;
        if !kept {
            return Err(BlockError::failed("As many values are remembered as may be."));
        }
        out.emit("value", given.value).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        let value = json!({ "theme": "dark" });
        vec![BlockExample::exactly(
            json!({ "key": "preference", "value": value }),
            vec![("value", value)],
        )]
    }
}
