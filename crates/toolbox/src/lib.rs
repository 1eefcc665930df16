//! What a turn works with: tools, the client for foreign addresses, the sandbox for shell commands, and the model
//! providers. Everything here implements a seam of `ports`; nothing here knows a store, a queue or a route.

pub mod egress;
pub mod external;
mod operator_http;
pub mod providers;
pub mod sandbox;
pub mod tools;
