//! An MCP client over streamable HTTP: initializes a session, then calls one tool.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::mcp_response;
use crate::egress::{self, EgressRequest, FetchLimits, FetchedResponse, Method};

const PROTOCOL: &str = "2025-03-26";
const SESSION_HEADER: &str = "mcp-session-id";
const LIMITS: FetchLimits = FetchLimits {
    bytes: 4 * 1024 * 1024,
    total: Duration::from_secs(300),
    idle: Duration::from_secs(120),
    accepts: |_| true,
};

pub(crate) struct McpServer<'a> {
    egress: &'a egress::EgressClient,
    url: &'a str,
    /// The session id from the initialize response, if the server uses sessions.
    session: Option<String>,
    protocol: String,
}

impl<'a> McpServer<'a> {
    pub(crate) async fn connect(
        egress: &'a egress::EgressClient,
        url: &'a str,
    ) -> Result<Self, String> {
        let mut server = Self { egress, url, session: None, protocol: PROTOCOL.to_owned() };
        let client = json!({ "name": "Pilothouse", "version": env!("CARGO_PKG_VERSION") });
        let params =
            json!({ "protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client });
        let (response, capabilities) = server.call(1, "initialize", params).await?;
        let session = response.headers.get(SESSION_HEADER).and_then(|value| value.to_str().ok());
        server.session = session.map(str::to_owned);
        if let Some(protocol) = capabilities["protocolVersion"].as_str() {
            server.protocol = protocol.to_owned();
        }
        server.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
        Ok(server)
    }

    pub(crate) async fn call_tool(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Value, String> {
        let params = json!({ "name": name, "arguments": arguments });
        let (_, result) = self.call(2, "tools/call", params).await?;
        mcp_response::content(&result)
    }

    async fn call(
        &self,
        id: u64,
        method: &str,
        params: Value,
    ) -> Result<(FetchedResponse, Value), String> {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let response = self.post(&message).await?;
        if response.truncated {
            return Err(format!(
                "The response is longer than the limit of {} bytes.",
                LIMITS.bytes
            ));
        }
        let text = String::from_utf8_lossy(&response.body);
        let result = mcp_response::result(&response.content_type, &text, id)?;
        Ok((response, result))
    }

    async fn post(&self, message: &Value) -> Result<FetchedResponse, String> {
        let describe = |error: egress::EgressError| error.to_string();
        let mut request = EgressRequest::new(Method::POST, self.url)
            .header("accept", "application/json, text/event-stream")
            .and_then(|request| request.header("mcp-protocol-version", &self.protocol))
            .map_err(describe)?
            .body("application/json", message.to_string());
        if let Some(session) = &self.session {
            request = request.header(SESSION_HEADER, session).map_err(describe)?;
        }
        let response = self
            .egress
            .send_until(request, LIMITS, mcp_response::is_complete)
            .await
            .map_err(describe)?;
        match response.status {
            200..=299 => Ok(response),
            401 | 403 => Err(
                "The MCP server requires credentials, and stored credentials are not supported."
                    .to_owned(),
            ),
            status => Err(format!("The MCP server returned status {status}.")),
        }
    }
}
