//! `AgentExecutorBlock`: runs another agent as part of this one.

use ports::block::ChildAgent;
use protocol::GraphId;

use crate::blocks::failures;
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct AgentExecutorInput {
    /// The ID of the agent to run.
    graph_id: GraphId,
    /// The version of the agent.
    graph_version: u32,
    /// Input values, by input name.
    #[serde(default)]
    inputs: Map<String, Value>,
    /// The JSON schema of the agent's inputs.
    #[serde(default, rename = "input_schema")]
    _input_schema: Map<String, Value>,
    /// The JSON schema of the agent's outputs.
    #[serde(default, rename = "output_schema")]
    _output_schema: Map<String, Value>,
    /// The agent's name, shown in the graph.
    #[serde(default, rename = "agent_name")]
    _agent_name: Option<String>,
    /// Ignored. The agent always runs as the user of the current run.
    #[serde(default, rename = "user_id")]
    _user_id: Option<String>,
    /// Ignored.
    #[serde(default, rename = "nodes_input_masks")]
    _nodes_input_masks: Value,
    /// Any other pin is an input of the agent.
    #[serde(flatten)]
    more: Map<String, Value>,
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "e189baac-8c20-45a1-94a7-55177ea42565",
        "AgentExecutorBlock",
        "Runs another agent and emits its outputs.",
    )
    .categories(&[BlockCategory::Agent])
    .kind(BlockKind::Agent)
    .effect(ToolEffect::Idempotent)
    .coordinates();
    // The output pins are the outputs of the agent it runs.
    let outputs = json!({ "type": "object", "properties": {}, "additionalProperties": true });
    let spec = BlockSpec { outputs, ..spec };
    // No examples: no agent exists on every installation.
    vec![block(spec, Vec::new(), Async::new(run))]
}

async fn run(
    input: AgentExecutorInput,
    context: BlockContext,
) -> Result<Vec<(String, Value)>, BlockError> {
    let mut inputs = input.inputs;
    inputs.extend(input.more);
    let child = ChildAgent { graph_id: input.graph_id, graph_version: input.graph_version, inputs };
    failures::unless_stopped(&context, context.services.agents.run(child)).await?
}
