//! `SendAuthenticatedWebRequestBlock`: a request with stored credentials. This server keeps none, and a secret that
//! stands in a graph would be seen by everyone who sees the graph; so the block is known, and says what is missing.

use async_trait::async_trait;
use ports::Block;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use serde_json::{Map, Value, json};

use super::super::typed;
use super::request::answers;
use super::sending::WebRequest;

pub(super) struct SendAuthenticatedWebRequest {
    spec: BlockSpec,
}

impl SendAuthenticatedWebRequest {
    pub(super) fn new() -> Self {
        let mut inputs = typed::inputs::<WebRequest>();
        inputs["properties"]["credentials"] = json!({
            "type": "object",
            "title": "credentials for the host of the request",
            "description": "Which stored credentials go with the request.",
            "credentials_provider": "http",
            "credentials_types": ["host_scoped"],
        });
        let spec = BlockSpec {
            id: "fff86bcd-e001-4bad-a7f6-2eae4720c8dc",
            name: "SendAuthenticatedWebRequestBlock",
            description: "Sends a request to a server of the public web together with credentials that are stored for \
                its host. It fails where no credentials are stored.",
            categories: &[BlockCategory::Output],
            kind: BlockKind::Standard,
            inputs,
            outputs: answers(),
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
            "This request needs stored credentials, and there are none on this server. SendWebRequestBlock sends \
            requests without them.",
        ))
    }

    fn examples(&self) -> Vec<BlockExample> {
        Vec::new()
    }
}
