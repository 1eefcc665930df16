//! `SendAuthenticatedWebRequestBlock`: a request with stored credentials. This server stores no credentials, and a
//! secret in a graph would be visible to everyone who can see the graph. The block exists and fails with an explanation.

use async_trait::async_trait;
use ports::Block;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use serde_json::{Map, Value, json};

use super::super::typed;
use super::request::response_pins;
use super::sender::WebRequest;

pub(super) struct SendAuthenticatedWebRequest {
    spec: BlockSpec,
}

impl SendAuthenticatedWebRequest {
    pub(super) fn new() -> Self {
        let mut inputs = typed::inputs::<WebRequest>();
        inputs["properties"]["credentials"] = json!({
            "type": "object",
            "title": "Credentials for the request's host",
            "description": "The stored credentials to send with the request.",
            "credentials_provider": "http",
            "credentials_types": ["host_scoped"],
        });
        let spec = BlockSpec {
            id: "fff86bcd-e001-4bad-a7f6-2eae4720c8dc",
            name: "SendAuthenticatedWebRequestBlock",
            description: "Sends an HTTP request with credentials stored for its host. Fails if no credentials are \
                stored.",
            categories: &[BlockCategory::Output],
            kind: BlockKind::Standard,
            inputs,
            outputs: response_pins(),
            effect: ToolEffect::Once,
            costs: &[],
            static_output: false,
            sensitive: true,
            coordinates: false,
        };
        Self { spec }
    }
}

#[async_trait]
impl Block for SendAuthenticatedWebRequest {
    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        _: Map<String, Value>,
        _: BlockContext,
        _: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        Err(BlockError::failed(
            "Stored credentials are not supported on this server. Use SendWebRequestBlock for requests without \
            credentials.",
        ))
    }

    fn examples(&self) -> Vec<BlockExample> {
        Vec::new()
    }
}
