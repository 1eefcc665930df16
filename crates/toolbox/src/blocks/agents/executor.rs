//! `AgentExecutorBlock`: another agent as a part of this one.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, ChildAgent, OutputSink};
use protocol::GraphId;
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::failures;
use super::super::typed::{self, Typed, TypedBlock};

pub(super) struct AgentExecutor {
    spec: BlockSpec,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// The agent to run.
    graph_id: GraphId,
    /// Its version.
    graph_version: u32,
    /// What the agent is given, by the names of its inputs.
    #[serde(default)]
    inputs: Map<String, Value>,
    /// The agent's inputs, as a JSON schema.
    #[serde(default, rename = "input_schema")]
    _input_schema: Map<String, Value>,
    /// The agent's outputs, as a JSON schema.
    #[serde(default, rename = "output_schema")]
    _output_schema: Map<String, Value>,
    /// The agent's name, for those who look at the graph.
    #[serde(default, rename = "agent_name")]
    _agent_name: Option<String>,
    /// Kept for agents that set it: an agent always runs for the user whose run it is a part of.
    #[serde(default, rename = "user_id")]
    _user_id: Option<String>,
    /// Kept for agents that set it.
    #[serde(default, rename = "nodes_input_masks")]
    _nodes_input_masks: Value,
    /// Any other pin is an input of the agent.
    #[serde(flatten)]
    more: Map<String, Value>,
}

impl AgentExecutor {
    pub(super) fn new() -> Typed<Self> {
        let spec = BlockSpec {
            id: "e189baac-8c20-45a1-94a7-55177ea42565",
            name: "AgentExecutorBlock",
            description: "Runs another agent as a part of this one and gives what it gives, output by output.",
            categories: &[BlockCategory::Agent],
            kind: BlockKind::Agent,
            inputs: typed::inputs::<Given>(),
            // Its pins are the outputs of the agent it runs.
            outputs: json!({ "type": "object", "properties": {}, "additionalProperties": true }),
            effect: ToolEffect::Idempotent,
            costs: &[],
            static_output: false,
            sensitive: false,
            coordinates: true,
        };
        Typed(Self { spec })
    }
}

#[async_trait]
impl TypedBlock for AgentExecutor {
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
        let mut inputs = given.inputs;
        inputs.extend(given.more);
        let child =
            ChildAgent { graph_id: given.graph_id, graph_version: given.graph_version, inputs };
        let running = context.services.agents.run(child);
        for (pin, value) in failures::unless_stopped(&context, running).await?? {
            out.emit(&pin, value).await?;
        }
        Ok(())
    }

    fn examples(&self) -> Vec<BlockExample> {
        // There is no agent that every installation has.
        Vec::new()
    }
}
