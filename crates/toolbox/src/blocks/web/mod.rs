//! Blocks that access the web, all through the guarded `egress` client.

mod feed;
mod mcp_client;
mod mcp_response;
mod multipart;
mod sender;

blocks! {
    authenticated,
    mcp,
    request,
    rss,
    wikipedia,
}
