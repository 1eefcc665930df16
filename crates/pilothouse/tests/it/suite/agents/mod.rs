//! Agents: documents, library, marketplace, blocks, credits and the command line; executions that are followed,
//! stopped, reviewed, killed, and started by the copilot.

mod blocks;
mod building;
mod building_branches;
mod building_checks;
mod building_conversations;
mod building_edits;
mod building_gate;
mod building_offline;
mod building_rehearsal;
mod building_tools;
mod building_words;
mod building_words_completed;
mod cli;
mod cli_building;
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
pub(crate) mod words_server;

use super::guarantees::server_for;
use super::{ENGINE, auth, long_running, operations_flow, scripted};
