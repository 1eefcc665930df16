//! Agents: documents, library, marketplace, blocks, credits and the command line; executions that are followed,
//! stopped, reviewed, killed, and started by the copilot.

pub(crate) mod agent_fixtures;
mod blocks;
mod cli;
mod credits;
mod documents;
mod documents_problems;
pub(crate) mod execution_fixtures;
pub(crate) mod execution_stream;
mod executions;
mod executions_limit;
mod executions_many;
mod faults;
mod faults_charges;
mod faults_sweep;
mod import;
mod library;
mod library_folders;
mod marketplace;
mod marketplace_examples;
mod nested;
mod nested_copilot;
mod review;
mod stopping;
mod streaming;
mod tools;
mod tools_blocks;
mod tools_copilot;

use super::guarantees::{self, eventually, server_for};
use super::{ENGINE, auth, long_running, scripted};
