//! The tests that run on both engines. This file is loaded twice, as the module `embedded` and as the module
//! `distributed`, so that every test exists once for each engine.

mod about;
mod administration;
pub(crate) mod agents;
mod auth;
mod base_path;
mod edges;
mod follow_ups;
pub(crate) mod guarantees;
pub(crate) mod long_running;
pub(crate) mod operations_flow;
mod overview;
mod ownership;
mod page;
mod resume;
pub(crate) mod scripted;
mod sessions;
mod streams;
mod terminal;
mod tools;
mod turns;
mod validation;
mod workspace;

use crate::server::Engine;

/// The engine that this copy of the tests runs on.
const ENGINE: Engine = Engine::of(module_path!());
