//! `MCPToolBlock`: calls a tool of an MCP server.

use super::mcp_client::McpServer;
use crate::blocks::failures;
use crate::blocks::prelude::*;
use crate::egress;

#[derive(Deserialize, JsonSchema)]
struct McpToolInput {
    /// The URL of the MCP server (streamable HTTP).
    server_url: String,
    /// The name of the tool to call.
    #[serde(default)]
    selected_tool: String,
    /// The JSON schema of the tool's arguments.
    #[serde(default)]
    tool_input_schema: Map<String, Value>,
    /// The arguments of the tool.
    #[serde(default)]
    tool_arguments: Map<String, Value>,
    /// Not supported: this server stores no credentials.
    #[serde(default, rename = "credentials")]
    _credentials: Value,
    /// Any other pin is an argument of that name.
    #[serde(flatten)]
    more: Map<String, Value>,
}

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "a0a4b1c2-d3e4-4f56-a7b8-c9d0e1f2a3b4",
        "MCPToolBlock",
        "Calls a tool of a Model Context Protocol (MCP) server and returns its result.",
    )
    .categories(&[BlockCategory::DeveloperTools])
    .kind(BlockKind::McpTool)
    .outputs([pin::any("result", "The tool's result.")])
    .effect(ToolEffect::Once)
    .sensitive();
    // No examples: no MCP server is reachable from every installation.
    vec![block(spec, Vec::new(), McpToolBlock { egress: dependencies.egress.clone() })]
}

struct McpToolBlock {
    egress: egress::EgressClient,
}

#[async_trait]
impl TypedBlock for McpToolBlock {
    type Input = McpToolInput;

    async fn run(
        &self,
        input: McpToolInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        failures::not_in_a_dry_run(&context, "MCP tools are not called")?;
        if input.selected_tool.is_empty() {
            return Err(BlockError::failed("Set selected_tool to the tool to call."));
        }
        let mut arguments = input.tool_arguments;
        arguments.extend(input.more);
        let missing = missing(&input.tool_input_schema, &arguments);
        if !missing.is_empty() {
            return Err(BlockError::failed(format!(
                "Missing required arguments: {}.",
                missing.join(", ")
            )));
        }
        let call = async {
            let server = McpServer::connect(&self.egress, &input.server_url).await?;
            server.call_tool(&input.selected_tool, arguments).await
        };
        let result = failures::unless_stopped(&context, call).await?.map_err(BlockError::Failed)?;
        out.emit("result", result).await
    }
}

fn missing<'a>(schema: &'a Map<String, Value>, arguments: &Map<String, Value>) -> Vec<&'a str> {
    let required = schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    names.filter(|name| !arguments.contains_key(*name)).collect()
}
