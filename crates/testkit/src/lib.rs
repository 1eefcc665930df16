//! What tests of more than one crate need: the laws of the seams, a model provider that plays scripts, a
//! service that plays external tools, real servers to
//! run on, and a proxy that breaks the connections to them.

pub mod conformance;
pub mod external_service;
pub mod model_server;
pub mod proxy;
pub mod scale;
pub mod services;
pub mod sim;
