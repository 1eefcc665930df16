//! `SendWebRequestBlock`: sends one HTTP request.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use serde_json::Value;

use super::super::typed::{self, TypedBlock, TypedBlockAdapter};
use super::super::{BlockDependencies, failures};
use super::sender::{WebRequest, WebRequestSender, WebResponse};

pub(super) struct SendWebRequestBlock {
    spec: BlockSpec,
    sender: WebRequestSender,
}

/// The output pins: the response body, by status class.
pub(super) fn response_pins() -> Value {
    typed::outputs([
        typed::any("response", "The response body of a successful request, parsed if it is JSON."),
        typed::any("client_error", "The response body if the status is 400 to 499."),
        typed::any("server_error", "The response body for any other status."),
    ])
}

impl SendWebRequestBlock {
    pub(super) fn new(dependencies: &BlockDependencies) -> TypedBlockAdapter<Self> {
        let spec = BlockSpec {
            id: "6595ae1f-b924-42cb-9a41-551a0611c4b4",
            name: "SendWebRequestBlock",
            description: "Sends an HTTP request to a public web server, with JSON, a form or files, and returns the \
                response.",
            categories: &[BlockCategory::Output],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<WebRequest>(),
            outputs: response_pins(),
            effect: ToolEffect::Once,
            costs: &[],
            static_output: false,
            sensitive: true,
            coordinates: false,
        };
        TypedBlockAdapter(Self { spec, sender: WebRequestSender::new(dependencies) })
    }
}

#[async_trait]
impl TypedBlock for SendWebRequestBlock {
    type Input = WebRequest;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        request: WebRequest,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        if !request.method.is_read_only() {
            failures::not_in_a_dry_run(&context, "only GET, HEAD and OPTIONS requests are sent")?;
        }
        let WebResponse { status, content } = self.sender.send(request, &context).await?;
        let pin = match status {
            200..=299 => "response",
            400..=499 => "client_error",
            _ => "server_error",
        };
        out.emit(pin, content).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        // No server is reachable from every installation.
        Vec::new()
    }
}
