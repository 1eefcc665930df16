//! Conformance laws of the stream log through Redis, and behavior when Redis loses data, dies or is silent.

mod carried;
mod completions;
mod laws;
mod outages;
mod process;
pub(crate) mod server;
