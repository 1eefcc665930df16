//! Tests of the real binary, over HTTP and on the command line, on each engine.

#![allow(clippy::duplicate_mod, reason = "every test of the suite exists once for each engine")]

mod agent_fixtures;
mod contract;
mod events;
mod history;
mod namespace;
mod outages;
mod processes;
mod program;
mod recorded;
mod reverse_proxy;
mod scripts;
mod server;
mod tokens;
mod turn_requests;

#[path = "suite/mod.rs"]
mod distributed;
mod distributed_only;
mod distributed_setup;
#[path = "suite/mod.rs"]
mod embedded;
mod embedded_only;
