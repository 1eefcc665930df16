//! What turns and runs work with: tools, blocks, example agents, the client for foreign addresses, the sandbox for shell commands, and the model
//! providers. Everything here implements a seam of `ports`; nothing here knows a store, a queue or a route.

pub mod blocks;
pub mod egress;
pub mod examples;
pub mod external;
mod operator_http;
pub mod providers;
pub mod sandbox;
pub mod search;
mod template;
pub mod tools;
mod values;
