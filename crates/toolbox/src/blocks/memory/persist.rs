//! `PersistInformationBlock`: stores a value for later runs.

use ports::Values;
use protocol::limits::VALUE_BYTES;

use super::scope::ValueScope;
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct PersistInformationInput {
    /// The key to store the value under.
    key: String,
    /// The value to store.
    value: Value,
    /// Where the value is available: `within_agent` (runs of this agent) or `across_agents` (all of the user's agents).
    #[serde(default)]
    scope: ValueScope,
}

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "1d055e55-a2b9-4547-8311-907d05b0304d",
        "PersistInformationBlock",
        "Stores a value under a key for later runs. Use RetrieveInformationBlock to read it.",
    )
    .categories(&[BlockCategory::Data])
    .outputs([pin::any("value", "The stored value.")])
    .effect(ToolEffect::Idempotent);
    let value = json!({ "theme": "dark" });
    let examples = vec![BlockExample::exactly(
        json!({ "key": "preference", "value": value }),
        vec![("value", value)],
    )];
    vec![block(spec, examples, PersistInformation { values: dependencies.values.clone() })]
}

struct PersistInformation {
    values: Arc<dyn Values>,
}

#[async_trait]
impl TypedBlock for PersistInformation {
    type Input = PersistInformationInput;

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
        let stored = context.dry_run || self.values.set(&context.user, &key, &input.value).await?;
        if !stored {
            return Err(BlockError::failed("The limit of stored values is reached."));
        }
        out.emit("value", input.value).await
    }
}
