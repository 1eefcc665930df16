//! What tests of more than one crate need: the laws of the seams, and a model provider that plays
//! scripts.

pub mod conformance;
pub mod model_server;
