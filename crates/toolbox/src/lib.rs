//! Everything that turns and executions use: tools, blocks, example agents, model providers, agent generators, the HTTP
//! client for untrusted URLs and the sandbox for shell commands. Implements traits of `ports`, and knows no database,
//! queue or HTTP route.

pub mod blocks;
pub mod egress;
pub mod examples;
pub mod external;
pub mod generators;
mod operator_http;
mod page_text;
pub mod providers;
pub mod sandbox;
pub mod search;
mod template;
pub mod tools;
mod values;
mod words;
