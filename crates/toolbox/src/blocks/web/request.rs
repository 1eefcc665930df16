//! `SendWebRequestBlock`: one request to a server of the web.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use serde_json::Value;

use super::super::typed::{self, Typed, TypedBlock};
use super::super::{Parts, failures};
use super::sending::{Answer, Sender, WebRequest};

pub(super) struct SendWebRequest {
    spec: BlockSpec,
    sender: Sender,
}

/// What a server can answer, by who is to blame.
pub(super) fn answers() -> Value {
    typed::outputs([
        typed::any("response", "What the server answered, as JSON where it is that."),
        typed::any("client_error", "What it answered with a status of 400 to 499."),
        typed::any("server_error", "What it answered with any other status."),
    ])
}

impl SendWebRequest {
    pub(super) fn new(parts: &Parts) -> Typed<Self> {
        let spec = BlockSpec {
            id: "6595ae1f-b924-42cb-9a41-551a0611c4b4",
            name: "SendWebRequestBlock",
            description: "Sends a request to a server of the public web, with JSON, a form or files, and gives its \
                answer.",
            categories: &[BlockCategory::Output],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<WebRequest>(),
            outputs: answers(),
            effect: ToolEffect::Once,
            costs: &[],
            static_output: false,
            sensitive: true,
            coordinates: false,
        };
        Typed(Self { spec, sender: Sender::new(parts) })
    }
}

#[async_trait]
impl TypedBlock for SendWebRequest {
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
        if !request.method.only_reads() {
            failures::not_in_a_dry_run(&context, "only requests that read are sent")?;
        }
        let Answer { status, content } = self.sender.send(request, &context).await?;
        let pin = match status {
            200..=299 => "response",
            400..=499 => "client_error",
            _ => "server_error",
        };
        out.emit(pin, content).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        // There is no server that every installation reaches.
        Vec::new()
    }
}
