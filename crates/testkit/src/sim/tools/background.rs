//! A tool that looks after the calls of its session that went on in the background: waits for one, or ends it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::Tool;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::BackgroundId;
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{TimeBudget, ToolEffect, ToolSpec};
use serde_json::Value;

use super::super::node::Node;
use super::{carry_out, spec};

pub(in super::super) const BACKGROUND: &str = "background";

pub(super) struct Background {
    node: Arc<Node>,
    spec: ToolSpec,
}

impl Background {
    pub(super) fn of(node: &Arc<Node>) -> Self {
        let spec =
            ToolSpec { budget: TimeBudget::Own, effect: ToolEffect::None, ..spec(BACKGROUND) };
        Self { node: node.clone(), spec }
    }
}

#[async_trait]
impl Tool for Background {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(
        &self,
        arguments: Value,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        self.node.alive().await;
        self.node.step().await;
        carry_out(&self.node, &self.spec, &context);
        let calls = &context.services.background;
        let Some(id) = arguments["background_id"].as_str().map(BackgroundId::from) else {
            let tools = calls.list();
            let count = tools.len();
            let body = ResponseBody::BackgroundToolList { tools, count };
            return Ok(ToolResponse::new("listed", body));
        };
        let viewed = if arguments["cancel"] == true {
            calls.cancel(&id).await
        } else {
            calls.wait(&id, Duration::from_millis(arguments["wait"].as_u64().unwrap_or(0))).await
        };
        self.node.alive().await;
        let Some(view) = viewed else {
            return Err(ToolError::tell("background_not_found", "There is no such call."));
        };
        let body = ResponseBody::BackgroundToolStatus {
            background_id: id,
            tool: view.tool,
            status: view.status,
            waited_seconds: None,
            output: view.output,
        };
        Ok(ToolResponse::new("looked", body))
    }

    fn examples(&self) -> Vec<ToolExample> {
        Vec::new()
    }
}
