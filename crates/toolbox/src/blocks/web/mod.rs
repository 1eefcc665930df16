//! Blocks that go out to the web, all of them through the one safe client.

mod authenticated;
mod feed;
mod mcp;
mod mcp_answer;
mod mcp_client;
mod multipart;
mod request;
mod rss;
mod sending;
mod wikipedia;

use std::sync::Arc;

use ports::Block;

use super::Parts;

pub(super) fn all(parts: &Parts) -> Vec<Arc<dyn Block>> {
    vec![
        Arc::new(authenticated::SendAuthenticatedWebRequest::new()),
        Arc::new(mcp::McpTool::new(parts)),
        Arc::new(request::SendWebRequest::new(parts)),
        Arc::new(rss::ReadRssFeed::new(parts)),
        Arc::new(wikipedia::GetWikipediaSummary::new(parts)),
    ]
}
