//! `SendWebRequestBlock`: sends one HTTP request.

use super::sender::{WebRequest, WebRequestSender, WebResponse};
use crate::blocks::failures;
use crate::blocks::prelude::*;

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let spec = request_spec(
        "6595ae1f-b924-42cb-9a41-551a0611c4b4",
        "SendWebRequestBlock",
        "Sends an HTTP request to a public web server, with JSON, a form or files, and returns the \
         response.",
    );
    // No examples: no server is reachable from every installation.
    vec![block(
        spec,
        Vec::new(),
        SendWebRequestBlock { sender: WebRequestSender::new(dependencies) },
    )]
}

/// The spec of a block that sends a request. Its pins are the response body, by status class.
pub(crate) fn request_spec(
    id: &'static str,
    name: &'static str,
    description: &'static str,
) -> BlockSpec {
    BlockSpec::new(id, name, description)
        .categories(&[BlockCategory::Output])
        .outputs([
            pin::any(
                "response",
                "The response body of a successful request, parsed if it is JSON.",
            ),
            pin::any("client_error", "The response body if the status is 400 to 499."),
            pin::any("server_error", "The response body for any other status."),
        ])
        .effect(ToolEffect::Once)
        .sensitive()
}

struct SendWebRequestBlock {
    sender: WebRequestSender,
}

#[async_trait]
impl TypedBlock for SendWebRequestBlock {
    type Input = WebRequest;

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
}
