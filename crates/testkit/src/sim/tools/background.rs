//! A tool that lists the background calls of its turn, waits for one, or cancels it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::Tool;
use ports::tool::{ToolContext, ToolError, ToolExample};
use protocol::BackgroundId;
use protocol::response::{ResponseBody, ToolResponse};
use protocol::tool::{TimeBudget, ToolEffect, ToolSpec};
use serde_json::Value;

use super::{record_effect, spec};
use crate::sim::node::SimNode;

pub(crate) const BACKGROUND: &str = "background";

pub(crate) struct SimBackgroundTool {
    node: Arc<SimNode>,
    spec: ToolSpec,
}

impl SimBackgroundTool {
    pub(crate) fn of(node: &Arc<SimNode>) -> Self {
        let spec = spec(BACKGROUND).budget(TimeBudget::Own).effect(ToolEffect::None);
        Self { node: node.clone(), spec }
    }
}

#[async_trait]
impl Tool for SimBackgroundTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(
        &self,
        arguments: Value,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        self.node.wait_until_running().await;
        self.node.fault_point().await;
        record_effect(&self.node, &self.spec, &context);
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
        self.node.wait_until_running().await;
        let Some(view) = viewed else {
            return Err(ToolError::tell("background_not_found", "No background call has this id."));
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
