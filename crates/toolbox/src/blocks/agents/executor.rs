//! `AgentExecutorBlock`: runs another agent as part of this one.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, ChildAgent, OutputSink};
use protocol::GraphId;
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::failures;
use super::super::typed::{self, TypedBlock, TypedBlockAdapter};

pub(super) struct AgentExecutor {
    spec: BlockSpec,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct AgentExecutorInput {
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

impl AgentExecutor {
    pub(super) fn new() -> TypedBlockAdapter<Self> {
        let spec = BlockSpec {
            id: "e189baac-8c20-45a1-94a7-55177ea42565",
            name: "AgentExecutorBlock",
            description: "Runs another agent and emits its outputs.",
            categories: &[BlockCategory::Agent],
            kind: BlockKind::Agent,
            inputs: typed::inputs::<AgentExecutorInput>(),
            // Its output pins are the outputs of the agent it runs.
            outputs: json!({ "type": "object", "properties": {}, "additionalProperties": true }),
            effect: ToolEffect::Idempotent,
            costs: &[],
            static_output: false,
            sensitive: false,
            coordinates: true,
        };
        TypedBlockAdapter(Self { spec })
    }
}

#[async_trait]
impl TypedBlock for AgentExecutor {
    type Input = AgentExecutorInput;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: AgentExecutorInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let mut inputs = input.inputs;
        inputs.extend(input.more);
        let child =
            ChildAgent { graph_id: input.graph_id, graph_version: input.graph_version, inputs };
        let running = context.services.agents.run(child);
        for (pin, value) in failures::unless_stopped(&context, running).await?? {
            out.emit(&pin, value).await?;
        }
        Ok(())
    }

    fn examples(&self) -> Vec<BlockExample> {
        // No agent exists on every installation.
        Vec::new()
    }
}
