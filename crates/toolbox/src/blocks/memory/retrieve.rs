//! `RetrieveInformationBlock`: reads a value stored by an earlier run.

use ports::Values;

use super::scope::ValueScope;
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct RetrieveInformationInput {
    /// The key the value was stored under.
    key: String,
    /// Where to look: `within_agent` (runs of this agent) or `across_agents` (all of the user's agents).
    #[serde(default)]
    scope: ValueScope,
    /// The value to use if nothing is stored.
    #[serde(default)]
    default_value: Value,
}

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "d8710fc9-6e29-481e-a7d5-165eb16f8471",
        "RetrieveInformationBlock",
        "Reads a value stored by PersistInformationBlock, or returns a default.",
    )
    .categories(&[BlockCategory::Data])
    .outputs([pin::any("value", "The stored value, or the default.")])
    .static_output();
    let examples = vec![BlockExample::exactly(
        json!({ "key": "never stored", "default_value": 7 }),
        vec![("value", json!(7))],
    )];
    vec![block(spec, examples, RetrieveInformation { values: dependencies.values.clone() })]
}

struct RetrieveInformation {
    values: Arc<dyn Values>,
}

#[async_trait]
impl TypedBlock for RetrieveInformation {
    type Input = RetrieveInformationInput;

    async fn run(
        &self,
        input: RetrieveInformationInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let key = input.scope.key(&input.key, &context)?;
        let found = self.values.get(&context.user, &key).await?;
        let found = found.filter(|value| !value.is_null());
        out.emit("value", found.unwrap_or(input.default_value)).await
    }
}
