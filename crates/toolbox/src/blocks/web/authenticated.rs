//! `SendAuthenticatedWebRequestBlock`: a request with stored credentials. This server stores no credentials, and a
//! secret in a graph would be visible to everyone who can see the graph. The block exists and fails with an explanation.

use super::request::request_spec;
use super::sender::WebRequest;
use crate::blocks::prelude::*;
use crate::blocks::typed;

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = request_spec(
        "fff86bcd-e001-4bad-a7f6-2eae4720c8dc",
        "SendAuthenticatedWebRequestBlock",
        "Sends an HTTP request with credentials stored for its host. Fails if no credentials are \
         stored.",
    );
    // No examples: it never succeeds.
    vec![block(spec, Vec::new(), SendAuthenticatedWebRequest)]
}

struct SendAuthenticatedWebRequest;

#[async_trait]
impl TypedBlock for SendAuthenticatedWebRequest {
    // Any inputs: the explanation is more useful than a complaint about one of them.
    type Input = Map<String, Value>;

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

    fn inputs(&self) -> Value {
        let mut inputs = typed::inputs::<WebRequest>();
        inputs["properties"]["credentials"] = json!({
            "type": "object",
            "title": "Credentials for the request's host",
            "description": "The stored credentials to send with the request.",
            "credentials_provider": "http",
            "credentials_types": ["host_scoped"],
        });
        inputs
    }
}
