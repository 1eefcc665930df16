//! Agents: documents, library, marketplace, blocks, credits and the command line; executions that are followed,
//! stopped, reviewed, killed, and started by the copilot.

mod blocks;
mod cli;
mod credits;
mod documents;
mod documents_problems;
pub(crate) mod drafts;
mod executions;
mod executions_limit;
mod executions_many;
pub(crate) mod executions_scene;
mod faults;
mod faults_charges;
mod faults_sweep;
mod import;
mod library;
mod library_folders;
mod nested;
mod nested_copilot;
mod review;
mod stopping;
mod store;
mod store_examples;
mod streaming;
pub(crate) mod streaming_frames;
mod tools;
mod tools_blocks;
mod tools_copilot;

use super::guarantees::{self, eventually, server_for};
use super::{ENGINE, auth, long_running, scripted};
