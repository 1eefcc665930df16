//! `MCPToolBlock`: runs a tool of an MCP server.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::typed::{self, Typed, TypedBlock};
use super::super::{Parts, failures};
use super::mcp_client::McpServer;
use crate::egress;

pub(super) struct McpTool {
    spec: BlockSpec,
    egress: egress::EgressClient,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// The address of the server (streamable HTTP).
    server_url: String,
    /// The tool to run.
    #[serde(default)]
    selected_tool: String,
    /// What the tool takes, as a JSON schema.
    #[serde(default)]
    tool_input_schema: Map<String, Value>,
    /// What the tool is given.
    #[serde(default)]
    tool_arguments: Map<String, Value>,
    /// Which stored credentials belong to the server. There are none on this server.
    #[serde(default, rename = "credentials")]
    _credentials: Value,
    /// Any other pin is an argument of that name.
    #[serde(flatten)]
    more: Map<String, Value>,
}

impl McpTool {
    pub(super) fn new(parts: &Parts) -> Typed<Self> {
        let spec = BlockSpec {
            id: "a0a4b1c2-d3e4-4f56-a7b8-c9d0e1f2a3b4",
            name: "MCPToolBlock",
            description: "Runs a tool of a server that speaks the Model Context Protocol, and gives its result.",
            categories: &[BlockCategory::DeveloperTools],
            kind: BlockKind::McpTool,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([typed::any("result", "What the tool gave.")]),
            effect: ToolEffect::Once,
            costs: &[],
            static_output: false,
            sensitive: true,
            coordinates: false,
        };
        Typed(Self { spec, egress: parts.egress.clone() })
    }
}

#[async_trait]
impl TypedBlock for McpTool {
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
        failures::not_in_a_dry_run(&context, "tools of other servers are not run")?;
        if given.selected_tool.is_empty() {
            return Err(BlockError::failed("Choose the tool to run, in selected_tool."));
        }
        let mut arguments = given.tool_arguments;
        arguments.extend(given.more);
        let missing = missing(&given.tool_input_schema, &arguments);
        if !missing.is_empty() {
            return Err(BlockError::failed(format!("The tool needs {} too.", missing.join(", "))));
        }
        let call = async {
            let server = McpServer::greet(&self.egress, &given.server_url).await?;
            server.call_tool(&given.selected_tool, arguments).await
        };
        let result = failures::unless_stopped(&context, call).await?.map_err(BlockError::Failed)?;
        out.emit("result", result).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        // There is no server that every installation reaches.
        Vec::new()
    }
}

fn missing<'a>(schema: &'a Map<String, Value>, arguments: &Map<String, Value>) -> Vec<&'a str> {
    let required = schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    names.filter(|name| !arguments.contains_key(*name)).collect()
}
