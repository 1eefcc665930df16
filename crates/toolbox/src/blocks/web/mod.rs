//! Blocks that access the web, all through the guarded `egress` client.

mod authenticated;
mod feed;
mod mcp;
mod mcp_client;
mod mcp_response;
mod multipart;
mod request;
mod rss;
mod sender;
mod wikipedia;

use std::sync::Arc;

use ports::Block;

use super::BlockDependencies;

pub(super) fn all(dependencies: &BlockDependencies) -> Vec<Arc<dyn Block>> {
    vec![
        Arc::new(authenticated::SendAuthenticatedWebRequest::new()),
        Arc::new(mcp::McpToolBlock::new(dependencies)),
        Arc::new(request::SendWebRequestBlock::new(dependencies)),
        Arc::new(rss::ReadRssFeed::new(dependencies)),
        Arc::new(wikipedia::GetWikipediaSummary::new(dependencies)),
    ]
}
