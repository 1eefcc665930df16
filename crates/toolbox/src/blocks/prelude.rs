//! What every block file uses, as one import.

pub(crate) use std::sync::Arc;

pub(crate) use async_trait::async_trait;
pub(crate) use ports::Block;
pub(crate) use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
pub(crate) use protocol::block::{BlockCategory, BlockKind, BlockSpec};
pub(crate) use protocol::tool::ToolEffect;
pub(crate) use schemars::JsonSchema;
pub(crate) use serde::Deserialize;
pub(crate) use serde_json::{Map, Value, json};

pub(crate) use super::typed::{Async, BlockList, PinValues, Pure, TypedBlock, block};
pub(crate) use super::{BlockDependencies, pin};

/// Serde default of options that are on unless turned off.
pub(crate) fn yes() -> bool {
    true
}
