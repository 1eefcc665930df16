//! Test tools shared by several crates: the conformance suite of the ports, a scripted model provider, a service for
//! external tools, real database, cache and broker servers, a TCP proxy that injects faults, and a simulation of the
//! turn engine's surroundings.

pub mod conformance;
pub mod external_service;
pub mod model_server;
pub mod proxy;
pub mod scale;
pub mod services;
pub mod sim;
