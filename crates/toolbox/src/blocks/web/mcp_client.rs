//! One conversation with an MCP server over streamable HTTP: greet it, then have it run one tool.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::mcp_answer;
use crate::egress::{self, EgressRequest, FetchLimits, FetchedResponse, Method};

const PROTOCOL: &str = "2025-03-26";
const SESSION_HEADER: &str = "mcp-session-id";
const LIMITS: FetchLimits = FetchLimits {
    bytes: 4 * 1024 * 1024,
    total: Duration::from_secs(300),
    idle: Duration::from_secs(120),
    accepts: |_| true,
};

pub(super) struct McpServer<'a> {
    egress: &'a egress::EgressClient,
    url: &'a str,
    /// Named by the server in its greeting, if it keeps sessions.
    session: Option<String>,
    protocol: String,
}

impl<'a> McpServer<'a> {
    pub(super) async fn greet(
        egress: &'a egress::EgressClient,
        url: &'a str,
    ) -> Result<Self, String> {
        let mut server = Self { egress, url, session: None, protocol: PROTOCOL.to_owned() };
        let client = json!({ "name": "Pilothouse", "version": env!("CARGO_PKG_VERSION") });
        let params =
            json!({ "protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client });
        let (answer, greeting) = server.call(1, "initialize", params).await?;
        let session = answer.headers.get(SESSION_HEADER).and_then(|value| value.to_str().ok());
        server.session = session.map(str::to_owned);
        if let Some(protocol) = greeting["protocolVersion"].as_str() {
            server.protocol = protocol.to_owned();
        }
        server.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
        Ok(server)
    }

    pub(super) async fn call_tool(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Value, String> {
        let params = json!({ "name": name, "arguments": arguments });
        let (_, result) = self.call(2, "tools/call", params).await?;
        mcp_answer::content(&result)
    }

    async fn call(
        &self,
        id: u64,
        method: &str,
        params: Value,
    ) -> Result<(FetchedResponse, Value), String> {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let answer = self.post(&message).await?;
        if answer.truncated {
            return Err(format!("The answer is longer than {} bytes.", LIMITS.bytes));
        }
        let text = String::from_utf8_lossy(&answer.body);
        let result = mcp_answer::result(&answer.content_type, &text, id)?;
        Ok((answer, result))
    }

    async fn post(&self, message: &Value) -> Result<FetchedResponse, String> {
        let say = |error: egress::EgressError| error.to_string();
        let mut request = EgressRequest::new(Method::POST, self.url)
            .header("accept", "application/json, text/event-stream")
            .and_then(|request| request.header("mcp-protocol-version", &self.protocol))
            .map_err(say)?
            .body("application/json", message.to_string());
        if let Some(session) = &self.session {
            request = request.header(SESSION_HEADER, session).map_err(say)?;
        }
        let answer =
            self.egress.send_until(request, LIMITS, mcp_answer::is_complete).await.map_err(say)?;
        match answer.status {
            200..=299 => Ok(answer),
            401 | 403 => {
                Err("The server wants credentials, and there are none stored on this server."
                    .to_owned())
            }
            status => Err(format!("The server answered {status}.")),
        }
    }
}
